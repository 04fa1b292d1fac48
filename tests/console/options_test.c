/* The command line. */
#include <string.h>

#include "base/error.h"
#include "console/options.h"
#include "support/support.h"

/* Behind the program's name; nothing writes to the words. */
static int read_words(struct ga_arguments *out, const char *const *words)
{
    const char *named[GA_SOURCES + 8] = {"gaconsole"};
    char **argv = NULL;
    const char **first = named;
    int argc = 1;
    for (; *words; words++)
        named[argc++] = *words;
    memcpy(&argv, &first, sizeof(argv));
    return ga_arguments_read(out, argc, argv);
}

static void test_accepted(void **state)
{
    (void)state;
    struct ga_arguments arguments;
    assert_int_equal(read_words(&arguments, (const char *[]){NULL}), 0);
    assert_int_equal(arguments.front, GA_FRONT_AUTO);
    assert_int_equal(arguments.sources, 0);
    assert_int_equal(read_words(&arguments, (const char *[]){"--batch", "-e", "run 5", "a.ga", "-e",
                                                             "help", "--seed=7", "--readonly",
                                                             "--color", "never", NULL}),
                     0);
    assert_int_equal(arguments.front, GA_FRONT_BATCH);
    assert_true(arguments.readonly);
    assert_string_equal(arguments.seed, "7");
    assert_string_equal(arguments.color, "never");
    assert_int_equal(arguments.sources, 3);
    assert_string_equal(arguments.source[0].text, "run 5");
    assert_false(arguments.source[0].script);
    assert_true(arguments.source[1].script);
    assert_string_equal(arguments.source[2].text, "help");
    assert_int_equal(read_words(&arguments, (const char *[]){"--", "-e", NULL}), 0);
    assert_string_equal(arguments.source[0].text, "-e");
    assert_true(arguments.source[0].script);
    assert_int_equal(read_words(&arguments, (const char *[]){"--batch", "--version", NULL}), 0);
    assert_int_equal(arguments.show, GA_SHOW_VERSION);
    assert_int_equal(read_words(&arguments, (const char *[]){"--seed", "0", NULL}), 0);
    assert_int_equal(read_words(&arguments, (const char *[]){"-e", "-e", NULL}), 0);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *words[4];
        const char *part;
    } rows[] = {
        {{"--foo"}, "unknown option --foo"},
        {{"--bacth"}, "did you mean --batch?"},
        {{"-x"}, "unknown option -x"},
        {{"-efoo"}, "unknown option -efoo"},
        {{"--batch"}, "nothing to do: expected SCRIPT or -e"},
        {{"--batch", "--plain", "x"}, "exclude each other"},
        {{"-e"}, "expected COMMAND behind it"},
        {{"--seed"}, "expected N behind it"},
        {{"--seed", "-1"}, "18446744073709551615"},
        {{"--seed=1x"}, "18446744073709551615"},
        {{"--seed="}, "18446744073709551615"},
        {{"--batch=yes"}, "takes no value"},
        {{"--color", "sometimes"}, "auto, always or never"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ga_arguments arguments;
        assert_true(read_words(&arguments, rows[i].words) < 0);
        if (!strstr(ga_error_text(), rows[i].part))
            fail_msg("%s: '%s' does not say '%s'", rows[i].words[0], ga_error_text(), rows[i].part);
    }
}

static void test_too_many_sources(void **state)
{
    (void)state;
    const char *words[GA_SOURCES + 2] = {NULL};
    struct ga_arguments arguments;
    for (int i = 0; i <= GA_SOURCES; i++)
        words[i] = "a.ga";
    assert_int_equal(read_words(&arguments, words), GA_ERANGE);
    words[GA_SOURCES] = NULL;
    assert_int_equal(read_words(&arguments, words), 0);
}

static void test_usage(void **state)
{
    (void)state;
    struct ga_text text = GA_TEXT_INIT;
    ga_usage(&text);
    for (size_t i = 0; i < ga_option_count(); i++)
        assert_non_null(strstr(text.data, ga_option_at(i)->name));
    ga_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_many_sources),
        cmocka_unit_test(test_usage),
    };
    return ga_test_main(tests);
}
