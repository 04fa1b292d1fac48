/* Scripts: files, sourcing, ask, expect, files that scripts keep, and how failures are told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "capture.h"
#include "support/support.h"

struct place {
    struct capture capture;
    char *folder;
};

static int open_place(void **state)
{
    static struct place place;
    place.folder = ga_test_folder();
    capture_open(&place.capture, false, false, NULL);
    *state = &place;
    return 0;
}

static int close_place(void **state)
{
    struct place *place = *state;
    capture_close(&place->capture);
    ga_test_folder_remove(place->folder);
    return 0;
}

static char *write_script(const struct place *place, const char *name, const char *text)
{
    char *path = ga_test_path(place->folder, name);
    ga_test_write_file(path, text, strlen(text));
    return path;
}

/* Runs a script that must fail like this; the status is `status`. */
static void assert_fails(struct place *place, const char *text, const char *part, int status)
{
    struct capture capture;
    char *path = write_script(place, "failing.ga", text);
    char wanted[512];
    capture_open(&capture, false, false, NULL);
    assert_true(ga_console_script(capture.console, path) < 0);
    snprintf(wanted, sizeof(wanted), "gaconsole: %s:%s", path, part);
    if (!strstr(ga_text_get(&capture.fail), wanted))
        fail_msg("'%s' does not say '%s'", ga_text_get(&capture.fail), wanted);
    assert_ptr_equal(strchr(ga_text_get(&capture.fail), '\n') + 1,
                     ga_text_get(&capture.fail) + capture.fail.length); /* told once */
    assert_int_equal(ga_console_status(capture.console), status);
    capture_close(&capture);
    free(path);
}

static void test_failures_name_file_and_line(void **state)
{
    struct place *place = *state;
    assert_fails(place, "say a\n\n# b\nfoo\nsay c\n", "4: no command is called foo",
                 GA_STATUS_INPUT);
    assert_fails(place, "set lr 1x", "1: lr 1x: expected 0..1000000", GA_STATUS_INPUT);
    assert_fails(place, "say a\r\nfoo\r\n", "2: no command is called foo", GA_STATUS_INPUT);
    assert_fails(place, "next\nexpect loss < 0\n",
                 "2: expected loss < 0, found loss = ", GA_STATUS_TRAINING);
    assert_fails(place, "set lr 10\nrun 100\n", "2: update ", GA_STATUS_TRAINING);
    assert_fails(place, "say \xff\n", "1: column 5: byte 0xff", GA_STATUS_INPUT);
    assert_fails(place, "run\n", "1: run: a script has to say how far", GA_STATUS_INPUT);
    assert_fails(place, "source nowhere.ga\n", "1: cannot find nowhere.ga, neither from here nor",
                 GA_STATUS_INPUT);
    assert_fails(place, "data nowhere.csv\n", "1: cannot find nowhere.csv", GA_STATUS_INPUT);
    assert_fails(place, "source failing.ga\n", "1: source failing.ga: scripts call each other",
                 GA_STATUS_INPUT);
}

static void test_zero_byte(void **state)
{
    struct place *place = *state;
    char *path = ga_test_path(place->folder, "zero.ga");
    ga_test_write_file(path, "say a\0b\n", 8);
    assert_true(ga_console_script(place->capture.console, path) < 0);
    assert_non_null(strstr(ga_text_get(&place->capture.fail), "byte 0x00"));
    free(path);
}

static void test_script_files(void **state)
{
    struct place *place = *state;
    struct capture *capture = &place->capture;
    char *outer =
        write_script(place, "outer.ga", "\xef\xbb\xbfsay outer\nsource inner.ga\nsay end");
    char *inner = write_script(place, "inner.ga", "say inner\n");
    assert_int_equal(ga_console_script(capture->console, outer), 0);
    assert_string_equal(capture_output(capture), "outer\ninner\nend\n");
    assert_true(ga_console_script(capture->console, place->folder) < 0);
    assert_non_null(strstr(ga_text_get(&capture->fail), "directory"));
    assert_int_equal(ga_console_status(capture->console), GA_STATUS_INPUT);
    free(outer);
    free(inner);
}

static void test_quit_ends_all_levels(void **state)
{
    struct place *place = *state;
    struct capture *capture = &place->capture;
    char *outer = write_script(place, "outer.ga", "source inner.ga\nsay never\n");
    char *inner = write_script(place, "inner.ga", "say once\nquit\nsay never\n");
    assert_int_equal(ga_console_script(capture->console, outer), 0);
    assert_string_equal(capture_output(capture), "once\n");
    assert_true(ga_console_quits(capture->console));
    assert_int_equal(ga_console_status(capture->console), GA_STATUS_FINE);
    free(outer);
    free(inner);
}

static void test_ask_in_batch(void **state)
{
    struct place *place = *state;
    struct capture *capture = &place->capture;
    capture_run(capture, "ask \"How many?\" answer=50 choices=10|50 reveal=\"2 x 5 x 5\"");
    assert_string_equal(capture_output(capture),
                        "How many?\n  a 10  b 50\nanswer: 50\n2 x 5 x 5\n");
    capture_refused(capture, "ask \"How many?\" answer=5 choices=10|50",
                    "one of the choices 10|50");
    capture_refused(capture, "ask \"How many?\" choices=10|50", "expected answer=TEXT");
    capture_refused(capture, "ask \"How many?\" answer=", "expected answer=TEXT");
    capture_refused(capture, "ask \"How many?\" answer=1 answer=2", "given twice");
    capture_refused(capture, "ask \"How many?\" answer=1 foo=2", "'foo=2'");
    capture_run(capture, "wait key");
    capture_refused(capture, "wait 5", "expected `wait key`");
    capture_run(capture, "say   a  \"b  c\"");
    assert_string_equal(capture_output(capture), "a b  c\n");
    capture_run(capture, "say");
    assert_string_equal(capture_output(capture), "\n");
}

static void test_ask_a_person(void **state)
{
    (void)state;
    static const char *const answers[] = {"10", " 50.0 ", "", "SUM", NULL};
    struct capture capture;
    capture_open(&capture, true, false, answers);
    capture_run(&capture, "ask q answer=50");
    assert_string_equal(capture_output(&capture),
                        "q\nnot yet: try again, or an empty line shows the answer\nright: 50\n");
    capture_run(&capture, "ask q answer=50");
    assert_string_equal(capture_output(&capture), "q\nanswer: 50\n");
    capture_run(&capture, "ask q answer=sum choices=mean|sum");
    assert_string_equal(capture_output(&capture), "q\n  1 mean  2 sum\nright: sum\n");
    capture_run(&capture, "ask q answer=sum"); /* the end of the file gives up */
    assert_string_equal(capture_output(&capture), "q\nanswer: sum\n");
    capture_close(&capture);
}

/* A choice by its label, in full, or by how it begins; nothing that could mean two of them. */
static void test_choices_have_short_names(void **state)
{
    (void)state;
    static const struct {
        const char *choices, *right, *typed;
        bool taken;
    } cases[] = {
        {"the same line|a worse line|none", "a worse line", "2", true},
        {"the same line|a worse line|none", "a worse line", "A w", true},
        {"the same line|a worse line|none", "a worse line", "a", true},
        {"the same line|a worse line|none", "none", "N", true},
        {"the same line|a worse line|none", "none", "c", true},
        {"the same line|a worse line|none", "none", "4", false},
        {"more|most|less", "more", "mo", false},
        {"more|most|less", "less", "l", true},
        {"5|10|25|50", "25", "c", true},
        {"5|10|25|50", "25", "25.0", true},
        {"5|10|25|50", "25", "3", false},
        {"5|10|25|50", "25", "2", false},
        {"10 ms|20 ms|35 ms", "35 ms", "35", true},
        {"240 averages|15 averages|none by much", "240 averages", "a", true},
        {"240 averages|15 averages|none by much", "none by much", "n", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const answers[] = {cases[i].typed, NULL};
        char line[160];
        char right[64];
        struct capture capture;
        capture_open(&capture, true, false, answers);
        snprintf(line, sizeof(line), "ask q \"answer=%s\" \"choices=%s\"", cases[i].right,
                 cases[i].choices);
        snprintf(right, sizeof(right), "right: %s\n", cases[i].right);
        capture_run(&capture, line);
        if ((strstr(capture_output(&capture), right) != NULL) != cases[i].taken)
            fail_msg("%s, %s: %s", cases[i].choices, cases[i].typed, capture_output(&capture));
        assert_int_equal(strstr(capture_output(&capture), "is none of them") != NULL,
                         !cases[i].taken);
        capture_close(&capture);
    }
}

/* A command with a file in the test's folder. */
static char *with_file(const struct place *place, const char *before, const char *name,
                       const char *after)
{
    struct ga_text line = GA_TEXT_INIT;
    ga_text_printf(&line, "%s %s/%s%s", before, place->folder, name, after);
    return line.data;
}

static void run_with_file(struct place *place, const char *before, const char *name,
                          const char *after)
{
    char *line = with_file(place, before, name, after);
    capture_run(&place->capture, line);
    free(line);
}

static void refuse_with_file(struct place *place, const char *before, const char *name,
                             const char *after, const char *part)
{
    char *line = with_file(place, before, name, after);
    capture_refused(&place->capture, line, part);
    free(line);
}

static void test_save_and_load_in_mid_window(void **state)
{
    struct place *place = *state;
    struct capture *capture = &place->capture;
    char hash[64];
    capture_run(capture, "set replicas 3 accum 2 batch 4 optimizer adam");
    capture_run(capture, "run 6");
    capture_run(capture, "micro 3");
    run_with_file(place, "save", "a.safetensors", "");
    capture_contains(capture, "at update 6\n");
    capture_run(capture, "run 5");
    capture_run(capture, "print hash");
    snprintf(hash, sizeof(hash), "%s", capture_output(capture));
    capture_close(capture);

    capture_open(capture, false, false, NULL);
    run_with_file(place, "load", "a.safetensors", "");
    capture_contains(capture, "at update 6, inside window 7 (micro, 3 micro-batches done)");
    capture_run(capture, "show changed");
    assert_string_equal(capture_output(capture), "set replicas 3 accum 2 batch 4 optimizer adam\n");
    capture_run(capture, "run 5");
    capture_run(capture, "print hash");
    assert_string_equal(capture_output(capture), hash);
    refuse_with_file(place, "load", "b.safetensors", "", "cannot open");
    capture_run(capture, "expect update == 11");
}

static void test_initial_weights(void **state)
{
    struct place *place = *state;
    struct capture *capture = &place->capture;
    char hash[64];
    capture_run(capture, "run 3");
    capture_run(capture, "print hash");
    snprintf(hash, sizeof(hash), "%s", capture_output(capture));
    run_with_file(place, "export weights", "w.safetensors", "");
    capture_run(capture, "reset seed 9");
    run_with_file(place, "init-from", "w.safetensors", "");
    capture_contains(capture, "16 parameters; the run starts at update 0\n");
    capture_run(capture, "print hash");
    assert_string_equal(capture_output(capture), hash);
    capture_run(capture, "show changed");
    capture_contains(capture, "init-from ");
    capture_contains(capture, "set seed 9\n");
    run_with_file(place, "save", "s.safetensors", "");
    capture_run(capture, "set model 1-8-1");
    refuse_with_file(place, "init-from", "w.safetensors", "", "layers.0.weight");
    capture_close(capture);

    capture_open(capture, false, false, NULL);
    run_with_file(place, "load", "s.safetensors", "");
    capture_run(capture, "run 2");
    capture_run(capture, "reset");
    capture_run(capture, "print hash");
    assert_string_equal(capture_output(capture), hash);
}

static size_t count_lines(const struct place *place, const char *name)
{
    size_t length = 0;
    size_t lines = 0;
    char *path = ga_test_path(place->folder, name);
    char *bytes = ga_test_read_file(path, &length);
    for (size_t i = 0; i < length; i++)
        lines += bytes[i] == '\n';
    free(bytes);
    free(path);
    return lines;
}

static void test_logs_and_exports(void **state)
{
    struct place *place = *state;
    struct capture *capture = &place->capture;
    capture_run(capture, "log");
    assert_string_equal(capture_output(capture), "no logs\n");
    capture_run(capture, "log off");
    assert_string_equal(capture_output(capture), "no log is open\n");
    run_with_file(place, "log jsonl", "a.jsonl", "");
    run_with_file(place, "log csv", "a.csv", " every 5");
    refuse_with_file(place, "log csv", "a.csv", "", "logged to already");
    refuse_with_file(place, "log csv", "b.csv", " every 0", "every");
    refuse_with_file(place, "log csv", "b.csv", " 5",
                     "expected `log csv PATH [every N] [devices]`");
    refuse_with_file(place, "log csv", "none/b.csv", "", "cannot");
    refuse_with_file(place, "log off", "b.csv", "", "no such log");
    capture_refused(capture, "log xml x", "jsonl, csv");
    capture_refused(capture, "log off a b", "expected a path");
    capture_run(capture, "run 20");
    capture_run(capture, "log");
    capture_contains(capture, "every 5: 4 records\n");
    capture_run(capture, "log off");
    capture_contains(capture, "a.csv is closed\n");
    assert_int_equal(count_lines(place, "a.jsonl"), 20);
    assert_int_equal(count_lines(place, "a.csv"), 5);
    run_with_file(place, "export svg", "h.svg", "");
    run_with_file(place, "export history", "h.csv", "");
    assert_int_equal(count_lines(place, "h.csv"), 21);
    refuse_with_file(place, "export history", "none/h.csv", "", "none/h.csv");
    refuse_with_file(place, "export pictures", "h.svg", "",
                     "expected weights, history, svg or code");
    for (int i = 0; i < 7; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d.jsonl", i);
        run_with_file(place, "log jsonl", name, "");
    }
    refuse_with_file(place, "log jsonl", "8.jsonl", "", "logs already");
}

/* A log whose disk is full stops the script after the move that met it. */
static void test_full_disk(void **state)
{
    struct place *place = *state;
    struct capture *capture = &place->capture;
    if (access("/dev/full", W_OK) != 0)
        ga_test_skip("there is no /dev/full");
    capture_run(capture, "log csv /dev/full");
    int code = 0;
    for (int i = 0; i < 200 && code == 0; i++) {
        const struct ga_origin origin = {"test", 1};
        code = ga_console_line(capture->console, "run 200", 7, &origin);
    }
    assert_int_equal(code, GA_EIO);
    assert_non_null(strstr(ga_text_get(&capture->fail), "/dev/full"));
    capture_run(capture, "log");
    assert_string_equal(capture_output(capture), "no logs\n");
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, open_place, close_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_failures_name_file_and_line),
        IN_PLACE(test_zero_byte),
        IN_PLACE(test_script_files),
        IN_PLACE(test_quit_ends_all_levels),
        IN_PLACE(test_ask_in_batch),
        cmocka_unit_test(test_ask_a_person),
        cmocka_unit_test(test_choices_have_short_names),
        IN_PLACE(test_save_and_load_in_mid_window),
        IN_PLACE(test_initial_weights),
        IN_PLACE(test_logs_and_exports),
        IN_PLACE(test_full_disk),
    };
    return ga_test_main(tests);
}
