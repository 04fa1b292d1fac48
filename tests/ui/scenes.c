#include "scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#define MS INT64_C(1000000)

const struct ga_hint test_hints[] = {
    {"space", "run"}, {"m", "micro"}, {"n", "update"}, {"b", "back"},    {"a/A", "accum"},
    {"+/-", "batch"}, {"t", "mode"},  {"</>", "pace"}, {"Tab", "panel"}, {"z", "zoom"},
    {":", "command"}, {"?", "help"},  {"q", "quit"},
};

size_t test_hint_count(void)
{
    return sizeof test_hints / sizeof *test_hints;
}

/* A number between -1 and 1 that looks random. */
static double wiggle(uint64_t i)
{
    uint64_t x = i * UINT64_C(0x9e3779b97f4a7c15);

    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 32;
    return (double)(x >> 11) * 0x1p-52 - 1;
}

static double loss_at(uint64_t update)
{
    return 20 * exp(-(double)update / 20) + 2 * exp(-(double)update / 90) + 0.05;
}

static struct ga_sample sample_at(enum test_scene_kind kind, uint64_t update, uint32_t replicas)
{
    double loss = loss_at(update);
    struct ga_sample sample = {.run = 1,
                               .windows = update,
                               .update = update,
                               .examples = update * 50,
                               .time_ns = (int64_t)update * 25 * MS,
                               .wall_ns = (int64_t)update * 3 * MS,
                               .applied = true,
                               .replicas = replicas,
                               .loss = loss,
                               .grad_norm = 3 * sqrt(loss),
                               .update_norm = 0.03 * sqrt(loss),
                               .noise_scale = update > 1 ? 12 + 4 * wiggle(update) : (double)NAN,
                               .staleness = 0};

    if (kind == TEST_SCENE_STOPPED && update > 70)
        sample.loss = sample.grad_norm = (double)NAN;
    for (uint32_t r = 0; r < replicas && r < GA_WATCH_REPLICAS; r++) {
        sample.replica[r].finished = kind != TEST_SCENE_ASYNC || update > r;
        sample.replica[r].has_norm = sample.replica[r].finished;
        sample.replica[r].loss = (float)(sample.loss * exp(0.4 * wiggle(update * 8 + r)));
        sample.replica[r].norm = (float)(sample.grad_norm * (1 + 0.2 * wiggle(update * 9 + r)));
    }
    if (kind == TEST_SCENE_ASYNC) {
        sample.mode = GA_MODE_ASYNC;
        sample.pushes = 1;
        sample.tau[0] = (uint16_t)(7 + 3 * wiggle(update * 7));
        sample.staleness = sample.tau[0];
    }
    return sample;
}

static void record_curve(struct ga_samples *samples, enum test_scene_kind kind, uint64_t updates,
                         uint32_t replicas)
{
    for (uint64_t update = 1; update <= updates; update++) {
        struct ga_sample sample = sample_at(kind, update, replicas);

        assert_int_equal(ga_samples_append(samples, &sample), 0);
    }
}

static void fill_replicas(struct ga_view *view, enum test_scene_kind kind)
{
    for (uint32_t r = 0; r < view->replicas && r < GA_VIEW_REPLICAS; r++) {
        struct ga_view_replica *replica = &view->replica[r];
        bool bad = kind == TEST_SCENE_STOPPED;

        *replica = (struct ga_view_replica){
            .state = (enum ga_replica_state)(kind == TEST_SCENE_SYNC ? GA_REPLICA_BUSY : r % 4),
            .micro = kind == TEST_SCENE_SYNC ? 3 - r : r % 6,
            .micros = 5,
            .examples = 25,
            .loss = bad ? (double)NAN : 0.9 + 0.1 * r,
            .norm = bad ? (double)NAN : 0.6 + 0.05 * r,
            .cosine = bad ? (double)NAN : 0.998 - 0.3 * r,
            .staleness = kind == TEST_SCENE_ASYNC ? r : 0,
            .weight = 5.0 * (kind == TEST_SCENE_SYNC ? 3 - r : r % 6),
            .idle = 0.06 * (r % 8),
        };
    }
}

static void fill_view(struct ga_view *view, enum test_scene_kind kind, uint64_t updates,
                      int32_t replicas)
{
    ga_settings_default(&view->settings);
    memcpy(view->numerics, "exact", sizeof "exact");
    view->settings.replicas = replicas;
    view->settings.mode = kind == TEST_SCENE_ASYNC ? GA_MODE_ASYNC : GA_MODE_SYNC;
    view->pending = view->settings;
    if (kind == TEST_SCENE_EMPTY)
        return;
    view->open = true;
    view->running = kind == TEST_SCENE_ASYNC;
    view->counters.updates = updates;
    view->counters.examples = updates * 50;
    view->counters.events = updates * 17 + 4;
    view->phase = kind == TEST_SCENE_SYNC ? GA_PHASE_MICRO : GA_PHASE_IDLE;
    view->now_ns = (int64_t)updates * 25 * MS + 13 * MS;
    view->hash = UINT64_C(0x3f9a27c1d0e5b688);
    view->window_examples = 50;
    view->window_left = kind == TEST_SCENE_SYNC ? 25 : 0;
    view->record.update = updates;
    view->record.epoch = updates;
    view->record.loss = kind == TEST_SCENE_STOPPED ? (double)NAN : loss_at(updates);
    view->record.grad_norm = 3 * sqrt(loss_at(updates));
    view->record.window_examples = 50;
    view->record.noise_trace = 18.4;
    view->record.noise_signal = 1.5;
    view->examples_per_second = view->running ? 412345.0 : 0;
    view->target_updates = view->running ? 1000 : 0;
    view->replicas = (size_t)replicas;
    if (kind == TEST_SCENE_SYNC)
        view->pending.accum = 10;
    if (kind == TEST_SCENE_STOPPED)
        view->counters.skipped = 30;
    fill_replicas(view, kind);
}

static void fill_curve(struct ga_fit *fit, int32_t replicas)
{
    strcpy(fit->name, "parabola");
    fit->kind = GA_FIT_CURVE;
    fit->rows = fit->points = 50;
    for (int i = 0; i < 50; i++) {
        double x = -2 + 4 * i / 49.0;

        fit->point[i].x = (float)x;
        fit->point[i].y = (float)(x * x);
        fit->point[i].prediction = (float)(3.2 * x * x / (1 + 0.25 * x * x) - 0.3);
        fit->point[i].replica = i * replicas / 50;
    }
}

static void fill_classes(struct ga_fit *fit)
{
    strcpy(fit->name, "digits.csv");
    fit->kind = GA_FIT_CLASSES;
    fit->rows = 1797;
    fit->classes = 10;
    fit->held_out = true;
    for (unsigned label = 0; label < 10; label++)
        for (unsigned guess = 0; guess < 10; guess++) {
            unsigned count = label == guess ? 33 + label % 3 : (label * 7 + guess * 3) % 11 == 0;

            fit->confusion[label][guess] = count;
            fit->right += label == guess ? count : 0;
            fit->wrong += label == guess ? 0 : count;
        }
    fit->misread = 4;
    fit->pixel_rows = fit->pixel_columns = 8;
    for (int k = 0; k < 4; k++) {
        fit->miss[k].label = k;
        fit->miss[k].predicted = 9 - k;
        for (int i = 0; i < 64; i++)
            fit->miss[k].pixel[i] = (uint8_t)(128 + 127 * wiggle((uint64_t)(64 * k + i)));
    }
}

static void fill_spans(struct ga_closeup *closeup, uint64_t updates, int32_t replicas)
{
    for (uint64_t update = updates > 2 ? updates - 2 : 0; update <= updates; update++)
        for (int32_t r = 0; r < replicas && r < 64; r++)
            for (uint32_t micro = 1; micro <= 5; micro++) {
                int64_t start = (int64_t)update * 25 * MS + (int64_t)(micro - 1) * (4 + r % 2) * MS;
                struct ga_span span = {start,        start + (4 + r % 2) * MS, update + 1, r, micro,
                                       GA_SPAN_MICRO};

                if (span.end_ns <= closeup->now_ns && closeup->spans < GA_SPANS)
                    closeup->span[closeup->spans++] = span;
            }
    closeup->span[closeup->spans++] = (struct ga_span){
        (int64_t)updates * 25 * MS, (int64_t)updates * 25 * MS, updates, -1, 0, GA_SPAN_WAIT};
}

static void fill_heat(struct ga_heat *heat, int32_t replicas)
{
    static const struct {
        const char *name;
        size_t first;
    } tensors[] = {{"layers.0.weight", 0},
                   {"layers.0.bias", 5},
                   {"layers.1.weight", 10},
                   {"layers.1.bias", 15}};

    heat->parameters = heat->values = 16;
    heat->stride = 1;
    heat->replicas = (size_t)(replicas < GA_WATCH_REPLICAS ? replicas : GA_WATCH_REPLICAS);
    heat->tensors = 4;
    for (size_t t = 0; t < 4; t++) {
        strcpy(heat->tensor[t].name, tensors[t].name);
        heat->tensor[t].first = tensors[t].first;
    }
    for (size_t i = 0; i < 16; i++) {
        heat->weight[i] = (float)(1.7 * wiggle(i + 1));
        for (size_t r = 0; r < heat->replicas; r++)
            heat->gradient[r][i] = (float)(0.4 * wiggle(100 * r + i));
    }
}

/* None, a healthy one, a lost one. */
static void fill_gpus(struct ga_closeup *closeup, enum test_scene_kind kind)
{
    const double none = (double)NAN;
    if (kind != TEST_SCENE_CLASSES) {
        strcpy(closeup->no_gpu, "no GPUs: libnvidia-ml.so.1: cannot open shared object file");
        return;
    }
    closeup->devices = 3;
    closeup->device[1] = (struct ga_device_row){.name = "3b:00.0",
                                                .kind = "NVIDIA H200",
                                                .note = "clock held: power",
                                                .utilisation = 0.12,
                                                .temperature = 41,
                                                .memory_used = 2 * (double)(1 << 30),
                                                .memory_total = 139 * (double)(1 << 30),
                                                .power = 120.5,
                                                .clock = 1.98e9};
    closeup->device[2] =
        (struct ga_device_row){.name = "5e:00.0",
                               .kind = "NVIDIA H200",
                               .note = "GPU is lost (code 15), from nvmlDeviceGetUtilizationRates",
                               .utilisation = none,
                               .temperature = none,
                               .memory_used = none,
                               .memory_total = none,
                               .power = none,
                               .clock = none};
}

static void fill_closeup(struct ga_closeup *closeup, const struct ga_view *view,
                         enum test_scene_kind kind)
{
    int32_t replicas = (int32_t)view->replicas;
    if (kind == TEST_SCENE_EMPTY)
        return;
    closeup->now_ns = view->now_ns;
    closeup->parameters = 16;
    closeup->memory = (struct ga_memory){64, 256, 0, 1100, 1420};
    closeup->history_bytes = 130800;
    closeup->replicas = (size_t)replicas;
    closeup->devices = 1;
    closeup->device[0] = (struct ga_device_row){.name = "cpu",
                                                .kind = "8 cores, avx2 kernels",
                                                .utilisation = 0.47,
                                                .temperature = (double)NAN,
                                                .memory_used = 24.5 * (1 << 20),
                                                .memory_total = 16 * (double)(1 << 30),
                                                .power = (double)NAN,
                                                .clock = (double)NAN,
                                                .replicas = replicas};
    fill_gpus(closeup, kind);
    for (int32_t r = 0; r < replicas && r < GA_VIEW_REPLICAS; r++) {
        closeup->busy[r] = 0.99 - 0.06 * (r % 8);
        closeup->readings[r] = ga_readings_unknown();
        closeup->readings[r].utilisation = 0.97 - 0.03 * (r % 4);
        closeup->seats++;
    }
    if (kind == TEST_SCENE_CLASSES)
        fill_classes(&closeup->fit);
    else
        fill_curve(&closeup->fit, replicas < 8 ? replicas : 8);
    fill_spans(closeup, view->counters.updates, replicas);
    fill_heat(&closeup->heat, replicas);
    closeup->law.has_mean = closeup->law.has_shape = true;
    closeup->law.mean = kind == TEST_SCENE_ASYNC ? 7 : 0;
    closeup->law.shape[(int)closeup->law.mean] = 1;
    closeup->law.gauge = kind == TEST_SCENE_ASYNC ? 2.82 : 0.3;
    closeup->law.limit = kind == TEST_SCENE_ASYNC ? 0.209057 : 2;
    strcpy(closeup->law.text, kind == TEST_SCENE_ASYNC ? "always P-1 = 7" : "always 0");
    strcpy(closeup->explain,
           "update 129, micro-batch 3/5 on replica 1, weights of version 128\n"
           "  examples               35..39 (5)   loss 1.01322   |g| 0.671\n"
           "  layers.0.weight[2]\n"
           "    replica 0   sum -2.9331   weight 25   mean -0.117324\n"
           "    replica 1   sum -1.20413 + -0.31107 = -1.5152   weight 15   mean -0.101013\n"
           "    so far      -4.4483 / 40 = -0.111207   (40 of the window's 50 examples)\n");
    strcpy(closeup->parameter, "layers.0.weight[2]");
}

static void say(struct ga_log_lines *log, enum ga_log_kind kind, const char *key, const char *text)
{
    ga_log_lines_add(log, kind, key, text, strlen(text));
}

static void fill_log(struct ga_log_lines *log, enum test_scene_kind kind)
{
    if (kind == TEST_SCENE_EMPTY)
        return;
    say(log, GA_LOG_COMMAND, "", "set lr 0.01");
    say(log, GA_LOG_ANSWER, "", "lr 0.02 -> 0.01 from update 12");
    say(log, GA_LOG_COMMAND, "m", "micro");
    say(log, GA_LOG_ANSWER, "", "1 micro-batch: replica 1, micro-batch 3 of 5: loss 1.0132");
    say(log, GA_LOG_COMMAND, "a", "set accum 10");
    say(log, GA_LOG_ANSWER, "", "accum 5 -> 10 from update 130\nwindow: 2 x 10 x 5 = 100 examples");
    if (kind == TEST_SCENE_STOPPED)
        say(log, GA_LOG_FAILURE, "",
            "gaconsole: stopped at update 71: replica 1, micro-batch 2: layers.0.weight is not "
            "finite");
}

struct test_scene *test_scene_open(enum test_scene_kind kind)
{
    static const struct {
        uint64_t updates;
        int32_t replicas;
    } sizes[TEST_SCENES] = {[TEST_SCENE_EMPTY] = {0, 2},
                            [TEST_SCENE_SYNC] = {128, 2},
                            [TEST_SCENE_ASYNC] = {400, 8},
                            [TEST_SCENE_CLASSES] = {90, 4},
                            [TEST_SCENE_STOPPED] = {100, 100}};
    struct test_scene *test = calloc(1, sizeof *test);

    assert_non_null(test);
    assert_int_equal(ga_samples_open(&test->samples, 0), 0);
    assert_int_equal(ga_samples_open(&test->other, 0), 0);
    assert_int_equal(ga_log_lines_open(&test->log, 200), 0);
    record_curve(test->samples, kind, sizes[kind].updates, (uint32_t)sizes[kind].replicas);
    record_curve(test->other, TEST_SCENE_SYNC, 60, 2);
    fill_view(&test->view, kind, sizes[kind].updates, sizes[kind].replicas);
    fill_closeup(&test->closeup, &test->view, kind);
    fill_log(test->log, kind);
    test->run[0] = (struct ga_scene_run){"main", test->samples, true};
    test->run[1] = (struct ga_scene_run){"async", test->other, false};
    test->scene = (struct ga_scene){
        .view = &test->view,
        .samples = test->samples,
        .log = test->log,
        .closeup = &test->closeup,
        .explain = test->closeup.explain,
        .lesson = kind == TEST_SCENE_SYNC ? "What happens to the noise of the loss when the "
                                            "accumulation goes from 5 to 1?\nPress A, and look."
                                          : "",
        .stopped =
            kind == TEST_SCENE_STOPPED ? "update 71, replica 1, micro-batch 2: not finite" : "",
        .run_name = "main",
        .runs = kind == TEST_SCENE_ASYNC ? 2 : 0,
        .run = test->run,
        .log_y = true,
        .smoothing = kind == TEST_SCENE_ASYNC ? 0.9 : 0,
        .parameter = 2,
    };
    assert_int_equal(ga_samples_smooth(test->samples, test->scene.smoothing), 0);
    return test;
}

void test_scene_close(struct test_scene *test)
{
    if (!test)
        return;
    ga_samples_close(test->samples);
    ga_samples_close(test->other);
    ga_log_lines_close(test->log);
    free(test);
}
