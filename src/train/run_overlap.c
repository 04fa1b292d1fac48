/*
 * Reducing while the last micro-batches are still computed, where device and collective offer it:
 * each replica has a card of its own, workers compute, and all take part in the window. A replica's
 * last micro-batch tells the parts of the accumulator as it will be; the sums are reduced from
 * there, and the replicas' own stay what they are. Whatever changes the window before it is reduced
 * drops what was told, and then the sums are reduced as ever.
 */
#include "train/plan.h"
#include "train/run_internal.h"

static bool is_offered(const struct ga_run *run, uint32_t active)
{
    const bool computes = run->parallel || run->clock_kind->begin;

    return run->compute->gradient_in_parts && run->collective->parts && computes &&
           run_is(run, GA_FAMILY_WINDOW) && run->replicas > 1 && run->places >= run->replicas &&
           active == run->replicas && run->window.expected == active && run->late == 0;
}

/* Room for what several micro-batches add up to; each replica is alone at its place. */
static bool make_totals(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++) {
        if (run->totals[r] || ga_plan_micros(run_set(run), run->replica[r].v.part) < 2)
            continue;
        run->totals[r] = ga_run_alloc_sums(run, r, 1);
        if (!run->totals[r])
            return false;
        run->replica[r].total = run->totals[r];
    }
    return true;
}

void ga_overlap_begin(struct ga_run *run, uint32_t active)
{
    ga_overlap_drop(run);
    if (!is_offered(run, active))
        return;
    run->in_parts = run->collective->parts->begin(run->group, run->reduced, run->sum_elements,
                                                  run->compute->sum_type) > 0 &&
                    make_totals(run);
}

bool ga_overlap_tells(const struct ga_run *run, const struct ga_replica *replica)
{
    return run->in_parts && !replica->hogwild && replica->v.micro + 1 == replica->v.micros;
}

/* One rank's parts on their way to the collective. */
struct telling {
    struct ga_replica *replica;
    const void *buffer;
    bool failed;
};

static void tell(void *self, size_t first, size_t count, const void *mark)
{
    struct telling *t = self;
    struct ga_run *run = t->replica->run;
    const size_t rank = (size_t)(t->replica - run->replica);

    t->failed = t->failed ||
                run->collective->parts->part(run->group, rank, t->buffer, first, count, mark) < 0;
}

static int compute(struct ga_run *run, struct ga_replica *replica, int lane)
{
    const void *onto = replica->v.micro > 0 ? replica->sums : NULL;
    struct telling telling = {replica, onto ? replica->total : replica->micro_sums, false};
    const struct ga_told told = {onto, replica->total, tell, &telling};
    int code = ga_item_compute(run, replica, lane, NULL, replica->micro_sums, &told);

    replica->told = code == GA_OK && !telling.failed;
    return code;
}

void ga_overlap_work(struct ga_task *task, int lane)
{
    struct ga_replica *replica = ga_item_of_task(task);

    replica->error.code = GA_OK;
    if (compute(replica->run, replica, lane) < 0)
        ga_error_take(&replica->error);
    ga_item_worked(replica);
}

static bool all_told(const struct ga_run *run)
{
    bool told = run->in_parts;

    for (size_t r = 0; told && r < run->replicas; r++)
        told = run->replica[r].v.in_window && run->replica[r].told;
    return told;
}

int ga_overlap_reduce(struct ga_run *run)
{
    const bool in_parts = all_told(run);

    if (!in_parts) {
        ga_overlap_drop(run);
        run->overlapped = false;
        return ga_window_make_reduced(run);
    }
    run->in_parts = false;
    if (run->collective->parts->end(run->group) < 0)
        return ga_error_code();
    run->overlapped = true;
    return GA_OK;
}

void ga_overlap_drop(struct ga_run *run)
{
    if (run->in_parts)
        run->collective->parts->drop(run->group);
    run->in_parts = false;
}

bool ga_run_overlaps(const struct ga_run *run)
{
    return run->overlapped;
}
