/* Conditions: what they mean on a run, and what is no condition. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "capture.h"
#include "console/condition.h"
#include "support/support.h"

struct probe {
    struct ga_condition condition;
    bool holds;
    struct ga_text values;
};

static int look(struct ga_run *run, void *arg)
{
    struct probe *probe = arg;
    probe->holds = probe->condition.holds(probe->condition.self, run);
    ga_condition_values(&probe->condition, run, &probe->values);
    return 0;
}

static bool holds(struct capture *capture, const char *text)
{
    struct probe probe = {.values = GA_TEXT_INIT};
    if (ga_condition_read(&probe.condition, text) < 0)
        fail_msg("%s: %s", text, ga_error_text());
    assert_int_equal(ga_engine_call(ga_console_engine(capture->console), look, &probe), 0);
    ga_condition_fini(&probe.condition);
    ga_text_free(&probe.values);
    return probe.holds;
}

/* After one update: update 1, examples 50, a loss between 1 and 100. */
static void test_meaning(void **state)
{
    static const struct {
        const char *text;
        bool want;
    } rows[] = {
        {"update == 1", true},
        {"update==1", true},
        {"update != 1", false},
        {"update<1", false},
        {"update <= 1", true},
        {"update > 1", false},
        {"update >= 1", true},
        {"1 == update", true},
        {"-1 < update", true},
        {"update > -1.5e0", true},
        {"update < inf", true},
        {"update > -inf", true},
        {"micro-batches == 10", true},
        {"micro_batches == 10", true},
        {"loss < 100 and loss > 1", true},
        {"loss < 1 and update == 1 or examples == 50", true}, /* and before or */
        {"examples == 50 or update == 1 and loss < 1", true},
        {"(examples == 50 or update == 1) and loss < 1", false},
        {"not loss < 1", true},
        {"not not update == 1", true},
        {"not (update == 1 or loss < 1)", false},
        {"not update == 2 and update == 1", true},
        {"|g| > 0", true},
        {"|g| == nan", false},
        {"|g| != nan", true},
        {"noise_scale < 1e300 or noise_scale == nan", true},
        {"test_loss == nan", true}, /* nothing is held out */
        {"nan == test_loss", true},
        {"test_loss != nan", false},
        {"test_loss < 1", false},
        {"test_loss >= 1", false},
        {"test_loss == test_loss", false},
        {"nan", false},
        {"not nan", true},
        {"nan or update == 1", true},
        {"replica 1 loss > 0", true},
        {"replica 1 norm > 0 and replica 0 cosine <= 1.0001", true},
        {"replica 4095 loss > 0", false},
        {"replica 4095 loss == nan", true},
        {"nan == nan", true},
        {"1 < 2", true},
    };
    struct capture *capture = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (holds(capture, rows[i].text) != rows[i].want)
            fail_msg("%s: expected %d", rows[i].text, rows[i].want);
}

static int look_ahead(struct ga_run *run, void *arg)
{
    struct probe *probe = arg;
    probe->holds = ga_condition_is_possible(&probe->condition, run);
    return 0;
}

/* After one update: what counters have passed does not come back, and nothing else is ruled out. */
static void test_outlook(void **state)
{
    static const struct {
        const char *text;
        bool want;
    } rows[] = {
        {"update == 0", false},
        {"update == 1", true},
        {"update == 2", true},
        {"update < 1", false},
        {"update <= 1", true},
        {"0 >= update", false},
        {"0 > examples", false},
        {"update > 1e300", true},
        {"update != 1", true},
        {"not update >= 1", true}, /* only `==` and the like are looked into */
        {"loss < 0", true},
        {"loss == nan", true},
        {"update == 0 and loss < 1", false},
        {"update == 0 or loss < 1", true},
        {"update == 0 or examples < 50", false},
        {"replica 1 loss < 0", true},
        {"epoch < 0", true},
        {"nan", true},
        {"nan and update < 1", false},
        {"not (update > 5 or nan)", true},
        {"hash == 00000000", true},
        {"1 < 0", false},
        {"not 1 < 0", true},
    };
    struct capture *capture = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct probe probe = {.values = GA_TEXT_INIT};
        assert_int_equal(ga_condition_read(&probe.condition, rows[i].text), 0);
        assert_int_equal(ga_engine_call(ga_console_engine(capture->console), look_ahead, &probe),
                         0);
        if (probe.holds != rows[i].want)
            fail_msg("%s: expected %d", rows[i].text, rows[i].want);
        ga_condition_fini(&probe.condition);
    }
}

static void test_hash(void **state)
{
    struct capture *capture = *state;
    char text[64];
    capture_run(capture, "print hash");
    const char *digits = capture_output(capture) + strlen("hash ");
    snprintf(text, sizeof(text), "hash == %.16s", digits);
    assert_true(holds(capture, text));
    snprintf(text, sizeof(text), "hash == %.8s and update == 1", digits);
    assert_true(holds(capture, text));
    snprintf(text, sizeof(text), "hash != %.9s", digits);
    assert_false(holds(capture, text));
    assert_false(holds(capture, "hash == 00000000"));
    assert_true(holds(capture, "hash != 00000000"));
}

static void test_values(void **state)
{
    struct capture *capture = *state;
    struct probe probe = {.values = GA_TEXT_INIT};
    assert_int_equal(
        ga_condition_read(&probe.condition, "update == 2 and replica 1 micro_batches > 3 or nan"),
        0);
    assert_int_equal(ga_condition_replica(&probe.condition), 1);
    assert_int_equal(ga_engine_call(ga_console_engine(capture->console), look, &probe), 0);
    assert_non_null(strstr(ga_text_get(&probe.values), "update = 1, replica 1 micro_batches = "));
    assert_non_null(strstr(ga_text_get(&probe.values), "grad_norm = "));
    ga_condition_fini(&probe.condition);
    ga_condition_fini(&probe.condition);
    ga_text_free(&probe.values);
}

static void test_refusals(void **state)
{
    static const char *const rows[][2] = {
        {"", "ends early"},
        {"loss", "expected one of < <= > >= == !="},
        {"loss <", "ends early"},
        {"loss < <", "expected a number or a figure"},
        {"loss = 1", "expected one of < <= > >= == !="},
        {"loss < 1 update == 2", "expected and, or, or the end"},
        {"0 < loss < 1", "expected and, or, or the end"},
        {"loss < 4x", "expected a number, such as 1e-3"},
        {"loss < 0x10", "expected a number"},
        {"loss < 1e999", "expected a number"},
        {"loss < nan", "nothing is below or above nan"},
        {"nan > loss", "nothing is below or above nan"},
        {"los < 1", "did you mean loss?"},
        {"cosine < 1", "expected `replica R cosine`"},
        {"replica loss < 1", "number of a replica"},
        {"replica 4096 loss < 1", "number of a replica"},
        {"replica -1 loss < 1", "number of a replica"},
        {"replica 1 update < 1", "without `replica R`"},
        {"replica 1", "ends early"},
        {"(loss < 1", "closing )"},
        {"loss < 1)", "expected and, or, or the end"},
        {"()", "expected a number or a figure"},
        {"not", "ends early"},
        {"loss < 1 and", "ends early"},
        {"loss < 1 && update == 2", "expected and, or, or the end"},
        {"hash", "== or != behind hash"},
        {"hash < 3f9a27c1", "== or != behind hash"},
        {"hash == 3f9a27c", "8 to 16 hexadecimal digits"},
        {"hash == 3f9a27c13f9a27c13", "8 to 16 hexadecimal digits"},
        {"hash == 3F9A27C1", "8 to 16 hexadecimal digits"},
        {"hash == 3f9a27g1", "8 to 16 hexadecimal digits"},
        {"hash ==", "ends early"},
        {"loss < 1;", "';'"},
        {"loss < +", "'+'"},
        {"-", "'-'"},
        {"loss < .", "'.'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ga_condition condition;
        if (ga_condition_read(&condition, rows[i][0]) >= 0)
            fail_msg("'%s' was accepted", rows[i][0]);
        assert_null(condition.self);
        if (!strstr(ga_error_text(), rows[i][1]))
            fail_msg("%s: '%s' does not say '%s'", rows[i][0], ga_error_text(), rows[i][1]);
    }
}

static void append_many(struct ga_text *text, const char *what, int times)
{
    for (int i = 0; i < times; i++)
        ga_text_puts(text, what);
}

static void test_size_is_bounded(void **state)
{
    (void)state;
    struct ga_condition condition;
    struct ga_text text = GA_TEXT_INIT;
    append_many(&text, "(", 1000);
    assert_int_equal(ga_condition_read(&condition, ga_text_get(&text)), GA_ERANGE);
    ga_text_clear(&text);
    append_many(&text, "not ", 1000);
    assert_int_equal(ga_condition_read(&condition, ga_text_get(&text)), GA_ERANGE);
    ga_text_clear(&text);
    append_many(&text, "loss < 1 and ", 1000);
    ga_text_puts(&text, "nan");
    assert_int_equal(ga_condition_read(&condition, ga_text_get(&text)), GA_ERANGE);
    ga_text_clear(&text);
    append_many(&text, "update == 1 and ", 20);
    ga_text_puts(&text, "not nan");
    assert_int_equal(ga_condition_read(&condition, ga_text_get(&text)), 0);
    assert_string_equal(condition.text + sizeof(condition.text) - 4, "...");
    ga_condition_fini(&condition);
    ga_text_free(&text);
}

static int look_without_memory(struct ga_run *run, void *arg)
{
    struct probe *probe = arg;
    const uint64_t before = ga_test_allocations();
    probe->holds = probe->condition.holds(probe->condition.self, run);
    return ga_test_allocations() == before ? 0 : ga_fail(GA_EINTERNAL, "memory was asked for");
}

/* The engine looks at conditions after every update. */
static void test_no_allocation(void **state)
{
    struct capture *capture = *state;
    struct probe probe = {.values = GA_TEXT_INIT};
    assert_int_equal(
        ga_condition_read(&probe.condition, "replica 1 loss < 1 and hash == 00000000 or not nan"),
        0);
    const int code =
        ga_engine_call(ga_console_engine(capture->console), look_without_memory, &probe);
    assert_int_equal(code, 0);
    assert_true(probe.holds);
    ga_condition_fini(&probe.condition);
}

#define ROWS 40

static double figure(const struct ga_burst_rows *rows, size_t k, size_t which)
{
    const struct ga_burst_row *row = &rows->row[k];
    const double figures[] = {row->loss, row->grad_norm, row->update_norm, row->param_norm,
                              (double)(rows->before.update + k + 1)};
    return figures[which];
}

static bool compared(const char *sign, double left, double right)
{
    if (sign[0] == '<')
        return sign[1] ? left <= right : left < right;
    if (sign[0] == '>')
        return sign[1] ? left >= right : left > right;
    return (sign[0] == '=') == (left == right);
}

/* Where `name sign number` is first not as `held`, by the condition and by a plain search. */
static void check_scan(const struct ga_burst_rows *rows, const char *name, size_t which,
                       const char *sign, bool held)
{
    const double limit = figure(rows, ROWS / 2, which);
    struct ga_condition condition;
    char text[64];
    size_t want = 0;
    snprintf(text, sizeof(text), "%s %s %.17g", name, sign, limit);
    assert_int_equal(ga_condition_read(&condition, text), 0);
    assert_non_null(condition.scan);
    while (want < ROWS && compared(sign, figure(rows, want, which), limit) == held)
        want++;
    assert_int_equal(condition.scan(condition.self, rows, held), want);
    ga_condition_fini(&condition);
}

/* Rows of a burst: what one comparison of their figures makes of them. */
static void test_rows(void **state)
{
    static const char *const names[] = {"loss", "grad_norm", "update_norm", "param_norm", "update"};
    static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
    struct ga_burst_row row[ROWS];
    const struct ga_burst_rows rows = {.before = {.update = 7}, .row = row, .count = ROWS};
    (void)state;
    for (size_t k = 0; k < ROWS; k++) {
        const double x = (double)k;
        row[k] = (struct ga_burst_row){100 / (1 + x), 3 * x, 50 - x, x * (40 - x)};
    }
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 6; j++) {
            check_scan(&rows, names[i], i, signs[j], false);
            check_scan(&rows, names[i], i, signs[j], true);
        }
}

static void test_only_what_rows_tell_is_scanned(void **state)
{
    static const char *const texts[] = {"loss < 1 and update > 2",
                                        "not loss < 1",
                                        "dataset_loss < 1",
                                        "replica 0 loss < 1",
                                        "hash == 00000000",
                                        "nan",
                                        "loss == nan",
                                        "1 > loss",
                                        "examples > 100",
                                        "loss < grad_norm"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct ga_condition condition;
        assert_int_equal(ga_condition_read(&condition, texts[i]), 0);
        if (condition.scan)
            fail_msg("%s is scanned", texts[i]);
        ga_condition_fini(&condition);
    }
}

static int open_capture(void **state)
{
    static struct capture capture;
    capture_open(&capture, false, false, NULL);
    capture_run(&capture, "next");
    *state = &capture;
    return 0;
}

static int close_capture(void **state)
{
    capture_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_meaning, open_capture, close_capture),
        cmocka_unit_test_setup_teardown(test_outlook, open_capture, close_capture),
        cmocka_unit_test_setup_teardown(test_hash, open_capture, close_capture),
        cmocka_unit_test_setup_teardown(test_values, open_capture, close_capture),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_size_is_bounded),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_only_what_rows_tell_is_scanned),
        cmocka_unit_test_setup_teardown(test_no_allocation, open_capture, close_capture),
    };
    return ga_test_main(tests);
}
