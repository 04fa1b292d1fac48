/*
 * What each replica's fields say, and what they say about each other, by the family of the mode: in
 * a window or a round replicas work together, in push modes each goes its own way.
 */
#include "base/error.h"
#include "storage/checkpoint_examine.h"
#include "train/plan.h"
#include "train/run.h"

/* A replica, and what of the state belongs to it alone. */
struct subject {
    const struct ga_examined *of;
    const struct ga_replica_value *v;
    size_t replica;
    const uint32_t *step_count; /* (v->steps) */
};

/* A rule that a replica can break, with its words. */
struct rule {
    bool (*holds)(const struct subject *s);
    const char *otherwise;
};

static bool in_phase(const struct subject *s, enum ga_phase phase)
{
    return s->of->state->phase == phase;
}

static bool is_real(const struct subject *s)
{
    return s->of->settings->clock == GA_CLOCK_REAL;
}

static bool under_way(const struct subject *s)
{
    return s->v->state == GA_REPLICA_BUSY || s->v->state == GA_REPLICA_SENDING;
}

static bool waits(const struct subject *s)
{
    return s->v->state == GA_REPLICA_READY;
}

/* Micro-batches that were committed make up the examples that were. */
static bool progress_fits(const struct subject *s)
{
    const struct ga_replica_value *v = s->v;
    size_t first = 0, count = 0;
    if (waits(s))
        return v->micro == 0;
    if (v->micros == 0 || v->micros > v->examples || v->examples > GA_MAX_WINDOW ||
        v->micro > v->micros)
        return false;
    if (v->micro == v->micros)
        return v->done_examples == v->examples;
    ga_plan_part(v->examples, v->micros, v->micro, &first, &count);
    return v->done_examples == first;
}

/* A round that was cut off may have handed over its weights in mid-step. */
static bool has_result(const struct subject *s)
{
    return ga_examined_is(s->of, GA_FAMILY_ROUND) ? s->v->round.examples > 0 : s->v->micro > 0;
}

static bool state_fits_phase(const struct subject *s)
{
    const bool pushes = ga_examined_pushes(s->of);
    switch (s->v->state) {
    case GA_REPLICA_BUSY:
        return (in_phase(s, GA_PHASE_MICRO) || pushes) && !s->v->dead;
    case GA_REPLICA_SENDING:
        return pushes && !s->v->dead;
    case GA_REPLICA_DONE:
        return !pushes && !in_phase(s, GA_PHASE_IDLE) && has_result(s);
    case GA_REPLICA_LATE:
        return s->of->settings->mode == GA_MODE_SYNC && !s->v->dead;
    case GA_REPLICA_READY:
        break;
    }
    return true;
}

static bool window_fits(const struct subject *s)
{
    const struct ga_replica_value *v = s->v;
    const uint64_t now = s->of->state->window.number;
    if (v->in_window != (v->state == GA_REPLICA_DONE) || v->window > now ||
        v->pushed_at > s->of->closed + 1)
        return false;
    if (v->state == GA_REPLICA_LATE)
        return !in_phase(s, GA_PHASE_MICRO) || v->window < now;
    if (waits(s))
        return v->part == 0 || v->window < now;
    return ga_examined_pushes(s->of) || v->window == now;
}

/* Who waits has no weights in hand, but keeps those of its last push. */
static bool weights_fit(const struct subject *s)
{
    const struct ga_version *read = s->v->read;
    if (!read)
        return waits(s);
    return (!waits(s) || s->of->state->modes) && read->number <= s->of->state->counters.updates;
}

/* Weights and optimizer state of its own, which it steps while it works and hands over then. */
static bool own_weights_fit(const struct subject *s)
{
    const struct ga_version *own = s->v->own;
    if (!ga_examined_is(s->of, GA_FAMILY_ROUND))
        return !own;
    if (!own)
        return waits(s);
    return s->v->state != GA_REPLICA_BUSY ||
           own->state_blocks == ga_run_private_blocks(s->of->settings);
}

/* The steps of a round make up its part; the present one begins where those before it end. */
static bool steps_make_part(const struct subject *s)
{
    uint64_t sum = 0, before = 0;
    for (uint32_t i = 0; i < s->v->steps; i++) {
        before += i < s->v->step ? s->step_count[i] : 0;
        sum += s->step_count[i];
    }
    return s->v->step < s->v->steps && sum == s->v->part && before == s->v->step_row;
}

static bool steps_fit(const struct subject *s)
{
    const struct ga_replica_value *v = s->v;
    if (!ga_examined_is(s->of, GA_FAMILY_ROUND))
        return v->step == 0 && v->steps == 0 && v->step_row == 0;
    if (v->state == GA_REPLICA_BUSY)
        return steps_make_part(s) && v->examples == s->step_count[v->step];
    return waits(s) ? v->step_row == 0 && (v->part == 0 || (v->step == 0 && steps_make_part(s)))
                    : true;
}

/* A part that nobody works on waits for a killed replica, or for one that is late. */
static bool part_fits(const struct subject *s)
{
    const struct ga_replica_value *v = s->v;
    const bool round = ga_examined_is(s->of, GA_FAMILY_ROUND);
    const bool pushes = ga_examined_pushes(s->of);
    if (under_way(s))
        return (round || v->part == v->examples) &&
               (pushes || v->micros == ga_plan_micros(s->of->settings, v->examples));
    if (v->part == 0)
        return true;
    return !pushes && in_phase(s, GA_PHASE_MICRO) && v->part <= s->of->state->window.examples &&
           (v->state == GA_REPLICA_LATE || (waits(s) && v->dead));
}

/* On the real clock work may take longer than it should; in push modes it begins after a pull. */
static bool times_fit(const struct subject *s)
{
    const struct ga_replica_value *v = s->v;
    const int64_t now = s->of->state->now_ns;
    if (v->joined_ns > v->idle_ns || v->joined_ns > now)
        return false;
    if (!under_way(s) && v->state != GA_REPLICA_LATE)
        return true;
    if (v->start_ns > v->finish_ns)
        return false;
    return is_real(s) || ((v->start_ns <= now || ga_examined_pushes(s->of)) &&
                          (v->state == GA_REPLICA_LATE || now <= v->finish_ns));
}

static bool work_fits_mode(const struct subject *s)
{
    if (!ga_examined_pushes(s->of) || !under_way(s))
        return true;
    return ga_examined_has_rows(s->of, s->replica) &&
           (s->v->state == GA_REPLICA_BUSY || s->v->micro == s->v->micros);
}

static const struct rule rules[] = {
    {progress_fits, "micro, micros, examples and done_examples contradict each other"},
    {state_fits_phase, "its state does not fit the mode and the phase of the run"},
    {window_fits, "window, in_window or pushed_at does not fit its state"},
    {weights_fit, "the version it works on does not fit its state"},
    {own_weights_fit, "the version of its own does not fit its state and the settings"},
    {steps_fit, "step, step_row, its steps and its part contradict each other"},
    {part_fits, "part or micros does not fit its state and the settings"},
    {times_fit,
     "start_ns, finish_ns, joined_ns, idle_ns and the run's now_ns contradict each other"},
    {work_fits_mode, "it works, where its mode leaves it nothing to do"},
};

static int examine_replica(const struct subject *s)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!rules[i].holds(s))
            return ga_fail(GA_EINPUT, "\"replicas\": %zu: %s", s->replica, rules[i].otherwise);
    return GA_OK;
}

/* Before rules look at a replica's steps: there are as many as all replicas say. */
static int examine_steps(const struct ga_examined *of)
{
    const size_t found = of->state->modes ? of->state->modes->step_counts : 0;
    uint64_t steps = 0;
    for (size_t r = 0; r < of->state->replicas; r++)
        steps += of->state->replica[r].steps;
    if (steps == found)
        return GA_OK;
    return ga_fail(GA_EINPUT, "%zu private steps, expected %llu by the replicas", found,
                   (unsigned long long)steps);
}

/* What waits for its turn at most comes from the open window. */
static int examine_rows(const struct ga_examined *of)
{
    const struct ga_state *state = of->state;
    uint64_t rows = 0;
    for (size_t r = 0; r < state->replicas; r++)
        rows += state->replica[r].part;
    if (rows == state->rows && (ga_examined_pushes(of) || rows <= state->window.examples))
        return GA_OK;
    return ga_fail(GA_EINPUT,
                   "%zu row numbers, expected %llu by the replicas' parts of %zu examples",
                   state->rows, (unsigned long long)rows, state->window.examples);
}

/* Exactly the replicas that committed something to an open window hold sums, in rising order. */
static int examine_sums(const struct ga_state *state)
{
    size_t k = 0;
    for (size_t r = 0; r < state->replicas; r++) {
        const struct ga_replica_value *v = &state->replica[r];
        if (v->micro == 0 || v->state == GA_REPLICA_LATE)
            continue;
        if (k == state->sums || state->sums_of[k] != (int32_t)r)
            return ga_fail(GA_EINPUT,
                           "\"replicas\": %zu: its accumulator is missing, or not in its place", r);
        k++;
    }
    if (k == state->sums)
        return GA_OK;
    return ga_fail(GA_EINPUT, "%zu accumulators, expected %zu by the replicas' counts", state->sums,
                   k);
}

int ga_examine_replicas(const struct ga_examined *of)
{
    struct subject s = {.of = of};
    if (examine_steps(of))
        return ga_error_code();
    s.step_count = of->state->modes ? of->state->modes->step_count : NULL;
    for (; s.replica < of->state->replicas; s.replica++) {
        s.v = &of->state->replica[s.replica];
        if (examine_replica(&s))
            return ga_error_code();
        s.step_count = s.step_count ? s.step_count + s.v->steps : NULL;
    }
    return examine_rows(of) ? ga_error_code() : examine_sums(of->state);
}
