/* The devices panel on a terminal: whatever NVML does, keys act and training goes on. */
#include "pseudo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

#define FAKE "LD_LIBRARY_PATH=" GA_FAKE_NVML

static void open_on(struct pty *pty, const char *first, const char *second)
{
    const char *const env[] = {FAKE, first, second, NULL};
    pty_open(pty, &(struct pty_options){.env = env});
    pty_expect(pty, "PAUSED");
}

/* A setting takes hold and 200 more updates are made, with the panel on screen. */
static void train_on(struct pty *pty, int updates)
{
    char text[64];
    pty_type(pty, ":set lr 0.02 pace max\r");
    pty_expect(pty, "lr 0.02");
    pty_type(pty, ":run 200\r");
    snprintf(text, sizeof(text), "update %d ", updates);
    pty_expect(pty, text);
    pty_expect(pty, "PAUSED");
}

static void leave(struct pty *pty)
{
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    pty_expect_restored(pty);
}

static void a_driver_that_stalls_holds_nobody(void **state)
{
    struct pty *pty = *state;
    open_on(pty, "FAKE_NVML_STALL_MS=300", NULL);
    pty_type(pty, "9z");
    pty_expect(pty, "NVML has not answered yet");
    train_on(pty, 200);
    pty_expect(pty, "Fake GPU 0");
    train_on(pty, 400);
    pty_expect(pty, "10 %");
    train_on(pty, 600);
    leave(pty);
}

/* Not even the end waits for one that never answers. */
static void a_driver_that_hangs_holds_nobody(void **state)
{
    struct pty *pty = *state;
    open_on(pty, "FAKE_NVML_STALL_MS=100000000", NULL);
    pty_type(pty, "9z");
    pty_expect(pty, "NVML has not answered yet");
    train_on(pty, 200);
    pty_type(pty, "z:devices\r");
    pty_expect(pty, "nvml: has not answered yet");
    train_on(pty, 400);
    leave(pty);
}

static void what_a_driver_says_is_on_screen(void **state)
{
    struct pty *pty = *state;
    static const struct {
        const char *first, *second, *want;
    } cases[] = {
        {"FAKE_NVML_INIT=9", NULL, "no GPUs: Driver Not Loaded (code 9), from nvmlInit"},
        {"FAKE_NVML_GPUS=", NULL, "no GPUs: NVML lists none"},
        {"FAKE_NVML_GPUS=0000:DA:00.0,0000:3B:00.0", "FAKE_NVML_LOST=0@1", "GPU is lost (code 15)"},
        {"FAKE_NVML_USE=400", NULL, "100 %"},
        {"FAKE_NVML_NA=use memory temperature power clock throttle", NULL,
         "-    n/a                    n/a       n/a    n/a     n/a       n/a"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_on(pty, cases[i].first, cases[i].second);
        pty_type(pty, "9z");
        pty_expect(pty, cases[i].want);
        train_on(pty, 200);
        pty_close(pty);
    }
}

/* The machine goes on while training is paused: a GPU gets lost, and nobody pressed a key. */
static void the_panel_lives_while_training_is_paused(void **state)
{
    struct pty *pty = *state;
    open_on(pty, "FAKE_NVML_LOST=0@3", NULL);
    pty_type(pty, "9z");
    pty_expect(pty, "Fake GPU 0");
    pty_expect(pty, "GPU is lost (code 15)");
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
}

static void nothing_is_loaded_before_it_is_asked_for(void **state)
{
    struct pty *pty = *state;
    char *folder = ga_test_folder(), *trace = ga_test_path(folder, "trace");
    char setting[600];
    snprintf(setting, sizeof(setting), "FAKE_NVML_TRACE=%s", trace);
    open_on(pty, setting, NULL);
    train_on(pty, 200);
    assert_int_equal(access(trace, F_OK), -1);
    pty_type(pty, "9z");
    pty_expect(pty, "Fake GPU 0");
    assert_int_equal(access(trace, F_OK), 0);
    leave(pty);
    free(trace);
    ga_test_folder_remove(folder);
}

static const struct CMUnitTest tests[] = {
    PTY_TEST(a_driver_that_stalls_holds_nobody),
    PTY_TEST(a_driver_that_hangs_holds_nobody),
    PTY_TEST(what_a_driver_says_is_on_screen),
    PTY_TEST(the_panel_lives_while_training_is_paused),
    PTY_TEST(nothing_is_loaded_before_it_is_asked_for),
};

int main(void)
{
    return ga_test_main(tests);
}
