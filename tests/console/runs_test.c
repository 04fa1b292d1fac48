/* Commands about several runs, laws and failures, on a console in this process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "capture.h"
#include "support/support.h"

static int open_script(void **state)
{
    static struct capture capture;
    capture_open(&capture, false, false, NULL);
    *state = &capture;
    capture_run(&capture, "set log-every 1000000");
    return 0;
}

static int open_typed(void **state)
{
    static struct capture capture;
    capture_open(&capture, true, false, NULL);
    *state = &capture;
    capture_run(&capture, "set log-every 1000000");
    return 0;
}

static int close_capture(void **state)
{
    capture_close(*state);
    return 0;
}

static void type(struct capture *capture, const char *line)
{
    ga_text_clear(&capture->out);
    assert_int_equal(ga_console_line(capture->console, line, strlen(line), NULL), 0);
}

/* Settings, data and figures are those of the run in use. */
static void test_commands_are_about_the_current_run(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "run 10");
    capture_run(capture, "fork b");
    capture_contains(capture, "run b: a copy at update 10, hash ");
    capture_contains(capture, "; `use b` makes it current\n");
    capture_run(capture, "use b");
    assert_string_equal(capture_output(capture), "run b: sync, at update 10\n");
    capture_run(capture, "data quadratic lambda=1 n=8");
    capture_run(capture, "show data");
    capture_contains(capture, "data quadratic");
    capture_run(capture, "set lr 0.3 replicas 4");
    capture_run(capture, "use main");
    capture_run(capture, "show data");
    capture_contains(capture, "data parabola");
    capture_run(capture, "show changed");
    assert_null(strstr(capture_output(capture), "lr"));
    capture_run(capture, "print update");
    assert_string_equal(capture_output(capture), "update 10\n");
    capture_run(capture, "use b");
    capture_run(capture, "run 3");
    capture_run(capture, "use main");
    capture_run(capture, "run 5 all");
    capture_contains(capture, "main: at update 15, hash ");
    capture_contains(capture, "\nb: at update 8, hash ");
    capture_run(capture, "expect update == 15");
}

/* A log file stays with its run; logged lines follow the current one. */
static void test_a_log_stays_with_its_run(void **state)
{
    struct capture *capture = *state;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "main.csv");
    char line[4200];
    snprintf(line, sizeof(line), "log csv %s", path);
    capture_run(capture, "run 1");
    capture_run(capture, line);
    capture_run(capture, "fork b");
    capture_run(capture, "use b");
    capture_run(capture, "run 3");
    capture_run(capture, "run 2 all");
    capture_run(capture, "use main");
    capture_run(capture, "drop b");
    capture_run(capture, "run 4");
    capture_run(capture, "log off");
    size_t length = 0;
    size_t lines = 0;
    char *bytes = ga_test_read_file(path, &length);
    for (size_t i = 0; i < length; i++)
        lines += bytes[i] == '\n';
    assert_int_equal(lines, 1 + 2 + 4); /* the header, 2 of all, 4 alone */
    free(bytes);
    free(path);
    ga_test_folder_remove(folder);
}

static void test_one_of_all_fails(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "run 20");
    capture_run(capture, "fork wild");
    capture_run(capture, "use wild");
    capture_run(capture, "set lr 100");
    capture_run(capture, "use main");
    capture_refused(capture, "run 50 all", "run wild: update ");
    assert_non_null(strstr(capture_output(capture), "main: at update 70, hash "));
    assert_non_null(strstr(capture_output(capture), "wild: stopped: update "));
    assert_int_equal(ga_console_status(capture->console), GA_STATUS_TRAINING);
    capture_run(capture, "expect update == 70");
}

/* A typed `use` ends the move of the run that was current, and says so of that one. */
static void test_typed_use(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "run 1");
    capture_run(capture, "fork b");
    type(capture, "run");
    assert_true(ga_console_moving(capture->console));
    type(capture, "use b");
    const char *output = capture_output(capture);
    assert_non_null(strstr(output, "paused at update "));
    assert_non_null(strstr(output, "run b: sync, at update 1\n"));
    assert_true(strstr(output, "paused") < strstr(output, "run b:"));
    assert_false(ga_console_moving(capture->console));
    type(capture, "run all");
    type(capture, "use main");
    assert_true(ga_console_moving(capture->console));
    assert_null(strstr(capture_output(capture), "paused"));
    ga_console_pause(capture->console);
    ga_text_clear(&capture->out);
    assert_int_equal(ga_console_pump(capture->console), 0);
    capture_contains(capture, "main: paused at update ");
    capture_contains(capture, "b: paused at update ");
}

/* The answer to a mode says what to expect of it, and where a run stands says which it is. */
static void test_a_mode_and_its_scale_are_said(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "mode async");
    capture_contains(capture, "async, scale full: staleness ");
    capture_contains(capture, "; gauge ");
    capture_run(capture, "set scale sqrt");
    capture_contains(capture, "async, scale sqrt: staleness ");
    capture_run(capture, "run 5");
    capture_contains(capture, "at update 5, async, scale sqrt, hash ");
    capture_run(capture, "mode ssp 4");
    capture_contains(capture, "bound none -> 4 from update 6\n");
    capture_run(capture, "mode buffered 3");
    capture_contains(capture, "buffer P -> 3 from update 6\n");
    capture_run(capture, "mode local 7");
    capture_contains(capture, "period 1 -> 7 from update 6\n");
    capture_run(capture, "mode delay 2");
    capture_contains(capture, "lag 1 -> 2 from update 6\n");
    capture_run(capture, "mode sync 1");
    capture_contains(capture, "backup 0 -> 1 from update 6\n");
    assert_null(strstr(capture_output(capture), "gauge"));
    capture_run(capture, "set optimizer adam mode async");
    assert_null(strstr(capture_output(capture), "gauge"));
}

/* A mode that the data cannot bear is told when it is needed; the setting itself is fine. */
static void test_a_mode_without_a_run(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "set model 2-3-1");
    capture_run(capture, "mode async");
    assert_string_equal(capture_output(capture), "mode sync -> async from update 1\n");
    capture_refused(capture, "law", "model 2-3-1 does not fit");
    capture_refused(capture, "fork b", "model 2-3-1 does not fit");
}

/* The gauge is looked at where a condition asks, and stops a run before it is too late. */
static void test_break_on_the_gauge(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "run 1284");
    capture_run(capture, "break gauge > 1");
    capture_run(capture, "set mode async replicas 8 lr 0.05");
    capture_contains(capture, ": above 1 steps diverge\n");
    capture_run(capture, "run 500");
    capture_contains(capture, "breakpoint 1, gauge > 1: at update 1285");
    capture_run(capture, "columns update gauge sharpness staleness_max");
    capture_run(capture, "set log-every 1");
    capture_run(capture, "run 1");
    capture_contains(capture, "  gauge 2.6");
}

static void test_kill_says_what_it_means(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "set replicas 3 accum 1");
    capture_run(capture, "run 4");
    capture_run(capture, "kill 2");
    capture_contains(capture, "windows wait for it (failure wait); 1 of 3 is killed\n");
    capture_refused(capture, "run 5", "restore 2");
    assert_int_equal(ga_console_status(capture->console), GA_STATUS_TRAINING);
    capture_refused(capture, "kill 2", "killed already");
    capture_run(capture, "restore 2");
    capture_contains(capture, "pulls fresh weights; 0 of 3 are killed\n");
    capture_run(capture, "back 2");
    capture_run(capture, "kill 0");
    capture_contains(capture, "what was recorded beyond this point is forgotten\n");
    capture_run(capture, "set failure continue");
    capture_run(capture, "run 5");
    capture_run(capture, "kill 1");
    capture_contains(capture, "go on with the living");
    capture_run(capture, "kill 2");
    capture_refused(capture, "run 1", "all replicas are killed");
}

static void test_replay_holds(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "set clock real mode async base 0 per-example 0");
    capture_run(capture, "reset");
    capture_run(capture, "run 50");
    capture_run(capture, "replay");
    capture_contains(capture, " pushes; hash recorded ");
    capture_contains(capture, ": the same bits\n");
    capture_run(capture, "set mode hogwild");
    capture_run(capture, "run 5");
    capture_refused(capture, "replay", "hogwild on the real clock cannot be replayed");
}

int main(void)
{
#define IN_SCRIPT(test) cmocka_unit_test_setup_teardown(test, open_script, close_capture)
    const struct CMUnitTest tests[] = {
        IN_SCRIPT(test_commands_are_about_the_current_run),
        IN_SCRIPT(test_a_log_stays_with_its_run),
        IN_SCRIPT(test_one_of_all_fails),
        cmocka_unit_test_setup_teardown(test_typed_use, open_typed, close_capture),
        IN_SCRIPT(test_a_mode_and_its_scale_are_said),
        IN_SCRIPT(test_a_mode_without_a_run),
        IN_SCRIPT(test_break_on_the_gauge),
        IN_SCRIPT(test_kill_says_what_it_means),
        IN_SCRIPT(test_replay_holds),
    };
    return ga_test_main(tests);
}
