/* The benchmark of CSV files runs, checks what it read, and reports; its speed is not asserted. */
#include <string.h>

#include "base/error.h"
#include "bench/benchmark.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_reports)};
    return ga_test_main(tests);
}
