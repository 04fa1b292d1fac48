/* Memory that grows with the replicas, and the compute contexts of the lanes. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "train/plan.h"
#include "train/run_internal.h"

/* Below this much work a hand-over between threads costs more than it brings. */
#define HANDOVER_NS 30000.0

/* Replicas r with r mod places = place. */
static size_t replicas_at(const struct ga_run *run, size_t place, size_t replicas)
{
    return (replicas + run->places - 1 - place) / run->places;
}

void ga_run_release_replicas(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++) {
        ga_item_settle(run, r);
        ga_version_close(run->replica[r].v.read);
        ga_version_close(run->replica[r].v.own);
        ga_hogwild_item_close(run->replica[r].hogwild);
        free(run->replica[r].rows);
        free(run->replica[r].step_count);
    }
    free(run->replica);
    run->collective->close(run->group); /* it may still read what follows */
    for (size_t place = 0; place < run->places; place++) {
        run->compute->free(run->sums[place]);
        run->compute->free(run->micro_sums[place]);
        run->compute->free(run->totals[place]);
        run->sums[place] = run->micro_sums[place] = run->totals[place] = NULL;
    }
    run->in_parts = run->overlapped = false;
    ga_run_free_means(run, run->means, run->replicas);
    free(run->buffers);
    ga_parts_close(run->parts);
    run->clock_kind->close(run->clock);
    run->replica = NULL;
    run->means = NULL;
    run->buffers = NULL;
    run->parts = NULL;
    run->group = NULL;
    run->clock = NULL;
    run->replicas = 0;
}

/* What ga_run_resize() makes before it gives anything up. */
struct fresh {
    struct ga_replica *replica;
    void *sums[GA_MAX_DEVICES], *micro_sums[GA_MAX_DEVICES];
    float *means;
    const void **buffers;
    struct ga_parts *parts;
    struct ga_group *group;
    struct ga_clock_state *clock;
};

static void fresh_fini(struct ga_run *run, struct fresh *fresh, size_t replicas)
{
    free(fresh->replica);
    for (size_t place = 0; place < run->places; place++) {
        run->compute->free(fresh->sums[place]);
        run->compute->free(fresh->micro_sums[place]);
    }
    ga_run_free_means(run, fresh->means, replicas);
    free(fresh->buffers);
    ga_parts_close(fresh->parts);
    run->collective->close(fresh->group);
    run->clock_kind->close(fresh->clock);
}

static int fresh_sums(struct ga_run *run, struct fresh *fresh, size_t replicas)
{
    for (size_t place = 0; place < run->places && place < replicas; place++) {
        size_t count = replicas_at(run, place, replicas);

        fresh->sums[place] = ga_run_alloc_sums(run, place, count);
        if (run->lanes > 1 || !run_joins(run))
            fresh->micro_sums[place] = ga_run_alloc_sums(run, place, run->lanes > 1 ? count : 1);
        if (!fresh->sums[place] ||
            (!fresh->micro_sums[place] && (run->lanes > 1 || !run_joins(run))))
            return ga_error_code();
    }
    return GA_OK;
}

/* Where the device goes over the parameters in parts it tells cosines by the way; else they need
 * the replicas' mean gradients. */
static int fresh_passes(struct ga_run *run, struct fresh *fresh, size_t replicas)
{
    if (run->compute->mean_part && !run->compute->memory)
        return ga_parts_open(&fresh->parts, run->net.parameters, (size_t)run->lanes, replicas);
    fresh->means = ga_alloc_aligned(replicas, run->net.parameters * sizeof *fresh->means);
    return fresh->means ? ga_run_hold_means(run, fresh->means, replicas) : ga_error_code();
}

static int fresh_init(struct ga_run *run, struct fresh *fresh, size_t replicas)
{
    memset(fresh, 0, sizeof *fresh);
    fresh->replica = ga_alloc(replicas, sizeof *fresh->replica);
    fresh->buffers = ga_alloc(replicas, sizeof *fresh->buffers);
    if (!fresh->replica || !fresh->buffers || fresh_sums(run, fresh, replicas) < 0 ||
        fresh_passes(run, fresh, replicas) < 0 ||
        run->collective->open(&fresh->group, replicas) < 0 ||
        run->clock_kind->open(&fresh->clock, replicas) < 0) {
        fresh_fini(run, fresh, replicas);
        return GA_ENOMEM; /* nothing else goes wrong in these */
    }
    return GA_OK;
}

static void newcomer(const struct ga_run *run, struct ga_replica *replica)
{
    replica->v.free_ns = run->now_ns;
    replica->v.idle_ns = replica->v.joined_ns = run->now_ns;
    replica->v.slow = 1;
    replica->v.clock = run->least_clock == UINT64_MAX ? 0 : run->least_clock;
    replica->work = __builtin_nan("");
    replica->v.loss = replica->v.norm = replica->v.cosine = replica->v.staleness =
        __builtin_nan("");
}

/* Moves what a replica keeps over a change of P: counts, times, its late item. */
static void carry_over(struct ga_run *run, struct fresh *fresh, size_t replicas)
{
    for (size_t r = 0; r < replicas; r++) {
        struct ga_replica *to = &fresh->replica[r];
        size_t place = r % run->places, slice = r / run->places * run->sum_bytes;

        if (r < run->replicas) {
            *to = run->replica[r];
            run->replica[r].rows = run->replica[r].step_count = NULL;
            run->replica[r].v.read = run->replica[r].v.own = NULL;
            run->replica[r].hogwild = NULL;
            if (to->v.state == GA_REPLICA_LATE)
                run->clock_kind->schedule(fresh->clock, r, to->v.finish_ns);
        } else {
            newcomer(run, to);
        }
        to->run = run;
        to->has_kept = to->has_mean = to->told = false;
        to->total = NULL;
        to->mean = fresh->means ? fresh->means + r * run->net.parameters : NULL;
        to->sums = (char *)fresh->sums[place] + slice;
        if (fresh->micro_sums[place])
            to->micro_sums = (char *)fresh->micro_sums[place] + (run->lanes > 1 ? slice : 0);
    }
}

int ga_run_resize(struct ga_run *run, size_t replicas)
{
    struct fresh fresh;

    if (replicas == run->replicas)
        return GA_OK;
    if (fresh_init(run, &fresh, replicas) < 0)
        return ga_error_code();
    for (size_t r = replicas; r < run->replicas; r++)
        if (run->replica[r].v.state == GA_REPLICA_LATE)
            ga_item_drop(run, r, run->now_ns);
    carry_over(run, &fresh, replicas);
    ga_run_release_replicas(run);
    run->replica = fresh.replica;
    memcpy(run->sums, fresh.sums, sizeof run->sums);
    memcpy(run->micro_sums, fresh.micro_sums, sizeof run->micro_sums);
    run->means = fresh.means;
    run->buffers = fresh.buffers;
    run->parts = fresh.parts;
    run->group = fresh.group;
    run->clock = fresh.clock;
    run->replicas = replicas;
    return GA_OK;
}

int ga_run_open_context(struct ga_run *run, int lane)
{
    if (run->compute->open(&run->context[lane], &run->net, atomic_load(&run->micro_examples)) < 0)
        return ga_error_code();
    atomic_fetch_add(&run->contexts, 1);
    ga_buffer_home(run->compute, run->context[lane], ga_run_card_at(run, 0));
    return GA_OK;
}

/* Decides once per settings whether micro-batches go to workers. */
void ga_run_choose_lanes(struct ga_run *run)
{
    double work = ga_compute_example_cost_ns(&run->net) * (double)ga_plan_micro(run_set(run));

    atomic_store(&run->micro_examples, ga_plan_micro(run_set(run)));
    run->parallel =
        !run->clock_kind->begin && run->lanes > 1 && run->replicas > 1 && work > HANDOVER_NS;
}

void ga_run_time_work(struct ga_run *run, uint64_t updates)
{
    const uint64_t before = ga_run_closed(run) + updates;

    run->timed_before = run->timed_before > before ? run->timed_before : before;
}

void ga_run_seat(const struct ga_run *run, size_t replica, struct ga_seat *out)
{
    const int lane = atomic_load_explicit(&run->replica[replica].lane, memory_order_relaxed);
    const size_t place = replica % run->places;

    *out = (struct ga_seat){.gpu = run->card[place].known,
                            .pci = run->card[place].pci,
                            .work = run->replica[replica].work};
    if (!out->gpu && run->workers)
        out->thread = ga_workers_thread(run->workers, lane);
}
