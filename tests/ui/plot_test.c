/* Axes and lines: bounds, labels, dots, marks, in each glyph set. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"
#include "ui/plot.h"

static uint64_t seed = 7;

static double random_unit(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 11) * 0x1p-53;
}

/* From the smallest to the largest magnitudes. */
static double random_magnitude(void)
{
    return pow(10, (random_unit() - 0.5) * 600);
}

static void check_labels(const struct ga_axis *axis, int most, int columns)
{
    struct ga_axis_label label[GA_AXIS_LABELS];
    int count = ga_axis_labels(axis, most, columns, label);

    assert_in_range(count, 1, most);
    for (int i = 0; i < count; i++) {
        if ((int)strlen(label[i].text) > columns && count > 1)
            fail_msg("label %s is longer than %d columns", label[i].text, columns);
        assert_true(label[i].text[0] != '\0');
        for (int j = 0; j < i; j++)
            if (strcmp(label[i].text, label[j].text) == 0)
                fail_msg("two labels %s on %g..%g", label[i].text, axis->low, axis->high);
        if (i > 0)
            assert_true(label[i].value > label[i - 1].value);
        if (count > 1) {
            double place = ga_axis_place(axis, label[i].value);

            if (!(place > -0.001 && place < 1.001))
                fail_msg("label %s lies at %g of %g..%g", label[i].text, place, axis->low,
                         axis->high);
        }
    }
}

/* The text of a label says its value. */
static void check_texts(const struct ga_axis *axis)
{
    struct ga_axis_label label[GA_AXIS_LABELS];
    int count = ga_axis_labels(axis, 6, 9, label);

    for (int i = 0; i < count; i++) {
        char *end = NULL;
        double read = strtod(label[i].text, &end);

        read *= *end == 'k' ? 1000 : 1;
        if (count > 1 && !ga_test_close(read, label[i].value, 1e-6) &&
            fabs(read - label[i].value) > 1e-9 * fabs(axis->high - axis->low))
            fail_msg("label %s stands at %g", label[i].text, label[i].value);
    }
}

static void axes_hold_everything_and_are_never_blank(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_test_count(20000); i++) {
        double a = random_magnitude() * (random_unit() < 0.5 ? -1 : 1);
        double b = random_unit() < 0.3 ? a : random_magnitude();
        double low = fmin(a, b), high = fmax(a, b);
        bool log = random_unit() < 0.5;
        struct ga_axis axis = ga_axis_fit(log, log ? fabs(low) : low, log ? fabs(high) : high);

        if (log && fabs(low) > fabs(high))
            continue;
        assert_true(axis.low < axis.high);
        assert_true(!axis.log || axis.low > 0);
        assert_true(isfinite(axis.low) && isfinite(axis.high));
        if (high < 1e280 && fabs(low) < 1e280 && fabs(low) > 1e-280 && fabs(high) > 1e-280) {
            double at_low = ga_axis_place(&axis, log ? fabs(low) : low);
            double at_high = ga_axis_place(&axis, log ? fabs(high) : high);

            assert_true(at_low > -1e-6 && at_high < 1 + 1e-6);
        }
        for (int most = 1; most <= 8; most++)
            check_labels(&axis, most, 6);
        check_texts(&axis);
    }
}

static void axes_of_nothing(void **state)
{
    struct ga_axis linear = ga_axis_fit(false, INFINITY, -INFINITY);
    struct ga_axis log = ga_axis_fit(true, INFINITY, -INFINITY);
    struct ga_axis zero = ga_axis_fit(false, 0, 0), negative = ga_axis_fit(true, -5, -1);

    (void)state;
    assert_true(linear.low < linear.high && log.low < log.high && log.low > 0);
    assert_true(zero.low < 0 && zero.high > 0);
    assert_true(negative.low > 0 && negative.low < negative.high);
    check_labels(&linear, 4, 6);
    check_labels(&log, 4, 6);
    check_labels(&zero, 4, 6);
}

/* A zoomed axis begins and ends anywhere, so its bounds are not round. */
static void labels_of_any_stretch(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_test_count(20000); i++) {
        double low = (random_unit() - 0.3) * pow(10, random_unit() * 12 - 4);
        double span = pow(10, random_unit() * 12 - 6);
        struct ga_axis axis = {low, low + span, false};

        if (!(axis.low < axis.high))
            continue;
        check_labels(&axis, 5, 9);
    }
    for (size_t i = 0; i < ga_test_count(20000); i++) {
        double low = pow(10, random_unit() * 20 - 10);
        struct ga_axis axis = {low, low * (1 + random_unit() * pow(10, random_unit() * 8 - 4)),
                               true};

        if (axis.low < axis.high)
            check_labels(&axis, 5, 9);
    }
}

static void familiar_labels(void **state)
{
    static const struct {
        bool log;
        double low, high;
        int most;
        const char *texts;
    } axes[] = {
        {false, 0, 100, 6, "0 20 40 60 80 100"},
        {false, 0, 100, 5, "0 50 100"},
        {false, 0, 12000, 4, "0 5k 10k"},
        {true, 0.1, 100, 4, "0.1 1 10 100"},
        {true, 0.5, 5, 4, "0.5 1 2 5"},
        {true, 1e-6, 1e6, 5, "1e-6 0.001 1 1000 1e6"},
        {false, -2, 2, 5, "-2 -1 0 1 2"},
        {false, -4, 4, 4, "-4 0 4"},
        {true, 2, 50, 4, "3 10 30"},
        {true, 2, 50, 5, "2 5 10 20 50"},
        {false, 0.001, 0.002, 3, "0.0010 0.0015 0.0020"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        struct ga_axis axis = {axes[i].low, axes[i].high, axes[i].log};
        struct ga_axis_label label[GA_AXIS_LABELS];
        int count = ga_axis_labels(&axis, axes[i].most, 6, label);
        char texts[200] = "";

        for (int k = 0; k < count; k++) {
            strcat(texts, k ? " " : "");
            strcat(texts, label[k].text);
        }
        assert_string_equal(texts, axes[i].texts);
    }
}

/* A chart of one line on cells of its own. */
struct drawing {
    struct ga_cells cells;
    struct ga_plot plot;
    struct ga_rect rect, area;
    struct ga_extent extent[GA_PLOT_DOTS];
    int dots;
};

static void drawing_open(struct drawing *drawing, enum ga_glyphs glyphs, bool strange)
{
    assert_int_equal(ga_cells_open(&drawing->cells, 12, 50, glyphs), 0);
    drawing->rect = (struct ga_rect){0, 0, 12, 50};
    drawing->plot = (struct ga_plot){
        .x = {0, 100, false}, .y = {0, 1, false}, .x_unit = "updates", .strange = strange};
    drawing->area = ga_plot_area(&drawing->plot, glyphs, drawing->rect);
    drawing->dots = drawing->area.columns * ga_dots_across(glyphs);
    for (int c = 0; c < drawing->dots; c++)
        drawing->extent[c] = GA_EXTENT_NONE;
}

static void put(struct drawing *drawing, int dot, double low, double high)
{
    drawing->extent[dot] = (struct ga_extent){low, high, low, high, 0};
}

static void draw(struct drawing *drawing)
{
    ga_plot_line(&drawing->plot, &drawing->cells, drawing->area, drawing->extent, GA_ROLE_WINDOW, 0,
                 0);
}

/* Whether a cell of the area holds anything of the line. */
static bool inked(const struct drawing *drawing, int row, int column)
{
    const struct ga_cell *cell = &drawing->cells.cell[row * drawing->cells.columns + column];

    return cell->role == GA_ROLE_WINDOW && cell->character != ' ';
}

static int inked_in_column(const struct drawing *drawing, int column)
{
    int count = 0;

    for (int r = drawing->area.row; r < drawing->area.row + drawing->area.rows; r++)
        count += inked(drawing, r, column);
    return count;
}

static void a_line_reaches_from_end_to_end(void **state)
{
    (void)state;
    for (int glyphs = 0; glyphs < 3; glyphs++) {
        struct drawing drawing;

        drawing_open(&drawing, (enum ga_glyphs)glyphs, false);
        put(&drawing, 0, 0, 0);
        put(&drawing, drawing.dots - 1, 1, 1);
        draw(&drawing);
        for (int c = 0; c < drawing.area.columns; c++)
            assert_true(inked_in_column(&drawing, drawing.area.column + c) > 0);
        assert_true(inked(&drawing, drawing.area.row + drawing.area.rows - 1, drawing.area.column));
        assert_true(
            inked(&drawing, drawing.area.row, drawing.area.column + drawing.area.columns - 1));
        ga_cells_close(&drawing.cells);
    }
}

/* Steep neighbours are joined: no row between them is left out. */
static void neighbours_touch(void **state)
{
    (void)state;
    for (int glyphs = 0; glyphs < 3; glyphs++) {
        struct drawing drawing;
        int across = ga_dots_across((enum ga_glyphs)glyphs);

        drawing_open(&drawing, (enum ga_glyphs)glyphs, false);
        for (int c = 0; c < drawing.dots; c++)
            put(&drawing, c, c < drawing.dots / 2 ? 0 : 1, c < drawing.dots / 2 ? 0 : 1);
        draw(&drawing);
        for (int r = 0; r < drawing.area.rows; r++) {
            bool found = false;

            for (int c = drawing.dots / 2 / across - 2; c <= drawing.dots / 2 / across + 1; c++)
                found = found || inked(&drawing, drawing.area.row + r, drawing.area.column + c);
            assert_true(found);
        }
        ga_cells_close(&drawing.cells);
    }
}

static void one_column_of_spike_is_seen(void **state)
{
    (void)state;
    for (int glyphs = 0; glyphs < 3; glyphs++) {
        struct drawing drawing;
        int at = 0;

        drawing_open(&drawing, (enum ga_glyphs)glyphs, false);
        at = drawing.dots / 3;
        for (int c = 0; c < drawing.dots; c++)
            put(&drawing, c, 0, c == at ? 1 : 0);
        draw(&drawing);
        assert_int_equal(inked_in_column(&drawing, drawing.area.column +
                                                       at / ga_dots_across((enum ga_glyphs)glyphs)),
                         drawing.area.rows);
        ga_cells_close(&drawing.cells);
    }
}

static void what_is_not_finite_is_a_gap_with_marks(void **state)
{
    (void)state;
    for (int glyphs = 0; glyphs < 3; glyphs++) {
        struct drawing drawing;
        int across = ga_dots_across((enum ga_glyphs)glyphs), middle = 0, marks = 0;

        drawing_open(&drawing, (enum ga_glyphs)glyphs, true);
        middle = drawing.area.columns / 2;
        assert_int_equal(drawing.area.row, 1);
        for (int c = 0; c < drawing.dots; c++)
            put(&drawing, c, 0.5, 0.5);
        for (int c = middle * across; c < (middle + 3) * across; c++) {
            drawing.extent[c] = GA_EXTENT_NONE;
            drawing.extent[c].nonfinite = 2;
        }
        ga_plot_axes(&drawing.plot, &drawing.cells, drawing.rect);
        draw(&drawing);
        ga_plot_strange(&drawing.cells, drawing.area, drawing.extent);
        for (int c = 0; c < drawing.area.columns; c++) {
            bool gap = c >= middle && c < middle + 3;

            assert_int_equal(inked_in_column(&drawing, drawing.area.column + c) > 0, !gap);
            marks += drawing.cells.cell[drawing.area.column + c].role == GA_ROLE_BAD;
        }
        assert_int_equal(marks, 3);
        ga_cells_close(&drawing.cells);
    }
}

/* Every position of the plane, one dot at a time: inside the area only, and never a blank pattern.
 */
static void dots_stay_inside(void **state)
{
    (void)state;
    for (int glyphs = 0; glyphs < 3; glyphs++) {
        struct drawing drawing;
        int across = ga_dots_across((enum ga_glyphs)glyphs),
            down = ga_dots_down((enum ga_glyphs)glyphs);

        drawing_open(&drawing, (enum ga_glyphs)glyphs, false);
        for (int r = -3; r < drawing.area.rows * down + 3; r++)
            for (int c = -3; c < drawing.area.columns * across + 3; c++)
                ga_plot_dot(&drawing.cells, drawing.area, r, c, GA_ROLE_WINDOW, 0);
        for (int r = 0; r < 12; r++)
            for (int c = 0; c < 50; c++) {
                bool inside = r >= drawing.area.row && r < drawing.area.row + drawing.area.rows &&
                              c >= drawing.area.column &&
                              c < drawing.area.column + drawing.area.columns;
                uint32_t full = glyphs == GA_GLYPHS_BRAILLE ? 0x28ff
                                : glyphs == GA_GLYPHS_BLOCK ? 0x2588
                                                            : ':';

                assert_int_equal(drawing.cells.cell[r * 50 + c].character, inside ? full : ' ');
            }
        ga_cells_close(&drawing.cells);
    }
}

/* Values far outside, or none at all, on any small rectangle. */
static void wild_values_and_small_places(void **state)
{
    static const double values[] = {0,        0.5,     1,      -1e300, 1e300,    DBL_MAX,
                                    -DBL_MAX, DBL_MIN, 5e-324, NAN,    INFINITY, -INFINITY};

    (void)state;
    for (size_t round = 0; round < ga_test_count(3000); round++) {
        struct drawing drawing;
        enum ga_glyphs glyphs = (enum ga_glyphs)(round % 3);
        struct ga_rect rect = {0, 0, (int)(random_unit() * 13), (int)(random_unit() * 51)};

        drawing_open(&drawing, glyphs, round % 2);
        drawing.plot.y = ga_axis_fit(round % 5 == 0, random_unit() - 0.5, random_unit());
        drawing.area = ga_plot_area(&drawing.plot, glyphs, rect);
        for (int c = 0; c < GA_PLOT_DOTS; c++) {
            double a = values[(size_t)(random_unit() * 12)],
                   b = values[(size_t)(random_unit() * 12)];

            drawing.extent[c] = (struct ga_extent){fmin(a, b), fmax(a, b), a, b, round % 3 == 0};
        }
        ga_plot_axes(&drawing.plot, &drawing.cells, rect);
        if (drawing.area.rows > 0 && drawing.area.columns > 0) {
            draw(&drawing);
            ga_plot_cursor(&drawing.cells, drawing.area, (int)(random_unit() * 200) - 50);
        }
        for (int i = 0; i < 12 * 50; i++) {
            int r = i / 50, c = i % 50;

            assert_int_not_equal(drawing.cells.cell[i].character, 0x2800);
            if (glyphs == GA_GLYPHS_ASCII)
                assert_in_range(drawing.cells.cell[i].character, ' ', '~');
            if (r >= rect.rows || c >= rect.columns)
                assert_int_equal(drawing.cells.cell[i].character, ' ');
        }
        ga_cells_close(&drawing.cells);
    }
}

static void averages_without_bias(void **state)
{
    struct ga_ema ema;

    (void)state;
    ga_ema_init(&ema, 0.9);
    assert_true(isnan(ga_ema_next(&ema, (double)NAN)));
    assert_close(ga_ema_next(&ema, 2), 2, 0);
    assert_close(ga_ema_next(&ema, 4), (0.9 * 2 + 4) / 1.9, 1e-14);
    assert_close(ga_ema_next(&ema, INFINITY), (0.9 * 2 + 4) / 1.9, 1e-14);
    ga_ema_init(&ema, 0.99);
    double sum = 0, weight = 0;
    for (int i = 0; i < 1000; i++) {
        double value = random_unit();

        sum = 0.99 * sum + 0.01 * value;
        weight = 0.99 * weight + 0.01;
        assert_close(ga_ema_next(&ema, value), sum / weight, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_hold_everything_and_are_never_blank),
        cmocka_unit_test(axes_of_nothing),
        cmocka_unit_test(labels_of_any_stretch),
        cmocka_unit_test(familiar_labels),
        cmocka_unit_test(a_line_reaches_from_end_to_end),
        cmocka_unit_test(neighbours_touch),
        cmocka_unit_test(one_column_of_spike_is_seen),
        cmocka_unit_test(what_is_not_finite_is_a_gap_with_marks),
        cmocka_unit_test(dots_stay_inside),
        cmocka_unit_test(wild_values_and_small_places),
        cmocka_unit_test(averages_without_bias),
    };

    return ga_test_main(tests);
}
