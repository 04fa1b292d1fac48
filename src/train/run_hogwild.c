/*
 * Hogwild in virtual time: an item of duration t on n parameters reads coordinate j at start +
 * t*j/(2n) and writes it at start + t*(n+j)/(2n); replicas interleave coordinate by coordinate.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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
    size_t n = run->net.parameters;

    ga_hogwild_leave(run);
    run->shared = ga_alloc_aligned(n, sizeof *run->shared);
    run->shared_writes = ga_alloc(n, sizeof *run->shared_writes);
    if (!run->shared || !run->shared_writes) {
        ga_hogwild_leave(run);
        return ga_error_code();
    }
    memcpy(run->shared, run->server->weights, n * sizeof *run->shared);
    return GA_OK;
}

void ga_hogwild_leave(struct ga_run *run)
{
    free(run->shared);
    free(run->shared_writes);
    run->shared = NULL;
    run->shared_writes = NULL;
}

/* A version of its own to read into; its number is that of the server's at the start. */
int ga_hogwild_start(struct ga_run *run, size_t r)
{
    struct ga_replica *replica = &run->replica[r];
    struct ga_version *read = NULL;

    if (ga_version_open(&read, run->net.parameters, 0) < 0)
        return ga_error_code();
    ga_hogwild_item_close(replica->hogwild);
    replica->hogwild = NULL;
    if (ga_hogwild_item_open(&replica->hogwild, run->net.parameters) < 0) {
        ga_version_close(read);
        return ga_error_code();
    }
    read->number = run->server->number;
    ga_version_close(replica->v.read);
    replica->v.read = read;
    ga_item_schedule(run, r);
    return GA_OK;
}

int64_t ga_hogwild_next(const struct ga_run *run, size_t r)
{
    const struct ga_replica_value *v = &run->replica[r].v;
    uint32_t at = run->replica[r].hogwild->at;
    int64_t coordinates = 2 * (int64_t)run->net.parameters;
    __extension__ __int128 span = v->finish_ns - v->start_ns;

    if (at >= coordinates)
        return v->finish_ns;
    return v->start_ns + (int64_t)(span * at / coordinates);
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
    memcpy(copy->weights, read->weights, run->net.parameters * sizeof(float));
    copy->number = read->number;
    ga_version_close(read);
    replica->v.read = copy;
    return GA_OK;
}

static void read_coordinate(struct ga_run *run, struct ga_replica *replica, size_t j)
{
    replica->v.read->weights[j] = run->shared[j];
    replica->hogwild->writes[j] = run->shared_writes[j];
}

static void write_coordinate(struct ga_run *run, struct ga_replica *replica, size_t j)
{
    bool lossy = run_set(run)->writes == GA_WRITES_LOSSY;
    float from = lossy ? replica->v.read->weights[j] : run->shared[j];

    if (lossy)
        run->counters.lost += run->shared_writes[j] - replica->hogwild->writes[j];
    run->shared[j] = from + replica->hogwild->change[j];
    run->shared_writes[j]++;
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
        write_coordinate(run, replica, at - n);
    ga_item_schedule(run, r);
    return GA_OK;
}

/* Plain SGD only: change = -lr * (g + weight_decay * w). A bad gradient writes nothing. */
static void find_change(struct ga_run *run, struct ga_replica *replica)
{
    const struct ga_settings *set = run_set(run);
    double weight = ga_tally_weight_sum(&replica->v.tally);
    double norm = 0;
    struct ga_optimizer_spec spec;
    struct ga_optimizer_scalars scalars;
    struct ga_step step;
    struct ga_push push = {
        .version_read = replica->v.read->number,
        .version_now = run->counters.updates,
        .share = weight / replica->v.window_weight,
    };

    if (!(weight > 0) || (replica->v.fault_micro > 0 && set->nonfinite != GA_NONFINITE_APPLY))
        return;
    norm = run->compute->mean(&run->net, replica->sums, set->reduce == GA_REDUCE_SUM ? 1 : weight,
                              run->item_gradient);
    ga_run_optimizer_spec(set, &spec);
    ga_optimizer_scalars_init(&scalars);
    ga_optimizer_advance(&spec, &scalars,
                         ga_update_rate(set, run->counters.updates) *
                             run->policy->scale(set, &push),
                         ga_clip_scale(set->clip, norm), &step);
    for (size_t j = 0; j < run->net.parameters; j++) {
        float g = run->item_gradient[j];

        if (step.scaled)
            g *= step.gradient_scale;
        if (step.weight_decay != 0)
            g += step.weight_decay * replica->v.read->weights[j];
        replica->hogwild->change[j] = -(step.lr * g);
    }
}

int ga_hogwild_compute(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica *replica = &run->replica[r];

    while (replica->v.micro < replica->v.micros)
        if (ga_item_micro(run, r, time_ns) < 0)
            return ga_error_code();
    find_change(run, replica);
    return GA_OK;
}

int ga_hogwild_publish(struct ga_run *run)
{
    struct ga_version *next = NULL;

    if (ga_version_open(&next, run->net.parameters, 0) < 0)
        return ga_error_code();
    memcpy(next->weights, run->shared, run->net.parameters * sizeof(float));
    next->scalars = run->server->scalars;
    next->scalars.t++;
    if (ga_update_publish(run, next) < 0) {
        ga_version_close(next);
        return ga_error_code();
    }
    return GA_OK;
}
