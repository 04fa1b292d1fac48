/*
 * Collectives between cards, as the contract of the transports has it: inputs with exact sums, any
 * members, buffers on all cards. And what happens when a rank fails or never comes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cards.h"
#include "collective/collective.h"
#include "support/support.h"

#define RANKS 16

struct fleet {
    const struct ga_compute *compute;
    const struct ga_collective *kind;
    struct ga_group *group;
    size_t cards, ranks, count, bytes;
    enum ga_type type;
    void *buffer[RANKS]; /* NULL: takes no part */
    void *result;
    void *host; /* one buffer's worth */
};

static void ok(int code)
{
    if (code < 0)
        fail_msg("%s", ga_error_text());
}

/* Whole numbers of at most 12 bits in steps of `unit`: any order of adding gives the same bits. */
static double input(size_t rank, size_t i, enum ga_type type)
{
    const double unit = type == GA_FLOAT32 ? 0x1p-3 : 0x1p-44;
    return unit * (double)((rank * 37 + i * 101 + rank * i) % 4096) * (i % 2 ? -1 : 1);
}

static double get(const void *buffer, enum ga_type type, size_t i)
{
    return type == GA_FLOAT32 ? (double)((const float *)buffer)[i] : ((const double *)buffer)[i];
}

/* Each member's own input into its buffer. */
static void fleet_fill(struct fleet *f)
{
    for (size_t rank = 0; rank < f->ranks; rank++) {
        if (!f->buffer[rank])
            continue;
        for (size_t i = 0; i < f->count; i++) {
            if (f->type == GA_FLOAT32)
                ((float *)f->host)[i] = (float)input(rank, i, f->type);
            else
                ((double *)f->host)[i] = input(rank, i, f->type);
        }
        ok(ga_buffer_copy_in(f->compute, f->buffer[rank], f->host, f->bytes));
    }
}

/* Rank r lies on card r mod cards; without members only the result is there. */
static void fleet_open(struct fleet *f, size_t ranks, size_t count, enum ga_type type, int members)
{
    memset(f, 0, sizeof *f);
    f->compute = test_cuda("exact");
    f->kind = ga_collective_for(f->compute, ranks);
    assert_non_null(f->kind);
    f->cards = test_cards(f->compute);
    f->ranks = ranks;
    f->count = count;
    f->type = type;
    f->bytes = count * ga_type_bytes(type);
    ok(f->kind->open(&f->group, ranks));
    f->host = malloc(f->bytes + 1);
    assert_non_null(f->host);
    f->result = ga_buffer_alloc(f->compute, f->bytes, ranks % f->cards);
    assert_non_null(f->result);
    for (size_t rank = 0; rank < ranks; rank++) {
        const bool part[] = {true, rank != 0, rank % 3 == 1, rank + 1 == ranks, false};
        if (!part[members])
            continue;
        f->buffer[rank] = ga_buffer_alloc(f->compute, f->bytes, rank % f->cards);
        assert_non_null(f->buffer[rank]);
    }
    fleet_fill(f);
}

#define MEMBER_KINDS 5

static void fleet_close(struct fleet *f)
{
    for (size_t rank = 0; rank < f->ranks; rank++)
        f->compute->free(f->buffer[rank]);
    f->compute->free(f->result);
    f->kind->close(f->group);
    free(f->host);
    test_no_faults();
}

/* The buffer holds the sum of all members' inputs, or one rank's input. */
static void check(struct fleet *f, const void *buffer, size_t of)
{
    ok(ga_buffer_copy_out(f->compute, f->host, buffer, f->bytes));
    for (size_t i = 0; i < f->count; i++) {
        double want = of < f->ranks ? input(of, i, f->type) : 0;
        for (size_t rank = 0; rank < f->ranks && of >= f->ranks; rank++)
            want += f->buffer[rank] ? input(rank, i, f->type) : 0;
        if (get(f->host, f->type, i) != want)
            fail_msg("%zu ranks, element %zu of %zu: %a, expected %a", f->ranks, i, f->count,
                     get(f->host, f->type, i), want);
    }
}

static void check_reduce(struct fleet *f)
{
    ok(f->kind->reduce(f->group, (const void *const *)f->buffer, f->result, f->count, f->type));
    check(f, f->result, f->ranks);
    for (size_t rank = 0; rank < f->ranks; rank++)
        if (f->buffer[rank])
            check(f, f->buffer[rank], rank);
}

static void check_all_reduce(struct fleet *f)
{
    ok(f->kind->all_reduce(f->group, f->buffer, f->count, f->type));
    for (size_t rank = 0; rank < f->ranks; rank++)
        if (f->buffer[rank])
            check(f, f->buffer[rank], f->ranks);
}

static void check_broadcast(struct fleet *f)
{
    const size_t root = f->ranks / 2;
    if (!f->buffer[root]) {
        assert_int_equal(f->kind->broadcast(f->group, f->buffer, root, f->count, f->type),
                         GA_EINPUT);
        return;
    }
    ok(f->kind->broadcast(f->group, f->buffer, root, f->count, f->type));
    for (size_t rank = 0; rank < f->ranks; rank++)
        if (f->buffer[rank])
            check(f, f->buffer[rank], root);
}

static void sweep(void (*work)(struct fleet *f))
{
    static const size_t ranks[] = {1, 2, 3, 5, 8, 16};
    static const size_t counts[] = {0, 1, 7, 255, 1000};
    for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (int members = 0; members < MEMBER_KINDS; members++) {
                struct fleet f;
                fleet_open(&f, ranks[r], counts[c], (r + c) % 2 ? GA_FLOAT32 : GA_FLOAT64, members);
                work(&f);
                if (work == check_reduce) /* again, with all that is open by now */
                    work(&f);
                fleet_close(&f);
            }
}

static void test_reduce(void **state)
{
    (void)state;
    sweep(check_reduce);
}

static void test_all_reduce(void **state)
{
    (void)state;
    sweep(check_all_reduce);
}

static void test_broadcast(void **state)
{
    (void)state;
    sweep(check_broadcast);
}

/* By copies, the same bits. */
static void test_without_nccl(void **state)
{
    (void)state;
    setenv("GA_NCCL", "0", 1);
    sweep(check_reduce);
    sweep(check_all_reduce);
    unsetenv("GA_NCCL");
}

static void test_refusals(void **state)
{
    struct fleet f;
    (void)state;
    struct ga_group *none = NULL;
    fleet_open(&f, 2, 4, GA_FLOAT64, 0);
    assert_int_equal(f.kind->open(&none, 0), GA_EINPUT);
    assert_null(none);
    assert_int_equal(
        f.kind->reduce(f.group, (const void *const *)f.buffer, f.result, SIZE_MAX, GA_FLOAT64),
        GA_ERANGE);
    f.kind->abort(f.group);
    assert_int_equal(f.kind->all_reduce(f.group, f.buffer, f.count, f.type), GA_ESTATE);
    assert_int_equal(f.kind->poll(f.group), GA_ESTATE);
    fleet_close(&f);
}

static int reduce(struct fleet *f)
{
    return f->kind->reduce(f->group, (const void *const *)f->buffer, f->result, f->count, f->type);
}

static void assert_says(const char *part)
{
    if (!strstr(ga_error_text(), part))
        fail_msg("\"%s\", expected \"%s\" in it", ga_error_text(), part);
}

/* Something goes wrong in the third collective of five replicas on three cards: an error with the
 * culprit, within the deadline; the buffers are as they were and can be reduced again. After a
 * failed all-reduce a new group works. */
static void check_culprit(const char *words, const char *const *says, const char *after)
{
    struct fleet f;
    if (!test_on_the_fake())
        ga_test_skip("only the fake runtime fails on demand");
    if (test_cards(test_cuda("exact")) != 3)
        ga_test_skip("three cards are needed");
    setenv("GA_CUDA_DEADLINE", "0.2", 1);
    fleet_open(&f, 5, 100, GA_FLOAT64, 0);
    ok(reduce(&f));
    ok(reduce(&f));
    test_fake_set(words);
    assert_int_equal(reduce(&f), GA_EIO);
    for (size_t i = 0; says[i]; i++)
        assert_says(says[i]);
    test_fake_set(after);
    check_reduce(&f);
    test_fake_set(words);
    assert_int_equal(f.kind->all_reduce(f.group, f.buffer, f.count, f.type), GA_EIO);
    assert_int_equal(f.kind->all_reduce(f.group, f.buffer, f.count, f.type), GA_ESTATE);
    test_fake_set(after);
    f.kind->close(f.group);
    fleet_fill(&f);
    ok(f.kind->open(&f.group, f.ranks));
    check_reduce(&f);
    fleet_close(&f);
    unsetenv("GA_CUDA_DEADLINE");
}

static void test_a_rank_that_never_ends(void **state)
{
    static const char *const says[] = {"collective 3, 100 doubles: no answer after 0.2 s from ",
                                       "cuda:1 (replicas 1, 4)", NULL};
    (void)state;
    check_culprit("absent=1", says, "absent=-1");
}

static void test_a_rank_that_fails(void **state)
{
    static const char *const says[] = {
        "collective 3, 100 doubles: cuda:2 (replica 2) failed: ", "internal error", NULL};
    (void)state;
    check_culprit("async=2", says, "async=-1");
}

/* A card whose work before the sum does not end is named, and the others wait; it is lost until a
 * run starts anew after it has ended. What it held is left with it, for freeing would not return.
 */
static void test_a_card_that_is_stuck(void **state)
{
    struct fleet f;
    (void)state;
    if (!test_on_the_fake() || test_cards(test_cuda("exact")) != 3)
        ga_test_skip("three cards of the fake runtime are needed");
    setenv("GA_CUDA_DEADLINE", "0.2", 1);
    fleet_open(&f, 5, 100, GA_FLOAT64, 0);
    ok(reduce(&f));
    test_fake_set("stuck=1");
    assert_int_equal(reduce(&f), GA_EIO);
    assert_says("collective 2, 100 doubles: cuda:1 (replicas 1, 4) did not arrive within 0.2 s, "
                "the last it reached is 1");
    assert_says("there waited: cuda:0 (replicas 0, 3), cuda:2 (replica 2)");
    ga_buffer_revive(f.compute);
    assert_int_equal(reduce(&f), GA_EIO);
    assert_says("cuda:1: a sum over cards: no answer yet");
    fleet_close(&f);
    test_fake_set("stuck=-1 resume");
    ga_buffer_revive(f.compute);
    fleet_open(&f, 5, 100, GA_FLOAT64, 0);
    check_reduce(&f);
    fleet_close(&f);
    unsetenv("GA_CUDA_DEADLINE");
}

/* A call that does not return holds nobody else up: its card is named and lost, and the others can
 * be used; once it has returned the card is found again. */
static void test_a_call_that_does_not_return(void **state)
{
    struct fleet f;
    (void)state;
    if (!test_on_the_fake() || test_cards(test_cuda("exact")) != 3)
        ga_test_skip("three cards of the fake runtime are needed");
    setenv("GA_CUDA_DEADLINE", "0.2", 1);
    fleet_open(&f, 5, 100, GA_FLOAT64, 0);
    ok(reduce(&f));
    test_fake_set("jam=1");
    assert_int_equal(reduce(&f), GA_EIO);
    ga_buffer_revive(f.compute); /* too early: the call is still there */
    assert_says("collective 2, 100 doubles: cuda:1 (replicas 1, 4) did not arrive within 0.2 s");
    for (size_t rank = 1; rank < f.ranks; rank += 3) {
        f.compute->free(f.buffer[rank]); /* stays with the lost card */
        f.buffer[rank] = NULL;
    }
    check_reduce(&f);
    fleet_close(&f);
    ga_buffer_revive(f.compute);
    test_fake_set("jam=-1");
    test_until_found(f.compute, 1);
    fleet_open(&f, 5, 100, GA_FLOAT64, 0);
    check_reduce(&f);
    fleet_close(&f);
    unsetenv("GA_CUDA_DEADLINE");
}

/* What a caller might get wrong ends in an error, and the fake knows why. */
static void check_planted(struct fleet *f, int code, const char *fault)
{
    if (code >= 0)
        fail_msg("no error, expected one with \"%s\"", fault);
    if (fault)
        test_fault(fault);
    f->kind->close(f->group);
    ok(f->kind->open(&f->group, f->ranks));
    check_reduce(f);
}

static void test_planted_faults(void **state)
{
    struct fleet f;
    void *own = NULL;
    (void)state;
    if (!test_on_the_fake())
        ga_test_skip("a real card need not notice");
    fleet_open(&f, 5, 100, GA_FLOAT64, 0);
    check_planted(&f, f.kind->all_reduce(f.group, f.buffer, f.bytes, f.type),
                  f.cards < 5 ? "no memory of a device" : "shorter than the count");
    own = f.buffer[3];
    f.buffer[3] = f.host;
    assert_int_equal(reduce(&f), GA_EINTERNAL);
    assert_says("a buffer of a GPU was expected");
    f.buffer[3] = own;
    check_planted(&f, GA_EINTERNAL, NULL);
    fleet_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_all_reduce),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_without_nccl),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_a_rank_that_never_ends),
        cmocka_unit_test(test_a_rank_that_fails),
        cmocka_unit_test(test_a_card_that_is_stuck),
        cmocka_unit_test(test_a_call_that_does_not_return),
        cmocka_unit_test(test_planted_faults),
    };
    return ga_test_main(tests);
}
