/*
 * The pieces of generated programs one by one: every word in them is known, and what users type
 * ends up as Python that means the same.
 */
#include <string.h>

#include "base/error.h"
#include "console/export_code.h"
#include "support/support.h"

struct fixture {
    struct ga_settings settings;
    struct ga_table table;
    struct ga_words data;
    struct ga_net net;
    float start[GA_CODE_INLINE_PARAMETERS];
    struct ga_program program;
};

static void open_fixture(struct fixture *fixture, const char *data)
{
    static const int32_t widths[] = {1, 2, 1};
    const struct ga_model_spec spec = {
        .kind = GA_NET_MLP, .layers = 2, .widths = widths, .bias = true};
    *fixture = (struct fixture){.table = {.train = 50}, .data = GA_WORDS_INIT};
    ga_settings_default(&fixture->settings);
    assert_int_equal(ga_net_build(&fixture->net, &spec), 0);
    assert_int_equal(ga_words_read(&fixture->data, data, strlen(data)), 0);
    fixture->program = (struct ga_program){.settings = &fixture->settings,
                                           .table = &fixture->table,
                                           .data = &fixture->data,
                                           .init_path = "start.safetensors",
                                           .net = &fixture->net,
                                           .start = fixture->start,
                                           .updates = 10};
}

static void assert_expands(struct fixture *fixture, const char *text, const char *want)
{
    struct ga_text got = GA_TEXT_INIT;
    assert_int_equal(ga_code_expand(&fixture->program, text, &got), 0);
    assert_string_equal(ga_text_get(&got), want);
    ga_text_free(&got);
}

static void test_all_words_known(void **state)
{
    (void)state;
    const struct ga_code_piece *const lists[] = {ga_code_head_pieces, ga_code_data_pieces,
                                                 ga_code_tensorflow_pieces, ga_code_pytorch_pieces};
    struct fixture fixture;
    open_fixture(&fixture, "file.csv weight=w target=a,-1 shuffle=3");
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        for (const struct ga_code_piece *piece = lists[i]; piece->text; piece++) {
            struct ga_text text = GA_TEXT_INIT;
            fixture.program.facts = piece->with;
            if (ga_code_expand(&fixture.program, piece->text, &text) < 0)
                fail_msg("%s in\n%s", ga_error_text(), piece->text);
            assert_null(strchr(ga_text_get(&text), '$'));
            assert_int_equal(piece->with & piece->without, 0);
            ga_text_free(&text);
        }
    }
    ga_words_fini(&fixture.data);
}

static void test_unknown_word(void **state)
{
    (void)state;
    struct fixture fixture;
    struct ga_text text = GA_TEXT_INIT;
    open_fixture(&fixture, "parabola");
    assert_int_equal(ga_code_expand(&fixture.program, "a $no-such-word$ b", &text), GA_EINTERNAL);
    ga_text_free(&text);
    ga_words_fini(&fixture.data);
}

static void test_python_strings(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, "'a \"b\"\\c.csv' weight='\\n' target=x,-1,'ü\"'");
    assert_expands(&fixture, "$file$", "\"a \\\"b\\\"\\\\c.csv\"");
    assert_expands(&fixture, "$weight-columns$", "column(\"\\\\n\")");
    ga_words_fini(&fixture.data);
    open_fixture(&fixture, "f.csv target='x,-1,ü\"'");
    assert_expands(&fixture, "$target-columns$",
                   "column(\"x\"), column(\"-1\"), column(\"ü\\\"\")");
    ga_words_fini(&fixture.data);
}

/* The console reads 007 and +2; Python does not, or means something else. */
static void test_python_numbers(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, "parabola n=50 range=-0010,2.50 noise=.5 seed=18446744073709551615");
    assert_expands(&fixture, "$low$ $span$ $gaps$", "-10 12.5 49");
    assert_expands(&fixture, "$noise$ $noise-seed$", "0.5 18446744073709551615");
    fixture.table.train = 1;
    assert_expands(&fixture, "$points$ $gaps$", "1 1");
    ga_words_fini(&fixture.data);
    open_fixture(&fixture, "f.csv scale=00.0625");
    assert_expands(&fixture, "$scale-of-inputs$", "0.0625");
    ga_words_fini(&fixture.data);
    open_fixture(&fixture, "parabola");
    assert_expands(&fixture, "$low$ $span$ $noise$", "-2 4 0");
    ga_words_fini(&fixture.data);
}

static void test_facts(void **state)
{
    (void)state;
    struct fixture fixture;
    open_fixture(&fixture, "parabola noise=0.0");
    const unsigned plain = ga_code_facts(&fixture.program, GA_CODE_PYTORCH);
    assert_int_equal(plain, GA_CODE_PYTORCH | GA_CODE_PARABOLA | GA_CODE_BIAS | GA_CODE_INLINE |
                                GA_CODE_SAME);
    fixture.settings.order = GA_ORDER_SHUFFLE;
    const unsigned shuffled = ga_code_facts(&fixture.program, GA_CODE_TENSORFLOW);
    assert_int_equal(shuffled, GA_CODE_TENSORFLOW | GA_CODE_PARABOLA | GA_CODE_BIAS |
                                   GA_CODE_INLINE | GA_CODE_SHUFFLE);
    fixture.net.parameters = GA_CODE_INLINE_PARAMETERS + 1;
    fixture.settings.order = GA_ORDER_FILE;
    const unsigned large = ga_code_facts(&fixture.program, GA_CODE_PYTORCH);
    assert_int_equal(large, GA_CODE_PYTORCH | GA_CODE_PARABOLA | GA_CODE_BIAS);
    ga_words_fini(&fixture.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_words_known), cmocka_unit_test(test_unknown_word),
        cmocka_unit_test(test_python_strings), cmocka_unit_test(test_python_numbers),
        cmocka_unit_test(test_facts)};
    return ga_test_main(tests);
}
