/* The command `devices` and logs with devices, with NVML absent, failing and fake. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/fake.h"
#include "program.h"
#include "support/support.h"

static void use_library(const char *folder)
{
    assert_int_equal(setenv("LD_LIBRARY_PATH", folder, 1), 0);
}

/* `devices` of a program of its own, on a driver with those troubles; to be freed. */
static void devices(const char *const *settings, struct outcome *outcome)
{
    static const char *const argv[] = {"gaconsole", "--batch", "-e", "devices", NULL};
    fake_set(settings);
    program_run(argv, NULL, outcome);
    if (outcome->status != 0 || outcome->fail.length > 0)
        fail_msg("status %d: %s", outcome->status, ga_text_get(&outcome->fail));
}

static void assert_has(const struct outcome *outcome, const char *part)
{
    if (!strstr(ga_text_get(&outcome->out), part))
        fail_msg("\"%s\" is not in:\n%s", part, ga_text_get(&outcome->out));
}

static void a_library_that_is_none_is_said_in_the_loaders_words(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "libnvidia-ml.so.1");
    struct outcome outcome;
    ga_test_write_file(path, "not a library at all", 20);
    use_library(folder);
    devices(NULL, &outcome);
    assert_has(&outcome, "\n2 replicas on device cpu, numerics exact; ");
    assert_has(&outcome, "\nthis process: ");
    assert_has(&outcome, "% of all cores, memory ");
    assert_has(&outcome, "\nnvml: not available: ");
    assert_has(&outcome, "/libnvidia-ml.so.1: ");
    outcome_fini(&outcome);
    free(path);
    ga_test_folder_remove(folder);
}

static void what_a_driver_says_is_told(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings[3];
        const char *want;
    } cases[] = {
        {{"INIT=9"}, "\nnvml: not available: Driver Not Loaded (code 9), from nvmlInit\n"},
        {{"GPUS="}, "\nnvml: driver 999.11, 0 GPUs\n"},
        {{"GPUS=00000000:DA:00.0,00000000:3B:00.0"},
         "2 GPUs\n  da:00.0  Fake GPU 0: util 10 %, memory 2 GiB of 8 GiB, temperature 40 C, "
         "power 120 W, clock 1980 MHz, memory clock 2619 MHz, clock held: power, heat\n"
         "  3b:00.0  Fake GPU 1: util 11 %"},
        {{"NA=use memory temperature power clock throttle"},
         "Fake GPU 0: util n/a, memory n/a of n/a, temperature n/a, power n/a, clock n/a, memory "
         "clock n/a\n"},
        {{"NA=name pci"}, "  gpu 0  GPU: util 10 %"},
        {{"USE=250"}, "Fake GPU 0: util 100 %,"},
        {{"FAIL=temperature=10"},
         "temperature n/a, power 120 W, clock 1980 MHz, memory clock 2619 MHz, clock held: power, "
         "heat; Unknown Error (code 10), from nvmlDeviceGetTemperature\n"},
        {{"GPUS=0000:3B:00.0,0001:5E:00.0", "LOST=0@0"},
         "  3b:00.0  Fake GPU 0: GPU is lost (code 15), from nvmlDeviceGetUtilizationRates\n"
         "  0001:5e:00.0  Fake GPU 1: util 11 %"},
    };
    use_library(GA_FAKE_NVML);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct outcome outcome;
        devices(cases[i].settings, &outcome);
        assert_has(&outcome, cases[i].want);
        outcome_fini(&outcome);
    }
}

/* Asked for in the middle of a run, it changes no bit of it; not asked for, nothing is loaded. */
static void training_neither_sees_nor_loads_it(void **unused)
{
    (void)unused;
    static const char *const scripts[2][10] = {
        {"gaconsole", "-e", "run 20", "-e", "print hash", NULL},
        {"gaconsole", "-e", "run 10", "-e", "devices", "-e", "run 10", "-e", "print hash", NULL}};
    char *folder = ga_test_folder(), *trace = ga_test_path(folder, "trace");
    char setting[600];
    struct outcome outcome[2];
    snprintf(setting, sizeof(setting), "TRACE=%s", trace);
    use_library(GA_FAKE_NVML);
    fake_set((const char *const[]){setting, NULL});
    for (int i = 0; i < 2; i++) {
        program_run(scripts[i], NULL, &outcome[i]);
        assert_int_equal(outcome[i].status, 0);
        assert_int_equal(access(trace, F_OK), i == 0 ? -1 : 0);
    }
    const char *hash[2] = {strstr(ga_text_get(&outcome[0].out), "\nhash "),
                           strstr(ga_text_get(&outcome[1].out), "\nhash ")};
    assert_true(hash[0] && hash[1]);
    assert_string_equal(hash[0], hash[1]);
    outcome_fini(&outcome[0]);
    outcome_fini(&outcome[1]);
    free(trace);
    ga_test_folder_remove(folder);
}

/* The figures themselves are the machine's; that they are there, and null where unknown, is ours.
 */
static void logs_have_devices_when_asked(void **unused)
{
    (void)unused;
    static const char *const argv[] = {"gaconsole",
                                       "-e",
                                       "log jsonl with.jsonl every 2 devices",
                                       "-e",
                                       "log csv with.csv devices",
                                       "-e",
                                       "log jsonl without.jsonl",
                                       "-e",
                                       "run 4",
                                       "-e",
                                       "set replicas 1",
                                       "-e",
                                       "run 4",
                                       NULL};
    char *folder = ga_test_folder();
    char *with = ga_test_path(folder, "with.jsonl"), *csv = ga_test_path(folder, "with.csv");
    char *without = ga_test_path(folder, "without.jsonl");
    size_t length = 0;
    struct outcome outcome;
    fake_set(NULL);
    program_run(argv, folder, &outcome);
    assert_int_equal(outcome.status, 0);
    assert_has(&outcome, "log jsonl every 2 with devices to with.jsonl\n");
    char *lines = ga_test_read_file(with, &length);
    assert_memory_equal(lines, "{\"update\":2,", 12);
    assert_non_null(strstr(lines, ",\"replica_0_util\":"));
    assert_non_null(strstr(lines, ",\"replica_1_temperature\":null,\"replica_1_power\":null,"
                                  "\"replica_1_device_time\":"));
    assert_null(strstr(lines, "replica_2"));
    free(lines);
    lines = ga_test_read_file(csv, &length);
    assert_non_null(strstr(lines, ",lost,replica_0_util,replica_0_memory,replica_0_temperature,"));
    assert_non_null(strstr(lines, ",nan,nan,"));
    free(lines);
    lines = ga_test_read_file(without, &length);
    assert_null(strstr(lines, "replica_0"));
    free(lines);
    outcome_fini(&outcome);
    free(without);
    free(csv);
    free(with);
    ga_test_folder_remove(folder);
}

/* The updates behind the question are timed, single ones also where a burst would do; then it ends.
 */
static void work_is_timed_when_asked(void **unused)
{
    (void)unused;
    static const char *const settings[] = {"set replicas 2 accum 2",
                                           "set replicas 1 batch 1000 numerics fast"};
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const char *const argv[] = {"gaconsole",
                                    "-e",
                                    settings[i],
                                    "-e",
                                    "run 3",
                                    "-e",
                                    "print device_time",
                                    "-e",
                                    "run 3",
                                    "-e",
                                    "print replica 0 device_time",
                                    "-e",
                                    "run 300",
                                    "-e",
                                    "print device_time",
                                    NULL};
        struct outcome outcome;
        program_run(argv, NULL, &outcome);
        assert_int_equal(outcome.status, 0);
        const char *before = strstr(ga_text_get(&outcome.out), "replica 0 device_time n/a\n");
        assert_non_null(before);
        const char *timed = strstr(before, "replica 0 device_time 0.");
        assert_non_null(timed);
        assert_non_null(strstr(timed, "replica 0 device_time n/a\n"));
        outcome_fini(&outcome);
    }
}

static void wrong_wishes_of_a_log_are_refused(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {
        "log jsonl x.jsonl device", "log jsonl x.jsonl devices every 2", "log jsonl x.jsonl every",
        "log jsonl", "log jsonl x.jsonl devices devices"};
    char *folder = ga_test_folder(), *file = ga_test_path(folder, "x.jsonl");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *const argv[] = {"gaconsole", "-e", wrong[i], NULL};
        struct outcome outcome;
        program_run(argv, folder, &outcome);
        assert_int_equal(outcome.status, 2);
        assert_non_null(strstr(ga_text_get(&outcome.fail), "PATH [every N] [devices]"));
        assert_int_equal(access(file, F_OK), -1);
        outcome_fini(&outcome);
    }
    free(file);
    ga_test_folder_remove(folder);
}

/* `print` knows what replicas' devices say, and conditions have no use for it. */
static void print_tells_what_devices_say(void **unused)
{
    (void)unused;
    static const char *const argv[] = {"gaconsole",
                                       "-e",
                                       "set replicas 3",
                                       "-e",
                                       "next",
                                       "-e",
                                       "print util",
                                       "-e",
                                       "print replica 1 device_memory",
                                       "-e",
                                       "print device_total",
                                       "-e",
                                       "print temperature",
                                       "-e",
                                       "print replica 2 power",
                                       NULL};
    static const struct {
        const char *command, *want;
    } wrong[] = {
        {"expect util > 0", "util is measured and differs each time"},
        {"until replica 0 util > 0.5", "`print util` and `log ... devices` tell it"},
        {"columns update util", "util is measured"},
        {"print util 1", "expected `print util` or `print replica R util`"},
        {"print replica 2 util", "replica 2: expected 0..1"},
        {"print replica x util", "replica"},
        {"print utile", "did you mean util?"},
    };
    struct outcome outcome;
    fake_set(NULL);
    program_run(argv, NULL, &outcome);
    assert_int_equal(outcome.status, 0);
    assert_has(&outcome, "\nreplica 0 util ");
    assert_has(&outcome, " %\nreplica 1 util ");
    assert_has(&outcome, " %\nreplica 2 util ");
    assert_has(&outcome, "\nreplica 1 device_memory ");
    assert_has(&outcome, "iB\nreplica 0 device_total ");
    assert_has(&outcome, "\nreplica 0 temperature n/a\n");
    assert_has(&outcome, "\nreplica 2 power n/a\n");
    outcome_fini(&outcome);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *const line[] = {"gaconsole", "-e", wrong[i].command, NULL};
        program_run(line, NULL, &outcome);
        assert_int_equal(outcome.status, 2);
        if (!strstr(ga_text_get(&outcome.fail), wrong[i].want))
            fail_msg("%s: %s", wrong[i].command, ga_text_get(&outcome.fail));
        outcome_fini(&outcome);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(print_tells_what_devices_say),
    cmocka_unit_test(a_library_that_is_none_is_said_in_the_loaders_words),
    cmocka_unit_test(what_a_driver_says_is_told),
    cmocka_unit_test(training_neither_sees_nor_loads_it),
    cmocka_unit_test(logs_have_devices_when_asked),
    cmocka_unit_test(work_is_timed_when_asked),
    cmocka_unit_test(wrong_wishes_of_a_log_are_refused),
};

int main(void)
{
    return ga_test_main(tests);
}
