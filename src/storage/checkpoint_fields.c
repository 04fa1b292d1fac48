/* The tables of a checkpoint's fields: one row for each field of a state that JSON carries. */
#include "storage/checkpoint_format.h"

#include <string.h>

/* Largest count and virtual time that a file may hold: what follows adds to them without overflow.
 */
#define MANY    0x1p62
#define INSTANT 0x1p62
#define SPAN    0x1p61

#define PLACE(type, member) .offset = offsetof(type, member), .bytes = sizeof(((type *)0)->member)
#define COUNT(type, member)                                                                        \
    {                                                                                              \
        .name = #member, .kind = GA_FIELD_UNSIGNED, PLACE(type, member),                           \
        .high = sizeof(((type *)0)->member) == 8 ? MANY : 4294967295.0                             \
    }
#define TIME(type, member, most)                                                                   \
    {                                                                                              \
        .name = #member, .kind = GA_FIELD_SIGNED, PLACE(type, member), .high = (most)              \
    }
#define REAL(type, member)                                                                         \
    {                                                                                              \
        .name = #member, .kind = GA_FIELD_REAL, PLACE(type, member)                                \
    }
#define REALS(type, member, n)                                                                     \
    {                                                                                              \
        .name = #member, .kind = GA_FIELD_REAL, .offset = offsetof(type, member),                  \
        .bytes = sizeof(double), .list = (n)                                                       \
    }
#define COUNTS(type, member, n)                                                                    \
    {                                                                                              \
        .name = #member, .kind = GA_FIELD_UNSIGNED, .offset = offsetof(type, member),              \
        .bytes = sizeof(uint64_t), .list = (n), .high = MANY                                       \
    }
#define REPLICA(type, member, least)                                                               \
    {                                                                                              \
        .name = #member, .kind = GA_FIELD_SIGNED, PLACE(type, member), .low = (least),             \
        .high = GA_MAX_REPLICAS - 1                                                                \
    }
#define FINITE(type, member, least, most)                                                          \
    {                                                                                              \
        .name = #member, .kind = GA_FIELD_FINITE, PLACE(type, member), .low = (least),             \
        .high = (most)                                                                             \
    }
#define BOOL(type, member)                                                                         \
    {                                                                                              \
        .name = #member, .kind = GA_FIELD_BOOL, PLACE(type, member)                                \
    }
#define WORD(type, member, words)                                                                  \
    {                                                                                              \
        .name = #member, .kind = GA_FIELD_WORD, PLACE(type, member), .word = (words)               \
    }
#define GROUP(type, member, table)                                                                 \
    {                                                                                              \
        .name = #member, .kind = GA_FIELD_GROUP, PLACE(type, member), .group = &(table)            \
    }

static const char *phase_word(int value)
{
    return value < GA_PHASES ? ga_phase_name((enum ga_phase)value) : NULL;
}

static const char *event_word(int value)
{
    return value < GA_EVENT_KINDS ? ga_event_name((enum ga_event_kind)value) : NULL;
}

static const char *replica_word(int value)
{
    static const char *const words[] = {"ready", "busy", "done", "late", "sending"};
    return value < (int)(sizeof words / sizeof words[0]) ? words[value] : NULL;
}

static const char *mode_word(int value)
{
    return ga_choice_word("mode", value);
}

static const struct ga_field tally_fields[] = {
    REALS(struct ga_tally, loss, 3),      REALS(struct ga_tally, weight, 2),
    REAL(struct ga_tally, weight_square), COUNT(struct ga_tally, examples),
    COUNT(struct ga_tally, correct),      COUNT(struct ga_tally, flags),
};
static const struct ga_fields tally = GA_FIELDS(tally_fields);

static const struct ga_field counter_fields[] = {
    COUNT(struct ga_counters, micros),          COUNT(struct ga_counters, updates),
    COUNT(struct ga_counters, examples),        COUNT(struct ga_counters, skipped),
    COUNT(struct ga_counters, events),          COUNT(struct ga_counters, items_applied),
    COUNT(struct ga_counters, items_dropped),   COUNT(struct ga_counters, examples_dropped),
    COUNT(struct ga_counters, examples_unused), COUNT(struct ga_counters, bytes),
    COUNT(struct ga_counters, reductions),      COUNT(struct ga_counters, pushes),
    COUNT(struct ga_counters, staleness),       COUNT(struct ga_counters, private_steps),
    COUNT(struct ga_counters, turns),           COUNT(struct ga_counters, lost),
};
static const struct ga_fields counters = GA_FIELDS(counter_fields);

static const struct ga_field window_fields[] = {
    COUNT(struct ga_window_state, number),
    COUNT(struct ga_window_state, examples),
    COUNT(struct ga_window_state, epoch),
    TIME(struct ga_window_state, open_ns, INSTANT),
    COUNT(struct ga_window_state, expected),
    COUNT(struct ga_window_state, arrived),
    COUNT(struct ga_window_state, staleness),
    REPLICA(struct ga_window_state, closer, -1),
    REAL(struct ga_window_state, window_weight),
    REAL(struct ga_window_state, scale),
    COUNT(struct ga_window_state, micros),
    REAL(struct ga_window_state, micro_norm_square),
    REAL(struct ga_window_state, micro_inverse_count),
    BOOL(struct ga_window_state, skipped),
    GROUP(struct ga_window_state, total, tally),
    REAL(struct ga_window_state, loss),
    REAL(struct ga_window_state, norm),
    REAL(struct ga_window_state, clip_scale),
    REAL(struct ga_window_state, lr),
    REAL(struct ga_window_state, update_norm),
};
static const struct ga_fields window = GA_FIELDS(window_fields);

static const struct ga_field noise_fields[] = {
    REAL(struct ga_noise, trace),
    REAL(struct ga_noise, signal),
    REAL(struct ga_noise, weight),
};
static const struct ga_fields noise = GA_FIELDS(noise_fields);

static const struct ga_field event_fields[] = {
    COUNT(struct ga_event, sequence),
    TIME(struct ga_event, time_ns, INSTANT),
    TIME(struct ga_event, start_ns, INSTANT),
    COUNT(struct ga_event, update),
    COUNT(struct ga_event, version),
    REAL(struct ga_event, loss),
    REAL(struct ga_event, norm),
    REAL(struct ga_event, weight),
    REAL(struct ga_event, value),
    COUNT(struct ga_event, examples),
    REPLICA(struct ga_event, replica, -1),
    COUNT(struct ga_event, micro),
    COUNT(struct ga_event, micros),
    WORD(struct ga_event, kind, event_word),
};
static const struct ga_fields event = GA_FIELDS(event_fields);

static const struct ga_field record_fields[] = {
    COUNT(struct ga_update_record, update),
    COUNT(struct ga_update_record, epoch),
    COUNT(struct ga_update_record, examples),
    COUNT(struct ga_update_record, micros),
    COUNT(struct ga_update_record, skipped),
    COUNT(struct ga_update_record, dropped),
    COUNT(struct ga_update_record, bytes),
    TIME(struct ga_update_record, time_ns, INSTANT),
    COUNT(struct ga_update_record, window_examples),
    COUNT(struct ga_update_record, window_micros),
    REAL(struct ga_update_record, window_weight),
    REAL(struct ga_update_record, loss),
    REAL(struct ga_update_record, grad_norm),
    REAL(struct ga_update_record, clip_scale),
    REAL(struct ga_update_record, lr),
    REAL(struct ga_update_record, scale),
    REAL(struct ga_update_record, update_norm),
    REAL(struct ga_update_record, param_norm),
    REAL(struct ga_update_record, noise_trace),
    REAL(struct ga_update_record, noise_signal),
    COUNT(struct ga_update_record, pushes),
    COUNT(struct ga_update_record, stale),
    COUNT(struct ga_update_record, lost),
    COUNT(struct ga_update_record, staleness),
    REPLICA(struct ga_update_record, replica, -1),
    BOOL(struct ga_update_record, applied),
    WORD(struct ga_update_record, mode, mode_word),
};
static const struct ga_fields record = GA_FIELDS(record_fields);

static const struct ga_field stream_fields[] = {
    COUNT(struct ga_stream_position, epoch),
    COUNT(struct ga_stream_position, offset),
};
static const struct ga_fields stream = GA_FIELDS(stream_fields);

static const struct ga_field run_fields[] = {
    GROUP(struct ga_state, counters, counters), GROUP(struct ga_state, stream, stream),
    WORD(struct ga_state, phase, phase_word),   TIME(struct ga_state, now_ns, INSTANT),
    GROUP(struct ga_state, window, window),     GROUP(struct ga_state, noise, noise),
    GROUP(struct ga_state, last_event, event),  GROUP(struct ga_state, last_record, record),
    BOOL(struct ga_state, has_record),
};
const struct ga_fields ga_fields_run = GA_FIELDS(run_fields);

static const struct ga_field replica_fields[] = {
    WORD(struct ga_replica_value, state, replica_word),
    BOOL(struct ga_replica_value, in_window),
    BOOL(struct ga_replica_value, dead),
    COUNT(struct ga_replica_value, items),
    COUNT(struct ga_replica_value, finished),
    COUNT(struct ga_replica_value, window),
    COUNT(struct ga_replica_value, micro),
    COUNT(struct ga_replica_value, micros),
    COUNT(struct ga_replica_value, examples),
    COUNT(struct ga_replica_value, part),
    COUNT(struct ga_replica_value, done_examples),
    REAL(struct ga_replica_value, window_weight),
    COUNT(struct ga_replica_value, clock),
    COUNT(struct ga_replica_value, pushed_at),
    TIME(struct ga_replica_value, finished_ns, SPAN),
    COUNT(struct ga_replica_value, step),
    COUNT(struct ga_replica_value, steps),
    COUNT(struct ga_replica_value, step_row),
    GROUP(struct ga_replica_value, round, tally),
    TIME(struct ga_replica_value, start_ns, INSTANT),
    TIME(struct ga_replica_value, finish_ns, INSTANT),
    TIME(struct ga_replica_value, free_ns, INSTANT),
    TIME(struct ga_replica_value, busy_ns, SPAN),
    TIME(struct ga_replica_value, idle_ns, SPAN),
    TIME(struct ga_replica_value, communication_ns, SPAN),
    TIME(struct ga_replica_value, joined_ns, INSTANT),
    GROUP(struct ga_replica_value, tally, tally),
    REAL(struct ga_replica_value, micro_norm_square),
    REAL(struct ga_replica_value, micro_inverse_count),
    COUNT(struct ga_replica_value, fault_micro),
    COUNT(struct ga_replica_value, fault_tensor),
    COUNT(struct ga_replica_value, fault_flags),
    REAL(struct ga_replica_value, loss),
    REAL(struct ga_replica_value, norm),
    REAL(struct ga_replica_value, cosine),
    REAL(struct ga_replica_value, staleness),
    FINITE(struct ga_replica_value, slow, 1e-6, 1e6),
};
const struct ga_fields ga_fields_replica = GA_FIELDS(replica_fields);

static const struct ga_field scalar_fields[] = {
    COUNT(struct ga_optimizer_scalars, t),
    FINITE(struct ga_optimizer_scalars, beta1_power, 0, 1),
    FINITE(struct ga_optimizer_scalars, beta2_power, 0, 1),
};
static const struct ga_fields scalars = GA_FIELDS(scalar_fields);

static const struct ga_field version_fields[] = {
    COUNT(struct ga_version, number),
    {.name = "state_blocks",
     .kind = GA_FIELD_UNSIGNED,
     PLACE(struct ga_version, state_blocks),
     .high = 2},
    GROUP(struct ga_version, scalars, scalars),
};
const struct ga_fields ga_fields_version = GA_FIELDS(version_fields);

static const struct ga_field stretch_fields[] = {
    COUNT(struct ga_stretch, pushes),
    COUNT(struct ga_stretch, staleness),
    COUNT(struct ga_stretch, most),
};
static const struct ga_fields stretch = GA_FIELDS(stretch_fields);

static const struct ga_field mode_fields[] = {
    TIME(struct ga_mode_state, server_free_ns, INSTANT),
    BOOL(struct ga_mode_state, draining),
    REAL(struct ga_mode_state, piece_weight),
    COUNTS(struct ga_mode_state, stale, GA_STALENESS_BINS),
    GROUP(struct ga_mode_state, stretch, stretch),
};
const struct ga_fields ga_fields_modes = GA_FIELDS(mode_fields);

static const struct ga_field item_fields[] = {
    REPLICA(struct ga_checkpoint_item, replica, 0),
    COUNT(struct ga_checkpoint_item, at),
};
const struct ga_fields ga_fields_item = GA_FIELDS(item_fields);
