#include "train/burst.h"

void ga_burst_record(const struct ga_update_record *before, uint64_t on, int64_t span_ns,
                     const struct ga_burst_row *row, struct ga_update_record *out)
{
    *out = *before;
    out->update += on;
    out->epoch += on;
    out->micros += on;
    out->pushes += on;
    out->examples += on * before->window_examples;
    out->time_ns += (int64_t)on * span_ns;
    out->loss = row->loss;
    out->grad_norm = row->grad_norm;
    out->update_norm = row->update_norm;
    out->param_norm = row->param_norm;
}

/* OPEN and CLEAR tell no figures. */
static void fill_figures(struct ga_event *event, const struct ga_burst_row *row)
{
    if (event->kind == GA_EVENT_OPEN || event->kind == GA_EVENT_CLEAR)
        return;
    event->loss = row->loss;
    event->norm = row->grad_norm;
}

void ga_burst_event(const struct ga_event *before, uint64_t on, int64_t span_ns,
                    const struct ga_burst_row *row, struct ga_event *out)
{
    const int64_t later_ns = (int64_t)on * span_ns;

    *out = *before;
    out->sequence += on * GA_BURST_EVENTS;
    out->update += on;
    out->time_ns += later_ns;
    if (before->kind == GA_EVENT_MICRO || before->kind == GA_EVENT_PUSH)
        out->start_ns += later_ns;
    if (before->kind == GA_EVENT_MICRO || before->kind == GA_EVENT_PUSH ||
        before->kind == GA_EVENT_APPLY)
        out->version += on;
    fill_figures(out, row);
}
