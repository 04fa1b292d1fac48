/* Reading two tracks off at the same positions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "console/compare.h"
#include "support/support.h"

static void fill(struct ga_track *track, size_t points, double first, double step, double factor)
{
    for (size_t i = 0; i < points; i++)
        assert_int_equal(ga_track_add(track, first + step * (double)i, factor * (double)i), 0);
}

static void test_a_point_holds_until_the_next(void **state)
{
    (void)state;
    struct ga_track track = {0};
    assert_true(isnan(ga_track_at(&track, 1)));
    fill(&track, 3, 10, 5, 1); /* 10, 15, 20: 0, 1, 2 */
    assert_true(isnan(ga_track_at(&track, 9.999)));
    assert_true(ga_track_at(&track, 10) == 0);
    assert_true(ga_track_at(&track, 14.9) == 0);
    assert_true(ga_track_at(&track, 15) == 1);
    assert_true(ga_track_at(&track, 1e9) == 2);
    ga_track_fini(&track);
}

/* Of several points at one position the last one holds. */
static void test_equal_positions(void **state)
{
    (void)state;
    struct ga_track track = {0};
    ga_track_add(&track, 1, 10);
    ga_track_add(&track, 1, 11);
    ga_track_add(&track, 1, 12);
    assert_true(ga_track_at(&track, 1) == 12);
    ga_track_fini(&track);
}

static void test_rows_stand_at_round_positions(void **state)
{
    (void)state;
    struct ga_track a = {0};
    struct ga_track b = {0};
    struct ga_aligned row[12];
    fill(&a, 1784, 1, 1, 1);
    fill(&b, 1500, 1, 1, 2);
    const size_t rows = ga_tracks_align(&a, &b, true, 12, row);
    static const double want[] = {1, 200, 400, 600, 800, 1000, 1200, 1400, 1500};
    assert_int_equal(rows, sizeof(want) / sizeof(want[0]));
    for (size_t i = 0; i < rows; i++) {
        assert_true(row[i].at == want[i]);
        assert_true(row[i].value[0] == want[i] - 1);
        assert_true(row[i].value[1] == 2 * (want[i] - 1));
    }
    ga_track_fini(&a);
    ga_track_fini(&b);
}

static void test_a_range_in_common(void **state)
{
    (void)state;
    struct ga_track a = {0};
    struct ga_track b = {0};
    struct ga_aligned row[8];
    assert_int_equal(ga_tracks_align(&a, &b, true, 8, row), 0);
    fill(&a, 5, 1, 1, 1); /* 1..5 */
    assert_int_equal(ga_tracks_align(&a, &b, true, 8, row), 0);
    fill(&b, 3, 6, 1, 1); /* 6..8 */
    assert_int_equal(ga_tracks_align(&a, &b, true, 8, row), 0);
    ga_track_add(&a, 6, 9);
    assert_int_equal(ga_tracks_align(&a, &b, true, 8, row), 1);
    assert_true(row[0].at == 6 && row[0].value[0] == 9 && row[0].value[1] == 0);
    assert_int_equal(ga_tracks_align(&a, &b, true, 1, row), 0);
    ga_track_add(&a, 7, 9);
    assert_int_equal(ga_tracks_align(&a, &b, true, 2, row), 2);
    assert_true(row[0].at == 6 && row[1].at == 7);
    ga_track_fini(&a);
    ga_track_fini(&b);
}

/* Never more rows than there is room for, both ends, ascending, whole where whole is asked for. */
static void test_any_range(void **state)
{
    (void)state;
    uint32_t draw = 1;
    for (int turn = 0; turn < 5000; turn++) {
        struct ga_track a = {0};
        struct ga_track b = {0};
        struct ga_aligned row[20];
        draw = draw * 1664525u + 1013904223u;
        const size_t most = 2 + (draw >> 16) % 19;
        const bool whole = draw >> 30 & 1;
        const double first = whole ? (double)((draw >> 8) % 1000) : (double)draw * 1e-9;
        const double last = first + (whole ? (double)(draw % 100000) : (double)draw * 1e-7);
        ga_track_add(&a, first - 1, 1);
        ga_track_add(&a, last, 1);
        ga_track_add(&b, first, 1);
        ga_track_add(&b, last + 1, 1);
        const size_t rows = ga_tracks_align(&a, &b, whole, most, row);
        assert_true(rows >= 1 && rows <= most);
        assert_true(row[0].at == first && row[rows - 1].at == last);
        for (size_t i = 1; i < rows; i++)
            assert_true(row[i].at > row[i - 1].at && (!whole || row[i].at == floor(row[i].at)));
        ga_track_fini(&a);
        ga_track_fini(&b);
    }
}

static void test_axes(void **state)
{
    (void)state;
    const struct ga_update_record record = {
        .update = 3, .examples = 150, .time_ns = 2500000000, .bytes = 4096};
    static const struct {
        const char *word;
        double position;
    } rows[] = {{"updates", 3}, {"examples", 150}, {"time", 2.5}, {"bytes", 4096}};
    for (size_t i = 0; i < GA_BYS; i++) {
        const int by = ga_by_find(rows[i].word);
        assert_int_equal(by, i);
        assert_string_equal(ga_by_name((enum ga_by)by), rows[i].word);
        assert_true(ga_by_position((enum ga_by)by, &record) == rows[i].position);
    }
    assert_int_equal(ga_by_find("update"), -1);
    assert_non_null(strstr(ga_error_text(), "expected updates, examples, time or bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_point_holds_until_the_next),
        cmocka_unit_test(test_equal_positions),
        cmocka_unit_test(test_rows_stand_at_round_positions),
        cmocka_unit_test(test_a_range_in_common),
        cmocka_unit_test(test_any_range),
        cmocka_unit_test(test_axes),
    };
    return ga_test_main(tests);
}
