/* Charts as SVG: well-formed whatever the numbers, nothing lost, axes whose labels differ. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "storage/export_svg.h"
#include "storage/svg.h"
#include "storage/svg_axis.h"
#include "support/support.h"

/* Every element is closed in the order it was opened, and names are those a picture needs. */
static void assert_well_formed(const char *text)
{
    static const char *const known[] = {"svg",  "title", "desc", "style", "rect",
                                        "line", "text",  "path", NULL};
    char open[8][16];
    size_t depth = 0;
    for (const char *at = strchr(text, '<'); at; at = strchr(at, '<')) {
        const bool closing = at[1] == '/';
        const char *name = at + (closing ? 2 : 1);
        const size_t length = strcspn(name, " />");
        const char *end = strchr(at, '>');
        size_t k = 0;
        assert_non_null(end);
        while (known[k] && (strlen(known[k]) != length || strncmp(known[k], name, length) != 0))
            k++;
        assert_non_null(known[k]);
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], known[k]);
        } else if (end[-1] != '/') {
            assert_true(depth < 8);
            snprintf(open[depth++], sizeof open[0], "%s", known[k]);
        }
        at = end;
    }
    assert_int_equal(depth, 0);
    for (const char *at = strchr(text, '&'); at; at = strchr(at + 1, '&'))
        assert_true(strncmp(at, "&amp;", 5) == 0 || strncmp(at, "&lt;", 4) == 0 ||
                    strncmp(at, "&gt;", 4) == 0);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
}

static struct ga_text drawn(const double *x, const double *y, size_t points, bool logarithmic)
{
    struct ga_text text = GA_TEXT_INIT;
    const struct ga_svg_panel panel = {"Loss", "", logarithmic, 1, {{"window", y, false}}};
    const struct ga_svg_mark mark = {points ? x[0] : 0, "sync"};
    const struct ga_svg_chart chart = {"a title", "below it", "updates",      points, x,
                                       1,         &panel,     points ? 1 : 0, &mark};
    ga_svg_write(&chart, &text);
    assert_false(ga_text_failed(&text));
    assert_well_formed(ga_text_get(&text));
    return text;
}

static void numbers_of_all_kinds_are_drawn(void **unused)
{
    (void)unused;
    static const double values[][5] = {
        {1, 2, 3, 4, 5},
        {NAN, NAN, NAN, NAN, NAN},
        {INFINITY, 1, -INFINITY, NAN, 2},
        {0, 0, 0, 0, 0},
        {-DBL_MAX, DBL_MAX, 0, 1, -1},
        {DBL_MIN, DBL_MAX, 1, 1e-300, 5e-324},
        {1e300, 1e300, 1e300, 1e300, 1e300},
        {-1, -2, -3, -4, -5},
        {1, 1 + DBL_EPSILON, 1, 1, 1},
        {5e-324, 5e-324, 0, 0, 1e-320},
    };
    const double x[5] = {1, 2, 3, 4, 1e15};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        for (size_t points = 0; points <= 5; points++) {
            struct ga_text text = drawn(x, values[i], points, i % 2 == 0);
            ga_text_free(&text);
            text = drawn(x, values[i], points, i % 2 == 1);
            ga_text_free(&text);
        }
}

/* What has no place is a gap, and counted. */
static void gaps_are_counted(void **unused)
{
    (void)unused;
    const double x[6] = {1, 2, 3, 4, 5, 6};
    const double y[6] = {1, NAN, 100, 0, 50, INFINITY};
    struct ga_text text = drawn(x, y, 6, true);
    assert_non_null(strstr(ga_text_get(&text), "Loss, logarithmic"));
    assert_non_null(strstr(ga_text_get(&text), "window (3 not above 0)"));
    ga_text_free(&text);
    text = drawn(x, y, 6, false);
    assert_non_null(strstr(ga_text_get(&text), "window (2 not finite)"));
    ga_text_free(&text);
}

/* The smallest y of a path, which is the highest point of the line. */
static double top_of_path(const char *text)
{
    double top = INFINITY;
    const char *at = strstr(text, " d=\"M");
    const char *end = at ? strchr(at + 4, '"') : NULL;
    assert_non_null(end);
    while (at && at < end) {
        double x;
        double y;
        if (sscanf(at + 1, "%lf %lf", &x, &y) == 2)
            top = fmin(top, y);
        at = strpbrk(at + 1, "ML\"");
    }
    return top;
}

/* One spike in a million points is there, and the picture stays small. */
static void a_spike_stays_visible(void **unused)
{
    (void)unused;
    enum { POINTS = 1000000 };
    double *x = malloc(POINTS * sizeof *x);
    double *y = malloc(POINTS * sizeof *y);
    assert_true(x && y);
    for (size_t i = 0; i < POINTS; i++) {
        x[i] = (double)i;
        y[i] = i % 2 ? 1 : 1.01;
    }
    struct ga_text flat = drawn(x, y, POINTS, false);
    y[777777] = 1.2;
    struct ga_text spiked = drawn(x, y, POINTS, false);
    assert_true(spiked.length < 100000);
    const double top = top_of_path(ga_text_get(&spiked));
    assert_true(top > 100 && top < 130); /* one twentieth below the frame's upper edge, 108 */
    assert_string_not_equal(ga_text_get(&flat), ga_text_get(&spiked));
    ga_text_free(&flat);
    ga_text_free(&spiked);
    free(x);
    free(y);
}

static void names_are_escaped(void **unused)
{
    (void)unused;
    struct ga_text text = GA_TEXT_INIT;
    const double x[2] = {1, 2};
    const struct ga_svg_panel panel = {"<Loss>", "a&b", false, 1, {{"</svg><script>", x, false}}};
    const struct ga_svg_chart chart = {
        "<script>alert(1)</script>", "a & \n b", "u", 2, x, 1, &panel, 0, NULL};
    ga_svg_write(&chart, &text);
    assert_well_formed(ga_text_get(&text));
    assert_null(strstr(ga_text_get(&text), "<script"));
    assert_non_null(strstr(ga_text_get(&text), "&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_non_null(strstr(ga_text_get(&text), "a &amp;   b"));
    ga_text_free(&text);
}

static void assert_axis(double low, double high, bool logarithmic)
{
    struct ga_svg_axis axis;
    ga_svg_axis_set(&axis, low, high, logarithmic, true);
    assert_true(axis.low < axis.high && axis.low <= low && axis.high >= high);
    assert_true(axis.ticks >= 1 && axis.ticks <= GA_SVG_TICKS);
    for (size_t i = 0; i < axis.ticks; i++) {
        const double place = ga_svg_axis_place(&axis, axis.tick[i]);
        if (!(place > -1e-6 && place < 1 + 1e-6))
            fail_msg("%g..%g: tick %g is at %g", low, high, axis.tick[i], place);
        for (size_t k = 0; k < i; k++)
            if (strcmp(axis.label[i], axis.label[k]) == 0)
                fail_msg("%g..%g: %s twice", low, high, axis.label[i]);
    }
}

static void labels_differ(void **unused)
{
    (void)unused;
    for (int power = -300; power <= 300; power += 3)
        for (int i = 1; i <= 40; i++) {
            const double low = i * 0.37 * pow(10, power);
            assert_axis(low, low * (1 + 0.001 * i * i), false);
            assert_axis(-low, low / i, false);
            assert_axis(low, low * 3.3 * i, true);
            if (power + i < 280)
                assert_axis(low, low * pow(10, i), true);
        }
    assert_axis(0, 0, false);
    assert_axis(5, 5, false);
    assert_axis(123456789, 123456791, false);
}

static const struct ga_update_record sample = {.applied = true,
                                               .loss = 2,
                                               .grad_norm = 1,
                                               .update_norm = 0.1,
                                               .lr = 0.01,
                                               .noise_trace = NAN,
                                               .noise_signal = NAN};

static char *exported(struct ga_export_svg *export)
{
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "run.svg");
    size_t length = 0;
    assert_int_equal(ga_export_svg_write(export, path, "a run", "of a test"), GA_OK);
    char *text = ga_test_read_file(path, &length);
    assert_well_formed(text);
    free(path);
    ga_test_folder_remove(folder);
    return text;
}

/* What never moved has no panel; a change of mode is marked. */
static void a_run_shows_what_moved(void **unused)
{
    (void)unused;
    struct ga_export_svg *export = NULL;
    struct ga_update_record record = sample;
    assert_int_equal(ga_export_svg_open(&export), GA_OK);
    assert_int_equal(ga_export_svg_write(export, "none.svg", "", ""), GA_ESTATE);
    for (record.update = 1; record.update <= 50; record.update++)
        assert_int_equal(ga_export_svg_record(&record, export), GA_OK);
    char *text = exported(export);
    assert_non_null(strstr(text, ">Loss<"));
    assert_non_null(strstr(text, ">Norms<"));
    assert_null(strstr(text, ">Staleness"));
    assert_null(strstr(text, ">Learning rate"));
    assert_null(strstr(text, ">Noise scale"));
    assert_null(strstr(text, "class=\"mark\""));
    free(text);
    record.mode = 2;
    record.staleness = 3;
    record.pushes = 4;
    record.stale = 6;
    record.lr = 0.005;
    assert_int_equal(ga_export_svg_record(&record, export), GA_OK);
    text = exported(export);
    assert_non_null(strstr(text, ">Staleness [updates]<"));
    assert_non_null(strstr(text, ">Learning rate<"));
    assert_non_null(strstr(text, "class=\"mark\""));
    assert_non_null(strstr(text, ">async<"));
    free(text);
    ga_export_svg_close(export);
    ga_export_svg_close(NULL);
}

static void a_lack_of_memory_is_an_error(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "run.svg");
    int code = GA_ENOMEM;
    for (int64_t limit = 0; code; limit++) {
        struct ga_export_svg *export = NULL;
        ga_test_allocation_limit(limit);
        code = ga_export_svg_open(&export);
        for (int i = 0; !code && i < 20; i++)
            code = ga_export_svg_record(&sample, export);
        if (!code)
            code = ga_export_svg_write(export, path, "a run", "of a test");
        ga_export_svg_close(export);
        ga_test_allocation_free();
        assert_true(code == GA_OK || code == GA_ENOMEM);
    }
    free(path);
    ga_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_all_kinds_are_drawn),
        cmocka_unit_test(gaps_are_counted),
        cmocka_unit_test(a_spike_stays_visible),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(labels_differ),
        cmocka_unit_test(a_run_shows_what_moved),
        cmocka_unit_test(a_lack_of_memory_is_an_error),
    };
    return ga_test_main(tests);
}
