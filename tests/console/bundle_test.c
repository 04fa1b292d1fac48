/* A backlog of bundles: any number of windows in so many bundles, evenly, and nothing of it lost.
 */
#include <math.h>

#include "console/bundle.h"
#include "support/support.h"

#define WINDOWS UINT64_C(100000)
#define SPIKE   UINT64_C(77777)
#define NAN_AT  UINT64_C(33333)

static double loss_of(uint64_t window)
{
    if (window == SPIKE)
        return 1e6;
    return window == NAN_AT ? (double)NAN : 1 / (double)window;
}

/* Windows from .. of one replica. */
static struct ga_bundle bundle_of(uintptr_t run, uint64_t from, uint64_t count)
{
    struct ga_bundle bundle = {.has_last = true};
    struct ga_figures figures = {0};

    ga_block_begin(&bundle.block, run);
    for (uint64_t w = from; w < from + count; w++) {
        figures = (struct ga_figures){.windows = w, .update = w, .loss = loss_of(w)};
        ga_block_count(&bundle.block, &figures);
        ga_block_widen_replica(&bundle.block, 0, (float)figures.loss);
    }
    bundle.last = ga_figures_sample(run, &figures);
    return bundle;
}

/* Bundles as large as a watch would make them. */
static void fill(struct ga_backlog *backlog)
{
    uint64_t size = 1, w = 1;

    while (w <= WINDOWS) {
        struct ga_bundle bundle = bundle_of(1, w, size < WINDOWS + 1 - w ? size : WINDOWS + 1 - w);

        w += bundle.block.count;
        if (ga_backlog_add(backlog, &bundle))
            size *= 2;
    }
}

static void check_bundle(const struct ga_bundle *bundle, uint64_t from)
{
    const struct ga_block *block = &bundle->block;
    uint64_t end = from + block->count;

    assert_int_equal(block->first.windows, from);
    assert_int_equal(block->newest, end - 1);
    assert_true(block->count == 1 || block->second.windows == from + 1);
    assert_true(bundle->has_last && bundle->last.windows == end - 1);
    assert_int_equal(block->high == 1e6, from <= SPIKE && SPIKE < end);
    assert_int_equal(isnan(block->high), from <= NAN_AT && NAN_AT < end);
    assert_close(block->low, 1 / (double)(end - 1), 1e-12);
    assert_true(block->replica_low[1] > block->replica_high[1]);
}

static void neighbours_become_one_evenly(void **state)
{
    struct ga_backlog backlog;
    const struct ga_bundle *oldest = NULL;
    uint64_t next = 1, least = UINT64_MAX, most = 0;
    size_t count = 0;

    (void)state;
    assert_int_equal(ga_backlog_open(&backlog), 0);
    fill(&backlog);
    for (; (oldest = ga_backlog_oldest(&backlog)); count++) {
        check_bundle(oldest, next);
        next += oldest->block.count;
        most = oldest->block.count > most ? oldest->block.count : most;
        if (next <= WINDOWS)
            least = oldest->block.count < least ? oldest->block.count : least;
        ga_backlog_drop_oldest(&backlog);
    }
    assert_int_equal(next, WINDOWS + 1);
    assert_in_range(count, GA_BACKLOG / 2, GA_BACKLOG);
    assert_true(most <= 2 * least);
    ga_backlog_close(&backlog);
}

static void samples_are_the_ends_and_the_last(void **state)
{
    struct ga_sample sample[GA_BUNDLE_SAMPLES];
    struct ga_bundle bundle = bundle_of(1, SPIKE - 5, 10);

    (void)state;
    assert_int_equal(ga_bundle_samples(&bundle, sample), 3);
    assert_int_equal(sample[0].windows, SPIKE - 5);
    assert_close(sample[0].loss, 1 / (double)(SPIKE + 4), 1e-12);
    assert_int_equal(sample[1].windows, SPIKE - 4);
    assert_close(sample[1].loss, 1e6, 0);
    assert_int_equal(sample[1].replicas, 1);
    assert_int_equal(sample[2].windows, SPIKE + 4);
    bundle.has_last = false;
    assert_int_equal(ga_bundle_samples(&bundle, sample), 2);
    bundle = bundle_of(1, 5, 2);
    assert_int_equal(ga_bundle_samples(&bundle, sample), 2);
    assert_close(sample[0].loss, 0.2, 0);
    bundle = bundle_of(1, 5, 1);
    assert_int_equal(ga_bundle_samples(&bundle, sample), 1);
    assert_int_equal(sample[0].windows, 5);
}

static void what_goes_on_from_further_back_takes_the_place(void **state)
{
    const struct ga_bundle again = bundle_of(1, 40, 10), other = bundle_of(2, 60, 3);
    struct ga_bundle bundle = bundle_of(1, 50, 10);

    (void)state;
    ga_bundle_merge(&bundle, &again);
    assert_int_equal(bundle.block.count, 10);
    assert_int_equal(bundle.block.first.windows, 40);
    ga_bundle_merge(&bundle, &other);
    assert_int_equal(bundle.block.run, 2);
    assert_int_equal(bundle.block.count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_become_one_evenly),
        cmocka_unit_test(samples_are_the_ends_and_the_last),
        cmocka_unit_test(what_goes_on_from_further_back_takes_the_place),
    };

    return ga_test_main(tests);
}
