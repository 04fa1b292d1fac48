/* One micro-batch on its device, and how long that works for it when somebody asks. */
#include <time.h>

#include "train/run_internal.h"

static int compute(struct ga_run *run, struct ga_replica *replica, struct ga_context *context,
                   const void *onto, void *sums, const struct ga_told *told)
{
    struct ga_batch batch = run_batch(run);

    if (!replica->next_whole)
        batch.index = replica->rows + replica->v.step_row + replica->next_first;
    batch.count = replica->next_count;
    if (told)
        return run->compute->gradient_in_parts(context, replica->v.read->weights, &batch, sums,
                                               &replica->micro_tally, told);
    if (run_joins(run))
        return run->compute->accumulate(context, replica->v.read->weights, &batch, onto, sums,
                                        &replica->micro_tally, &replica->micro_square);
    return run->compute->gradient(context, replica->v.read->weights, &batch, GA_ASSIGN, sums,
                                  &replica->micro_tally);
}

static double thread_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The same, and what it took: of the card by its clock, else of this thread. */
static int compute_timed(struct ga_run *run, struct ga_replica *replica, struct ga_context *context,
                         const void *onto, void *sums, const struct ga_told *told)
{
    const struct ga_device_memory *memory = run->compute->memory;
    const double before = thread_seconds();
    int code = GA_OK;

    if (memory)
        (void)memory->work_seconds(context, true);
    code = compute(run, replica, context, onto, sums, told);
    replica->work_now += memory ? memory->work_seconds(context, false) : thread_seconds() - before;
    return code;
}

/* Computes the replica's next micro-batch into `sums`. Runs on any lane. */
int ga_item_compute(struct ga_run *run, struct ga_replica *replica, int lane, const void *onto,
                    void *sums, const struct ga_told *told)
{
    struct ga_context *context = run_context(run, lane);

    atomic_store_explicit(&replica->lane, lane, memory_order_relaxed);
    if (!context)
        return ga_error_code();
    return (replica->timed ? compute_timed : compute)(run, replica, context, onto, sums, told);
}
