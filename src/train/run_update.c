/* From a window's sums to new weights, and which weights a replica gets to read. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "train/run_internal.h"

/* The smallest (replica, micro-batch) of the window with an unusable value; NULL: none. */
static const struct ga_replica *faulty_replica(const struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.in_window && run->replica[r].v.fault_micro > 0)
            return &run->replica[r];
    return NULL;
}

int ga_update_report(const struct ga_run *run, const struct ga_replica *replica)
{
    const struct ga_replica_value *v = &replica->v;
    const char *what =
        v->fault_tensor < run->net.tensors ? run->net.tensor[v->fault_tensor].name : "the loss";
    bool beyond = (v->fault_flags & GA_TALLY_BEYOND) && !(v->fault_flags & GA_TALLY_NONFINITE);

    return ga_fail(GA_ENONFINITE,
                   "update %llu, replica %d, micro-batch %u: the gradient of %s is %s; weights are "
                   "as before: go "
                   "back, discard the window, or lower lr",
                   (unsigned long long)run->counters.updates + 1, (int)(replica - run->replica),
                   v->fault_micro, what,
                   beyond
                       ? "beyond the exact range 134,217,728 (scale the data or use numerics fast)"
                       : "not finite");
}

static int report_total(const struct ga_run *run)
{
    const float *gradient = ga_run_gradient(run);
    size_t all = run->net.parameters;
    size_t at = gradient ? ga_first_nonfinite(gradient, all) : all;

    return ga_fail(GA_ENONFINITE, "update %llu: the reduced gradient of %s is not finite",
                   (unsigned long long)run->counters.updates + 1,
                   at < all ? ga_net_tensor_at(&run->net, at)->name : "the loss");
}

/* In push modes a stuck push is not part of a window yet: it is the one that failed last. */
static const struct ga_replica *culprit(const struct ga_run *run)
{
    if (run_is(run, GA_FAMILY_WINDOW) && faulty_replica(run))
        return faulty_replica(run);
    if (run->turn_of < run->replicas && run->replica[run->turn_of].v.fault_micro > 0)
        return &run->replica[run->turn_of];
    return NULL;
}

void ga_run_fault(const struct ga_run *run, struct ga_error *error)
{
    const struct ga_replica *replica = culprit(run);

    error->update = -1;
    error->replica = error->micro = -1;
    if (error->code != GA_ENONFINITE)
        return;
    error->update = (int64_t)run->counters.updates + 1;
    if (replica) {
        error->replica = (int32_t)(replica - run->replica);
        error->micro = (int32_t)replica->v.fault_micro;
    }
}

int ga_update_examine(const struct ga_run *run)
{
    const struct ga_replica *replica = faulty_replica(run);

    if (replica)
        return ga_update_report(run, replica);
    if (!isfinite(run->window.norm) || !isfinite(run->window.loss))
        return report_total(run);
    return GA_OK;
}

double ga_update_rate(const struct ga_settings *settings, uint64_t update)
{
    static const enum ga_schedule_kind kind_of[] = {
        [GA_SCHEDULE_CONSTANT] = GA_LR_CONSTANT,
        [GA_SCHEDULE_STEP] = GA_LR_STEP,
        [GA_SCHEDULE_COSINE] = GA_LR_COSINE,
    };
    struct ga_schedule_spec spec = {
        .kind = kind_of[settings->schedule.kind],
        .every = settings->schedule.every,
        .value = settings->schedule.value,
        .warmup = settings->warmup,
    };

    return ga_schedule_rate(&spec, settings->lr, update);
}

static uint32_t lag(const struct ga_run *run)
{
    return run->policy->lag ? run->policy->lag(run_set(run)) : 0;
}

void ga_update_forget_recent(struct ga_run *run, size_t keep)
{
    size_t drop = run->recent_count > keep ? run->recent_count - keep : 0;

    for (size_t i = 0; i < drop; i++)
        ga_version_close(run->recent[i]);
    if (drop > 0)
        memmove(run->recent, run->recent + drop, (run->recent_count - drop) * sizeof *run->recent);
    run->recent_count -= drop;
}

/* Delay keeps the `lag` versions before the server's. */
static int remember(struct ga_run *run, struct ga_version *old)
{
    if (lag(run) == 0) {
        ga_update_forget_recent(run, 0);
        return GA_OK;
    }
    if (ga_grow((void **)&run->recent, &run->recent_capacity, run->recent_count + 1,
                sizeof *run->recent) < 0)
        return ga_error_code();
    run->recent[run->recent_count++] = ga_version_share(old);
    ga_update_forget_recent(run, lag(run));
    return GA_OK;
}

int ga_update_pull(struct ga_run *run, struct ga_version **out)
{
    size_t back = lag(run);

    if (back > run->recent_count)
        back = run->recent_count;
    *out = ga_version_share(back == 0 ? run->server : run->recent[run->recent_count - back]);
    return GA_OK;
}

int ga_update_publish(struct ga_run *run, struct ga_version *next)
{
    if (ga_buffer_poll(run->compute) < 0 || remember(run, run->server) < 0)
        return ga_error_code();
    next->number = run->server->number + 1;
    if (next->norm < 0)
        run->window.update_norm = ga_buffer_distance(run->compute, next->weights,
                                                     run->server->weights, run->net.parameters);
    ga_version_close(run->previous);
    run->previous = run->server;
    run->server = next;
    run->evaluated[0].known = run->evaluated[1].known = false;
    run->counters.updates++;
    run->counters.examples += run->window.total.examples;
    return GA_OK;
}

int ga_update_step(struct ga_run *run)
{
    struct ga_version *old = run->server, *next = NULL;
    struct ga_optimizer_spec spec;
    struct ga_step step;

    if (ga_version_room(&next, run->net.parameters, old->state_blocks) < 0)
        return ga_error_code();
    if (ga_version_hold(next, run->compute) < 0) {
        ga_version_close(next);
        return ga_error_code();
    }
    ga_run_optimizer_spec(run_set(run), &spec);
    next->scalars = old->scalars;
    ga_optimizer_advance(&spec, &next->scalars, run->window.lr, run->window.clip_scale, &step);
    if (run->parts)
        ga_parts_step(run, &step, next);
    else
        run->compute->step(&run->net, &step, run->gradient, old->weights, old->state, next->weights,
                           next->state);
    if (ga_update_publish(run, next) < 0) {
        ga_version_close(next);
        return ga_error_code();
    }
    return GA_OK;
}
