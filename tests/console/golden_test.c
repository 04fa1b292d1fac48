/*
 * Scripts in golden/ through the program itself: NAME.ga against NAME.out, which holds what it
 * prints, what it complains, and its exit status. GA_GOLDEN_UPDATE=1 writes the .out files anew:
 * look at the difference before keeping it.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "support/support.h"

static int is_script(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 3 && strcmp(entry->d_name + length - 3, ".ga") == 0;
}

static void write_transcript(const char *script, struct ga_text *to)
{
    const char *const argv[] = {"gaconsole", "--batch", script, NULL};
    struct outcome outcome;
    program_run(argv, GA_TEST_DIR "/golden", &outcome);
    ga_text_puts(to, ga_text_get(&outcome.out));
    ga_text_printf(to, "%sstatus %d\n", ga_text_get(&outcome.fail), outcome.status);
    outcome_fini(&outcome);
}

static void test_script(const char *script)
{
    struct ga_text got = GA_TEXT_INIT;
    struct ga_text name = GA_TEXT_INIT;
    size_t length = 0;
    ga_text_printf(&name, GA_TEST_DIR "/golden/%.*s.out", (int)strlen(script) - 3, script);
    write_transcript(script, &got);
    if (getenv("GA_GOLDEN_UPDATE"))
        ga_test_write_file(name.data, ga_text_get(&got), got.length);
    char *want = ga_test_read_file(name.data, &length);
    if (strcmp(ga_text_get(&got), want) != 0)
        fail_msg("%s printed\n%s\ninstead of\n%s", script, ga_text_get(&got), want);
    free(want);
    ga_text_free(&name);
    ga_text_free(&got);
}

static void test_golden_scripts(void **state)
{
    (void)state;
    struct dirent **entries = NULL;
    const int count = scandir(GA_TEST_DIR "/golden", &entries, is_script, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        test_script(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* What the command line asks for runs in its order, the seed first. */
static void test_sources_in_order(void **state)
{
    (void)state;
    struct outcome outcome;
    program_run((const char *[]){"gaconsole", "--batch", "-e", "print seed", "inner/part.ga", "-e",
                                 "print update", "--seed", "7", NULL},
                GA_TEST_DIR "/golden", &outcome);
    assert_int_equal(outcome.status, 0);
    assert_string_equal(ga_text_get(&outcome.fail), "");
    static const char start[] = "seed 1 -> 7 from update 1\nseed 7\ndata points.csv: ";
    assert_int_equal(strncmp(ga_text_get(&outcome.out), start, sizeof(start) - 1), 0);
    const char *end = ga_text_get(&outcome.out) + outcome.out.length - strlen("update 0\n");
    assert_string_equal(end, "update 0\n");
    outcome_fini(&outcome);
}

static void test_information(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"--version", "gaconsole "}, {"--help", "usage: gaconsole"}, {"--man", ".TH GACONSOLE 1"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct outcome outcome;
        program_run((const char *[]){"gaconsole", rows[i][0], NULL}, NULL, &outcome);
        assert_int_equal(outcome.status, 0);
        assert_int_equal(strncmp(ga_text_get(&outcome.out), rows[i][1], strlen(rows[i][1])), 0);
        outcome_fini(&outcome);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden_scripts),
                                       cmocka_unit_test(test_sources_in_order),
                                       cmocka_unit_test(test_information)};
    return ga_test_main(tests);
}
