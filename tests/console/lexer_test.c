/* Words of a line: quotes, comments, and everything that is refused. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "console/lexer.h"
#include "support/support.h"

static void assert_words(const char *line, const char *const *want)
{
    struct ga_words words = GA_WORDS_INIT;
    if (ga_words_read(&words, line, strlen(line)) < 0)
        fail_msg("%s: %s", line, ga_error_text());
    size_t count = 0;
    for (; want[count]; count++) {
        assert_true(count < words.count);
        assert_string_equal(words.word[count], want[count]);
    }
    assert_int_equal(words.count, count);
    ga_words_fini(&words);
}

static void assert_refused(const char *line, size_t length, const char *part)
{
    struct ga_words words = GA_WORDS_INIT;
    assert_int_equal(ga_words_read(&words, line, length), GA_EINPUT);
    assert_int_equal(words.count, 0);
    if (!strstr(ga_error_text(), part))
        fail_msg("'%s' does not say '%s'", ga_error_text(), part);
    ga_words_fini(&words);
}

static void test_blanks_and_comments(void **state)
{
    (void)state;
    assert_words("", (const char *[]){NULL});
    assert_words("  \t ", (const char *[]){NULL});
    assert_words("# run 5", (const char *[]){NULL});
    assert_words("run 5", (const char *[]){"run", "5", NULL});
    assert_words("\trun\t 5  # five", (const char *[]){"run", "5", NULL});
    assert_words("run 5#five", (const char *[]){"run", "5#five", NULL});
}

static void test_quotes(void **state)
{
    (void)state;
    assert_words("say \"a  b\" 'c d'", (const char *[]){"say", "a  b", "c d", NULL});
    assert_words("say \"\" ''", (const char *[]){"say", "", "", NULL});
    assert_words("say \"a # b\"", (const char *[]){"say", "a # b", NULL});
    assert_words("say \"a \\\"b\\\" \\\\ \\n\"", (const char *[]){"say", "a \"b\" \\ \\n", NULL});
    assert_words("say 'a \\ \"b\"'", (const char *[]){"say", "a \\ \"b\"", NULL});
    assert_words("ask \"q\" answer=\"two words\" reveal='x = y'",
                 (const char *[]){"ask", "q", "answer=two words", "reveal=x = y", NULL});
    assert_words("say don't stop", (const char *[]){"say", "don't", "stop", NULL});
    assert_words("a=b=\"c\"", (const char *[]){"a=b=\"c\"", NULL});
    assert_words("C:\\data\\x.csv", (const char *[]){"C:\\data\\x.csv", NULL});
    assert_words("say \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", /* two, three and four bytes */
                 (const char *[]){"say", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", NULL});
}

static void test_refusals(void **state)
{
    (void)state;
    assert_refused("say \"abc", 8, "column 5: a quote is opened");
    assert_refused("say 'abc\"", 9, "expected '");
    assert_refused("say \"abc\\\"", 10, "a quote is opened");
    assert_refused("say \"a\"b", 8, "expected a blank behind the closing quote");
    assert_refused("a\0b", 3, "column 2: byte 0x00");
    assert_refused("a\x1b[2J", 5, "byte 0x1b");
    assert_refused("a\nb", 3, "byte 0x0a");
    assert_refused("a\x7f", 2, "byte 0x7f");
    assert_refused("\xff", 1, "byte 0xff");
    assert_refused("\xc3", 1, "byte 0xc3");         /* cut short */
    assert_refused("\xc0\xaf", 2, "byte 0xc0");     /* longer than needed */
    assert_refused("\xed\xa0\x80", 3, "byte 0xed"); /* a surrogate */
    assert_refused("\xc2\x9b", 2, "byte 0xc2");     /* a C1 control */
    assert_refused("\xf5\x80\x80\x80", 4, "byte 0xf5");
}

static void test_long_lines(void **state)
{
    (void)state;
    struct ga_words words = GA_WORDS_INIT;
    char *line = malloc(GA_LINE_LIMIT + 1);
    assert_non_null(line);
    memset(line, 'x', GA_LINE_LIMIT + 1);
    assert_int_equal(ga_words_read(&words, line, GA_LINE_LIMIT), 0);
    assert_int_equal(words.count, 1);
    assert_int_equal(strlen(words.word[0]), GA_LINE_LIMIT);
    assert_int_equal(ga_words_read(&words, line, GA_LINE_LIMIT + 1), GA_ERANGE);
    for (size_t i = 0; i < GA_LINE_LIMIT; i += 2)
        line[i] = ' ';
    assert_int_equal(ga_words_read(&words, line, GA_LINE_LIMIT), 0);
    assert_int_equal(words.count, GA_LINE_LIMIT / 2);
    free(line);
    ga_words_fini(&words);
}

/* Every allocation may fail; the words are then none, and the next line works. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char line[] = "a b c d e f g h i j k l m n o p q r s t u v w x y z";
    for (int64_t successes = 0; successes < 6; successes++) {
        struct ga_words words = GA_WORDS_INIT;
        ga_test_allocation_limit(successes);
        const int code = ga_words_read(&words, line, sizeof(line) - 1);
        ga_test_allocation_free();
        assert_true(code == 0 || code == GA_ENOMEM);
        assert_int_equal(words.count, code == 0 ? 26 : 0);
        assert_int_equal(ga_words_read(&words, line, sizeof(line) - 1), 0);
        assert_int_equal(words.count, 26);
        ga_words_fini(&words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blanks_and_comments),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_no_memory),
    };
    return ga_test_main(tests);
}
