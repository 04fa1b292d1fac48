#include "train/support/random_start.h"

#include <stdio.h>
#include <string.h>

#include "support/support.h"

struct builder {
    struct ga_test_random random;
    struct ga_test_random_start *out;
    uint32_t rows, window;
};

static uint32_t draw(struct builder *b, uint32_t bound)
{
    return ga_test_draw(&b->random, bound);
}

__attribute__((format(printf, 2, 3))) static void say(struct builder *b, const char *format, ...)
{
    size_t used = strlen(b->out->settings);
    va_list args;
    int wrote = 0;

    va_start(args, format);
    wrote = vsnprintf(b->out->settings + used, sizeof b->out->settings - used, format, args);
    va_end(args);
    assert_true(wrote > 0 && (size_t)wrote < sizeof b->out->settings - used);
}

static void choose_window(struct builder *b)
{
    uint32_t replicas = 1 + draw(b, 9), accum = 1 + draw(b, 4), batch = 1 + draw(b, 5);

    b->out->replicas = (int32_t)replicas;
    say(b, "replicas %u accum %u ", replicas, accum);
    if (draw(b, 2)) {
        b->window = replicas * accum * batch;
        say(b, "batch %u ", batch);
    } else {
        b->window = replicas + draw(b, 60);
        say(b, "global %u ", b->window);
    }
}

static void choose_order(struct builder *b)
{
    const char *const sharding[] = {"stream", "contiguous", "strided"};
    const char *const tail[] = {"short", "wrap", "drop"};

    say(b, "sharding %s ", sharding[draw(b, 3)]);
    say(b, "tail %s ", tail[draw(b, b->window <= b->rows ? 3 : 2)]);
    say(b, "order %s seed %u ", draw(b, 2) ? "shuffle" : "file", draw(b, 1000));
}

static void choose_times(struct builder *b)
{
    const char *const jitter[] = {"constant",    "uniform(0.5,1.5)", "lognormal(0.7)",
                                  "exponential", "shifted(0.3)",     "straggler(0.2,8)"};

    say(b, "jitter %s ", jitter[draw(b, 6)]);
    say(b, "base %ums per-example %uus ", draw(b, 3), draw(b, 3) * 700);
    if (draw(b, 2))
        say(b, "latency %uus bandwidth %uKB/s ", draw(b, 900), 1 + draw(b, 5000));
    for (size_t r = 0; r < 16; r++)
        b->out->slow[r] = draw(b, 3) ? 1 : 0.5 + draw(b, 8);
}

static void choose_step(struct builder *b)
{
    const char *const optimizer[] = {"sgd", "sgd momentum 0.9", "sgd momentum 0.5 nesterov on",
                                     "adam", "adamw weight-decay 0.1"};

    say(b, "optimizer %s lr 0.003 ", optimizer[draw(b, 5)]);
    if (draw(b, 3) == 0)
        say(b, "clip %u ", 1 + draw(b, 5));
    if (draw(b, 3) == 0)
        say(b, "schedule step(3,0.7) warmup %u ", draw(b, 5));
}

void ga_test_random_start(struct ga_test_random_start *out, uint64_t seed,
                          enum ga_test_backup backup)
{
    struct builder b = {.random = {.seed = seed}, .out = out};

    memset(out, 0, sizeof *out);
    b.rows = 1 + draw(&b, 60);
    snprintf(out->data, sizeof out->data, "parabola n=%u", b.rows);
    choose_window(&b);
    choose_order(&b);
    choose_times(&b);
    choose_step(&b);
    if (backup == GA_TEST_ANY_BACKUP) {
        out->backup = (int32_t)draw(&b, (uint32_t)out->replicas);
        say(&b, "backup %d late %s ", out->backup, draw(&b, 2) ? "cancel" : "finish");
    }
    out->start = (struct ga_test_start){.data = out->data, .settings = out->settings};
}
