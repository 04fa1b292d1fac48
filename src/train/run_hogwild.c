/*
 * Hogwild in virtual time: an item of duration t on n parameters reads coordinate j at start +
 * t*j/(2n) and writes it at start + t*(n+j)/(2n); replicas interleave coordinate by coordinate.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "train/plan.h"
#include "train/run_internal.h"

void ga_hogwild_item_close(struct ga_hogwild_item *item)
{
    if (!item)
        return;
    free(item->change);
    free(item->writes);
    free(item);
}

int ga_hogwild_item_open(struct ga_hogwild_item **out, size_t parameters)
{
    struct ga_hogwild_item *item = ga_alloc(1, sizeof *item);

    *out = NULL;
    if (!item)
        return ga_error_code();
    item->change = ga_alloc(parameters, sizeof *item->change);
    item->writes = ga_alloc(parameters, sizeof *item->writes);
    if (!item->change || !item->writes) {
        ga_hogwild_item_close(item);
        return ga_error_code();
    }
    *out = item;
    return GA_OK;
}

int ga_hogwild_enter(struct ga_run *run)
{
    const float *weights = NULL;
    size_t n = run->net.parameters;

    ga_hogwild_leave(run);
    run->shared = ga_alloc_aligned(n, sizeof *run->shared);
    run->shared_writes = ga_alloc(n, sizeof *run->shared_writes);
    if (!run->shared || !run->shared_writes) {
        ga_hogwild_leave(run);
        return ga_error_code();
    }
    weights = ga_version_weights(run->server);
    for (size_t j = 0; j < n; j++)
        atomic_init(&run->shared[j], weights[j]);
    atomic_store(&run->shared_updates, run->counters.updates);
    return GA_OK;
}

/* Nothing of an item may stay: the next mode would take its replica for one of hogwild's. */
void ga_hogwild_leave(struct ga_run *run)
{
    run->counters.lost += atomic_exchange(&run->shared_lost, 0);
    for (size_t r = 0; r < run->replicas; r++) {
        ga_hogwild_item_close(run->replica[r].hogwild);
        run->replica[r].hogwild = NULL;
    }
    free(run->shared);
    free(run->shared_writes);
    run->shared = NULL;
    run->shared_writes = NULL;
}

static bool may_read_into(const struct ga_version *read, size_t parameters)
{
    return read && atomic_load(&read->references) == 1 && read->parameters == parameters &&
           read->state_blocks == 0 && !atomic_load(&read->memory);
}

/*
 * A version of its own to read into, where nobody shares it the one of its last item; its number is
 * that of the server's at the start.
 */
int ga_hogwild_pull(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;
    struct ga_version *read = NULL;
    size_t n = run->net.parameters;

    if (may_read_into(v->read, n)) {
        memset(v->read->weights, 0, n * sizeof *v->read->weights);
    } else {
        if (ga_version_open(&read, n, 0) < 0)
            return ga_error_code();
        ga_version_close(v->read);
        v->read = read;
    }
    v->read->number = run->server->number;
    return GA_OK;
}

int ga_hogwild_start(struct ga_run *run, size_t r)
{
    struct ga_hogwild_item *item = run->replica[r].hogwild;
    size_t n = run->net.parameters;

    if (!item)
        return ga_hogwild_item_open(&run->replica[r].hogwild, n);
    item->at = 0;
    memset(item->change, 0, n * sizeof *item->change);
    memset(item->writes, 0, n * sizeof *item->writes);
    return GA_OK;
}

int64_t ga_hogwild_next(const struct ga_run *run, size_t r)
{
    const struct ga_replica_value *v = &run->replica[r].v;
    uint32_t at = run->replica[r].hogwild->at;
    uint64_t coordinates = 2 * (uint64_t)run->net.parameters;

    if (at == 0)
        return v->start_ns;
    if (at >= coordinates)
        return v->finish_ns;
    return v->start_ns + ga_item_part_of(v->finish_ns - v->start_ns, at, coordinates);
}

bool ga_hogwild_between(const struct ga_run *run, size_t r)
{
    const struct ga_replica *replica = &run->replica[r];
    size_t n = run->net.parameters;

    if (replica->hogwild->at < n)
        return true;
    return replica->v.micro == replica->v.micros && replica->hogwild->at < 2 * n;
}

/* What is being read may be shared with a captured state: then it goes on in a copy. */
static int own_read(struct ga_run *run, struct ga_replica *replica)
{
    struct ga_version *copy = NULL, *read = replica->v.read;

    if (atomic_load(&read->references) == 1)
        return GA_OK;
    if (ga_version_open(&copy, run->net.parameters, 0) < 0)
        return ga_error_code();
    memcpy(copy->weights, ga_version_weights(read), run->net.parameters * sizeof(float));
    copy->number = read->number;
    ga_version_close(read);
    replica->v.read = copy;
    return GA_OK;
}

static void read_coordinate(struct ga_run *run, struct ga_replica *replica, size_t j)
{
    replica->v.read->weights[j] = atomic_load_explicit(&run->shared[j], memory_order_relaxed);
    replica->hogwild->writes[j] =
        atomic_load_explicit(&run->shared_writes[j], memory_order_relaxed);
}

/* In virtual time nobody else writes: what atomic operations come to, without their price. */
static void write_alone(struct ga_run *run, const struct ga_replica *replica, size_t j)
{
    float from = replica->v.read->weights[j];
    unsigned before = atomic_load_explicit(&run->shared_writes[j], memory_order_relaxed);

    if (run_set(run)->writes == GA_WRITES_ATOMIC)
        from = atomic_load_explicit(&run->shared[j], memory_order_relaxed);
    else
        run->counters.lost += before - replica->hogwild->writes[j];
    atomic_store_explicit(&run->shared_writes[j], before + 1, memory_order_relaxed);
    atomic_store_explicit(&run->shared[j], from + replica->hogwild->change[j],
                          memory_order_relaxed);
}

static void write_coordinate(struct ga_run *run, struct ga_replica *replica, enum ga_writes writes,
                             size_t j)
{
    float change = replica->hogwild->change[j];
    unsigned before = atomic_fetch_add_explicit(&run->shared_writes[j], 1, memory_order_relaxed);

    if (writes == GA_WRITES_ATOMIC) {
        float old = atomic_load_explicit(&run->shared[j], memory_order_relaxed);

        while (!atomic_compare_exchange_weak_explicit(&run->shared[j], &old, old + change,
                                                      memory_order_relaxed, memory_order_relaxed))
            ;
        return;
    }
    atomic_fetch_add_explicit(&run->shared_lost, before - replica->hogwild->writes[j],
                              memory_order_relaxed);
    atomic_store_explicit(&run->shared[j], replica->v.read->weights[j] + change,
                          memory_order_relaxed);
}

int ga_hogwild_touch(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica *replica = &run->replica[r];
    size_t n = run->net.parameters, at = replica->hogwild->at;

    if (at < n && own_read(run, replica) < 0)
        return ga_error_code();
    replica->hogwild->at++;
    run->now_ns = time_ns;
    if (at < n)
        read_coordinate(run, replica, at);
    else
        write_alone(run, replica, at - n);
    ga_item_schedule(run, r);
    return GA_OK;
}

/*
 * Plain SGD only: change = -lr * (g + weight_decay * w). A bad gradient writes nothing. It may run
 * on a worker: the tally and the sums are the replica's own.
 */
static void find_change(struct ga_run *run, struct ga_replica *replica,
                        const struct ga_settings *set, const struct ga_tally *tally, bool bad)
{
    double weight = ga_tally_weight_sum(tally), norm = 0;
    float *change = replica->hogwild->change;
    struct ga_optimizer_spec spec;
    struct ga_optimizer_scalars scalars;
    struct ga_step step;
    struct ga_push push = {
        .version_read = replica->v.read->number,
        .version_now = atomic_load(&run->shared_updates),
        .share = weight / replica->v.window_weight,
    };

    memset(change, 0, run->net.parameters * sizeof *change);
    if (!(weight > 0) || (bad && set->nonfinite != GA_NONFINITE_APPLY))
        return;
    norm = run->compute->mean(&run->net, replica->sums, set->reduce == GA_REDUCE_SUM ? 1 : weight,
                              change);
    ga_run_optimizer_spec(set, &spec);
    ga_optimizer_scalars_init(&scalars);
    ga_optimizer_advance(&spec, &scalars,
                         ga_update_rate(set, push.version_now) * ga_policy_push_scale(set, &push),
                         ga_clip_scale(set->clip, norm), &step);
    for (size_t j = 0; j < run->net.parameters; j++) {
        if (step.scaled)
            change[j] *= step.gradient_scale;
        if (step.weight_decay != 0)
            change[j] += step.weight_decay * replica->v.read->weights[j];
        change[j] = -(step.lr * change[j]);
    }
}

int ga_hogwild_compute(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica *replica = &run->replica[r];

    while (replica->v.micro < replica->v.micros) {
        ga_item_aim(replica);
        if (ga_item_micro(run, r, time_ns) < 0)
            return ga_error_code();
    }
    find_change(run, replica, run_set(run), &replica->v.tally, replica->v.fault_micro > 0);
    return ga_buffer_poll(run->compute);
}

int ga_hogwild_publish(struct ga_run *run)
{
    struct ga_version *next = NULL;

    if (ga_version_open(&next, run->net.parameters, 0) < 0)
        return ga_error_code();
    ga_hogwild_copy(run, next->weights, NULL);
    next->scalars = run->server->scalars;
    next->scalars.t++;
    if (ga_update_publish(run, next) < 0) {
        ga_version_close(next);
        return ga_error_code();
    }
    atomic_store_explicit(&run->shared_updates, run->counters.updates, memory_order_release);
    if (run->clock_kind->begin)
        run->counters.lost += atomic_exchange(&run->shared_lost, 0);
    return GA_OK;
}

void ga_hogwild_copy(const struct ga_run *run, float *weights, uint32_t *writes)
{
    for (size_t j = 0; j < run->net.parameters; j++) {
        weights[j] = atomic_load_explicit(&run->shared[j], memory_order_relaxed);
        if (writes)
            writes[j] = atomic_load_explicit(&run->shared_writes[j], memory_order_relaxed);
    }
}

/* ---- on the real clock: a worker reads, computes and writes, in a race with the others ---- */

static int add_up(struct ga_run *run, struct ga_replica *replica, int lane)
{
    const struct ga_replica_value *v = &replica->v;

    for (uint32_t micro = 0; micro < v->micros; micro++) {
        ga_plan_part(v->examples, v->micros, micro, &replica->next_first, &replica->next_count);
        bool straight = run_joins(run) || micro == 0;

        if (ga_item_compute(run, replica, lane, micro > 0 ? replica->sums : NULL,
                            straight ? replica->sums : replica->micro_sums, NULL) < 0)
            return ga_error_code();
        if (!straight)
            run->compute->add(&run->net, replica->sums, replica->micro_sums);
        ga_tally_add(&replica->raced, &replica->micro_tally);
    }
    return GA_OK;
}

void ga_hogwild_race(struct ga_task *task, int lane)
{
    struct ga_replica *replica = ga_item_of_task(task);
    struct ga_run *run = replica->run;
    const struct ga_settings *set =
        &replica->terms->value; /* those in force may change meanwhile */
    size_t n = run->net.parameters;

    replica->error.code = GA_OK;
    ga_tally_clear(&replica->raced);
    for (size_t j = 0; j < n; j++)
        read_coordinate(run, replica, j);
    if (add_up(run, replica, lane) < 0) {
        ga_error_take(&replica->error);
    } else {
        find_change(run, replica, set, &replica->raced, replica->raced.flags != 0);
        if (ga_buffer_poll(run->compute) < 0)
            ga_error_take(&replica->error);
        for (size_t j = 0; j < n && replica->error.code == GA_OK; j++)
            write_coordinate(run, replica, set->writes, j);
    }
    ga_item_worked(replica);
}

/*
 * The raced item as one micro-batch event: what it was made of is not seen from outside. Where no
 * worker had it, because the run is not live, it runs alone.
 */
int ga_hogwild_gather(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica *replica = &run->replica[r];
    struct ga_replica_value *v = &replica->v;

    if (!replica->submitted) {
        replica->terms = ga_settings_share_take(run->settings);
        ga_hogwild_race(&replica->task, 0);
    }
    ga_item_settle(run, r);
    if (replica->error.code != GA_OK)
        return ga_error_put(&replica->error);
    replica->hogwild->at = 2 * (uint32_t)run->net.parameters;
    replica->micro_tally = replica->raced;
    return ga_item_take_whole(run, r, time_ns, v->micros);
}
