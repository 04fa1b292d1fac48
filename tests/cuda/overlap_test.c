/*
 * Sums in parts: gradients that tell when a layer's part is there, and a collective that begins
 * with it. The result is reduce()'s to the last bit; the members' sums stay as they are; what goes
 * wrong ends in an error that says who, and reduce() works behind it.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "cards.h"
#include "collective/collective.h"
#include "compute/fixture.h"
#include "support/support.h"

#define RANKS_MOST 8
#define ROWS       60

struct fleet {
    const struct ga_compute *compute;
    const struct ga_collective *kind;
    struct ga_group *group;
    struct ga_net net;
    size_t ranks, bytes;
    float *inputs, *targets, *weights, *host[2]; /* host: (parameters) */
    struct ga_context *context[RANKS_MOST];
    void *sums[RANKS_MOST], *own[RANKS_MOST], *total[RANKS_MOST];
    void *result;
};

static void ok(int code)
{
    if (code < 0)
        fail_msg("%s", ga_error_text());
}

static void *must(void *block)
{
    if (!block)
        fail_msg("%s", ga_error_text());
    return block;
}

static void assert_says(const char *part)
{
    if (!strstr(ga_error_text(), part))
        fail_msg("\"%s\", expected \"%s\" in it", ga_error_text(), part);
}

static struct ga_batch batch_of(const struct fleet *f, size_t rank)
{
    return (struct ga_batch){
        .inputs = f->inputs, .targets = f->targets, .first = 4 * rank, .count = 7};
}

static int gradient(struct fleet *f, size_t rank, void *sums)
{
    const struct ga_batch batch = batch_of(f, rank);
    struct ga_tally tally;
    return f->compute->gradient(f->context[rank], f->weights, &batch, GA_ASSIGN, sums, &tally);
}

static int reduce(struct fleet *f, void *const *buffers)
{
    return f->kind->reduce(f->group, (const void *const *)buffers, f->result, f->net.parameters,
                           GA_FLOAT32);
}

/* Each rank on a card of its own, with sums of one batch in its accumulator; all is reduced once.
 */
static void fleet_open(struct fleet *f)
{
    static const size_t widths[] = {3, 20, 11, 7, 5, 2}; /* more layers than a tiny net has */
    memset(f, 0, sizeof *f);
    f->compute = test_cuda("fast");
    f->ranks = test_cards(f->compute);
    if (f->ranks < 2)
        ga_test_skip("two cards are needed");
    f->ranks = f->ranks < RANKS_MOST ? f->ranks : RANKS_MOST;
    f->net = test_mlp(5, widths, GA_ACT_RELU, GA_LOSS_MSE, true);
    f->bytes = f->net.parameters * sizeof(float);
    f->kind = ga_collective_for(f->compute, f->ranks);
    assert_non_null(f->kind);
    if (!f->kind->parts)
        ga_test_skip("this build has no NCCL");
    ok(f->kind->open(&f->group, f->ranks));
    f->inputs = test_floats(ROWS * 3, 1, 2);
    f->targets = test_floats(ROWS * 2, 2, 1);
    f->weights = test_floats(f->net.parameters, 4, 1);
    f->host[0] = test_floats(f->net.parameters, 0, 1);
    f->host[1] = test_floats(f->net.parameters, 0, 1);
    f->result = must(ga_buffer_alloc(f->compute, f->bytes, 0));
    for (size_t r = 0; r < f->ranks; r++) {
        ok(f->compute->open(&f->context[r], &f->net, 8));
        f->sums[r] = must(ga_buffer_alloc(f->compute, f->bytes, r));
        f->own[r] = must(ga_buffer_alloc(f->compute, f->bytes, r));
        f->total[r] = must(ga_buffer_alloc(f->compute, f->bytes, r));
        ok(gradient(f, r, f->sums[r]));
    }
    ok(reduce(f, f->sums));
}

static void fleet_close(struct fleet *f)
{
    f->kind->close(f->group);
    for (size_t r = 0; r < f->ranks; r++) {
        f->compute->close(f->context[r]);
        f->compute->free(f->sums[r]);
        f->compute->free(f->own[r]);
        f->compute->free(f->total[r]);
    }
    f->compute->free(f->result);
    free(f->inputs);
    free(f->targets);
    free(f->weights);
    free(f->host[0]);
    free(f->host[1]);
    test_no_faults();
}

/* Who tells, and how wrongly. */
struct teller {
    struct fleet *f;
    size_t rank;
    const void *buffer;
    size_t parts;
    size_t skip;             /* this part; SIZE_MAX: none */
    bool in_bytes, too_soon; /* counts; all with the first mark */
    bool until_fault;        /* behind the last part waits for the fake runtime to find one */
    const void *first_mark;
    int code; /* the first that is bad */
};

static void wait_for_fault(void)
{
    const time_t until = time(NULL) + 20;
    while (!test_fake_faulty() && time(NULL) < until)
        sched_yield();
}

static void tell(void *self, size_t first, size_t count, const void *mark)
{
    struct teller *t = self;
    const size_t scale = t->in_bytes ? sizeof(float) : 1;
    int code = GA_OK;
    t->first_mark = t->parts == 0 ? mark : t->first_mark;
    if (t->parts++ != t->skip)
        code = t->f->kind->parts->part(t->f->group, t->rank, t->buffer, scale * first,
                                       scale * count, t->too_soon ? t->first_mark : mark);
    t->code = t->code < 0 ? t->code : code;
    if (first == 0 && t->until_fault)
        wait_for_fault();
}

/* The rank's second batch, joined to the first where `joined`. */
static int gradient_in_parts(struct fleet *f, struct teller *t, size_t rank, bool joined)
{
    const struct ga_batch batch = batch_of(f, rank + 2);
    const struct ga_told told = {joined ? f->sums[rank] : NULL, f->total[rank], tell, t};
    struct ga_tally tally;
    int code = GA_OK;
    t->f = f;
    t->rank = rank;
    t->buffer = joined ? f->total[rank] : f->own[rank];
    code = f->compute->gradient_in_parts(f->context[rank], f->weights, &batch, f->own[rank], &tally,
                                         &told);
    return code < 0 ? code : t->code;
}

static void begin(struct fleet *f)
{
    assert_int_equal(f->kind->parts->begin(f->group, f->result, f->net.parameters, GA_FLOAT32), 1);
}

static void read_back(struct fleet *f, int host, const void *from)
{
    ok(ga_buffer_copy_out(f->compute, f->host[host], from, f->bytes));
}

/* The result is that of reduce() over the same buffers. */
static void check_result(struct fleet *f, void *const *buffers)
{
    read_back(f, 0, f->result);
    ok(reduce(f, buffers));
    read_back(f, 1, f->result);
    assert_memory_equal(f->host[0], f->host[1], f->bytes);
}

static void check_totals(struct fleet *f)
{
    for (size_t r = 0; r < f->ranks; r++) {
        read_back(f, 0, f->total[r]);
        f->compute->add(&f->net, f->sums[r], f->own[r]);
        read_back(f, 1, f->sums[r]);
        assert_memory_equal(f->host[0], f->host[1], f->bytes);
    }
}

/* Also as graphs, from the second time on, and in any order of ranks. */
static void test_parts_are_the_whole(void **state)
{
    struct fleet f;
    (void)state;
    setenv("GA_CUDA_OVERLAP", "0", 1);
    fleet_open(&f);
    const size_t launches = test_on_the_fake() ? test_fake_launches() : 0;
    for (size_t turn = 0; turn < 6; turn++) {
        const bool joined = turn % 2 == 1;
        begin(&f);
        for (size_t i = 0; i < f.ranks; i++) {
            struct teller t = {.skip = SIZE_MAX};
            ok(gradient_in_parts(&f, &t, (i + turn) % f.ranks, joined));
            assert_int_equal(t.parts, 5);
        }
        ok(f.kind->parts->end(f.group));
        check_result(&f, joined ? f.total : f.own);
        if (joined)
            check_totals(&f);
    }
    if (test_on_the_fake())
        assert_true(test_fake_launches() > launches);
    fleet_close(&f);
    unsetenv("GA_CUDA_OVERLAP");
}

/* Where the sum is small, new to the group, of another kind, or not told. */
static void test_when_there_are_none(void **state)
{
    struct fleet f;
    (void)state;
    fleet_open(&f);
    const struct ga_collective_parts *parts = f.kind->parts;
    const size_t n = f.net.parameters;
    assert_int_equal(parts->begin(f.group, f.result, n, GA_FLOAT32), 0);
    setenv("GA_CUDA_OVERLAP", "0", 1);
    assert_int_equal(parts->begin(f.group, f.result, n - 1, GA_FLOAT32), 0);
    assert_int_equal(parts->begin(f.group, f.result, n, GA_FLOAT64), 0);
    assert_int_equal(parts->begin(f.group, f.sums[1], n, GA_FLOAT32), 0);
    assert_int_equal(parts->end(f.group), GA_ESTATE);
    assert_int_equal(parts->part(f.group, 0, f.sums[0], 0, n, &f), GA_ESTATE);
    begin(&f);
    parts->drop(f.group);
    assert_int_equal(parts->end(f.group), GA_ESTATE);
    assert_int_equal(parts->part(f.group, f.ranks, f.sums[0], 0, n, &f), GA_EINPUT);
    assert_int_equal(parts->part(f.group, 0, f.sums[1], 0, n, &f), GA_EINPUT);
    begin(&f);
    assert_int_equal(parts->part(f.group, 0, f.sums[0], 0, n, NULL), GA_EINPUT);
    assert_int_equal(parts->end(f.group), GA_ESTATE);
    assert_says("replica 0 has not told elements 0 to ");
    ok(reduce(&f, f.sums));
    fleet_close(&f);
    unsetenv("GA_CUDA_OVERLAP");
}

/* One rank makes a mistake, the last one; all others tell as they should. */
static int all_but_the_last(struct fleet *f, struct teller *wrong)
{
    begin(f);
    for (size_t r = 0; r + 1 < f->ranks; r++) {
        struct teller t = {.skip = SIZE_MAX};
        ok(gradient_in_parts(f, &t, r, true));
    }
    return gradient_in_parts(f, wrong, f->ranks - 1, true);
}

static void test_a_rank_that_skips_a_layer(void **state)
{
    struct fleet f;
    (void)state;
    setenv("GA_CUDA_OVERLAP", "0", 1);
    fleet_open(&f);
    for (size_t skip = 0; skip < 5; skip++) {
        struct teller t = {.skip = skip};
        const int code = all_but_the_last(&f, &t);
        assert_int_equal(code, skip < 4 ? GA_EINPUT : GA_OK);
        if (skip < 4)
            assert_says("expected a part that ends before element ");
        assert_int_equal(f.kind->parts->end(f.group), GA_ESTATE);
        assert_says("has not told elements 0 to ");
        ok(reduce(&f, f.total));
    }
    fleet_close(&f);
    unsetenv("GA_CUDA_OVERLAP");
}

static void test_a_count_in_bytes(void **state)
{
    struct teller t = {.skip = SIZE_MAX, .in_bytes = true};
    struct fleet f;
    (void)state;
    setenv("GA_CUDA_OVERLAP", "0", 1);
    fleet_open(&f);
    assert_int_equal(all_but_the_last(&f, &t), GA_EINPUT);
    assert_int_equal(f.kind->parts->end(f.group), GA_ESTATE);
    ok(reduce(&f, f.total));
    fleet_close(&f);
    unsetenv("GA_CUDA_OVERLAP");
}

/* A part that is told with the mark of another one is read too soon, which the fake finds. */
static void test_a_missing_wait(void **state)
{
    struct teller t = {.skip = SIZE_MAX, .too_soon = true, .until_fault = true};
    struct fleet f;
    (void)state;
    if (!test_on_the_fake())
        ga_test_skip("a real card need not notice");
    setenv("GA_CUDA_OVERLAP", "0", 1);
    fleet_open(&f);
    ok(all_but_the_last(&f, &t));
    assert_true(f.kind->parts->end(f.group) < 0);
    test_fault("a wait is missing");
    ok(reduce(&f, f.total));
    fleet_close(&f);
    unsetenv("GA_CUDA_OVERLAP");
}

/* Something goes wrong once all sums are under way; behind it reduce() sums the same buffers. */
static void check_culprit(const char *words, const char *after, const char *says)
{
    struct fleet f;
    if (!test_on_the_fake() || test_cards(test_cuda("fast")) != 3)
        ga_test_skip("three cards of the fake runtime are needed");
    setenv("GA_CUDA_OVERLAP", "0", 1);
    setenv("GA_CUDA_DEADLINE", "0.2", 1);
    fleet_open(&f);
    struct teller t = {.skip = SIZE_MAX};
    test_fake_set(words);
    ok(all_but_the_last(&f, &t));
    assert_int_equal(f.kind->parts->end(f.group), GA_EIO);
    assert_says("NCCL: collective 2, 447 floats: ");
    assert_says(says);
    test_fake_set(after);
    ok(reduce(&f, f.total));
    begin(&f);
    fleet_close(&f);
    unsetenv("GA_CUDA_DEADLINE");
    unsetenv("GA_CUDA_OVERLAP");
}

static void test_a_rank_that_never_arrives(void **state)
{
    (void)state;
    check_culprit("absent=1", "absent=-1", "no answer after 0.2 s from cuda:0 (replica 0), cuda:1");
}

static void test_a_rank_that_fails(void **state)
{
    (void)state;
    check_culprit("async=2", "async=-1", "cuda:2 (replica 2) failed: internal error");
}

/* A card that stops in the middle of its gradient: the gradient fails and names it, the sums that
 * wait for it are given up in time, and the other cards can be used. */
static void test_a_card_that_is_lost(void **state)
{
    struct teller t = {.skip = SIZE_MAX};
    struct fleet f;
    (void)state;
    if (!test_on_the_fake() || test_cards(test_cuda("fast")) != 3)
        ga_test_skip("three cards of the fake runtime are needed");
    setenv("GA_CUDA_OVERLAP", "0", 1);
    setenv("GA_CUDA_DEADLINE", "0.2", 1);
    fleet_open(&f);
    begin(&f);
    ok(gradient_in_parts(&f, &t, 0, false));
    t = (struct teller){.skip = SIZE_MAX};
    ok(gradient_in_parts(&f, &t, 1, false));
    t = (struct teller){.skip = SIZE_MAX};
    test_fake_set("stuck=2");
    assert_int_equal(gradient_in_parts(&f, &t, 2, false), GA_EIO);
    assert_says("cuda:2: a micro-batch: no answer after 0.2 s");
    assert_int_equal(f.kind->parts->end(f.group), GA_EIO);
    assert_says("cuda:2 (replica 2) did not arrive within 0.2 s");
    ok(gradient(&f, 0, f.own[0]));
    fleet_close(&f);
    test_fake_set("stuck=-1 resume");
    test_until_found(f.compute, 2);
    unsetenv("GA_CUDA_DEADLINE");
    unsetenv("GA_CUDA_OVERLAP");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_the_whole),
        cmocka_unit_test(test_when_there_are_none),
        cmocka_unit_test(test_a_rank_that_skips_a_layer),
        cmocka_unit_test(test_a_count_in_bytes),
        cmocka_unit_test(test_a_missing_wait),
        cmocka_unit_test(test_a_rank_that_never_arrives),
        cmocka_unit_test(test_a_rank_that_fails),
        cmocka_unit_test(test_a_card_that_is_lost),
    };
    return ga_test_main(tests);
}
