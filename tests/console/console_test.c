/* Commands and their answers, on a console in this process. */
#include <poll.h>
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
    return 0;
}

static int close_capture(void **state)
{
    capture_close(*state);
    return 0;
}

static void test_set_answers(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "set accum 1");
    assert_string_equal(capture_output(capture), "accum 5 -> 1 from update 1\n"
                                                 "window: 2 x 1 x 5 = 10 examples\n");
    capture_run(capture, "run 120");
    capture_run(capture, "set accum 4");
    capture_contains(capture, "accum 1 -> 4 from update 121\n");
    capture_run(capture, "micro");
    capture_run(capture, "set accum 2");
    capture_contains(capture, "accum 4 -> 2 from update 122\n");
    capture_run(capture, "show accum");
    capture_contains(capture, "accum           4 (pending: 2)\n");
    capture_run(capture, "set accum 4");
    capture_contains(capture, "accum 4: the pending change is off\n");
    capture_run(capture, "set accum 4");
    capture_contains(capture, "accum 4, as it is\n");
    capture_run(capture, "set pace x2");
    assert_string_equal(capture_output(capture), "pace max -> x2 at once\n");
    capture_run(capture, "set pace max");
    capture_run(capture, "set seed 2");
    assert_string_equal(capture_output(capture), "seed 1 -> 2 from the next reset\n");
    capture_run(capture, "set batch 300");
    capture_contains(capture, "window: 2 x 4 x 300 = 2400 examples; the data has 50\n");
    capture_run(capture, "set global 7");
    capture_contains(capture, "window: global 7 examples over replicas 2 x accum 4\n");
}

static void test_aliases_answer_in_our_words(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "set num_replicas_in_sync 4 strategy mirrored learning_rate 0.1");
    capture_contains(capture, "replicas (num_replicas_in_sync) 2 -> 4 from update 1\n");
    capture_contains(capture, "mode (strategy) sync, as it is\n");
    capture_contains(capture, "lr (learning_rate) 0.01 -> 0.1 from update 1\n");
    capture_run(capture, "set replicas_to_aggregate 4 replicas 6");
    capture_contains(capture, "backup (replicas_to_aggregate) 0 -> 2 from update 1\n");
    capture_run(capture, "mode ddp");
    assert_string_equal(capture_output(capture), "mode sync, as it is\n");
}

static void test_set_is_all_or_nothing(void **state)
{
    struct capture *capture = *state;
    static const char *const lines[][2] = {
        {"set lr 0.5 accum 0", "accum 0: expected 1..262144 micro-batches"},
        {"set lr 0.5 foo 1", "no setting is called foo"},
        {"set lr 0.5 accum", "accum without a value: expected 1..262144"},
        {"set lr 0.5 lr 0.6", "lr is given twice"},
        {"set lr 0.5 learning_rate 0.6", "lr is given twice"},
        {"set lr 0.5 batch 1 global 2", "batch and global in one `set`"},
        {"set lr 0.5 global 2 micro_batch_size 2", "batch and global in one `set`"},
        {"set lr 0.5 backup 2", "backup 2 with 2 replicas: expected 0..1"},
        {"set lr 0.5 replicas_to_aggregate 3", "expected 1..2"},
        {"set lr 0.5 init file", "init-from FILE"},
        {"set lr 0.5 batch_size 5", "say `batch`"},
        {"set lr 0.5 b 5", "expected more letters"},
        {"set lr 0.5 accum 4096 batch 4096", "at most 262144"},
        {"set lr 0.5 schedule step 100", "step(EVERY,FACTOR)"},
        {"set lr 0.5 schedule constant \"\"", "no setting is called ''"},
        {"set lr 0.5 memory 1 KiB", "expected the unit without a blank before it, memory 1KiB"},
        {"set base 2.5 ms lr 0.5", "base 2.5ms"},
        {"set lr 0.5 ms 1", "no setting is called ms"},
        {"set lr 0.5 accum 1 0", "no setting is called 0"},
        {"mode asinc", "did you mean async?"},
        {"set lr 0.5 mode async global 1", "expected at least one example each"},
        {"set lr 0.5 mode hogwild momentum 0.9", "expected optimizer sgd with momentum 0"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        capture_refused(capture, lines[i][0], lines[i][1]);
        capture_run(capture, "show changed");
        assert_string_equal(capture_output(capture), "# nothing was changed\n");
    }
}

static void test_forms_with_arguments(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "set schedule step 100 0.5 lr 0.1");
    capture_contains(capture, "schedule constant -> step(100,0.5) from update 1\n");
    capture_contains(capture, "lr 0.01 -> 0.1");
    capture_run(capture, "set schedule cosine 100 lr 0.2");
    capture_contains(capture, "step(100,0.5) -> cosine(100,0)");
    capture_run(capture, "set schedule \"step 10 .5\" jitter uniform 0.5 1.5");
    capture_contains(capture, "-> step(10,0.5)");
    capture_contains(capture, "jitter constant -> uniform(0.5,1.5)");
    capture_run(capture, "set jitter straggler(0.1,10)");
    capture_contains(capture, "-> straggler(0.1,10)");
}

/* What `show changed` prints brings another console to the same state. */
static void test_show_changed_reproduces(void **state)
{
    struct capture *capture = *state;
    struct capture other;
    capture_run(capture, "data quadratic lambda=1,4");
    capture_run(capture, "set replicas 3 batch 7 lr 0.05 schedule step 100 0.5 jitter exponential");
    capture_run(capture, "set global 9 optimizer adam clip 2 base 2ms history-budget 1MiB");
    capture_run(capture, "slow 2 2.5");
    capture_run(capture, "show changed");
    char *script = strdup(capture_output(capture));
    assert_string_equal(script,
                        "data quadratic lambda=1,4\n"
                        "set batch 7\n"
                        "set replicas 3 global 9 optimizer adam lr 0.05 clip 2 "
                        "schedule step(100,0.5) base 2ms jitter exponential history-budget 1MiB\n"
                        "slow 2 2.5\n");
    capture_open(&other, false, false, NULL);
    for (char *line = strtok(script, "\n"); line; line = strtok(NULL, "\n"))
        capture_run(&other, line);
    capture_run(&other, "show changed");
    capture_run(capture, "show changed");
    assert_string_equal(capture_output(&other), capture_output(capture));
    capture_run(capture, "run 20");
    capture_run(&other, "run 20");
    assert_string_equal(capture_output(&other), capture_output(capture));
    capture_close(&other);
    free(script);
}

static void test_moves_say_where_they_end(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "print replicas");
    capture_contains(capture, "no item finished yet  idle -  slow 1");
    capture_run(capture, "columns update hash");
    capture_run(capture, "next");
    capture_contains(capture, "1 update: at update 1, hash ");
    capture_run(capture, "step 2");
    capture_contains(capture, "2 updates: at update 3, hash ");
    capture_run(capture, "micro");
    capture_contains(capture, "1 micro-batch: replica 0, micro-batch 1 of 5: loss ");
    capture_run(capture, "event");
    capture_contains(capture, "1 event: micro: replica 1, micro-batch 1 of 5: loss ");
    capture_run(capture, "back");
    capture_contains(capture, "1 update back: at update 3, hash ");
    capture_run(capture, "micro 4");
    capture_run(capture, "back 2 micros");
    capture_contains(capture, "2 micro-batches back: at update 3, inside window 4 (micro, 2 ");
    capture_run(capture, "back 1 event");
    capture_contains(capture, "1 event back: ");
    capture_run(capture, "back 99");
    capture_contains(capture, "back where the history begins: at update 0, hash ");
    capture_run(capture, "goto 3");
    capture_run(capture, "until update >= 10");
    capture_contains(capture, "update >= 10: at update 10, hash ");
    capture_run(capture, "until update >= 10");
    capture_contains(capture, "update >= 10: at update 10, hash ");
    capture_run(capture, "goto 2");
    capture_contains(capture, "at update 2, hash ");
    capture_run(capture, "run 2 epochs");
    capture_contains(capture, "at update 4, hash ");
    capture_run(capture, "run 50 ms");
    capture_contains(capture, "at update 5, inside window 6 (micro, ");
    capture_run(capture, "expect time >= 0.15 and time < 0.1501");
    capture_run(capture, "reset");
    capture_contains(capture, "at update 0, hash ");
    capture_run(capture, "reset seed 5");
    capture_contains(capture, "at update 0, hash ");
    capture_run(capture, "print seed");
    assert_string_equal(capture_output(capture), "seed 5\n");
}

static void test_going_back_finds_the_same_bits(void **state)
{
    struct capture *capture = *state;
    char hash[64];
    capture_run(capture, "run 50");
    capture_run(capture, "print hash");
    snprintf(hash, sizeof(hash), "%s", capture_output(capture));
    capture_run(capture, "back 30");
    capture_run(capture, "print hash");
    assert_string_not_equal(capture_output(capture), hash);
    capture_run(capture, "goto 50");
    capture_run(capture, "print hash");
    assert_string_equal(capture_output(capture), hash);
    capture_run(capture, "back 20");
    capture_run(capture, "set lr 0.02");
    capture_contains(capture, "lr 0.01 -> 0.02 from update 31\n");
    capture_contains(capture, "what was recorded beyond this point is forgotten\n");
}

static void test_breakpoints(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "breaks");
    assert_string_equal(capture_output(capture), "no breakpoints\n");
    capture_run(capture, "break update == 3");
    assert_string_equal(capture_output(capture), "breakpoint 1: update == 3\n");
    capture_run(capture, "break loss<0.5");
    capture_run(capture, "breaks");
    assert_string_equal(capture_output(capture),
                        "breakpoint 1: update == 3\nbreakpoint 2: loss<0.5\n");
    capture_run(capture, "run 100");
    capture_contains(capture, "breakpoint 1, update == 3: at update 3, hash ");
    capture_run(capture, "run 1000");
    capture_contains(capture, "breakpoint 2, loss<0.5: at update ");
    capture_run(capture, "delete 1");
    capture_refused(capture, "delete 1", "no breakpoint 1");
    capture_refused(capture, "delete x", "delete");
    capture_run(capture, "delete all");
    assert_string_equal(capture_output(capture), "breakpoint 2 is gone: loss<0.5\n");
    capture_refused(capture, "break replica 2 loss < 1", "replica 2 of 2: expected 0..1");
    for (int i = 0; i < 64; i++)
        capture_run(capture, "break nan");
    capture_refused(capture, "break nan", "64 breakpoints");
}

static void test_window_commands(void **state)
{
    struct capture *capture = *state;
    capture_refused(capture, "flush", "nothing to flush");
    capture_refused(capture, "discard", "nothing to discard");
    capture_run(capture, "micro 3");
    capture_run(capture, "flush");
    capture_contains(capture, "flushed: at update 1, hash ");
    capture_run(capture, "expect update == 1 and window == 15");
    capture_run(capture, "micro 3");
    capture_run(capture, "discard");
    capture_contains(capture, "window skipped\n");
    capture_contains(capture, "discarded: at update 1, hash ");
    capture_run(capture, "expect update == 1 and skipped == 1");
}

static void test_printing(void **state)
{
    struct capture *capture = *state;
    capture_refused(capture, "print grad", "there is none yet");
    capture_run(capture, "print loss");
    assert_string_equal(capture_output(capture), "loss nan (setting: mse)\n");
    capture_run(capture, "next");
    static const char *const lines[][2] = {
        {"print loss", "loss "},
        {"print update", "update 1\n"},
        {"print examples", "examples 50 examples\n"},
        {"print replica 1 loss", "replica 1 loss "},
        {"print time", "time 0.025 s\n"},
        {"print accum", "accum 5\n"},
        {"print gradient_accumulation_steps", "accum 5\n"},
        {"print accum 1", "layers.0.weight [5, 1]\n"},
        {"print accum 1 layers.1.bias", "layers.1.bias[0] = "},
        {"print weights", "layers.1.weight [1, 5]\n  "},
        {"print weights layers.0.weight[2]", "layers.0.weight[2,0] = "},
        {"print weights layers.0.weight[2,0]", "layers.0.weight[2,0] = "},
        {"print grad layers.0.bias[4]", "layers.0.bias[4] = "},
        {"print state", "the optimizer keeps no state\n"},
        {"print hash", "hash "},
        {"print memory", "accumulators"},
        {"print counters", "micro-batches        10\n"},
        {"print window", "no window is open; the last one had 50 examples in 10 micro-batches"},
        {"print replicas", "replica 1  ready"},
        {"print last", "clear"},
        {"print events 3", "apply: update 1 moves the weights, lr 0.01"},
        {"print lr", "lr 0.01 (setting: 0.01)\n"},
        {"eval", "training: 50 examples, loss "},
        {"devices", "numerics exact; "},
        {"history", "updates 0..1 can be reached"},
        {"explain", "layers.0.weight[0]"},
        {"explain layers.1.bias", "layers.1.bias[0]"},
        {"explain", "layers.1.bias[0]"},
        {"settings", "accum           A: micro-batches"},
        {"show", "per-example     1ms\n"},
        {"help", "moving\n"},
        {"help step", "next [N]\n"},
        {"help set", "set NAME VALUE ...\n"},
        {"help perreplica", "PerReplica"},
        {"help cosine", "replica R cosine"},
        {"help metrics", "dataset_loss"},
        {"help accum", "values   1..262144 micro-batches"},
        {"help num_replicas_in_sync", "replicas: "},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        capture_run(capture, lines[i][0]);
        capture_contains(capture, lines[i][1]);
    }
}

static void test_optimizer_state(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "set momentum 0.9");
    capture_run(capture, "next");
    capture_run(capture, "print state layers.1.bias");
    capture_contains(capture, "momentum buffer\nlayers.1.bias[0] = ");
    capture_run(capture, "set momentum 0 optimizer adam");
    capture_run(capture, "next");
    capture_run(capture, "print state layers.1.bias");
    capture_contains(capture, "first moment\nlayers.1.bias[0] = ");
    capture_contains(capture, "second moment\nlayers.1.bias[0] = ");
}

static void test_columns(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "columns");
    assert_string_equal(capture_output(capture),
                        "columns update epoch examples loss grad_norm lr time\n");
    capture_run(capture, "columns update dataset_loss replica 1 loss hash");
    capture_run(capture, "next");
    capture_contains(capture, "update       1  dataset_loss ");
    capture_contains(capture, "  replica 1 loss ");
    capture_contains(capture, "  hash ");
    capture_refused(capture, "columns foo", "foo");
    capture_refused(capture, "columns replica 1", "replica 2 loss");
    capture_refused(capture, "columns replica x loss", "replica x");
    capture_refused(capture,
                    "columns update update update update update update update update "
                    "update update update update update update update update update",
                    "at most 16");
    capture_run(capture, "columns default");
    capture_run(capture, "set log-every 3");
    capture_run(capture, "run 7");
    const char *output = capture_output(capture);
    assert_null(strstr(output, "update       2 "));
    assert_null(strstr(output, "update       3 "));
    capture_contains(capture, "update       4 ");
    capture_contains(capture, "update       7 ");
}

static void test_diverging_run_is_named(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "set lr 10");
    capture_refused(capture, "run 100", "replica 0, micro-batch 1");
    assert_int_equal(ga_console_status(capture->console), GA_STATUS_TRAINING);
    capture_run(capture, "back 3");
    capture_run(capture, "expect param_norm < inf and update > 0");
}

static void test_model_and_data_must_fit(void **state)
{
    struct capture *capture = *state;
    capture_run(capture, "set model 2-5-1");
    capture_contains(capture, "model 1-5-1 -> 2-5-1 from update 1\n"
                              "but model 2-5-1 does not fit parabola: expected a model for 1 input "
                              "and 1 output, for example set model 1-5-1\n");
    capture_run(capture, "set loss xent");
    capture_contains(capture, "but model 2-5-1 does not fit parabola");
    capture_run(capture, "set loss mse lr 0.02");
    capture_refused(capture, "run 1", "model 2-5-1 does not fit parabola");
    assert_int_equal(ga_console_status(capture->console), GA_STATUS_INPUT);
    capture_run(capture, "set model 1-8-1");
    assert_string_equal(capture_output(capture), "model 2-5-1 -> 1-8-1 from update 1\n");
    capture_run(capture, "run 1");
}

static void test_typed_lines_return_at_once(void **state)
{
    struct capture *capture = *state;
    const char *line = "run";
    assert_int_equal(ga_console_line(capture->console, line, strlen(line), NULL), 0);
    assert_non_null(strstr(capture_output(capture), "running"));
    assert_true(ga_console_moving(capture->console));
    ga_console_pause(capture->console);
    ga_text_clear(&capture->out);
    assert_int_equal(ga_console_pump(capture->console), 0);
    capture_contains(capture, "paused at update ");
    assert_false(ga_console_moving(capture->console));
    /* A script's lines wait, also here. */
    capture_run(capture, "reset");
    capture_run(capture, "run 3");
    capture_contains(capture, "at update 3, hash ");
}

static int open_typed(void **state)
{
    static struct capture capture;
    capture_open(&capture, true, false, NULL);
    *state = &capture;
    return 0;
}

/* Closing in the middle of a run whose lines nobody took: the engine may be held by a full queue.
 */
static void test_close_while_lines_wait(void **state)
{
    (void)state;
    struct capture capture;
    capture_open(&capture, false, false, NULL);
    const struct ga_move move = {.kind = GA_MOVE_FOREVER};
    struct pollfd bell = {.fd = ga_console_bell(capture.console), .events = POLLIN};
    uint64_t ticket = 0;
    assert_int_equal(ga_engine_move(ga_console_engine(capture.console), &move, &ticket), 0);
    assert_int_equal(poll(&bell, 1, 60000), 1);
    capture_close(&capture);
}

/* What stays behind a save, and what stays over a reset. */
static void test_what_stays(void **state)
{
    (void)state;
    struct capture capture;
    char line[512];
    char *folder = ga_test_folder();
    snprintf(line, sizeof(line), "save %s/x.safetensors", folder);
    capture_open(&capture, false, false, NULL);
    capture_run(&capture, "run 3");
    capture_run(&capture, line);
    assert_null(strstr(capture_output(&capture), "not in the file"));
    capture_run(&capture, "back 2");
    capture_run(&capture, line);
    capture_contains(&capture, "not in the file: 2 recorded updates ahead of here");
    capture_run(&capture, "run 2");
    capture_run(&capture, "micro 2");
    capture_run(&capture, "set lr 0.5");
    capture_run(&capture, "back 1 micro");
    capture_run(&capture, line);
    capture_contains(&capture, "not in the file: what was changed ahead of here, within this");
    capture_run(&capture, "micro");
    capture_run(&capture, "set lr 0.01");
    capture_run(&capture, "set seed 5");
    capture_run(&capture, line);
    capture_contains(&capture, "not in the file: settings that wait for `reset`");
    capture_run(&capture, "slow 1 4");
    capture_run(&capture, "reset");
    capture_contains(&capture, "slow replicas stay slow: 1 by 4");
    capture_run(&capture, "show changed");
    capture_contains(&capture, "slow 1 4");
    capture_run(&capture, "slow 1 1");
    capture_run(&capture, "reset");
    assert_null(strstr(capture_output(&capture), "slow"));
    capture_close(&capture);
    ga_test_folder_remove(folder);
}

/* What only a screen can do is refused without one. */
static void test_without_a_screen(void **state)
{
    (void)state;
    struct capture capture;
    capture_open(&capture, true, false, NULL);
    capture_refused(&capture, "log cast x.cast", "there is no screen here");
    capture_refused(&capture, "log cast", "expected `log cast PATH`");
    capture_refused(&capture, "log cast a b", "expected `log cast PATH`");
    capture_refused(&capture, "save-display x.svg", "there is no screen here");
    capture_close(&capture);
}

static void test_readonly(void **state)
{
    (void)state;
    struct capture capture;
    capture_open(&capture, false, true, NULL);
    static const char *const lines[] = {"save x", "export weights x", "export history x",
                                        "log jsonl x", "log csv x every 2"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        capture_refused(&capture, lines[i], "--readonly");
    capture_run(&capture, "log");
    capture_run(&capture, "next");
    capture_close(&capture);
}

int main(void)
{
#define IN_SCRIPT(test) cmocka_unit_test_setup_teardown(test, open_script, close_capture)
    const struct CMUnitTest tests[] = {
        IN_SCRIPT(test_set_answers),
        IN_SCRIPT(test_aliases_answer_in_our_words),
        IN_SCRIPT(test_set_is_all_or_nothing),
        IN_SCRIPT(test_forms_with_arguments),
        IN_SCRIPT(test_show_changed_reproduces),
        IN_SCRIPT(test_moves_say_where_they_end),
        IN_SCRIPT(test_going_back_finds_the_same_bits),
        IN_SCRIPT(test_breakpoints),
        IN_SCRIPT(test_window_commands),
        IN_SCRIPT(test_printing),
        IN_SCRIPT(test_optimizer_state),
        IN_SCRIPT(test_columns),
        IN_SCRIPT(test_diverging_run_is_named),
        IN_SCRIPT(test_model_and_data_must_fit),
        cmocka_unit_test_setup_teardown(test_typed_lines_return_at_once, open_typed, close_capture),
        cmocka_unit_test(test_close_while_lines_wait),
        cmocka_unit_test(test_what_stays),
        cmocka_unit_test(test_without_a_screen),
        cmocka_unit_test(test_readonly),
    };
    return ga_test_main(tests);
}
