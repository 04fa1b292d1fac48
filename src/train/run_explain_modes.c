/* Explaining what only modes other than sync do: pushes to a server, rounds of private steps. */
#include "train/run_explain.h"

/* ---- push modes: one push or buffer, applied by the server ---- */

static void scale_line(const struct ga_explain_page *page)
{
    const struct ga_run *run = page->run;
    double full = ga_update_rate(run_set(run), run->counters.updates - 1);

    if (run_set(run)->scale == GA_SCALE_FULL)
        return;
    ga_text_printf(page->out, "    scale       %s: lr %g * %.6g = %.6g\n",
                   ga_choice_word("scale", (int)run_set(run)->scale), full,
                   full > 0 ? page->lr / full : 0, page->lr);
}

static void shared_lines(const struct ga_explain_page *page)
{
    const struct ga_run *run = page->run;

    ga_text_printf(page->out,
                   "    hogwild     no server: the coordinate was written at its own time, lr %g\n"
                   "    shared      %.6g -> %.6g (%llu writes lost so far)\n",
                   page->lr, (double)run->previous->weights[page->position],
                   (double)run->server->weights[page->position],
                   explain_number(run->counters.lost));
}

void ga_explain_server(struct ga_explain_page *page)
{
    const struct ga_run *run = page->run;
    const struct ga_event *event = &run->last_event;
    uint64_t now = event->kind == GA_EVENT_APPLY ? event->update - 1 : run->counters.updates;
    double gradient = run->has_gradient ? (double)ga_run_gradient(run)[page->position] : 0;

    page->lr = event->value;
    page->clip_scale = run->last_record.clip_scale;
    page->norm = event->norm;
    ga_text_printf(page->out,
                   "update %llu: replica %d read version %llu, applied at %llu: staleness %llu\n"
                   "  %u examples   loss %.6g   |g| %.6g\n  %s\n",
                   explain_number(event->update), event->replica, explain_number(event->version),
                   explain_number(now), explain_number(now - event->version), event->examples,
                   event->loss, event->norm, page->name);
    if (event->kind == GA_EVENT_SKIP || !run->has_gradient) {
        ga_explain_skip(page);
        return;
    }
    ga_text_printf(page->out, "    server      sum %.6g   weight %g\n",
                   ga_explain_sum(page, run->reduced), event->weight);
    ga_text_printf(page->out, "    divide once %.6g / %g = %.6g\n",
                   ga_explain_sum(page, run->reduced), event->weight, gradient);
    scale_line(page);
    if (run_is(run, GA_FAMILY_SHARED)) {
        shared_lines(page);
        return;
    }
    ga_explain_clip(page, &gradient);
    ga_explain_optimizer(page, gradient);
}

void ga_explain_send(struct ga_explain_page *page)
{
    const struct ga_event *event = &page->run->last_event;
    size_t r = (size_t)event->replica;
    int64_t served_ns =
        r < page->run->replicas ? page->run->replica[r].v.finish_ns : event->time_ns;

    ga_text_printf(
        page->out, "update %llu: replica %d has finished its item; its push is served in %.6g ms\n",
        explain_number(event->update), event->replica, (double)(served_ns - event->time_ns) * 1e-6);
}

/* ---- local: weights are averaged, not gradients ---- */

static void round_lines(const struct ga_explain_page *page)
{
    const struct ga_run *run = page->run;

    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica_value *v = &run->replica[r].v;

        if (!v->own || v->round.examples == 0)
            continue;
        ga_text_printf(page->out,
                       "    replica %-3zu weight %.6g after %u private steps, %llu examples\n", r,
                       (double)v->own->weights[page->position],
                       v->steps > 0 ? v->steps : (uint32_t)run_set(run)->period,
                       explain_number(v->round.examples));
    }
}

static void outer_line(const struct ga_explain_page *page, double old)
{
    const struct ga_run *run = page->run;
    const struct ga_settings *set = run_set(run);

    if (set->outer.kind == GA_OUTER_NONE)
        return;
    ga_text_printf(
        page->out, "    outer       %s(lr %g, momentum %g) on old - average = %.6g: %.6g -> %.6g\n",
        ga_choice_word("outer", (int)set->outer.kind), set->outer.lr, set->outer.momentum,
        (double)run->gradient[page->position], old, (double)run->server->weights[page->position]);
}

void ga_explain_private(struct ga_explain_page *page)
{
    const struct ga_run *run = page->run;
    const struct ga_event *event = &run->last_event;
    const struct ga_replica_value *v = &run->replica[event->replica].v;

    ga_text_printf(page->out,
                   "update %llu: replica %d has taken private step %.0f of its round, of %u\n"
                   "  %u examples   loss %.6g   weight %g\n  %s\n",
                   explain_number(event->update), event->replica, event->value, v->steps,
                   event->examples, event->loss, event->weight, page->name);
    if (v->own)
        ga_text_printf(page->out, "    its own     %.6g, the server still has %.6g\n",
                       (double)v->own->weights[page->position],
                       (double)run->server->weights[page->position]);
    ga_text_puts(page->out, "    next        its next private step; weights meet at the end of "
                            "the round\n");
}

void ga_explain_round(struct ga_explain_page *page)
{
    const struct ga_run *run = page->run;
    bool applied = run->last_event.kind == GA_EVENT_APPLY || run->last_event.kind == GA_EVENT_CLEAR;
    double old =
        (double)(applied && run->previous ? run->previous : run->server)->weights[page->position];

    ga_text_printf(page->out,
                   "update %llu, %s: a round of %llu examples, |old - average| %.6g\n  %s\n",
                   explain_number(run->last_event.update), ga_event_name(run->last_event.kind),
                   explain_number(run->window.total.examples), run->window.norm, page->name);
    round_lines(page);
    if (!run->has_average)
        return;
    ga_text_printf(page->out, "    average     %.6g by examples of the round (old %.6g)\n",
                   (double)run->average[page->position], old);
    if (run->window.skipped)
        ga_explain_skip(page);
    else if (applied)
        outer_line(page, old);
    else
        ga_text_printf(page->out, "    next        %s\n", ga_phase_name(run->phase));
}
