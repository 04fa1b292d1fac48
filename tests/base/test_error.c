#include "base/error.h"
#include "base/text.h"
#include "support/support.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static void test_fail_sets_text_and_code(void **state)
{
    (void)state;
    assert_int_equal(ga_fail(GA_ERANGE, "accum is %d, expected 1 to %d", 0, 64), GA_ERANGE);
    assert_string_equal(ga_error_text(), "accum is 0, expected 1 to 64");
    assert_int_equal(ga_error_code(), GA_ERANGE);
}

static void test_within_puts_a_prefix(void **state)
{
    (void)state;
    ga_fail(GA_EINPUT, "\"x\" is not a number");
    assert_int_equal(ga_fail_within("%s:%d", "demo.ga", 3), GA_EINPUT);
    assert_string_equal(ga_error_text(), "demo.ga:3: \"x\" is not a number");
}

static void test_within_keeps_the_place(void **state)
{
    (void)state;
    struct ga_error error = {GA_ENONFINITE, 12, 3, 1, "loss is nan"};
    ga_error_put(&error);
    ga_fail_within("run");
    ga_error_take(&error);
    assert_string_equal(error.text, "run: loss is nan");
    assert_int_equal(error.code, GA_ENONFINITE);
}

static void test_errno_is_named(void **state)
{
    (void)state;
    assert_int_equal(ga_fail_errno(GA_EIO, ENOENT, "cannot open %s", "a.csv"), GA_EIO);
    assert_string_equal(ga_error_text(), "cannot open a.csv: No such file or directory");
}

static void test_arguments_may_be_the_old_text(void **state)
{
    (void)state;
    ga_fail(GA_EIO, "inner");
    ga_fail(GA_EINPUT, "outer (%s)", ga_error_text());
    assert_string_equal(ga_error_text(), "outer (inner)");
}

/* A long name loses its middle, not the reason that stands behind it. */
static void test_reasons_stay(void **state)
{
    (void)state;
    char name[4096];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    ga_fail_errno(GA_EIO, ENOENT, "cannot open %s", name);
    assert_int_equal(strncmp(ga_error_text(), "cannot open nnn", 15), 0);
    assert_non_null(strstr(ga_error_text(), "nnn...nnn"));
    assert_non_null(strstr(ga_error_text(), "nnn: No such file or directory"));
    ga_fail_within("line 3");
    assert_int_equal(strncmp(ga_error_text(), "line 3: cannot open nnn", 23), 0);
    assert_non_null(strstr(ga_error_text(), "nnn: No such file or directory"));
    ga_fail(GA_EINPUT, "%s%s%s", name, name, name); /* beyond what is looked at */
    assert_int_equal(strlen(ga_error_text()), GA_ERROR_TEXT - 1);
    name[GA_ERROR_TEXT - 1] = '\0';
    ga_fail(GA_EINPUT, "%s", name);
    assert_string_equal(ga_error_text(), name);
}

/* Each text is cut to fewer than GA_ERROR_TEXT bytes and never inside a character. */
static void test_long_texts_are_cut(void **state)
{
    (void)state;
    char long_text[3 * GA_ERROR_TEXT];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(long_text, 'x', shift);
        for (size_t i = shift; i + 3 < sizeof long_text; i += 3)
            memcpy(long_text + i, "\xe2\x82\xac", 4);
        ga_fail(GA_EINPUT, "%s", long_text);
        const size_t length = strlen(ga_error_text());
        assert_in_range(length, GA_ERROR_TEXT - 8, GA_ERROR_TEXT - 1);
        const char *gap = strstr(ga_error_text(), "...");
        assert_non_null(gap);
        const size_t head = (size_t)(gap - ga_error_text());
        assert_int_equal((head - shift) % 3, 0);
        assert_memory_equal(ga_error_text(), long_text, head);
        assert_int_equal((length - head) % 3, 0);
        assert_memory_equal(gap + 3, "\xe2\x82\xac", 3);
    }
    ga_fail(GA_EINPUT, "%0*d", GA_ERROR_TEXT - 1, 1);
    assert_int_equal(strlen(ga_error_text()), GA_ERROR_TEXT - 1);
    ga_fail_errno(GA_EIO, ENOENT, "%0*d", GA_ERROR_TEXT - 3, 1);
    assert_in_range(strlen(ga_error_text()), GA_ERROR_TEXT - 3, GA_ERROR_TEXT - 1);
}

static void test_take_and_put(void **state)
{
    (void)state;
    struct ga_error taken;
    const struct ga_error put = {GA_ENONFINITE, 7, 2, 0, "weights left the range"};
    assert_int_equal(ga_error_put(&put), GA_ENONFINITE);
    assert_string_equal(ga_error_text(), "weights left the range");
    ga_error_take(&taken);
    assert_int_equal(taken.code, GA_ENONFINITE);
    assert_int_equal(taken.update, -1);
    assert_int_equal(taken.replica, -1);
    assert_int_equal(taken.micro, -1);
    assert_string_equal(taken.text, put.text);
}

struct seen {
    char first[GA_ERROR_TEXT];
    enum ga_code first_code;
};

static void *fail_elsewhere(void *argument)
{
    struct seen *seen = argument;
    strcpy(seen->first, ga_error_text());
    seen->first_code = ga_error_code();
    ga_fail(GA_EINTERNAL, "of the other thread");
    return NULL;
}

static void test_each_thread_has_its_own(void **state)
{
    (void)state;
    struct seen seen;
    pthread_t thread;
    ga_fail(GA_ESTATE, "of the main thread");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &seen), 0);
    pthread_join(thread, NULL);
    assert_string_equal(seen.first, "");
    assert_int_equal(seen.first_code, GA_OK);
    assert_string_equal(ga_error_text(), "of the main thread");
    assert_int_equal(ga_error_code(), GA_ESTATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_sets_text_and_code),
        cmocka_unit_test(test_within_puts_a_prefix),
        cmocka_unit_test(test_within_keeps_the_place),
        cmocka_unit_test(test_errno_is_named),
        cmocka_unit_test(test_arguments_may_be_the_old_text),
        cmocka_unit_test(test_reasons_stay),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_take_and_put),
        cmocka_unit_test(test_each_thread_has_its_own),
    };
    return ga_test_main(tests);
}
