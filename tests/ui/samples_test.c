/* Recorded curves: the pyramid against brute force, going back and on, thinning, memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"
#include "ui/curve.h"
#include "ui/samples.h"

static uint64_t seed = 1;

static uint32_t random_bits(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33);
}

/* Mostly ordinary values; now and then zero, negative, huge, not finite or missing. */
static float random_value(void)
{
    switch (random_bits() % 24) {
    case 0:
        return NAN;
    case 1:
        return INFINITY;
    case 2:
        return -INFINITY;
    case 3:
        return 0;
    case 4:
        return ga_curve_missing();
    case 5:
        return -(float)random_bits();
    case 6:
        return 3e38f;
    default:
        return (float)random_bits() * 1e-6f;
    }
}

static struct ga_extent brute(const float *value, size_t first, size_t end, bool positive)
{
    struct ga_extent extent = GA_EXTENT_NONE;

    for (size_t i = first; i < end; i++) {
        if (ga_curve_is_missing(value[i]))
            continue;
        if (!isfinite(value[i])) {
            extent.nonfinite++;
            continue;
        }
        if (positive && value[i] <= 0)
            continue;
        extent.low = fmin(extent.low, (double)value[i]);
        extent.high = fmax(extent.high, (double)value[i]);
        extent.first = isnan(extent.first) ? (double)value[i] : extent.first;
        extent.last = (double)value[i];
    }
    return extent;
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_extent(const struct ga_curve *curve, const float *value, size_t first, size_t end)
{
    for (int positive = 0; positive < 2; positive++) {
        struct ga_extent want = brute(value, first, end, positive);
        struct ga_extent got = ga_curve_extent(curve, first, end, positive);

        if (!same_number(want.low, got.low) || !same_number(want.high, got.high) ||
            !same_number(want.first, got.first) || !same_number(want.last, got.last) ||
            want.nonfinite != got.nonfinite)
            fail_msg("rows %zu..%zu, positive %d: low %g %g high %g %g first %g %g last %g %g "
                     "not finite %zu %zu",
                     first, end, positive, want.low, got.low, want.high, got.high, want.first,
                     got.first, want.last, got.last, want.nonfinite, got.nonfinite);
    }
}

static void the_pyramid_agrees_with_brute_force(void **state)
{
    enum { ROWS = 3000 };
    static float value[ROWS];
    struct ga_curve curve;
    size_t rows = 0;

    (void)state;
    ga_curve_init(&curve);
    for (size_t round = 0; round < ga_test_count(40); round++) {
        size_t grow = random_bits() % 300, back = random_bits() % 200;

        for (size_t i = 0; i < grow && rows < ROWS; i++, rows++) {
            value[rows] = rows < 3 ? ga_curve_missing() : random_value();
            assert_int_equal(ga_curve_append(&curve, rows, value[rows]), 0);
        }
        for (size_t i = 0; i < 200; i++) {
            size_t first = random_bits() % (rows + 1), end = random_bits() % (rows + 40);

            if (first <= end && end <= rows)
                check_extent(&curve, value, first, end);
            else if (first <= rows && end > rows)
                check_extent(&curve, value, first, rows);
        }
        rows = rows > back ? rows - back : 0;
        ga_curve_truncate(&curve, rows);
    }
    ga_curve_fini(&curve);
}

static struct ga_sample sample_of(uint64_t windows, double loss)
{
    return (struct ga_sample){
        .run = 1,
        .windows = windows,
        .update = windows,
        .examples = windows * 10,
        .time_ns = (int64_t)windows * 1000000,
        .wall_ns = 5000000000 + (int64_t)windows * 1000,
        .applied = true,
        .replicas = 2,
        .loss = loss,
        .grad_norm = loss * 2,
        .update_norm = loss / 2,
        .noise_scale = (double)NAN,
        .staleness = 0,
        .replica = {{true, true, (float)loss, 1}, {windows > 4, windows > 4, (float)loss, 2}}};
}

static struct ga_samples *filled(size_t limit, uint64_t windows)
{
    struct ga_samples *samples = NULL;

    assert_int_equal(ga_samples_open(&samples, limit), 0);
    for (uint64_t w = 1; w <= windows; w++) {
        struct ga_sample sample = sample_of(w, 100.0 / (double)w);

        assert_int_equal(ga_samples_append(samples, &sample), 0);
    }
    return samples;
}

static void place(struct ga_samples *samples, uint64_t windows)
{
    struct ga_sample sample = {.run = 1, .windows = windows, .place = true};

    assert_int_equal(ga_samples_append(samples, &sample), 0);
}

static void one_spike_in_a_million_stays(void **state)
{
    struct ga_samples *samples = filled(0, 0);
    size_t rows = ga_test_count(1000000), spike = rows / 3;

    (void)state;
    for (size_t w = 1; w <= rows; w++) {
        struct ga_sample sample = sample_of(w, w == spike ? 1e6 : 1);

        assert_int_equal(ga_samples_append(samples, &sample), 0);
    }
    struct ga_extent all =
        ga_samples_extent(samples, GA_SERIES_LOSS, 0, ga_samples_count(samples), true);
    assert_close(all.high, 1e6, 0);
    assert_close(all.low, 1, 0);
    /* and near its place, whatever was thinned */
    size_t at = ga_samples_find(samples, GA_X_UPDATES, (double)spike - 64);
    size_t end = ga_samples_find(samples, GA_X_UPDATES, (double)spike + 64);
    assert_close(ga_samples_extent(samples, GA_SERIES_LOSS, at, end, false).high, 1e6, 0);
    assert_true(ga_samples_count(samples) <= GA_SAMPLES_LIMIT);
    ga_samples_close(samples);
}

static void thinning_keeps_extremes_strangers_and_ends(void **state)
{
    struct ga_samples *samples = NULL;
    double low = INFINITY, high = -INFINITY;
    uint64_t rows = 5000;

    (void)state;
    assert_int_equal(ga_samples_open(&samples, 512), 0);
    for (uint64_t w = 1; w <= rows; w++) {
        double loss = w == 777 ? (double)NAN : 1 + (double)(random_bits() % 100000);
        struct ga_sample sample = sample_of(w, loss);

        if (isfinite(loss)) {
            low = fmin(low, loss);
            high = fmax(high, loss);
        }
        assert_int_equal(ga_samples_append(samples, &sample), 0);
        assert_true(ga_samples_count(samples) <= 512);
    }
    size_t count = ga_samples_count(samples);
    struct ga_extent all = ga_samples_extent(samples, GA_SERIES_LOSS, 0, count, false);
    assert_close(all.low, low, 1e-6);
    assert_close(all.high, high, 1e-6);
    assert_int_equal(all.nonfinite, 1);
    assert_close(ga_samples_x(samples, GA_X_UPDATES, count - 1), (double)rows, 0);
    for (size_t row = 1; row < count; row++)
        assert_true(ga_samples_x(samples, GA_X_UPDATES, row) >
                    ga_samples_x(samples, GA_X_UPDATES, row - 1));
    ga_samples_close(samples);
}

static void going_back_hides_and_coming_again_shows(void **state)
{
    struct ga_samples *samples = filled(0, 100);

    (void)state;
    place(samples, 60);
    assert_int_equal(ga_samples_count(samples), 60);
    assert_close(ga_samples_x(samples, GA_X_UPDATES, 59), 60, 0);
    assert_true(isnan(ga_samples_x(samples, GA_X_UPDATES, 60)));
    assert_true(ga_samples_missing(samples, GA_SERIES_LOSS, 60));
    /* The same window again, as when the run replays it: what lies behind it is kept. */
    struct ga_sample again = sample_of(61, 100.0 / 61);
    assert_int_equal(ga_samples_append(samples, &again), 0);
    assert_int_equal(ga_samples_count(samples), 61);
    place(samples, 90);
    assert_int_equal(ga_samples_count(samples), 90);
    ga_samples_close(samples);
}

static void a_new_future_replaces_the_old_one(void **state)
{
    struct ga_samples *samples = filled(0, 100);

    (void)state;
    place(samples, 60);
    struct ga_sample other = sample_of(61, 7);
    assert_int_equal(ga_samples_append(samples, &other), 0);
    assert_int_equal(ga_samples_count(samples), 61);
    assert_close(ga_samples_value(samples, GA_SERIES_LOSS, 60), 7, 1e-7);
    place(samples, 100);
    assert_int_equal(ga_samples_count(samples), 61);
    ga_samples_close(samples);
}

static void another_run_clears(void **state)
{
    struct ga_samples *samples = filled(0, 100);
    struct ga_sample other = sample_of(500, 3);

    (void)state;
    other.run = 2;
    assert_int_equal(ga_samples_append(samples, &other), 0);
    assert_int_equal(ga_samples_count(samples), 1);
    assert_close(ga_samples_x(samples, GA_X_WALL, 0), 0, 0);
    ga_samples_close(samples);
}

static void positions_on_each_axis(void **state)
{
    struct ga_samples *samples = filled(0, 50);

    (void)state;
    assert_close(ga_samples_x(samples, GA_X_UPDATES, 9), 10, 0);
    assert_close(ga_samples_x(samples, GA_X_EXAMPLES, 9), 100, 0);
    assert_close(ga_samples_x(samples, GA_X_TIME, 9), 0.010, 1e-12);
    assert_close(ga_samples_x(samples, GA_X_WALL, 9), 9e-6, 1e-9);
    assert_int_equal(ga_samples_find(samples, GA_X_UPDATES, 10), 9);
    assert_int_equal(ga_samples_find(samples, GA_X_UPDATES, 10.5), 10);
    assert_int_equal(ga_samples_find(samples, GA_X_UPDATES, -1), 0);
    assert_int_equal(ga_samples_find(samples, GA_X_UPDATES, 1e9), 50);
    ga_samples_close(samples);
}

static void missing_is_not_nan(void **state)
{
    struct ga_samples *samples = filled(0, 10);
    struct ga_sample bad = sample_of(11, (double)NAN);

    (void)state;
    assert_true(ga_samples_missing(samples, GA_SERIES_NOISE_SCALE, 3));
    assert_true(ga_samples_missing(samples, GA_SERIES_REPLICA_LOSS + 1, 3));
    assert_false(ga_samples_missing(samples, GA_SERIES_REPLICA_LOSS + 1, 4));
    assert_int_equal(ga_samples_nonfinite(samples, GA_SERIES_REPLICA_LOSS + 1), 0);
    assert_int_equal(ga_samples_append(samples, &bad), 0);
    assert_false(ga_samples_missing(samples, GA_SERIES_LOSS, 10));
    assert_int_equal(ga_samples_nonfinite(samples, GA_SERIES_LOSS), 1);
    assert_int_equal(ga_samples_replicas(samples), 2);
    ga_samples_close(samples);
}

static void a_constant_loss_stays_constant_when_smoothed(void **state)
{
    static const double weights[] = {0.5, 0.9, 0.99, 0.999999};
    struct ga_samples *samples = NULL;

    (void)state;
    assert_int_equal(ga_samples_open(&samples, 0), 0);
    for (uint64_t w = 1; w <= 1000; w++) {
        struct ga_sample sample = sample_of(w, 0.1);

        assert_int_equal(ga_samples_append(samples, &sample), 0);
    }
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(ga_samples_smooth(samples, weights[k]), 0);
        struct ga_extent smooth = ga_samples_extent(samples, GA_SERIES_SMOOTH, 0, 1000, false);
        assert_true(smooth.low == smooth.high);
        assert_close(smooth.low, (double)0.1f, 0);
    }
    assert_int_equal(ga_samples_smooth(samples, 0), 0);
    assert_true(ga_samples_missing(samples, GA_SERIES_SMOOTH, 10));
    ga_samples_close(samples);
}

/* Smoothing while rows come, and over a new future, gives what smoothing all at once gives. */
static void smoothing_does_not_depend_on_the_way(void **state)
{
    struct ga_samples *samples = filled(0, 100), *plain = filled(0, 60);

    (void)state;
    assert_int_equal(ga_samples_smooth(samples, 0.9), 0);
    place(samples, 60);
    for (uint64_t w = 61; w <= 120; w++) {
        struct ga_sample sample = sample_of(w, 5 + (double)(w % 7));

        assert_int_equal(ga_samples_append(samples, &sample), 0);
        assert_int_equal(ga_samples_append(plain, &sample), 0);
    }
    assert_int_equal(ga_samples_smooth(plain, 0.9), 0);
    for (size_t row = 0; row < 120; row++)
        assert_close(ga_samples_value(samples, GA_SERIES_SMOOTH, row),
                     ga_samples_value(plain, GA_SERIES_SMOOTH, row), 1e-6);
    ga_samples_close(samples);
    ga_samples_close(plain);
}

static void staleness_follows_the_place(void **state)
{
    struct ga_samples *samples = NULL;
    struct ga_staleness seen;

    (void)state;
    assert_int_equal(ga_samples_open(&samples, 0), 0);
    for (uint64_t w = 1; w <= 20; w++) {
        struct ga_sample sample = sample_of(w, 1);

        sample.pushes = 2;
        sample.tau[0] = (uint16_t)(w % 4);
        sample.tau[1] = 1000;
        assert_int_equal(ga_samples_append(samples, &sample), 0);
    }
    ga_samples_staleness(samples, &seen);
    assert_int_equal(seen.pushes, 40);
    assert_int_equal(seen.count[1], 5);
    assert_int_equal(seen.count[GA_TAU_BINS - 1], 20);
    assert_int_equal(seen.most, 1000);
    place(samples, 8);
    ga_samples_staleness(samples, &seen);
    assert_int_equal(seen.pushes, 16);
    assert_close(seen.mean, (1000 * 8 + 12) / 16.0, 1e-12);
    /* Another mode is another law: what was before does not count. */
    struct ga_sample other = sample_of(9, 2);
    other.mode = 3;
    other.pushes = 1;
    assert_int_equal(ga_samples_append(samples, &other), 0);
    ga_samples_staleness(samples, &seen);
    assert_int_equal(seen.pushes, 1);
    ga_samples_close(samples);
}

static void memory_stays_within_its_budget(void **state)
{
    const size_t rows = 200000;
    struct ga_samples *samples = NULL;

    (void)state;
    assert_int_equal(ga_samples_open(&samples, 0), 0);
    size_t empty = ga_samples_bytes(samples);
    for (uint64_t w = 1; w <= rows; w++) {
        struct ga_sample sample = sample_of(w, 1);

        assert_int_equal(ga_samples_append(samples, &sample), 0);
    }
    /* loss, |g|, |update|, staleness, and loss and norm of two replicas: eight figures a row */
    double each = (double)(ga_samples_bytes(samples) - empty) / (double)(rows * 8);
    print_message("%.1f bytes a kept sample, %zu empty\n", each, empty);
    assert_true(each <= 16);
    assert_true(empty < 1000000);
    ga_samples_close(samples);
}

static void lost_memory_loses_the_row_only(void **state)
{
    struct ga_samples *samples = filled(0, 4096);
    struct ga_sample next = sample_of(4097, 2);

    (void)state;
    for (int64_t successes = 0; successes < 100; successes++) {
        ga_test_allocation_limit(successes);
        int code = ga_samples_append(samples, &next);
        ga_test_allocation_free();
        if (code == 0) {
            assert_true(successes > 0);
            assert_int_equal(ga_samples_count(samples), 4097);
            ga_samples_close(samples);
            return;
        }
        assert_int_equal(ga_samples_count(samples), 4096);
        assert_close(ga_samples_value(samples, GA_SERIES_LOSS, 4095), 100.0 / 4096, 1e-6);
    }
    fail_msg("the row never came");
}

static void odd_samples_are_refused_or_harmless(void **state)
{
    struct ga_samples *samples = NULL;
    struct ga_sample zero = sample_of(0, 1), huge = sample_of(UINT64_MAX, 1e300);

    (void)state;
    assert_int_equal(ga_samples_open(&samples, 1), 0);
    assert_int_not_equal(ga_samples_append(samples, &zero), 0);
    huge.pushes = UINT32_MAX;
    huge.replicas = UINT32_MAX;
    huge.time_ns = INT64_MIN;
    assert_int_equal(ga_samples_append(samples, &huge), 0);
    assert_true(isfinite(ga_samples_value(samples, GA_SERIES_LOSS, 0)));
    assert_true(isnan(ga_samples_value(samples, -1, 0)));
    assert_true(isnan(ga_samples_value(samples, GA_SERIES_COUNT, 0)));
    ga_samples_close(samples);
    ga_samples_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pyramid_agrees_with_brute_force),
        cmocka_unit_test(one_spike_in_a_million_stays),
        cmocka_unit_test(thinning_keeps_extremes_strangers_and_ends),
        cmocka_unit_test(going_back_hides_and_coming_again_shows),
        cmocka_unit_test(a_new_future_replaces_the_old_one),
        cmocka_unit_test(another_run_clears),
        cmocka_unit_test(positions_on_each_axis),
        cmocka_unit_test(missing_is_not_nan),
        cmocka_unit_test(a_constant_loss_stays_constant_when_smoothed),
        cmocka_unit_test(smoothing_does_not_depend_on_the_way),
        cmocka_unit_test(staleness_follows_the_place),
        cmocka_unit_test(memory_stays_within_its_budget),
        cmocka_unit_test(lost_memory_loses_the_row_only),
        cmocka_unit_test(odd_samples_are_refused_or_harmless),
    };

    return ga_test_main(tests);
}
