/* The whole state out of a run, and back into it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "train/run_internal.h"

static int copy_bytes(void **out, const void *from, size_t bytes)
{
    *out = NULL;
    if (bytes == 0)
        return GA_OK;
    *out = malloc(bytes);
    if (!*out)
        return ga_fail(GA_ENOMEM, "no memory for %zu bytes of state", bytes);
    memcpy(*out, from, bytes);
    return GA_OK;
}

static bool holds_sums(const struct ga_replica *replica)
{
    return replica->v.micro > 0 && replica->v.state != GA_REPLICA_LATE;
}

static int capture_replicas(const struct ga_run *run, struct ga_state *out)
{
    size_t rows = 0, sums = 0;

    out->replica = malloc(run->replicas * sizeof *out->replica);
    if (!out->replica)
        return ga_fail(GA_ENOMEM, "no memory for the state of %zu replicas", run->replicas);
    out->replicas = run->replicas;
    for (size_t r = 0; r < run->replicas; r++) {
        out->replica[r] = run->replica[r].v;
        ga_version_share(out->replica[r].read);
        ga_version_share(out->replica[r].own);
        rows += run->replica[r].v.part;
        sums += holds_sums(&run->replica[r]);
    }
    out->rows = rows;
    out->sums = sums;
    return GA_OK;
}

static int capture_rows(const struct ga_run *run, struct ga_state *out)
{
    uint32_t *to = NULL;

    if (out->rows == 0)
        return GA_OK;
    to = out->row = ga_alloc(out->rows, sizeof *out->row);
    if (!out->row)
        return ga_error_code();
    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica *replica = &run->replica[r];

        if (replica->v.part > 0)
            memcpy(to, replica->rows, replica->v.part * sizeof *to);
        to += replica->v.part;
    }
    return GA_OK;
}

static int capture_sums(const struct ga_run *run, struct ga_state *out)
{
    size_t k = 0;

    if (out->sums == 0)
        return GA_OK;
    out->sums_of = ga_alloc(out->sums, sizeof *out->sums_of);
    out->sum = ga_alloc(out->sums, run->sum_bytes);
    if (!out->sums_of || !out->sum)
        return ga_error_code();
    for (size_t r = 0; r < run->replicas; r++) {
        if (!holds_sums(&run->replica[r]))
            continue;
        if (ga_buffer_copy_out(run->compute, (char *)out->sum + k * run->sum_bytes,
                               run->replica[r].sums, run->sum_bytes) < 0)
            return ga_error_code();
        out->sums_of[k++] = (int32_t)r;
    }
    return GA_OK;
}

static int capture_stream(const struct ga_run *run, struct ga_state *out)
{
    if (run_set(run)->sharding != GA_SHARD_STREAM) {
        out->stream.replica_epoch = ga_alloc(run->replicas, sizeof(uint64_t));
        out->stream.replica_offset = ga_alloc(run->replicas, sizeof(uint64_t));
        if (!out->stream.replica_epoch || !out->stream.replica_offset)
            return ga_error_code();
    }
    ga_stream_get(run->stream, &out->stream);
    return GA_OK;
}

/*
 * From REDUCE on, and in a server's buffer, the sum is part of the state until it is used up. In
 * local mode weights are averaged and there is no such sum.
 */
static int capture_reduced(const struct ga_run *run, struct ga_state *out)
{
    bool reduced = run->phase > GA_PHASE_REDUCE;
    bool buffered = ga_run_pushes(run) && run->window.arrived > 0;

    if (run->lazy && reduced && ga_window_make_reduced(run) < 0)
        return ga_error_code();
    if (buffered || (reduced && !run_is(run, GA_FAMILY_ROUND))) {
        out->reduced = ga_alloc(1, run->sum_bytes);
        if (!out->reduced ||
            ga_buffer_copy_out(run->compute, out->reduced, run->reduced, run->sum_bytes) < 0)
            return ga_error_code();
    }
    if (!reduced || !run->has_gradient)
        return GA_OK;
    return copy_bytes((void **)&out->gradient, ga_run_gradient(run),
                      run->net.parameters * sizeof(float));
}

/* All that is in the struct itself; references are not taken. */
static void fill_plain(const struct ga_run *run, struct ga_state *out)
{
    out->data = run->data;
    out->settings = run->settings;
    out->pending = run->pending;
    out->server = run->server;
    out->counters = run->counters;
    out->phase = run->phase;
    out->now_ns = run->now_ns;
    out->window = run->window;
    out->noise = run->noise;
    out->last_event = run->last_event;
    out->last_record = run->last_record;
    out->has_record = run->has_record;
    out->sums_elements = run->sum_elements;
    out->sums_type = run->compute->sum_type;
}

static void take_references(struct ga_state *state)
{
    ga_dataset_share(state->data);
    ga_settings_share_take(state->settings);
    ga_settings_share_take(state->pending);
    ga_version_share(state->server);
}

int ga_run_capture(const struct ga_run *run, struct ga_state *out)
{
    ga_state_init(out);
    fill_plain(run, out);
    take_references(out);
    if (capture_replicas(run, out) < 0 || capture_rows(run, out) < 0 ||
        capture_sums(run, out) < 0 || capture_stream(run, out) < 0 ||
        capture_reduced(run, out) < 0 || ga_run_capture_modes(run, out) < 0) {
        ga_state_fini(out);
        return ga_error_code();
    }
    return GA_OK;
}

bool ga_run_glance(const struct ga_run *run, struct ga_state *out)
{
    if (run->phase != GA_PHASE_IDLE || run->late > 0 || run->other_modes || run->live ||
        run_set(run)->sharding != GA_SHARD_STREAM)
        return false;
    fill_plain(run, out);
    ga_stream_get(run->stream, &out->stream);
    out->replicas = run->replicas;
    return true;
}

static int check_fit(const struct ga_run *run, const struct ga_state *state)
{
    if (state->server->parameters != run->net.parameters ||
        state->sums_elements != run->sum_elements || state->sums_type != run->compute->sum_type)
        return ga_fail(GA_EINPUT, "the state has %zu parameters and the model has %zu",
                       state->server->parameters, run->net.parameters);
    if (state->replicas != (size_t)state->settings->value.replicas)
        return ga_fail(GA_EINPUT, "the state has %zu replicas and its settings say %d",
                       state->replicas, state->settings->value.replicas);
    return GA_OK;
}

static int replica_room(struct ga_run *run, const struct ga_state *state)
{
    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica *replica = &run->replica[r];

        if (ga_grow((void **)&replica->rows, &replica->rows_capacity, state->replica[r].part,
                    sizeof *replica->rows) < 0 ||
            ga_grow((void **)&replica->step_count, &replica->step_capacity, state->replica[r].steps,
                    sizeof *replica->step_count) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

/* Room for everything first, so that a failure leaves the run as it was. */
static int restore_room(struct ga_run *run, const struct ga_state *state)
{
    struct ga_stream *stream = NULL;
    struct ga_stream_spec spec;

    ga_run_stream_spec(&state->settings->value, run->table->train, &spec);
    if (ga_stream_open(&stream, &spec) < 0 || ga_stream_set(stream, &state->stream) < 0 ||
        ga_run_resize(run, state->replicas) < 0) {
        ga_stream_close(stream);
        return ga_error_code();
    }
    if (replica_room(run, state) < 0 || ga_run_room_for_modes(run, state) < 0 ||
        ga_race_room(run, state) < 0) {
        ga_stream_close(stream);
        return ga_error_code();
    }
    ga_stream_close(run->stream);
    run->stream = stream;
    return GA_OK;
}

static void restore_replica(struct ga_run *run, size_t r, const struct ga_replica_value *value,
                            const uint32_t *rows)
{
    struct ga_replica *replica = &run->replica[r];

    ga_version_close(replica->v.read);
    ga_version_close(replica->v.own);
    replica->v = *value;
    ga_version_share(replica->v.read);
    ga_version_share(replica->v.own);
    replica->has_kept = false;
    replica->has_sole_norm = replica->has_mean = false;
    if (value->part > 0)
        memcpy(replica->rows, rows, value->part * sizeof *rows);
    run->late += value->state == GA_REPLICA_LATE;
    run->clock_kind->cancel(run->clock, r);
}

/* First of all, because a device may refuse; sums that nobody counts yet change nothing. */
static int restore_sums(struct ga_run *run, const struct ga_state *state)
{
    ga_parts_settle(run);
    for (size_t k = 0; k < state->sums; k++)
        if (ga_buffer_copy_in(run->compute, run->replica[state->sums_of[k]].sums,
                              (char *)state->sum + k * run->sum_bytes, run->sum_bytes) < 0)
            return ga_error_code();
    run->lazy = false;
    if (state->reduced)
        return ga_buffer_copy_in(run->compute, run->reduced, state->reduced, run->sum_bytes);
    return GA_OK;
}

static void fetch_version(void *self, const struct ga_version *version)
{
    const struct ga_run *run = self;

    if (atomic_load(&version->memory) != run->compute->memory)
        ga_version_fetch(version);
}

static void restore_replicas(struct ga_run *run, const struct ga_state *state)
{
    const uint32_t *rows = state->row;

    run->late = 0;
    for (size_t r = 0; r < run->replicas; r++) {
        restore_replica(run, r, &state->replica[r], rows);
        rows = rows ? rows + state->replica[r].part : NULL;
    }
}

static void restore_shares(struct ga_run *run, const struct ga_state *state)
{
    struct ga_settings_share *settings = ga_settings_share_take(state->settings);
    struct ga_settings_share *pending = ga_settings_share_take(state->pending);
    struct ga_version *server = ga_version_share(state->server);

    ga_settings_share_close(run->settings);
    ga_settings_share_close(run->pending);
    ga_version_close(run->server);
    ga_version_close(run->previous);
    run->settings = settings;
    run->pending = pending;
    run->server = server;
    run->previous = NULL;
    run->evaluated[0].known = run->evaluated[1].known = false;
}

int ga_run_restore(struct ga_run *run, const struct ga_state *state)
{
    const struct ga_policy *policy =
        ga_policy_find(ga_choice_word("mode", (int)state->settings->value.mode));

    if (!policy || check_fit(run, state) < 0)
        return ga_error_code();
    for (size_t r = 0; r < run->replicas; r++)
        ga_item_settle(run, r);
    ga_overlap_drop(run);
    if (restore_room(run, state) < 0 || restore_sums(run, state) < 0)
        return ga_error_code();
    ga_state_versions(state, fetch_version, run);
    run->policy = policy;
    run->live = false;
    run->turn_of = SIZE_MAX;
    restore_shares(run, state);
    restore_replicas(run, state);
    run->counters = state->counters;
    ga_race_restore(run, state);
    run->phase = state->phase;
    run->now_ns = state->now_ns;
    run->window = state->window;
    run->noise = state->noise;
    run->last_event = state->last_event;
    run->last_record = state->last_record;
    run->has_record = state->has_record;
    run->rows.replicas = 0; /* of another window */
    run->has_gradient = state->gradient != NULL;
    if (state->gradient)
        memcpy(run->gradient, state->gradient, run->net.parameters * sizeof(float));
    ga_buffer_renew(run->compute, run->gradient);
    ga_run_restore_modes(run, state);
    for (size_t r = 0; r < run->replicas; r++)
        if (run_has_event(&run->replica[r].v))
            ga_item_schedule(run, r);
    ga_run_choose_lanes(run);
    return GA_OK;
}
