/*
 * What every transport must do, run over the registry. Inputs have exact sums (small whole numbers,
 * and the multiples of powers of two that exact gradient sums are), so that any order of adding
 * gives the same bits.
 */
#include "support/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collective/collective.h"

static const size_t ranks[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64};
static const size_t counts[] = {0, 1, 2, 3, 7, 31, 64, 255, 1000, 4097};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Which members of a group take part. */
enum members { ALL, NO_FIRST, NO_LAST, EVERY_THIRD, ONLY_LAST, NONE, MEMBER_KINDS };

static bool takes_part(enum members members, size_t rank, size_t of)
{
    const bool part[MEMBER_KINDS] = {
        [ALL] = true,
        [NO_FIRST] = rank != 0,
        [NO_LAST] = rank + 1 != of,
        [EVERY_THIRD] = rank % 3 == 1,
        [ONLY_LAST] = rank + 1 == of,
        [NONE] = false,
    };

    return part[members];
}

/* Whole numbers of at most 12 bits in steps of `unit`: 64 of them add without rounding. */
static double input(size_t rank, size_t i, double unit)
{
    return unit * (double)((rank * 37 + i * 101 + rank * i) % 4096) * (i % 2 ? -1 : 1);
}

struct fleet {
    const struct ga_collective *kind;
    struct ga_group *group;
    size_t ranks, count;
    enum ga_type type;
    enum members members;
    double unit;
    void *buffer[64]; /* NULL: takes no part */
    void *result;
};

static void put(void *buffer, enum ga_type type, size_t i, double value)
{
    if (type == GA_FLOAT32)
        ((float *)buffer)[i] = (float)value;
    else
        ((double *)buffer)[i] = value;
}

static double get(const void *buffer, enum ga_type type, size_t i)
{
    return type == GA_FLOAT32 ? (double)((const float *)buffer)[i] : ((const double *)buffer)[i];
}

static void fill(struct fleet *fleet)
{
    for (size_t rank = 0; rank < fleet->ranks; rank++)
        for (size_t i = 0; fleet->buffer[rank] && i < fleet->count; i++)
            put(fleet->buffer[rank], fleet->type, i, input(rank, i, fleet->unit));
}

static void open_fleet(struct fleet *fleet)
{
    size_t bytes = fleet->count * ga_type_bytes(fleet->type) + 8; /* never malloc(0) */

    if (fleet->kind->open(&fleet->group, fleet->ranks) < 0)
        fail_msg("%s, %zu ranks: %s", fleet->kind->name, fleet->ranks, ga_error_text());
    for (size_t rank = 0; rank < fleet->ranks; rank++) {
        fleet->buffer[rank] = takes_part(fleet->members, rank, fleet->ranks) ? malloc(bytes) : NULL;
        if (fleet->buffer[rank])
            memset(fleet->buffer[rank], 0x5a, bytes);
    }
    fleet->result = malloc(bytes);
    assert_non_null(fleet->result);
    memset(fleet->result, 0x5a, bytes);
    fill(fleet);
}

static void close_fleet(struct fleet *fleet)
{
    for (size_t rank = 0; rank < fleet->ranks; rank++)
        free(fleet->buffer[rank]);
    free(fleet->result);
    fleet->kind->close(fleet->group);
}

static double sum_of(const struct fleet *fleet, size_t i)
{
    double sum = 0;

    for (size_t rank = 0; rank < fleet->ranks; rank++)
        if (fleet->buffer[rank])
            sum += input(rank, i, fleet->unit);
    return sum;
}

static void check_ends(const struct fleet *fleet, const void *buffer)
{
    const unsigned char *end =
        (const unsigned char *)buffer + fleet->count * ga_type_bytes(fleet->type);

    for (int k = 0; k < 8; k++)
        assert_int_equal(end[k], 0x5a);
}

static void check_all_reduce(struct fleet *fleet)
{
    open_fleet(fleet);
    assert_int_equal(
        fleet->kind->all_reduce(fleet->group, fleet->buffer, fleet->count, fleet->type), GA_OK);
    for (size_t rank = 0; rank < fleet->ranks; rank++) {
        if (!fleet->buffer[rank])
            continue;
        for (size_t i = 0; i < fleet->count; i++)
            assert_true(get(fleet->buffer[rank], fleet->type, i) == sum_of(fleet, i));
        check_ends(fleet, fleet->buffer[rank]);
    }
    assert_int_equal(fleet->kind->poll(fleet->group), GA_OK);
    close_fleet(fleet);
}

/* The members' buffers stay as they are; without any member the sum is 0. */
static void check_reduce(struct fleet *fleet)
{
    open_fleet(fleet);
    assert_int_equal(fleet->kind->reduce(fleet->group, (const void *const *)fleet->buffer,
                                         fleet->result, fleet->count, fleet->type),
                     GA_OK);
    for (size_t i = 0; i < fleet->count; i++) {
        assert_true(get(fleet->result, fleet->type, i) == sum_of(fleet, i));
        for (size_t rank = 0; rank < fleet->ranks; rank++)
            if (fleet->buffer[rank])
                assert_true(get(fleet->buffer[rank], fleet->type, i) ==
                            input(rank, i, fleet->unit));
    }
    check_ends(fleet, fleet->result);
    close_fleet(fleet);
}

static void check_broadcast(struct fleet *fleet)
{
    for (size_t root = 0; root < fleet->ranks; root += 1 + fleet->ranks / 3) {
        open_fleet(fleet);
        if (fleet->buffer[root]) {
            assert_int_equal(fleet->kind->broadcast(fleet->group, fleet->buffer, root, fleet->count,
                                                    fleet->type),
                             GA_OK);
            for (size_t rank = 0; rank < fleet->ranks; rank++)
                for (size_t i = 0; fleet->buffer[rank] && i < fleet->count; i++)
                    assert_true(get(fleet->buffer[rank], fleet->type, i) ==
                                input(root, i, fleet->unit));
        } else {
            assert_int_equal(fleet->kind->broadcast(fleet->group, fleet->buffer, root, fleet->count,
                                                    fleet->type),
                             GA_EINPUT);
        }
        close_fleet(fleet);
    }
}

/* Every transport, number of ranks, count, type and set of members. */
static void sweep(void (*check)(struct fleet *fleet))
{
    for (size_t k = 0; k < ga_collective_count(); k++)
        for (size_t r = 0; r < COUNT(ranks); r++)
            for (size_t c = 0; c < COUNT(counts); c++)
                for (int members = 0; members < MEMBER_KINDS; members++) {
                    struct fleet fleet = {
                        .kind = ga_collective_at(k),
                        .ranks = ranks[r],
                        .count = counts[c],
                        .members = (enum members)members,
                        .type = (r + c) % 2 ? GA_FLOAT32 : GA_FLOAT64,
                        .unit = (r + c) % 2 ? 0x1p-3 : 0x1p-44,
                    };

                    if (fleet.kind->ranks_limit == 0 || fleet.ranks <= fleet.kind->ranks_limit)
                        check(&fleet);
                }
}

static void test_all_reduce(void **state)
{
    (void)state;
    sweep(check_all_reduce);
}

static void test_reduce(void **state)
{
    (void)state;
    sweep(check_reduce);
}

static void test_broadcast(void **state)
{
    (void)state;
    sweep(check_broadcast);
}

/* Sums of infinities and NaN are what IEEE says. */
static void test_special_values(void **state)
{
    (void)state;
    for (size_t k = 0; k < ga_collective_count(); k++) {
        const struct ga_collective *kind = ga_collective_at(k);
        double a[4] = {__builtin_inf(), __builtin_nan(""), -0.0, 1},
               b[4] = {-__builtin_inf(), 1, -0.0, -1}, out[4];
        void *buffers[2] = {a, b};
        struct ga_group *group = NULL;

        assert_int_equal(kind->open(&group, 2), GA_OK);
        assert_int_equal(kind->reduce(group, (const void *const *)buffers, out, 4, GA_FLOAT64),
                         GA_OK);
        assert_true(out[0] != out[0] && out[1] != out[1]);
        assert_true(out[2] == 0 && out[3] == 0);
        kind->close(group);
    }
}

static void test_a_large_count(void **state)
{
    (void)state;
    for (size_t k = 0; k < ga_collective_count(); k++) {
        struct fleet fleet = {
            .kind = ga_collective_at(k),
            .ranks = 3,
            .count = 1000003,
            .type = GA_FLOAT64,
            .unit = 0x1p-8,
        };

        check_all_reduce(&fleet);
        check_reduce(&fleet);
    }
}

static void test_impossible_requests(void **state)
{
    (void)state;
    for (size_t k = 0; k < ga_collective_count(); k++) {
        const struct ga_collective *kind = ga_collective_at(k);
        struct ga_group *group = NULL;
        double a = 1, b = 2;
        void *buffers[2] = {&a, &b};

        assert_int_equal(kind->open(&group, 0), GA_EINPUT);
        assert_null(group);
        assert_int_equal(kind->open(&group, 2), GA_OK);
        assert_int_equal(kind->broadcast(group, buffers, 2, 1, GA_FLOAT64), GA_EINPUT);
        assert_int_equal(kind->broadcast(group, buffers, SIZE_MAX, 1, GA_FLOAT64), GA_EINPUT);
        assert_true(a == 1 && b == 2);
        kind->close(group);
        assert_int_equal(kind->open(&group, 2), GA_OK);
        assert_int_equal(kind->all_reduce(group, buffers, SIZE_MAX / 2, GA_FLOAT64), GA_ERANGE);
        assert_true(a == 1 && b == 2);
        kind->close(group);
        kind->close(NULL);
    }
}

struct aborter {
    const struct ga_collective *kind;
    struct ga_group *group;
};

static void *abort_it(void *arg)
{
    struct aborter *aborter = arg;

    aborter->kind->abort(aborter->group);
    return NULL;
}

/* From any thread: what is under way or comes later fails, and the group can still be closed. */
static void test_abort(void **state)
{
    (void)state;
    for (size_t k = 0; k < ga_collective_count(); k++) {
        struct aborter aborter = {.kind = ga_collective_at(k)};
        double a = 1, b = 2, out = 9;
        void *buffers[2] = {&a, &b};
        pthread_t thread;

        assert_int_equal(aborter.kind->open(&aborter.group, 2), GA_OK);
        assert_int_equal(aborter.kind->poll(aborter.group), GA_OK);
        assert_int_equal(pthread_create(&thread, NULL, abort_it, &aborter), 0);
        while (aborter.kind->poll(aborter.group) == GA_OK)
            ;
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(aborter.kind->poll(aborter.group), GA_ESTATE);
        assert_non_null(strstr(ga_error_text(), "abort"));
        assert_int_equal(aborter.kind->all_reduce(aborter.group, buffers, 1, GA_FLOAT64),
                         GA_ESTATE);
        assert_int_equal(
            aborter.kind->reduce(aborter.group, (const void *const *)buffers, &out, 1, GA_FLOAT64),
            GA_ESTATE);
        assert_int_equal(aborter.kind->broadcast(aborter.group, buffers, 0, 1, GA_FLOAT64),
                         GA_ESTATE);
        assert_true(a == 1 && b == 2 && out == 9);
        aborter.kind->abort(aborter.group);
        aborter.kind->close(aborter.group);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    for (size_t k = 0; k < ga_collective_count(); k++) {
        struct ga_group *group = NULL;
        int code = GA_ENOMEM;

        for (int64_t limit = 0; code < 0; limit++) {
            ga_test_allocation_limit(limit);
            code = ga_collective_at(k)->open(&group, 8);
            ga_test_allocation_free();
            assert_true(code == GA_OK || (code == GA_ENOMEM && !group));
        }
        ga_collective_at(k)->close(group);
    }
}

/* Each entry is complete, found by its name, and says why it is what it is. */
static void test_registry(void **state)
{
    (void)state;
    assert_true(ga_collective_count() > 0);
    assert_null(ga_collective_at(ga_collective_count()));
    assert_ptr_equal(ga_collective_find("", 4096), ga_collective_find("shared", 4096));
    for (size_t k = 0; k < ga_collective_count(); k++) {
        const struct ga_collective *kind = ga_collective_at(k);

        assert_ptr_equal(ga_collective_find(kind->name, 1), kind);
        assert_true(kind->reason && strlen(kind->reason) > 5);
        assert_true(kind->open && kind->close && kind->all_reduce && kind->reduce);
        assert_true(kind->broadcast && kind->poll && kind->abort);
    }
    assert_null(ga_collective_find("pigeon", 2));
    assert_int_equal(ga_error_code(), GA_EUNSUPPORTED);
    assert_non_null(strstr(ga_error_text(), "expected shared"));
}

/* 2 (P-1)/P of the bytes per rank. */
static void test_ring_bytes(void **state)
{
    (void)state;
    assert_true(ga_collective_ring_bytes(0, 100) == 0);
    assert_true(ga_collective_ring_bytes(1, 100) == 0);
    assert_true(ga_collective_ring_bytes(2, 100) == 100);
    assert_true(ga_collective_ring_bytes(4, 100) == 150);
    assert_close(ga_collective_ring_bytes(3, 100), 400.0 / 3, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_reduce),    cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_broadcast),     cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_a_large_count), cmocka_unit_test(test_impossible_requests),
        cmocka_unit_test(test_abort),         cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_registry),      cmocka_unit_test(test_ring_bytes),
    };

    return ga_test_main(tests);
}
