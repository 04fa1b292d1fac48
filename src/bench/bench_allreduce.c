/*
 * allreduce: the reduction of two replicas' gradients as an update does it, each lane its half with
 * division and norm, beside two threads that copy as much memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench/contest.h"
#include "compute/compute.h"
#include "train/workers.h"

#define FLOATS 670000
#define TURNS  400 /* in a round */

struct half {
    struct ga_task task;
    struct reduction *all;
    struct ga_part part;
    int number;
};

struct reduction {
    struct ga_workers *workers;
    float *sums[2], *to[2];
    double *squares;
    struct half half[2];
};

static void reduce_half(struct ga_task *task, int lane)
{
    struct half *half = (struct half *)(void *)task;
    struct reduction *all = half->all;

    (void)lane;
    ga_compute_cpu_fast.mean_part((const void *const *)all->sums, 2, 256, &half->part, all->to[0],
                                  all->squares + half->part.first / GA_PART, NULL);
}

static void copy_whole(struct ga_task *task, int lane)
{
    const struct half *half = (struct half *)(void *)task;

    (void)lane;
    memcpy(half->all->to[half->number], half->all->sums[half->number], FLOATS * sizeof(float));
}

static void both(struct reduction *all, void (*work)(struct ga_task *, int))
{
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < 2; i++)
            all->half[i].task.work = work;
        ga_workers_submit(all->workers, &all->half[1].task);
        work(&all->half[0].task, 0);
        ga_workers_wait(all->workers, &all->half[1].task);
    }
}

static int run_reduce(void *self)
{
    both(self, reduce_half);
    return GA_OK;
}

static int run_copy(void *self)
{
    both(self, copy_whole);
    return GA_OK;
}

static int reduction_open(struct reduction *all)
{
    const size_t middle = FLOATS / GA_PART / 2 * GA_PART;

    all->squares = ga_alloc(FLOATS / GA_PART + 1, sizeof *all->squares);
    for (int i = 0; i < 2; i++) {
        all->sums[i] = ga_alloc_aligned(FLOATS, sizeof(float));
        all->to[i] = ga_alloc_aligned(FLOATS, sizeof(float));
        if (!all->sums[i] || !all->to[i] || !all->squares)
            return ga_error_code();
        for (size_t k = 0; k < FLOATS; k++)
            all->sums[i][k] = (float)(k % 1000) - 500;
        all->half[i] = (struct half){.all = all, .number = i};
    }
    all->half[0].part = (struct ga_part){0, middle};
    all->half[1].part = (struct ga_part){middle, FLOATS - middle};
    return ga_workers_open(&all->workers, 1);
}

static void reduction_close(struct reduction *all)
{
    ga_workers_close(all->workers);
    for (int i = 0; i < 2; i++) {
        free(all->sums[i]);
        free(all->to[i]);
    }
    free(all->squares);
}

static int measure(const struct ga_bench_options *options, struct ga_text *out)
{
    const double floats = (double)TURNS * FLOATS;
    struct reduction all = {0};
    struct ga_contest contest = {
        .name = "allreduce",
        .unit = "floats",
        .rounds = options->rounds,
        .contenders = 2,
        .contender =
            {{"reduce",
              "670,000 floats of two replicas, reduced",
              run_reduce,
              &all,
              floats,
              0,
              {0},
              {0}},
             {"copy", "memcpy of as many by both threads", run_copy, &all, floats, 0, {0}, {0}}},
        .ratios = 2,
        .ratio = {{"reduce_copy", "reduction, of memcpy", 0, 1, false, ">= 0.91", 0, {0}},
                  {"reduce_copy_cpu", "  the same", 0, 1, true, ">= 0.91", 0, {0}}},
    };
    int code = reduction_open(&all);

    code = ga_contest_hold(&contest, code, options->json, out);
    reduction_close(&all);
    return code;
}

const struct ga_benchmark ga_benchmark_allreduce = {
    .name = "allreduce",
    .help = "670,000 floats between two replicas, beside memcpy by both threads",
    .run = measure,
};
