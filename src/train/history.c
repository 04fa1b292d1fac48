#include "train/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "train/chronicle.h"
#include "train/kept.h"

#define COPIED_STATES 1024

/* What takes about a microsecond: to copy so much of a state, with the pages that it needs; to
 * close a window or take a push, beside its gradient. */
#define COPIED_BYTES 4096.0
#define EXAMPLE_NS   1000.0
#define CHEAP_BYTES  ((size_t)16384) /* always kept */

struct ga_history {
    uint64_t budget;
    struct ga_keeper *keeper;
    struct ga_kept **states; /* oldest first; the first one is never let go */
    size_t state_count, state_capacity;
    struct ga_chronicle chronicle;
    struct ga_intervention *did; /* in the order done */
    size_t did_count, did_capacity;
    struct ga_counters end;
    struct ga_counters last; /* at the state kept last */
    uint64_t last_epoch;     /* of its settings */
    size_t last_bytes;       /* copied for it */
    bool forced;             /* the next one offered is kept */
    bool has_race;           /* real clock: its record takes part of the budget */
};

static const struct ga_state *state_at(const struct ga_history *history, size_t k)
{
    return ga_kept_state(history->keeper, history->states[k]);
}

static void cut_states(struct ga_history *history, size_t count)
{
    while (history->state_count > count)
        ga_kept_close(history->keeper, history->states[--history->state_count]);
}

static void cut_interventions(struct ga_history *history, size_t count)
{
    while (history->did_count > count)
        free(history->did[--history->did_count].settings);
}

int ga_history_open(struct ga_history **out, uint64_t budget_bytes)
{
    struct ga_history *history = ga_alloc(1, sizeof *history);

    *out = NULL;
    if (!history)
        return ga_error_code();
    if (ga_keeper_open(&history->keeper) < 0) {
        free(history);
        return ga_error_code();
    }
    ga_chronicle_init(&history->chronicle);
    ga_history_budget(history, budget_bytes);
    *out = history;
    return GA_OK;
}

void ga_history_close(struct ga_history *history)
{
    if (!history)
        return;
    cut_states(history, 0);
    ga_keeper_close(history->keeper);
    cut_interventions(history, 0);
    ga_chronicle_fini(&history->chronicle);
    free(history->states);
    free(history->did);
    free(history);
}

void ga_history_leave(struct ga_history *history, struct ga_tape *rows)
{
    struct ga_tape *own = &history->chronicle.rows;

    ga_tape_fini(rows);
    ga_tape_cut(own, 0);
    *rows = *own;
    ga_tape_init(own, rows->record_bytes, rows->limit_bytes);
}

void ga_history_inherit(struct ga_history *history, struct ga_tape *rows)
{
    ga_tape_inherit(&history->chronicle.rows, rows);
}

/* Lets every second state of the older three quarters go. */
static void thin(struct ga_history *history)
{
    size_t old = history->state_count * 3 / 4, kept = 0;

    for (size_t k = 0; k < history->state_count; k++) {
        if (k % 2 == 1 && k <= old && k + 1 < history->state_count)
            ga_kept_close(history->keeper, history->states[k]);
        else
            history->states[kept++] = history->states[k];
    }
    history->state_count = kept;
}

static void keep_in_budget(struct ga_history *history)
{
    while (ga_keeper_bytes(history->keeper) > history->budget / 2 && history->state_count > 2)
        thin(history);
}

void ga_history_budget(struct ga_history *history, uint64_t budget_bytes)
{
    history->budget = budget_bytes;
    ga_chronicle_limit(&history->chronicle,
                       budget_bytes / 4 - (history->has_race ? budget_bytes / GA_RACE_SHARE : 0),
                       budget_bytes / 4);
    keep_in_budget(history);
}

int ga_history_begin(struct ga_history *history, const struct ga_run *run)
{
    cut_states(history, 0);
    cut_interventions(history, 0);
    ga_chronicle_cut(&history->chronicle, 0);
    history->end = *ga_run_counters(run);
    history->has_race = ga_run_settings(run)->clock == GA_CLOCK_REAL;
    ga_history_budget(history, history->budget);
    return ga_history_keep_state(history, run);
}

int ga_history_keep_state(struct ga_history *history, const struct ga_run *run)
{
    struct ga_kept *kept = NULL;

    if (ga_grow((void **)&history->states, &history->state_capacity, history->state_count + 1,
                sizeof *history->states) < 0 ||
        ga_keep(history->keeper, run, &kept) < 0)
        return ga_error_code();
    history->states[history->state_count++] = kept;
    history->last = *ga_run_counters(run);
    history->last_epoch = ga_run_settings_epoch(run);
    history->last_bytes = ga_kept_bytes(kept);
    history->forced = false;
    keep_in_budget(history);
    return GA_OK;
}

static bool is_worth_it(const struct ga_history *history, const struct ga_run *run)
{
    const struct ga_counters *now = ga_run_counters(run);
    double windows = 0, examples = 0;

    if (history->forced || history->last_bytes <= CHEAP_BYTES ||
        history->last_epoch != ga_run_settings_epoch(run))
        return true;
    windows = (double)(ga_history_key(now, GA_KEY_CLOSED) -
                       ga_history_key(&history->last, GA_KEY_CLOSED));
    examples = (double)(now->examples - history->last.examples);
    return windows + examples * ga_compute_example_cost_ns(ga_run_net_of(run)) / EXAMPLE_NS >=
           (double)history->last_bytes / COPIED_BYTES;
}

int ga_history_offer_state(struct ga_history *history, const struct ga_run *run)
{
    return is_worth_it(history, run) ? ga_history_keep_state(history, run) : GA_OK;
}

/* Every so many states, the newest in any case. */
static int copy_states(struct ga_history *to, const struct ga_history *from, struct ga_run *run)
{
    size_t every = from->state_count / COPIED_STATES + 1;

    for (size_t k = 0; k < from->state_count; k++) {
        if (k % every != 0 && k + 1 < from->state_count)
            continue;
        if (ga_run_restore(run, state_at(from, k)) < 0 || ga_history_keep_state(to, run) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

int ga_history_copy(struct ga_history **out, const struct ga_history *from, struct ga_run *run)
{
    struct ga_history *to = NULL;

    *out = NULL;
    if (ga_history_open(&to, from->budget) < 0)
        return ga_error_code();
    to->has_race = from->has_race;
    ga_history_budget(to, from->budget);
    if (copy_states(to, from, run) < 0 || ga_chronicle_copy(&to->chronicle, &from->chronicle) < 0)
        goto fail;
    for (size_t k = 0; k < from->did_count; k++)
        if (ga_history_did(to, &from->did[k]) < 0)
            goto fail;
    to->end = from->end;
    *out = to;
    return GA_OK;
fail:
    ga_history_close(to);
    return ga_error_code();
}

int ga_history_keep_event(struct ga_history *history, const struct ga_event *event)
{
    return ga_chronicle_event(&history->chronicle, event);
}

int ga_history_keep_record(struct ga_history *history, const struct ga_update_record *record,
                           uint64_t events)
{
    return ga_chronicle_record(&history->chronicle, record, events);
}

bool ga_history_takes_burst(const struct ga_history *history, uint64_t events)
{
    return ga_chronicle_takes_burst(&history->chronicle, events);
}

struct ga_burst_row *ga_history_rows(struct ga_history *history, size_t *count)
{
    return ga_chronicle_rows(&history->chronicle, count);
}

int ga_history_keep_burst(struct ga_history *history, const struct ga_burst_rows *rows)
{
    return ga_chronicle_burst(&history->chronicle, rows);
}

uint64_t ga_history_key(const struct ga_counters *counters, enum ga_history_key key)
{
    const uint64_t keys[] = {
        [GA_KEY_CLOSED] = counters->updates + counters->skipped,
        [GA_KEY_UPDATES] = counters->updates,
        [GA_KEY_MICROS] = counters->micros,
        [GA_KEY_EVENTS] = counters->events,
    };

    return keys[key];
}

const struct ga_state *ga_history_before(const struct ga_history *history, enum ga_history_key key,
                                         uint64_t target)
{
    size_t low = 0, high = history->state_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (ga_history_key(&state_at(history, middle)->counters, key) < target)
            low = middle;
        else
            high = middle;
    }
    return state_at(history, low);
}

const struct ga_state *ga_history_first(const struct ga_history *history)
{
    return state_at(history, 0);
}

size_t ga_history_states(const struct ga_history *history)
{
    return history->state_count;
}

const struct ga_state *ga_history_state(const struct ga_history *history, size_t k)
{
    return state_at(history, k);
}

const struct ga_counters *ga_history_end(const struct ga_history *history)
{
    return &history->end;
}

void ga_history_reached(struct ga_history *history, const struct ga_counters *counters)
{
    history->end = *counters;
}

void ga_history_forget(struct ga_history *history, const struct ga_counters *counters,
                       size_t cursor)
{
    size_t states = history->state_count;

    while (states > 1 && state_at(history, states - 1)->counters.events > counters->events)
        states--;
    cut_states(history, states);
    ga_chronicle_cut(&history->chronicle, counters->events);
    cut_interventions(history, cursor);
    history->end = *counters;
    history->forced = true; /* the state kept last may be gone */
}

int ga_history_did(struct ga_history *history, const struct ga_intervention *what)
{
    struct ga_intervention copy = *what;

    if (ga_grow((void **)&history->did, &history->did_capacity, history->did_count + 1,
                sizeof *history->did) < 0)
        return ga_error_code();
    if (what->settings) {
        copy.settings = ga_alloc(1, sizeof *copy.settings);
        if (!copy.settings)
            return ga_error_code();
        *copy.settings = *what->settings;
    }
    history->did[history->did_count++] = copy;
    history->forced = true;
    return GA_OK;
}

size_t ga_history_interventions(const struct ga_history *history)
{
    return history->did_count;
}

const struct ga_intervention *ga_history_intervention(const struct ga_history *history, size_t k)
{
    return &history->did[k];
}

int ga_history_each_event(const struct ga_history *history, size_t most, uint64_t end,
                          int (*each)(const struct ga_event *event, void *arg), void *arg)
{
    return ga_chronicle_each_event(&history->chronicle, most, end, each, arg);
}

int ga_history_each_record(const struct ga_history *history, uint64_t windows,
                           int (*each)(const struct ga_update_record *record, void *arg), void *arg)
{
    return ga_chronicle_each_record(&history->chronicle, windows, each, arg);
}

void ga_history_describe(const struct ga_history *history, struct ga_history_info *out)
{
    *out = (struct ga_history_info){
        .first_update = state_at(history, 0)->counters.updates,
        .last_update = history->end.updates,
        .first_event = state_at(history, 0)->counters.events,
        .states = history->state_count,
        .records = ga_chronicle_records(&history->chronicle),
        .events = ga_chronicle_events(&history->chronicle),
        .bytes = ga_keeper_bytes(history->keeper) + ga_chronicle_bytes(&history->chronicle) +
                 history->did_count * sizeof *history->did,
        .budget = history->budget,
    };
}
