#include "base/error.h"
#include "base/text.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static void test_empty(void **state)
{
    (void)state;
    struct ga_text text = GA_TEXT_INIT;
    assert_string_equal(ga_text_get(&text), "");
    assert_false(ga_text_failed(&text));
    ga_text_append(&text, NULL, 0);
    assert_string_equal(text.data, "");
    ga_text_free(&text);
    ga_text_free(&text);
    ga_text_free(NULL);
}

static void test_appending(void **state)
{
    (void)state;
    struct ga_text text = GA_TEXT_INIT;
    ga_text_puts(&text, "loss ");
    ga_text_number(&text, 0.1);
    ga_text_append(&text, " at", 3);
    ga_text_printf(&text, " update %d%%", 120);
    assert_string_equal(ga_text_get(&text), "loss 0.1 at update 120%");
    assert_int_equal(text.length, strlen(text.data));
    ga_text_clear(&text);
    assert_string_equal(ga_text_get(&text), "");
    ga_text_append(&text, "a\0b", 3);
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.data, "a\0b", 4);
    ga_text_free(&text);
}

/* Every length around the room that is left, so that both ways through printf are taken. */
static void test_printf_grows(void **state)
{
    (void)state;
    for (int length = 0; length < 600; length++) {
        struct ga_text text = GA_TEXT_INIT;
        ga_text_puts(&text, "head");
        ga_text_printf(&text, "%0*d|", length + 1, 7);
        assert_int_equal(text.length, 4 + length + 2);
        assert_memory_equal(text.data + text.length - 2, "7|", 3);
        ga_text_free(&text);
    }
}

static void test_no_memory_is_remembered(void **state)
{
    (void)state;
    struct ga_text text = GA_TEXT_INIT;
    ga_text_puts(&text, "kept");
    ga_test_allocation_limit(0);
    ga_text_printf(&text, "%0500d", 1);
    ga_test_allocation_free();
    assert_true(ga_text_failed(&text));
    assert_int_equal(ga_error_code(), GA_ENOMEM);
    assert_string_equal(ga_text_get(&text), "kept");
    ga_text_puts(&text, "more");
    assert_string_equal(ga_text_get(&text), "kept");
    ga_text_append(&text, "", SIZE_MAX);
    ga_text_clear(&text);
    assert_false(ga_text_failed(&text));
    ga_text_append(&text, "x", 1);
    ga_text_append(&text, "y", SIZE_MAX);
    assert_true(ga_text_failed(&text));
    assert_string_equal(ga_text_get(&text), "x");
    ga_text_free(&text);
}

static void test_numbers_ignore_the_locale(void **state)
{
    (void)state;
    struct ga_text text = GA_TEXT_INIT;
    if (!ga_test_comma_locale())
        ga_test_skip("localedef cannot make a locale with a decimal comma");
    ga_text_printf(&text, "%.2f %g ", 1.5, 1e-3);
    ga_text_number(&text, 2.5);
    ga_test_comma_locale_end();
    assert_string_equal(ga_text_get(&text), "1.50 0.001 2.5");
    ga_text_free(&text);
}

static void test_quote(void **state)
{
    (void)state;
    static const char forty[] = "0123456789012345678901234567890123456789";
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", "\"\""},
        {"lr", "\"lr\""},
        {"a\tb\033[2J\x7f", "\"a?b?[2J?\""},
        {"gr\xc3\xb6\xc3\x9f"
         "e \xe2\x82\xac \xf0\x9f\x98\x80",
         "\"gr\xc3\xb6\xc3\x9f"
         "e \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xc3", "\"?\""},
        {"\xc2\x9b"
         "0m",
         "\"??0m\""},
        {"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xff", "\"??????????\""},
    };
    char out[GA_QUOTE_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(ga_quote(out, cases[i].in), cases[i].out);
    assert_int_equal(strlen(ga_quote(out, forty)), 42);
    assert_string_equal(ga_quote_n(out, forty, 3), "\"012\"");
    char longer[64];
    strcpy(longer, forty);
    strcat(longer, "x");
    assert_string_equal(ga_quote(out, longer), "\"0123456789012345678901234567890123456789...\"");
    memcpy(longer + 39, "\xe2\x82\xac", 4);
    assert_string_equal(ga_quote(out, longer), "\"012345678901234567890123456789012345678...\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_appending),
        cmocka_unit_test(test_printf_grows),
        cmocka_unit_test(test_no_memory_is_remembered),
        cmocka_unit_test(test_numbers_ignore_the_locale),
        cmocka_unit_test(test_quote),
    };
    return ga_test_main(tests);
}
