/* The benchmark of the screen measures every figure, and each is a number that can be. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {
    "start_ms",         "idle_bytes_per_s",  "idle_wakes_per_s", "frames_per_s",
    "bytes_per_s",      "frame_bytes",       "cpu_percent",      "full_frames_per_s",
    "full_bytes_per_s", "full_cpu_percent",  "key_ms",           "key_worst_ms",
    "full_key_ms",      "full_key_worst_ms", "throughput",       "memory_mb",
};

static double figure(const char *report, const char *key)
{
    char label[64];
    snprintf(label, sizeof(label), "\"%s\":", key);
    const char *at = strstr(report, label);
    if (!at)
        fail_msg("no %s in %s", key, report);
    return strtod(at + strlen(label), NULL);
}

static void every_figure_is_measured(void **state)
{
    (void)state;
    char report[8192] = "";
    FILE *pipe = popen("'" GA_PROGRAM "' bench screen --rounds 1 --json", "r");
    assert_non_null(pipe);
    const size_t length = fread(report, 1, sizeof(report) - 1, pipe);
    assert_int_equal(pclose(pipe), 0);
    assert_true(length > 2 && report[length - 1] == '\n' && report[length - 2] == '}');
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_true(figure(report, keys[i]) > -1e3 && figure(report, keys[i]) < 1e9);
    assert_true(figure(report, "start_ms") > 0);
    assert_true(figure(report, "frames_per_s") > 0);
    assert_true(figure(report, "frame_bytes") > 0);
    assert_true(figure(report, "key_ms") > 0);
    assert_true(figure(report, "throughput") > 0);
    /* Not speed: while nothing happens nothing is written. */
    assert_close(figure(report, "idle_bytes_per_s"), 0, 0);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(every_figure_is_measured)};

int main(void)
{
    return ga_test_main(tests);
}
