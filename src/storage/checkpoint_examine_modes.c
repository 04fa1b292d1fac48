/* What window, gradient and the parts that only some modes have say about each other. */
#include "base/error.h"
#include "storage/checkpoint_examine.h"

static int refuse_arrivals(const struct ga_window_state *window, uint64_t arrived, uint64_t coming)
{
    return ga_fail(
        GA_EINPUT,
        "\"window\": %u of %u expected pushes arrived; the replicas say %llu, and %llu may come",
        window->arrived, window->expected, (unsigned long long)arrived, (unsigned long long)coming);
}

/* In an open window or round the pushes that came, and enough replicas that can still push. */
static int examine_open_window(const struct ga_examined *of)
{
    const struct ga_window_state *window = &of->state->window;
    uint64_t arrived = 0, coming = 0;
    if (ga_examined_is(of, GA_FAMILY_WINDOW) && window->examples > GA_MAX_WINDOW)
        return ga_fail(GA_EINPUT, "\"window\": %zu examples, expected at most %d", window->examples,
                       GA_MAX_WINDOW);
    if (of->state->phase != GA_PHASE_MICRO)
        return GA_OK;
    for (size_t r = 0; r < of->state->replicas; r++) {
        arrived += of->state->replica[r].state == GA_REPLICA_DONE;
        coming += of->state->replica[r].part > 0;
    }
    if (window->arrived == arrived && arrived < window->expected &&
        window->expected - arrived <= coming)
        return GA_OK;
    return refuse_arrivals(window, arrived, coming);
}

/* As the run counts them: without the killed where it goes on without them. */
static uint32_t count_pushers(const struct ga_examined *of)
{
    const bool all = of->settings->failure == GA_FAILURE_WAIT;
    uint32_t count = 0;
    for (size_t r = 0; r < of->state->replicas; r++)
        count += ga_examined_has_rows(of, r) && (all || !of->state->replica[r].dead);
    return count;
}

/* Replicas of which a push lies in the server's buffer. */
static uint64_t count_waiting_for_update(const struct ga_examined *of)
{
    uint64_t count = 0;
    for (size_t r = 0; r < of->state->replicas; r++)
        count += of->state->replica[r].pushed_at == of->closed + 1;
    return count;
}

static int examine_buffer(const struct ga_examined *of)
{
    const struct ga_window_state *buffer = &of->state->window;
    const uint32_t expected = of->policy->expected(of->settings, count_pushers(of));
    const uint64_t waiting = count_waiting_for_update(of);
    if (of->state->phase > GA_PHASE_MICRO)
        return ga_fail(GA_EINPUT, "phase %s, expected idle or micro in mode %s",
                       ga_phase_name(of->state->phase), of->policy->name);
    if (buffer->expected != expected || buffer->arrived > GA_MAX_REPLICAS ||
        waiting > buffer->arrived)
        return refuse_arrivals(buffer, waiting, expected);
    if (buffer->arrived > 0 &&
        (buffer->closer < 0 || (size_t)buffer->closer >= of->state->replicas))
        return ga_fail(GA_EINPUT, "\"window\": \"closer\": %d among %zu replicas", buffer->closer,
                       of->state->replicas);
    return GA_OK;
}

int ga_examine_window(const struct ga_examined *of)
{
    if (of->state->window.staleness > of->state->counters.updates)
        return ga_fail(GA_EINPUT, "\"window\": staleness %llu after %llu updates",
                       (unsigned long long)of->state->window.staleness,
                       (unsigned long long)of->state->counters.updates);
    return ga_examined_pushes(of) ? examine_buffer(of) : examine_open_window(of);
}

/* Whether a tensor is there, and whether it must be, may be or must not be. */
enum need { NONE, MAYBE, ALWAYS };

static int check_need(const struct ga_state *state, const char *name, const void *tensor,
                      enum need need)
{
    if (need == MAYBE || (need == ALWAYS) == (tensor != NULL))
        return GA_OK;
    return ga_fail(GA_EINPUT, "tensor \"%s\" is %s in phase %s", name,
                   tensor ? "not expected" : "missing", ga_phase_name(state->phase));
}

/* g, or weights averaged, is there where the next events use it, while a window is being closed. */
static enum need gradient_need(const struct ga_examined *of)
{
    const enum ga_phase phase = of->state->phase;
    const bool weighed = ga_tally_weight_sum(&of->state->window.total) > 0;
    if (phase <= GA_PHASE_REDUCE)
        return NONE;
    if (phase == GA_PHASE_CLIP || phase == GA_PHASE_APPLY)
        return ALWAYS;
    return phase == GA_PHASE_CHECK && weighed ? ALWAYS : MAYBE;
}

static enum need sum_need(const struct ga_examined *of)
{
    if (ga_examined_pushes(of))
        return of->state->window.arrived > 0 ? ALWAYS : NONE;
    return of->state->phase > GA_PHASE_REDUCE && ga_examined_is(of, GA_FAMILY_WINDOW) ? ALWAYS
                                                                                      : NONE;
}

int ga_examine_gradient(const struct ga_examined *of)
{
    const struct ga_state *state = of->state;
    const bool round = ga_examined_is(of, GA_FAMILY_ROUND);
    const bool clips = state->phase == GA_PHASE_CLIP;
    const bool weighed = ga_tally_weight_sum(&state->window.total) > 0;
    const enum need need = gradient_need(of);
    const float *average = state->modes ? state->modes->average : NULL;
    if (check_need(state, GA_CHECKPOINT_REDUCED, state->reduced, sum_need(of)) ||
        check_need(state, GA_CHECKPOINT_GRADIENT, state->gradient, need) ||
        check_need(state, GA_CHECKPOINT_AVERAGE, average, round ? need : NONE))
        return ga_error_code();
    if ((clips && round) ||
        ((clips || state->phase == GA_PHASE_APPLY) && (state->window.skipped || !weighed)))
        return ga_fail(GA_EINPUT, "\"window\": nothing to %s in phase %s", clips ? "clip" : "apply",
                       ga_phase_name(state->phase));
    return GA_OK;
}

/* Each push is in one bin. */
static int examine_histogram(const struct ga_examined *of)
{
    uint64_t left = of->state->counters.pushes;
    bool fits = true;
    for (size_t i = 0; fits && i < GA_STALENESS_BINS; i++) {
        fits = of->state->modes->stale[i] <= left;
        left -= fits ? of->state->modes->stale[i] : 0;
    }
    if (fits && left == 0)
        return GA_OK;
    return ga_fail(GA_EINPUT, "\"stale\": its counts do not add up to the %llu pushes",
                   (unsigned long long)of->state->counters.pushes);
}

/* What is counted since the mode began is part of what is counted since the beginning. */
static int examine_stretch(const struct ga_examined *of)
{
    const struct ga_stretch *stretch = &of->state->modes->stretch;
    const struct ga_counters *counters = &of->state->counters;
    if (stretch->pushes <= counters->pushes && stretch->staleness <= counters->staleness)
        return GA_OK;
    return ga_fail(GA_EINPUT,
                   "\"stretch\": it began at push %llu with a staleness of %llu, expected "
                   "at most %llu and %llu",
                   (unsigned long long)stretch->pushes, (unsigned long long)stretch->staleness,
                   (unsigned long long)counters->pushes, (unsigned long long)counters->staleness);
}

static int examine_pieces(const struct ga_examined *of)
{
    const struct ga_mode_state *modes = of->state->modes;
    const bool cuts = ga_examined_pushes(of) && of->settings->sharding == GA_SHARD_STREAM;
    uint64_t rows = 0;
    for (size_t k = 0; k < modes->pieces; k++)
        rows += modes->piece[k];
    if (modes->pieces <= (cuts ? of->state->replicas : 0) && rows == modes->piece_rows)
        return GA_OK;
    return ga_fail(GA_EINPUT, "%zu pieces of %zu rows, expected at most %zu of %llu", modes->pieces,
                   modes->piece_rows, cuts ? of->state->replicas : 0, (unsigned long long)rows);
}

static int examine_recent(const struct ga_examined *of)
{
    const struct ga_mode_state *modes = of->state->modes;
    for (size_t i = 0; i < modes->versions; i++)
        if (modes->version[i]->number > of->state->counters.updates)
            return ga_fail(GA_EINPUT, "\"recent\": %zu: version %llu after %llu updates", i,
                           (unsigned long long)modes->version[i]->number,
                           (unsigned long long)of->state->counters.updates);
    return GA_OK;
}

/* Reads come first, then the gradient, then writes. */
static bool item_fits(const struct ga_examined *of, size_t k)
{
    const struct ga_mode_state *modes = of->state->modes;
    const struct ga_replica_value *v = &of->state->replica[modes->item_of[k]];
    const uint64_t at = modes->item[k].at, count = of->parameters;
    return at <= 2 * count && (at >= count || v->micro == 0) &&
           (at <= count || v->micro == v->micros);
}

/* Exactly the replicas at work have an item, in rising order. */
static int examine_items(const struct ga_examined *of)
{
    const struct ga_mode_state *modes = of->state->modes;
    size_t k = 0;
    for (size_t r = 0; r < of->state->replicas; r++) {
        if (!ga_examined_is(of, GA_FAMILY_SHARED) || of->state->replica[r].state != GA_REPLICA_BUSY)
            continue;
        if (k == modes->items || modes->item_of[k] != (int32_t)r || !item_fits(of, k))
            return ga_fail(GA_EINPUT,
                           "\"items\": that of replica %zu is missing, not in its place "
                           "or not as far as its micro-batches",
                           r);
        k++;
    }
    if (k == modes->items)
        return GA_OK;
    return ga_fail(GA_EINPUT, "\"items\": %zu of them, expected %zu", modes->items, k);
}

static int examine_shared(const struct ga_examined *of)
{
    const struct ga_mode_state *modes = of->state->modes;
    const bool shares = ga_examined_is(of, GA_FAMILY_SHARED);
    if (shares == (modes->shared != NULL) && shares == (modes->shared_writes != NULL))
        return examine_items(of);
    return ga_fail(GA_EINPUT, "tensors \"%s\" and \"%s\" are %s in mode %s", GA_CHECKPOINT_SHARED,
                   GA_CHECKPOINT_WRITES, shares ? "expected" : "not expected", of->policy->name);
}

int ga_examine_modes(const struct ga_examined *of)
{
    static int (*const steps[])(const struct ga_examined *) = {
        examine_histogram, examine_stretch, examine_pieces, examine_recent, examine_shared};
    const struct ga_mode_state *modes = of->state->modes;
    if (!modes && of->settings->mode != GA_MODE_SYNC)
        return ga_fail(GA_EINPUT, "\"modes\" is null, expected an object in mode %s",
                       of->policy->name);
    if (modes && modes->draining && !ga_examined_pushes(of))
        return ga_fail(GA_EINPUT, "\"modes\": nothing to drain in mode %s", of->policy->name);
    for (size_t i = 0; modes && i < sizeof steps / sizeof steps[0]; i++)
        if (steps[i](of))
            return ga_fail_within("\"modes\"");
    return GA_OK;
}
