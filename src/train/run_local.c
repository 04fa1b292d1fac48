/*
 * Rounds of private steps (mode local): each replica takes the pieces that are its own in the next
 * h windows and makes one private step on each; then the weights are averaged by the examples of
 * the round.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "train/plan.h"
#include "train/run_internal.h"

/* Room for a whole round, before any of it is taken: a failure loses no rows of the stream. */
static int make_room(struct ga_run *run)
{
    size_t period = (size_t)run_set(run)->period;
    size_t most = ga_plan_share(run_set(run)) * period;

    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica *replica = &run->replica[r];

        if (ga_grow((void **)&replica->rows, &replica->rows_capacity, most, sizeof *replica->rows) <
                0 ||
            ga_grow((void **)&replica->step_count, &replica->step_capacity, period,
                    sizeof *replica->step_count) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

static void append_piece(struct ga_run *run, size_t r)
{
    struct ga_replica *replica = &run->replica[r];
    size_t first = run->rows.start[r], count = run->rows.start[r + 1] - first;

    if (replica->v.dead && run_set(run)->failure == GA_FAILURE_CONTINUE) {
        run->counters.examples_unused += count;
        return;
    }
    if (count == 0)
        return;
    memcpy(replica->rows + replica->v.part, run->rows.index + first, count * sizeof *replica->rows);
    replica->step_count[replica->v.steps++] = (uint32_t)count;
    replica->v.part += (uint32_t)count;
}

int ga_local_deal(struct ga_run *run, uint32_t *active)
{
    if (make_room(run) < 0)
        return ga_error_code();
    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica_value *v = &run->replica[r].v;

        v->part = v->step = v->steps = v->step_row = 0;
        ga_tally_clear(&v->round);
        run->replica[r].has_kept = false;
    }
    for (int32_t step = 0; step < run_set(run)->period; step++) {
        if (ga_run_next_window(run) < 0)
            return ga_error_code();
        if (step == 0)
            run->window.epoch = run->rows.epoch;
        run->window.examples += run->rows.examples;
        for (size_t r = 0; r < run->replicas; r++)
            append_piece(run, r);
    }
    for (size_t r = 0; r < run->replicas; r++)
        *active += run->replica[r].v.part > 0;
    return GA_OK;
}

/* The server's weights with the replica's own optimizer state, empty for a newcomer. */
int ga_local_pull(struct ga_run *run, size_t r)
{
    struct ga_version *old = run->replica[r].v.own, *fresh = NULL;
    size_t n = run->net.parameters, blocks = ga_run_private_blocks(run_set(run));

    if (ga_version_open(&fresh, n, blocks) < 0)
        return ga_error_code();
    memcpy(fresh->weights, ga_version_weights(run->server), n * sizeof(float));
    fresh->number = run->server->number;
    if (old && old->state_blocks == blocks) {
        fresh->scalars = old->scalars;
        if (blocks > 0)
            memcpy(fresh->state, ga_version_state(old), blocks * n * sizeof(float));
    }
    ga_version_close(old);
    run->replica[r].v.own = fresh;
    return GA_OK;
}

/*
 * A replica begins anew: no optimizer state of its own. Weights that it has handed over stay until
 * they are averaged.
 */
int ga_local_forget(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;
    struct ga_version *old = v->own, *fresh = NULL;

    if (old && v->in_window) {
        if (ga_version_open(&fresh, run->net.parameters, old->state_blocks) < 0)
            return ga_error_code();
        fresh->number = old->number;
        memcpy(fresh->weights, ga_version_weights(old), run->net.parameters * sizeof(float));
    }
    ga_version_close(old);
    v->own = fresh;
    return GA_OK;
}

static int private_update(struct ga_run *run, struct ga_replica *replica, double weight)
{
    struct ga_version *old = replica->v.own, *next = NULL;
    const struct ga_settings *set = run_set(run);
    double divisor = set->reduce == GA_REDUCE_SUM ? 1 : weight;
    double norm = 0, lr = ga_update_rate(set, old->scalars.t);
    struct ga_optimizer_spec spec;
    struct ga_step step;

    if (ga_version_open(&next, run->net.parameters, old->state_blocks) < 0)
        return ga_error_code();
    if (ga_version_hold(next, run->compute) < 0) {
        ga_version_close(next);
        return ga_error_code();
    }
    norm = run->compute->mean(&run->net, replica->sums, divisor, run->item_gradient);
    ga_run_optimizer_spec(set, &spec);
    next->number = old->number;
    next->scalars = old->scalars;
    ga_optimizer_advance(&spec, &next->scalars, lr, ga_clip_scale(set->clip, norm), &step);
    run->compute->step(&run->net, &step, run->item_gradient, old->weights, old->state,
                       next->weights, next->state);
    if (ga_buffer_poll(run->compute) < 0) {
        ga_version_close(next);
        return ga_error_code();
    }
    ga_version_close(old);
    replica->v.own = next;
    run->counters.private_steps++;
    return GA_OK;
}

int ga_local_step(struct ga_run *run, size_t r)
{
    struct ga_replica *replica = &run->replica[r];
    struct ga_replica_value *v = &replica->v;
    double weight = ga_tally_weight_sum(&v->tally);
    enum ga_nonfinite rule = run_set(run)->nonfinite;

    if (v->fault_micro > 0 && rule == GA_NONFINITE_STOP)
        return ga_update_report(run, replica);
    if (weight > 0 && !(v->fault_micro > 0 && rule == GA_NONFINITE_SKIP) &&
        private_update(run, replica, weight) < 0)
        return ga_error_code();
    ga_tally_add(&v->round, &v->tally);
    v->step_row += v->examples;
    v->step++;
    return GA_OK;
}

static void add_weighted(double *sum, const float *weights, double share, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] += share * (double)weights[i];
}

int ga_local_average(struct ga_run *run)
{
    size_t n = run->net.parameters;
    double examples = (double)run->window.total.examples;
    const float *old = ga_version_weights(run->server);
    double *sum = NULL;

    if (!(examples > 0))
        return GA_OK;
    sum = ga_alloc(n, sizeof *sum);
    if (!sum || (!run->average && !(run->average = ga_alloc_aligned(n, sizeof(float))))) {
        free(sum);
        return ga_error_code();
    }
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.in_window)
            add_weighted(sum, ga_version_weights(run->replica[r].v.own),
                         (double)run->replica[r].v.round.examples, n);
    for (size_t i = 0; i < n; i++) {
        run->average[i] = (float)(sum[i] / examples);
        run->gradient[i] = old[i] - run->average[i];
    }
    ga_buffer_renew(run->compute, run->gradient);
    free(sum);
    run->window.norm = ga_norm(run->gradient, n);
    run->has_gradient = run->has_average = true;
    return GA_OK;
}

static void outer_spec(const struct ga_settings *settings, struct ga_optimizer_spec *out)
{
    *out = (struct ga_optimizer_spec){
        .kind = GA_STEP_SGD,
        .momentum = settings->outer.momentum,
        .nesterov = settings->outer.kind == GA_OUTER_NESTEROV,
    };
}

int ga_local_apply(struct ga_run *run)
{
    struct ga_version *old = run->server, *next = NULL;
    const struct ga_settings *set = run_set(run);
    struct ga_optimizer_spec spec;
    struct ga_step step;

    if (ga_version_open(&next, run->net.parameters, old->state_blocks) < 0)
        return ga_error_code();
    next->scalars = old->scalars;
    if (set->outer.kind == GA_OUTER_NONE) {
        memcpy(next->weights, run->average, run->net.parameters * sizeof(float));
    } else {
        outer_spec(set, &spec);
        ga_optimizer_advance(&spec, &next->scalars, set->outer.lr, 1, &step);
        run->compute->step(&run->net, &step, run->gradient, old->weights, old->state, next->weights,
                           next->state);
    }
    if (ga_update_publish(run, next) < 0) {
        ga_version_close(next);
        return ga_error_code();
    }
    return GA_OK;
}
