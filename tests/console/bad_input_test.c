/*
 * Bad input of every kind: told with what was wrong and what was expected, exit status 2, nothing
 * changed. Each line runs twice: through the program for the status, and on a console in this
 * process that has trained a little, whose weights, settings and position must stay.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "capture.h"
#include "program.h"
#include "support/support.h"

struct file {
    const char *name;
    const char *bytes;
    size_t length;
};

#define TEXT(name, text)                                                                           \
    {                                                                                              \
        name, text, sizeof(text) - 1                                                               \
    }

static const struct file files[] = {
    TEXT("empty.csv", ""),
    TEXT("ragged.csv", "x,y\n1,2\n3\n"),
    TEXT("text.csv", "x,y\n1,2\nthree,4\n"),
    TEXT("nan.csv", "x,y\n1,2\nnan,4\n"),
    TEXT("huge.csv", "x,y\n1,2\n3,1e999\n"),
    TEXT("class.csv", "x,y\n1,0\n3,-1\n"),
    TEXT("weight.csv", "x,w,y\n1,1,2\n3,1e-9,4\n"),
    TEXT("far.csv", "x,y\n1,1e9\n2,1e9\n"),
    TEXT("good.csv", "x,y\n1,1\n2,4\n3,9\n"),
    TEXT("short.safetensors", "\x10\0\0"),
    TEXT("long.safetensors", "\xff\xff\xff\xff\xff\xff\xff\x7f{}"),
    TEXT("beyond.safetensors", "\x64\0\0\0\0\0\0\0{}"),
    TEXT("json.safetensors", "\x08\0\0\0\0\0\0\0{\"a\": 1 "),
    TEXT("dtype.safetensors", "\x40\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F99\",\"shape\":[1],\"data_"
                              "offsets\":[0,4]}}         "
                              "  abcd"),
    TEXT("script.ga", "run 1\nfoo\n"),
};

static const struct {
    const char *line;
    const char *part; /* of the message */
} rows[] = {
    {"foo", "no command is called foo: expected one of those that `help` lists"},
    {"set foo 1", "no setting is called foo: expected one of those that `settings` lists"},
    {"set accum 0", "accum 0: expected 1..262144 micro-batches"},
    {"set accum -1", "accum -1: expected 1..262144 micro-batches"},
    {"set accum 1.5", "accum 1.5: expected 1..262144 micro-batches"},
    {"set accum 1000000000", "accum 1000000000: expected 1..262144 micro-batches"},
    {"set accum 4x", "accum 4x: expected 1..262144 micro-batches"},
    {"set replicas 2 accum 262144 batch 1",
     "= 524288 examples per window: expected at most 262144"},
    {"set lr 0.1 lr", "lr without a value"},
    {"set optimizer adagrad", "'adagrad' is no optimizer; expected sgd | adam | adamw"},
    {"set base 5", "base 5: expected 0..1000 s, as in 2ms"},
    {"run 0", "run 0: expected N updates"},
    {"run 10x", "run 10x: expected N updates"},
    {"next 1 1", "next: too many words: expected `next [N]`"},
    {"goto x", "goto"},
    {"until update < 0", "cannot come true any more (update = "},
    {"log csv \"\"", "the log's name is empty, expected that of a file"},
    {"log tensorboard \"\"", "the log's name is empty, expected that of a folder"},
    {"log csv .", "a directory, expected a file"},
    {"load script.ga", "not a safetensors file (its header would be"},
    {"load \"\"", "expected"},
    {"until loss", "expected one of < <= > >= == !="},
    {"break replica 7 loss < 1", "expected 0..1"},
    {"print nothing", "expected a metric, a setting, or one of"},
    {"print accum 2", "replica"},
    {"print los", "did you mean loss?"},
    {"print cosine", "expected `replica R cosine`"},
    {"print replica 0 update", "without `replica R`"},
    {"print replica 2 loss", "expected 0 to 1"},
    {"columns lss", "no figure is called lss: did you mean loss?"},
    {"print weights layers.9.weight", "layers.0.weight"},
    {"explain layers.0.weight[5]", "layers.0.weight[5]"},
    {"slow 2 1", "expected 0 to 1"},
    {"slow 0 0", "slow: factor"},
    {"slow 0 nan", "slow: factor"},
    {"kill 2", "expected 0 to 1"},
    {"kill -1", "kill: replica"},
    {"kill", "kill: too few words: expected `kill R`"},
    {"restore 0", "replica 0 is alive: nothing to restore"},
    {"restore x", "restore: replica"},
    {"mode parallel", "'parallel' is no mode"},
    {"mode async 3", "async has no number of its own"},
    {"mode ssp x", "bound x"},
    {"mode delay -1", "lag -1"},
    {"mode buffered 0", "buffer 0"},
    {"mode sync 2", "backup"},
    {"mode ssp 1 2", "mode: too many words"},
    {"fork main", "there is a run main already"},
    {"fork 2nd", "a letter first"},
    {"fork a/b", "a letter first"},
    {"use other", "no run is called 'other': expected main"},
    {"drop main", "is the current run"},
    {"drop other", "no run is called"},
    {"compare main", "too few words"},
    {"compare main other", "no run is called 'other'"},
    {"compare main main time", "expected `compare A B`"},
    {"compare main main per time", "expected `compare A B`"},
    {"compare main main by weight", "expected updates, examples, time or bytes"},
    {"run 5 updates now", "run: 'now' behind the number: expected nothing, or all"},
    {"run 0 all", "run 0: expected N updates"},
    {"run all", "a script has to say how far"},
    {"law 0", "law: \"0\" is out of range"},
    {"law x", "law: \"x\""},
    {"staleness -1", "staleness: \"-1\""},
    {"replay now", "replay: too many words"},
    {"break gauge > x", "no figure is called x"},
    {"print gaug", "did you mean gauge?"},
    {"say \"open", "a quote is opened and not closed"},
    {"source missing.ga", "missing.ga"},
    {"source .", "directory"},
    {"data missing.csv", "missing.csv"},
    {"data .", "directory"},
    {"data empty.csv", "empty.csv"},
    {"data ragged.csv", "ragged.csv:3"},
    {"data text.csv", "text.csv:3"},
    {"data nan.csv", "nan.csv:3"},
    {"data huge.csv", "huge.csv:3"},
    {"data class.csv kind=class", "class.csv"},
    {"data weight.csv weight=w", "weight.csv"},
    {"data good.csv target=z", "z"},
    {"data good.csv foo=1", "foo"},
    {"data good.csv train=0", "train"},
    {"data good.csv test=5", "test"},
    {"data parabola n=0", "n"},
    {"data parabola n=5x", "n"},
    {"data quadratic lambda=1,x", "lambda"},
    {"load missing.safetensors", "missing.safetensors"},
    {"load .", "directory"},
    {"load short.safetensors", "short.safetensors"},
    {"load long.safetensors", "long.safetensors"},
    {"load beyond.safetensors", "beyond.safetensors"},
    {"load json.safetensors", "json.safetensors"},
    {"load dtype.safetensors", "dtype.safetensors"},
    {"load good.csv", "good.csv"},
    {"init-from missing.safetensors", "missing.safetensors"},
    {"init-from dtype.safetensors", "dtype.safetensors"},
    {"save missing/a.safetensors", "missing/a.safetensors"},
    {"save .", "."},
    {"export weights missing/a.safetensors", "missing/a.safetensors"},
    {"log jsonl missing/a.jsonl", "missing/a.jsonl"},
    {"log tensorboards x", "expected one of: jsonl, csv"},
};

static char *make_files(void)
{
    char *folder = ga_test_folder();
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char *path = ga_test_path(folder, files[i].name);
        ga_test_write_file(path, files[i].bytes, files[i].length);
        free(path);
    }
    return folder;
}

static void assert_says(const char *line, const char *text, const char *start, const char *part)
{
    if (strncmp(text, start, strlen(start)) != 0 || !strstr(text, part))
        fail_msg("%s: '%s' does not start with '%s' and say '%s'", line, text, start, part);
}

static void test_exit_status(void **state)
{
    (void)state;
    char *folder = make_files();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct outcome outcome;
        const char *const argv[] = {"gaconsole",  "--batch", "-e",      "say start", "-e",
                                    rows[i].line, "-e",      "say end", NULL};
        program_run(argv, folder, &outcome);
        if (outcome.status != 2)
            fail_msg("%s: status %d", rows[i].line, outcome.status);
        assert_string_equal(ga_text_get(&outcome.out), "start\n");
        assert_says(rows[i].line, ga_text_get(&outcome.fail), "gaconsole: -e:2: ", rows[i].part);
        outcome_fini(&outcome);
    }
    ga_test_folder_remove(folder);
}

/* Everything that must not move. */
static char *whole_state(struct capture *capture)
{
    struct ga_text text = GA_TEXT_INIT;
    static const char *const looks[] = {
        "print hash", "show", "show changed", "print counters", "print loss",
        "history",    "log",  "breaks",       "print accum 0",  "columns"};
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        capture_run(capture, looks[i]);
        ga_text_puts(&text, capture_output(capture));
    }
    return text.data;
}

static void test_nothing_changes(void **state)
{
    (void)state;
    char *folder = make_files();
    char *before_folder = getcwd(NULL, 0);
    struct capture capture;
    assert_int_equal(chdir(folder), 0);
    capture_open(&capture, false, false, NULL);
    capture_run(&capture, "set lr 0.02 accum 3");
    capture_run(&capture, "run 3");
    capture_run(&capture, "micro 2");
    char *before = whole_state(&capture);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        capture_refused(&capture, rows[i].line, rows[i].part);
        char *after = whole_state(&capture);
        if (strcmp(before, after) != 0)
            fail_msg("%s changed\n%s\nto\n%s", rows[i].line, before, after);
        free(after);
    }
    free(before);
    capture_close(&capture);
    assert_int_equal(chdir(before_folder), 0);
    free(before_folder);
    ga_test_folder_remove(folder);
}

static void assert_program(const char *const *argv, const char *folder, int status,
                           const char *start, const char *part)
{
    struct outcome outcome;
    program_run(argv, folder, &outcome);
    if (outcome.status != status)
        fail_msg("%s: status %d, '%s'", argv[1], outcome.status, ga_text_get(&outcome.fail));
    assert_says(argv[1], ga_text_get(&outcome.fail), start, part);
    outcome_fini(&outcome);
}

static void test_runs_that_cannot_be(void **state)
{
    (void)state;
    char *folder = make_files();
    assert_program((const char *[]){"g", "--batch", "-e", "data good.csv", "-e", "set model 2-5-1",
                                    "-e", "run 1", NULL},
                   folder, 2, "gaconsole: -e:3: ", "model 2-5-1 does not fit good.csv");
    assert_program((const char *[]){"g", "--batch", "-e", "data far.csv", "-e", "run 1", NULL},
                   folder, 2, "gaconsole: -e:2: update 1, replica ", "scale the data");
    assert_program((const char *[]){"g", "--batch", "-e", "set lr 10", "-e", "run 100", NULL},
                   folder, 1, "gaconsole: -e:2: update ", "replica ");
    assert_program((const char *[]){"g", "--batch", "-e", "expect loss < 0", NULL}, folder, 1,
                   "gaconsole: -e:1: ", "expected loss < 0, found loss = nan");
    assert_program((const char *[]){"g", "--batch", "script.ga", NULL}, folder, 2,
                   "gaconsole: script.ga:2: ", "no command is called foo");
    assert_program((const char *[]){"g", "--batch", "missing.ga", NULL}, folder, 2,
                   "gaconsole: ", "missing.ga");
    assert_program((const char *[]){"g", "--batch", NULL}, folder, 2, "gaconsole: ", "SCRIPT");
    assert_program((const char *[]){"g", "--foo", NULL}, folder, 2, "gaconsole: ", "--help");
    ga_test_folder_remove(folder);
}

/* A disk that is full when a run is saved: the file that was there stays as it was. */
static void test_save_on_a_full_disk(void **state)
{
    (void)state;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "a.safetensors");
    size_t before = 0;
    size_t after = 0;
    assert_program((const char *[]){"g", "--batch", "-e", "save a.safetensors", NULL}, folder, 0,
                   "", "");
    char *old = ga_test_read_file(path, &before);
    static const char limited[] =
        "ulimit -f 1; exec \"$0\" --batch -e 'run 5' -e 'save a.safetensors'";
    assert_program((const char *[]){"/bin/sh", "-c", limited, GA_PROGRAM, NULL}, folder, 2,
                   "gaconsole: -e:2: ", "a.safetensors");
    char *new = ga_test_read_file(path, &after);
    assert_int_equal(before, after);
    assert_memory_equal(old, new, before);
    free(old);
    free(new);
    free(path);
    ga_test_folder_remove(folder);
}

/* Closed standard streams are not taken for the program's own descriptors. */
static void test_closed_streams(void **state)
{
    (void)state;
    assert_program((const char *[]){"/bin/sh", "-c", "exec \"$0\" --batch -e 'run 5' >&- <&-",
                                    GA_PROGRAM, NULL},
                   NULL, 2, "gaconsole: ", "cannot write the output: Bad file descriptor");
    assert_program(
        (const char *[]){"/bin/sh", "-c", "exec \"$0\" --batch -e foo 2>&-", GA_PROGRAM, NULL},
        NULL, 2, "", "");
}

/* Answers that cannot be written end the session with status 2; a reader that left ends it quietly.
 */
static void test_output_that_cannot_be_written(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) == 0)
        assert_program((const char *[]){"/bin/sh", "-c",
                                        "exec \"$0\" --batch -e 'run 100000' > /dev/full",
                                        GA_PROGRAM, NULL},
                       NULL, 2, "gaconsole: ", "cannot write the output");
    struct outcome outcome;
    program_run((const char *[]){"/bin/sh", "-c",
                                 "{ \"$0\" --batch -e 'run 1000000000'; echo $? >&2; } | head -n 1",
                                 GA_PROGRAM, NULL},
                NULL, &outcome);
    assert_int_equal(outcome.status, 0);
    assert_string_equal(ga_text_get(&outcome.fail), "141\n"); /* 128 + SIGPIPE, and no words */
    outcome_fini(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_status),
        cmocka_unit_test(test_nothing_changes),
        cmocka_unit_test(test_runs_that_cannot_be),
        cmocka_unit_test(test_save_on_a_full_disk),
        cmocka_unit_test(test_closed_streams),
        cmocka_unit_test(test_output_that_cannot_be_written),
    };
    return ga_test_main(tests);
}
