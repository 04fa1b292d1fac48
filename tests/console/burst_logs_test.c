/*
 * Logs of a run that goes on in bursts, byte by byte beside those of one that somebody watches
 * update by update.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "support/support.h"

struct side {
    struct capture capture;
    char *folder;
    uint64_t states; /* that its history keeps: one for each update but those of bursts */
};

static void see(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    (void)self;
    (void)run;
    (void)record;
}

static void watch_each_update(struct capture *capture)
{
    static int nobody;
    const struct ga_observer observer = {.update = see, .self = &nobody};

    assert_int_equal(ga_engine_observe(ga_console_engine(capture->console), &observer), 0);
}

static void log_to(struct side *side, const char *format, const char *name, const char *wishes)
{
    char *path = ga_test_path(side->folder, name), line[512];

    snprintf(line, sizeof line, "log %s %s %s", format, path, wishes);
    capture_run(&side->capture, line);
    free(path);
}

static void run_side(struct side *side, bool watched)
{
    struct capture *capture = &side->capture;
    struct ga_history_info history;

    side->folder = ga_test_folder();
    capture_open(capture, false, false, NULL);
    if (watched)
        watch_each_update(capture);
    capture_run(capture, "set numerics fast replicas 1 accum 1 batch 50 log-every 1000000");
    log_to(side, "jsonl", "all.jsonl", "");
    log_to(side, "csv", "all.csv", "");
    log_to(side, "csv", "some.csv", "every 7");
    log_to(side, "csv", "few.csv", "every 1000");
    capture_run(capture, "run 3000");
    capture_run(capture, "back 700");
    capture_run(capture, "run 300");
    capture_run(capture, "set lr 0.02");
    capture_run(capture, "run 2000");
    ga_engine_history(ga_console_engine(capture->console), &history);
    side->states = history.states;
    capture_run(capture, "log off");
    capture_close(capture);
}

static void compare(const struct side *quick, const struct side *slow, const char *name,
                    size_t lines)
{
    char *paths[] = {ga_test_path(quick->folder, name), ga_test_path(slow->folder, name)}, *text[2];
    size_t length[2] = {0, 0}, count = 0;

    for (size_t k = 0; k < 2; k++)
        text[k] = ga_test_read_file(paths[k], &length[k]);
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(text[0], text[1], length[0]);
    for (size_t i = 0; i < length[0]; i++)
        count += text[0][i] == '\n';
    assert_int_equal(count, lines);
    for (size_t k = 0; k < 2; k++) {
        free(paths[k]);
        free(text[k]);
    }
}

static void test_the_same_bytes(void **state)
{
    struct side quick, slow;

    (void)state;
    run_side(&quick, false);
    run_side(&slow, true);
    assert_true(quick.states < slow.states / 4);
    compare(&quick, &slow, "all.jsonl", 5300);
    compare(&quick, &slow, "all.csv", 5301);
    compare(&quick, &slow, "some.csv",
            1 + 3000 / 7 + (2600 / 7 - 2300 / 7) + (4600 / 7 - 2600 / 7));
    compare(&quick, &slow, "few.csv", 1 + 3 + 2);
    ga_test_folder_remove(quick.folder);
    ga_test_folder_remove(slow.folder);
}

/* TensorBoard's files tell of replicas what rows do not, but only of the updates asked for. */
static void test_updates_between_those_logged(void **state)
{
    struct ga_history_info history;
    struct side side = {.folder = ga_test_folder()};

    (void)state;
    capture_open(&side.capture, false, false, NULL);
    capture_run(&side.capture, "set numerics fast replicas 1 accum 1 batch 50 log-every 1000000");
    log_to(&side, "tensorboard", "events", "every 100");
    capture_run(&side.capture, "run 2000");
    ga_engine_history(ga_console_engine(side.capture.console), &history);
    assert_in_range(history.states, 20, 100);
    capture_run(&side.capture, "log");
    capture_contains(&side.capture, "every 100: 20 records");
    capture_close(&side.capture);
    ga_test_folder_remove(side.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_bytes),
        cmocka_unit_test(test_updates_between_those_logged),
    };

    return ga_test_main(tests);
}
