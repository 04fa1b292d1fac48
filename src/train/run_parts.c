/*
 * An update's passes over the parameters, for devices that offer them: dividing the replicas' sums
 * and taking the step, each once over the block, in parts that the lanes share. The figures that go
 * with a pass (norms, cosines) are added up by blocks of GA_PART, so no result depends on how many
 * lanes there are.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "train/run_internal.h"

/* Parts smaller than this many blocks are not worth a hand-over. */
#define LEAST_BLOCKS 4

struct ga_part_task {
    struct ga_task task;
    struct ga_parts *parts;
    struct ga_part part;
};

struct ga_parts {
    size_t blocks, lanes;
    double *squares;           /* (blocks, 2) */
    double *dots;              /* (blocks, ranks) */
    size_t ranks;              /* that there is room for */
    struct ga_part_task *task; /* (lanes) */
    void (*work)(const struct ga_parts *parts, const struct ga_part *part);
    struct ga_run *run;
    size_t members;             /* mean: buffers in run->buffers */
    double divisor;             /* mean */
    const struct ga_step *step; /* step */
    const float *gradient;      /* step */
    struct ga_version *next;
};

int ga_parts_open(struct ga_parts **out, size_t parameters, size_t lanes, size_t ranks)
{
    struct ga_parts *parts = ga_alloc(1, sizeof *parts);

    *out = NULL;
    if (!parts)
        return ga_error_code();
    parts->blocks = (parameters + GA_PART - 1) / GA_PART;
    parts->lanes = lanes;
    parts->ranks = ranks;
    parts->squares = ga_alloc(parts->blocks, 2 * sizeof *parts->squares);
    parts->dots = ga_alloc(parts->blocks, ranks * sizeof *parts->dots);
    parts->task = ga_alloc(lanes, sizeof *parts->task);
    if (!parts->squares || !parts->dots || !parts->task) {
        ga_parts_close(parts);
        return ga_error_code();
    }
    *out = parts;
    return GA_OK;
}

void ga_parts_close(struct ga_parts *parts)
{
    if (!parts)
        return;
    free(parts->squares);
    free(parts->dots);
    free(parts->task);
    free(parts);
}

size_t ga_parts_bytes(size_t parameters, size_t lanes, size_t ranks)
{
    size_t blocks = (parameters + GA_PART - 1) / GA_PART;

    return sizeof(struct ga_parts) + blocks * (2 + ranks) * sizeof(double) +
           lanes * sizeof(struct ga_part_task);
}

static void work(struct ga_task *task, int lane)
{
    struct ga_part_task *part = (struct ga_part_task *)(void *)task;

    (void)lane;
    part->parts->work(part->parts, &part->part);
}

/* The lane's share of the blocks, as parameters. */
static struct ga_part share_of(const struct ga_parts *parts, size_t lanes, size_t lane,
                               size_t parameters)
{
    size_t first = 0, count = 0, end = 0;

    ga_split(parts->blocks, lanes, lane, &first, &count);
    end = (first + count) * GA_PART;
    return (struct ga_part){first * GA_PART,
                            (end < parameters ? end : parameters) - first * GA_PART};
}

/* Over all parameters, by this thread alone or with the workers. */
static void go(struct ga_parts *parts)
{
    struct ga_run *run = parts->run;
    size_t lanes = run->parallel ? parts->lanes : 1;

    if (lanes > parts->blocks / LEAST_BLOCKS)
        lanes = parts->blocks / LEAST_BLOCKS > 0 ? parts->blocks / LEAST_BLOCKS : 1;
    for (size_t lane = 0; lane < lanes; lane++) {
        struct ga_part_task *task = &parts->task[lane];

        task->parts = parts;
        task->part = share_of(parts, lanes, lane, run->net.parameters);
        task->task.work = work;
        if (lane > 0)
            ga_workers_submit(run->workers, &task->task);
    }
    work(&parts->task[0].task, 0);
    for (size_t lane = 1; lane < lanes; lane++)
        ga_workers_wait(run->workers, &parts->task[lane].task);
}

static double total(const double *values, size_t count, size_t step)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i * step];
    return sum;
}

static void mean_part(const struct ga_parts *parts, const struct ga_part *part)
{
    const struct ga_run *run = parts->run;
    size_t block = part->first / GA_PART;
    double *dots = parts->members > 1 ? parts->dots + block * parts->members : NULL;

    run->compute->mean_part(run->buffers, parts->members, parts->divisor, part, run->gradient,
                            parts->squares + block, dots);
}

/* |mean gradient| of each was known at its push; a lone replica's is g itself. */
static void find_cosines(struct ga_run *run, const struct ga_parts *parts)
{
    size_t member = 0;

    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica_value *v = &run->replica[r].v;
        double dot = run->window.norm * run->window.norm * parts->divisor;

        if (!v->in_window)
            continue;
        if (parts->members > 1)
            dot = total(parts->dots + member, parts->blocks, parts->members);
        v->cosine = dot / (ga_tally_weight_sum(&v->tally) * v->norm * run->window.norm);
        member++;
    }
}

/* Alone in its window: g is the mean of its own sums, whose norm is known, so there is nothing to
 * pass over before the step. */
static void owe(struct ga_run *run, const struct ga_replica *alone, double divisor)
{
    run->owed = alone->sums;
    run->owed_divisor = divisor;
    run->window.norm = alone->v.norm * (ga_tally_weight_sum(&alone->v.tally) / divisor);
}

void ga_parts_settle(struct ga_run *run)
{
    if (run->owed)
        (void)ga_run_gradient(run);
    run->owed = NULL;
}

void ga_parts_mean(struct ga_run *run, double divisor)
{
    struct ga_parts *parts = run->parts;
    const struct ga_replica *last = NULL;

    parts->members = 0;
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.in_window) {
            last = &run->replica[r];
            run->buffers[parts->members++] = last->sums;
        }
    parts->run = run;
    parts->divisor = divisor;
    parts->work = mean_part;
    if (parts->members == 1) {
        owe(run, last, divisor);
    } else {
        go(parts);
        run->window.norm = sqrt(total(parts->squares, parts->blocks, 1));
    }
    find_cosines(run, parts);
}

static void step_part(const struct ga_parts *parts, const struct ga_part *part)
{
    const struct ga_run *run = parts->run;
    const struct ga_version *old = run->server;
    const struct ga_step_blocks blocks = {parts->gradient, old->weights, old->state,
                                          parts->next->weights, parts->next->state};
    size_t block = part->first / GA_PART;

    run->compute->step_part(&run->net, parts->step, &blocks, part, parts->squares + 2 * block);
}

void ga_parts_step(struct ga_run *run, const struct ga_step *step, struct ga_version *next)
{
    struct ga_parts *parts = run->parts;
    struct ga_step divides = *step;
    bool at_once = run->owed && !step->scaled;

    /* The same roundings as in two passes; a clip would be a second factor. */
    if (at_once) {
        divides.scaled = true;
        divides.gradient_scale = (float)(1.0 / run->owed_divisor);
    }
    parts->gradient = at_once ? run->owed : ga_run_gradient(run);
    parts->run = run;
    parts->step = at_once ? &divides : step;
    parts->next = next;
    parts->work = step_part;
    go(parts);
    run->window.update_norm = sqrt(total(parts->squares, parts->blocks, 2));
    next->norm = sqrt(total(parts->squares + 1, parts->blocks, 2));
}
