/* Events and update records, and the figures that only they need. */
#include <math.h>

#include "train/run_internal.h"

#define NOISE_DECAY 0.9

void ga_run_emit(struct ga_run *run)
{
    struct ga_event *event = &run->last_event;

    event->sequence = run->counters.events;
    event->time_ns = run->now_ns;
    event->update = run->counters.updates + (event->kind != GA_EVENT_APPLY);
    if (event->kind == GA_EVENT_CLEAR && !run->window.skipped)
        event->update = run->counters.updates;
    if (run->on_event)
        run->on_event(run->sink, event);
}

uint64_t ga_run_closed(const struct ga_run *run)
{
    return run->counters.updates + run->counters.skipped;
}

/*
 * Gradient noise scale (McCandlish, Kaplan, Amodei, "An empirical model of large-batch training",
 * 2018, appendix A): from the squared norms at the window's size B and the micro-batches' size b
 * (harmonic mean); S and |G|^2 are smoothed separately.
 */
void ga_run_noise(struct ga_run *run)
{
    const struct ga_window_state *w = &run->window;
    double weight = 0, big = 0, small = 0, mean_square = 0;
    double norm = w->norm, trace = 0, signal = 0;

    if (w->skipped || w->micros < 2)
        return;
    weight = ga_tally_weight_sum(&w->total);
    big = weight * weight / w->total.weight_square;
    small = w->micros / w->micro_inverse_count;
    mean_square = w->micro_norm_square / w->micros;
    if (run_set(run)->reduce == GA_REDUCE_SUM)
        norm /= weight;
    trace = (mean_square - norm * norm) / (1 / small - 1 / big);
    signal = (big * norm * norm - small * mean_square) / (big - small);
    if (!(big > small) || !isfinite(trace) || !isfinite(signal))
        return;
    run->noise.trace = NOISE_DECAY * run->noise.trace + (1 - NOISE_DECAY) * trace;
    run->noise.signal = NOISE_DECAY * run->noise.signal + (1 - NOISE_DECAY) * signal;
    run->noise.weight = NOISE_DECAY * run->noise.weight + (1 - NOISE_DECAY);
}

void ga_run_record_window(struct ga_run *run)
{
    const struct ga_window_state *w = &run->window;

    run->last_record = (struct ga_update_record){
        .update = run->counters.updates,
        .epoch = w->epoch,
        .examples = run->counters.examples,
        .micros = run->counters.micros,
        .skipped = run->counters.skipped,
        .dropped = run->counters.examples_dropped,
        .bytes = run->counters.bytes,
        .time_ns = run->now_ns,
        .window_examples = (uint32_t)w->total.examples,
        .window_micros = w->micros,
        .window_weight = ga_tally_weight_sum(&w->total),
        .loss = w->loss,
        .grad_norm = w->norm,
        .clip_scale = w->clip_scale,
        .lr = w->lr,
        .scale = w->scale,
        .update_norm = w->update_norm,
        .param_norm = run->server->norm >= 0
                          ? run->server->norm
                          : ga_buffer_norm(run->compute, run->server->weights, run->net.parameters),
        .noise_trace = run->noise.trace / run->noise.weight,
        .noise_signal = run->noise.signal / run->noise.weight,
        .pushes = run->counters.pushes,
        .stale = run->counters.staleness,
        .lost = run->counters.lost,
        .staleness = w->staleness < UINT32_MAX ? (uint32_t)w->staleness : UINT32_MAX,
        .replica = w->closer,
        .applied = !w->skipped,
        .mode = (uint8_t)run_set(run)->mode,
    };
    run->has_record = true;
    if (run->on_record)
        run->on_record(run->sink, &run->last_record);
}
