/* Faults planted in how NCCL might be used: the fake finds each, and only those. */
#include "support/support.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <nccl.h>

#include "fake.h"

#define CARDS 3
#define N     50

struct team {
    ncclComm_t comm[CARDS];
    cudaStream_t stream[CARDS];
    double *buffer[CARDS];
    double host[N];
};

static void fine(cudaError_t code)
{
    if (code != cudaSuccess)
        fail_msg("%s", cudaGetErrorString(code));
}

static ncclResult_t open_ranks(struct team *t, const int *device)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;
    ncclResult_t result = ncclInProgress;
    config.blocking = 0;
    assert_int_equal(ncclGetUniqueId(&id), ncclSuccess);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < CARDS && result == ncclInProgress; i++) {
        fine(cudaSetDevice(device[i]));
        result = ncclCommInitRankConfig(&t->comm[i], CARDS, id, i, &config);
    }
    assert_int_equal(ncclGroupEnd(), ncclSuccess);
    return result;
}

static void team_open(struct team *t)
{
    static const int devices[CARDS] = {0, 1, 2};
    ncclResult_t result = ncclInProgress;
    fake_set("devices=3 absent=-1 async=-1");
    memset(t, 0, sizeof *t);
    assert_int_equal(open_ranks(t, devices), ncclInProgress);
    for (int i = 0; i < CARDS; i++) {
        do
            assert_int_equal(ncclCommGetAsyncError(t->comm[i], &result), ncclSuccess);
        while (result == ncclInProgress);
        assert_int_equal(result, ncclSuccess);
        fine(cudaSetDevice(i));
        fine(cudaStreamCreateWithFlags(&t->stream[i], cudaStreamNonBlocking));
        fine(cudaMalloc((void **)&t->buffer[i], sizeof t->host));
        for (int k = 0; k < N; k++)
            t->host[k] = i + k;
        fine(cudaMemcpyAsync(t->buffer[i], t->host, sizeof t->host, cudaMemcpyHostToDevice,
                             t->stream[i]));
        fine(cudaStreamSynchronize(t->stream[i]));
    }
}

static void abort_ranks(struct team *t, int count)
{
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < count; i++)
        assert_int_equal(ncclCommAbort(t->comm[i]), ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclSuccess);
}

static void team_close(struct team *t)
{
    abort_ranks(t, CARDS);
    for (int i = 0; i < CARDS; i++) {
        fine(cudaStreamDestroy(t->stream[i]));
        fine(cudaFree(t->buffer[i]));
    }
}

static void assert_fault(const char *part)
{
    const char *text = NULL;
    assert_int_equal(fake_faults(&text), 1);
    if (!strstr(text, part))
        fail_msg("the fault is \"%s\", expected \"%s\" in it", text, part);
}

static ncclResult_t sum(struct team *t, int rank, size_t count)
{
    return ncclAllReduce(t->buffer[rank], t->buffer[rank], count, ncclDouble, ncclSum,
                         t->comm[rank], t->stream[rank]);
}

static void test_nothing_is_wrong(void **state)
{
    struct team t;
    (void)state;
    team_open(&t);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < CARDS; i++)
        assert_int_equal(sum(&t, i, N), ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclSuccess);
    for (int i = 0; i < CARDS; i++) {
        fine(cudaStreamSynchronize(t.stream[i]));
        fine(cudaMemcpyAsync(t.host, t.buffer[i], sizeof t.host, cudaMemcpyDeviceToHost,
                             t.stream[i]));
        assert_true(t.host[7] == 0 + 1 + 2 + 3 * 7);
    }
    assert_int_equal(fake_faults(NULL), 0);
    team_close(&t);
}

static void test_count_in_bytes(void **state)
{
    struct team t;
    (void)state;
    team_open(&t);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    assert_int_equal(sum(&t, 0, sizeof t.host), ncclInvalidUsage);
    assert_int_equal(ncclGroupEnd(), ncclSuccess);
    assert_fault("shorter than the count");
    team_close(&t);
}

/* The others are not done until the last one comes. */
static void test_a_rank_that_skips(void **state)
{
    struct team t;
    (void)state;
    team_open(&t);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    assert_int_equal(sum(&t, 0, N), ncclSuccess);
    assert_int_equal(sum(&t, 2, N), ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclSuccess);
    assert_int_equal(cudaStreamQuery(t.stream[0]), cudaErrorNotReady);
    assert_int_equal(cudaStreamQuery(t.stream[2]), cudaErrorNotReady);
    assert_int_equal(cudaStreamQuery(t.stream[1]), cudaSuccess);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    assert_int_equal(sum(&t, 1, N), ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclSuccess);
    assert_int_equal(cudaStreamQuery(t.stream[0]), cudaSuccess);
    assert_int_equal(fake_faults(NULL), 0);
    team_close(&t);
}

static void test_different_counts(void **state)
{
    struct team t;
    (void)state;
    team_open(&t);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < CARDS; i++)
        assert_int_equal(sum(&t, i, i == 1 ? N - 1 : N), ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
    assert_fault("different collectives");
    team_close(&t);
}

static void test_different_types(void **state)
{
    struct team t;
    (void)state;
    team_open(&t);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < CARDS; i++)
        assert_int_equal(ncclAllReduce(t.buffer[i], t.buffer[i], N, i == 2 ? ncclFloat : ncclDouble,
                                       ncclSum, t.comm[i], t.stream[i]),
                         ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
    assert_fault("different collectives");
    team_close(&t);
}

/* It skips one and comes to the next; and it never comes at all. */
static void test_a_rank_that_goes_on(void **state)
{
    struct team t;
    (void)state;
    team_open(&t);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < CARDS; i++) {
        if (i != 1)
            assert_int_equal(sum(&t, i, N), ncclSuccess);
        assert_int_equal(sum(&t, i, N / 2), ncclSuccess);
    }
    assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
    assert_fault("different collectives");
    team_close(&t);

    team_open(&t);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    assert_int_equal(sum(&t, 0, N), ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclSuccess);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    assert_int_equal(ncclCommDestroy(t.comm[0]), ncclInvalidUsage);
    assert_fault("in the middle of a collective");
    for (int i = 1; i < CARDS; i++)
        assert_int_equal(ncclCommDestroy(t.comm[i]), ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclSuccess);
    for (int i = 0; i < CARDS; i++) {
        fine(cudaStreamDestroy(t.stream[i]));
        fine(cudaFree(t.buffer[i]));
    }
}

/* Work before the sum that never ends holds the sum, and with it the others. */
static void test_a_card_that_is_stuck(void **state)
{
    struct team t;
    (void)state;
    team_open(&t);
    fake_set("stuck=1");
    fine(cudaMemsetAsync(t.buffer[1], 0, sizeof t.host, t.stream[1]));
    fake_set("stuck=-1");
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < CARDS; i++)
        assert_int_equal(sum(&t, i, N), ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclSuccess);
    for (int i = 0; i < CARDS; i++)
        assert_int_equal(cudaStreamQuery(t.stream[i]), cudaErrorNotReady);
    assert_int_equal(fake_faults(NULL), 0);
    fake_set("resume");
    team_close(&t);
}

static void test_closing_apart(void **state)
{
    struct team t;
    (void)state;
    team_open(&t);
    assert_int_equal(ncclCommAbort(t.comm[0]), ncclInvalidUsage);
    assert_fault("closed outside a group");
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    assert_int_equal(ncclCommDestroy(t.comm[1]), ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
    assert_fault("some ranks of a team and not the others");
    abort_ranks(&(struct team){.comm = {t.comm[2]}}, 1);
    for (int i = 0; i < CARDS; i++) {
        fine(cudaStreamDestroy(t.stream[i]));
        fine(cudaFree(t.buffer[i]));
    }
}

static void test_outside_a_group(void **state)
{
    struct team t;
    (void)state;
    team_open(&t);
    assert_int_equal(sum(&t, 0, N), ncclInvalidUsage);
    assert_fault("outside a group");
    assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
    assert_fault("not opened");
    team_close(&t);
}

static void test_wrong_card(void **state)
{
    struct team t;
    (void)state;
    team_open(&t);
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    assert_int_equal(
        ncclAllReduce(t.buffer[1], t.buffer[1], N, ncclDouble, ncclSum, t.comm[0], t.stream[0]),
        ncclInvalidUsage);
    assert_fault("another card");
    assert_int_equal(ncclGroupEnd(), ncclSuccess);
    team_close(&t);
}

static void test_two_ranks_on_one_card(void **state)
{
    static const int devices[CARDS] = {0, 1, 0};
    struct team t = {.comm = {NULL}};
    (void)state;
    fake_set("devices=3");
    assert_int_equal(open_ranks(&t, devices), ncclInvalidUsage);
    assert_fault("duplicate GPU");
    abort_ranks(&t, 2);
}

/* The buffer is still being filled on another stream. */
static void test_missing_wait(void **state)
{
    struct team t;
    cudaStream_t other = NULL;
    (void)state;
    team_open(&t);
    fine(cudaSetDevice(1));
    fine(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    fine(cudaMemsetAsync(t.buffer[1], 0, sizeof t.host, other));
    assert_int_equal(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < CARDS; i++)
        assert_int_equal(sum(&t, i, N), ncclSuccess);
    assert_int_equal(ncclGroupEnd(), ncclUnhandledCudaError);
    assert_fault("a wait is missing");
    fine(cudaStreamDestroy(other));
    team_close(&t);
}

/* A rank's whole life on a thread of its own. */
struct life {
    ncclUniqueId id;
    int rank;
    double sum; /* of the ranks' numbers, each counted from 1 */
    ncclResult_t result;
};

static ncclResult_t until_open(ncclComm_t comm)
{
    ncclResult_t result = ncclInProgress;
    while (result == ncclInProgress)
        if (ncclCommGetAsyncError(comm, &result) != ncclSuccess)
            return ncclInternalError;
    return result;
}

static void *live(void *arg)
{
    struct life *life = arg;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t comm = NULL;
    cudaStream_t stream = NULL;
    double *buffer = NULL;
    double value = life->rank + 1;
    config.blocking = 0;
    (void)cudaSetDevice(life->rank);
    (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    (void)cudaMalloc((void **)&buffer, sizeof value);
    (void)cudaMemcpyAsync(buffer, &value, sizeof value, cudaMemcpyHostToDevice, stream);
    life->result = ncclCommInitRankConfig(&comm, CARDS, life->id, life->rank, &config);
    if (life->result == ncclInProgress)
        life->result = until_open(comm);
    if (life->result == ncclSuccess)
        life->result = ncclAllReduce(buffer, buffer, 1, ncclDouble, ncclSum, comm, stream);
    while (life->result == ncclSuccess && cudaStreamQuery(stream) == cudaErrorNotReady)
        sched_yield();
    (void)cudaMemcpyAsync(&life->sum, buffer, sizeof life->sum, cudaMemcpyDeviceToHost, stream);
    if (life->result == ncclSuccess)
        life->result = ncclCommDestroy(comm); /* returns when all ranks are closed */
    (void)cudaStreamDestroy(stream);
    (void)cudaFree(buffer);
    return NULL;
}

static void test_a_thread_for_each_rank(void **state)
{
    struct life life[CARDS];
    pthread_t thread[CARDS];
    (void)state;
    fake_set("devices=3 absent=-1 async=-1");
    assert_int_equal(ncclGetUniqueId(&life[0].id), ncclSuccess);
    for (int i = 0; i < CARDS; i++) {
        life[i] = (struct life){.id = life[0].id, .rank = i};
        assert_int_equal(pthread_create(&thread[i], NULL, live, &life[i]), 0);
    }
    for (int i = 0; i < CARDS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < CARDS; i++) {
        assert_int_equal(life[i].result, ncclSuccess);
        assert_true(life[i].sum == 6);
    }
    assert_int_equal(fake_faults(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_wrong),       cmocka_unit_test(test_count_in_bytes),
        cmocka_unit_test(test_a_rank_that_skips),      cmocka_unit_test(test_different_counts),
        cmocka_unit_test(test_different_types),        cmocka_unit_test(test_a_rank_that_goes_on),
        cmocka_unit_test(test_a_card_that_is_stuck),   cmocka_unit_test(test_closing_apart),
        cmocka_unit_test(test_outside_a_group),        cmocka_unit_test(test_wrong_card),
        cmocka_unit_test(test_a_thread_for_each_rank), cmocka_unit_test(test_two_ranks_on_one_card),
        cmocka_unit_test(test_missing_wait),
    };
    return ga_test_main(tests);
}
