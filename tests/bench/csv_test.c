/* The benchmark of CSV files runs, checks what it read, and reports; its speed is not asserted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bench/benchmark.h"
#include "bench/scratch.h"
#include "support/support.h"

static void report_contains(bool json, const char *const *words)
{
    struct ga_text text = GA_TEXT_INIT;
    const struct ga_bench_options options = {.rounds = 2, .updates = 1, .json = json};
    if (ga_benchmark_csv.run(&options, &text) < 0)
        fail_msg("%s", ga_error_text());
    for (; *words; words++)
        if (!strstr(ga_text_get(&text), *words))
            fail_msg("%s is not in %s", *words, ga_text_get(&text));
    ga_text_free(&text);
}

static void it_reports(void **unused)
{
    (void)unused;
    report_contains(false, (const char *const[]){"csv: 500 rows of 9 numbers", "libcsv ",
                                                 "packed table", "of its speed", NULL});
    report_contains(true,
                    (const char *const[]){"{\"benchmark\":\"csv\",\"rows\":500,",
                                          "\"speed_of_libcsv\":", "\"packed_to_sum\":", NULL});
}

static void files_are_made_and_removed(void **unused)
{
    static const char *const names[] = {"a", "never made", NULL};
    char base[] = "/tmp/ga_scratch_XXXXXX";
    char folder[GA_SCRATCH_FOLDER], path[GA_SCRATCH_PATH];
    char name[400];
    FILE *file = NULL;

    (void)unused;
    assert_non_null(mkdtemp(base));
    setenv("TMPDIR", base, 1);
    assert_int_equal(ga_scratch_open(folder), GA_OK);
    assert_memory_equal(folder, base, strlen(base));
    ga_scratch_path(folder, "a", path);
    file = fopen(path, "wb");
    assert_non_null(file);
    fclose(file);
    ga_scratch_close(folder, names);
    assert_int_equal(rmdir(base), 0); /* nothing is left in it */

    assert_int_equal(ga_scratch_open(folder), GA_EIO); /* nowhere */
    assert_non_null(strstr(ga_error_text(), base));
    assert_string_equal(folder, "");
    ga_scratch_close(folder, names);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    setenv("TMPDIR", name, 1);
    assert_int_equal(ga_scratch_open(folder), GA_EINPUT);
    assert_string_equal(folder, "");
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_reports),
                                       cmocka_unit_test(files_are_made_and_removed)};
    return ga_test_main(tests);
}
