/* Loading what only modes other than sync have, and the race of a real clock. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/checkpoint_load.h"

/* Counts of examples, each a part of one window. */
static int load_counts(struct ga_load *load, const char *name, int32_t least, size_t *count,
                       uint32_t **out)
{
    int32_t *list = NULL;
    const int code = ga_load_list(load, name, GA_I32, count, (void **)&list);
    *out = (uint32_t *)list;
    for (size_t i = 0; !code && i < *count; i++)
        if (list[i] < least || list[i] > GA_MAX_WINDOW)
            return ga_fail(GA_EINPUT, "tensor \"%s\": element %zu is %d, expected %d to %d", name,
                           i, (int)list[i], (int)least, GA_MAX_WINDOW);
    return code;
}

static int load_parameters(struct ga_load *load, const char *name, enum ga_dtype dtype, void **out)
{
    if (!ga_load_find(load, name))
        return GA_OK;
    return ga_load_copy_new(load, name, dtype, 1, load->net.parameters, 0, out);
}

static int load_tensors(struct ga_load *load, struct ga_mode_state *modes)
{
    int code = load_counts(load, GA_CHECKPOINT_STEPS, 1, &modes->step_counts, &modes->step_count);
    if (!code)
        code = load_counts(load, GA_CHECKPOINT_PIECES, 0, &modes->pieces, &modes->piece);
    if (!code)
        code = ga_load_rows(load, GA_CHECKPOINT_PIECE_ROWS, &modes->piece_rows, &modes->piece_row);
    if (!code)
        code = load_parameters(load, GA_CHECKPOINT_AVERAGE, GA_F32, (void **)&modes->average);
    if (!code)
        code = load_parameters(load, GA_CHECKPOINT_SHARED, GA_F32, (void **)&modes->shared);
    if (!code)
        code = load_parameters(load, GA_CHECKPOINT_WRITES, GA_I32, (void **)&modes->shared_writes);
    return code;
}

static int load_owns(const struct ga_load *load, const json_t *list)
{
    const size_t count = load->state->replicas;
    if (json_array_size(list) != count)
        return ga_fail(GA_EINPUT, "\"owns\": %zu entries, expected %zu", json_array_size(list),
                       count);
    for (size_t r = 0; r < count; r++)
        if (ga_load_version(load, json_array_get(list, r), -1, &load->state->replica[r].own))
            return ga_fail_within("\"owns\": %zu", r);
    return GA_OK;
}

static int load_recent(const struct ga_load *load, const json_t *list, struct ga_mode_state *modes)
{
    const size_t count = json_array_size(list);
    if (!json_is_array(list) || count > GA_MAX_LAG)
        return ga_fail(GA_EINPUT, "\"recent\" is not a list of at most %d", GA_MAX_LAG);
    modes->version = ga_alloc(count + 1, sizeof(struct ga_version *));
    if (!modes->version)
        return ga_error_code();
    for (; modes->versions < count; modes->versions++)
        if (ga_load_version(load, json_array_get(list, modes->versions), 0,
                            &modes->version[modes->versions]))
            return ga_fail_within("\"recent\": %zu", modes->versions);
    return GA_OK;
}

static int load_item(struct ga_load *load, json_t *object, struct ga_mode_state *modes)
{
    struct ga_hogwild_item *item = &modes->item[modes->items];
    struct ga_checkpoint_item head;
    char name[GA_CHECKPOINT_NAME];
    if (ga_fields_read(&ga_fields_item, object, &head))
        return ga_error_code();
    modes->item_of[modes->items++] = head.replica;
    item->at = head.at;
    ga_checkpoint_name_item(name, (size_t)head.replica, "change");
    if (ga_load_copy_new(load, name, GA_F32, 1, load->net.parameters, 0, (void **)&item->change))
        return ga_error_code();
    ga_checkpoint_name_item(name, (size_t)head.replica, "writes");
    return ga_load_copy_new(load, name, GA_I32, 1, load->net.parameters, 0, (void **)&item->writes);
}

static int load_items(struct ga_load *load, const json_t *list, struct ga_mode_state *modes)
{
    const size_t count = json_array_size(list);
    if (!json_is_array(list) || count > load->state->replicas)
        return ga_fail(GA_EINPUT, "\"items\" is not a list of at most %zu", load->state->replicas);
    modes->item_of = ga_alloc(count + 1, sizeof *modes->item_of);
    modes->item = ga_alloc(count + 1, sizeof *modes->item);
    if (!modes->item_of || !modes->item)
        return ga_error_code();
    for (size_t k = 0; k < count; k++)
        if (load_item(load, json_array_get(list, k), modes))
            return ga_fail_within("\"items\": %zu", k);
    return GA_OK;
}

static int load_all(struct ga_load *load, const json_t *object)
{
    struct ga_mode_state *modes = load->state->modes;
    if (json_object_size(object) != GA_CHECKPOINT_MODES)
        return ga_fail(GA_EINPUT, "is not an object of values, owns, recent and items");
    if (ga_fields_read(&ga_fields_modes, json_object_get(object, "values"), modes))
        return ga_fail_within("\"values\"");
    int code = load_owns(load, json_object_get(object, "owns"));
    if (!code)
        code = load_recent(load, json_object_get(object, "recent"), modes);
    if (!code)
        code = load_items(load, json_object_get(object, "items"), modes);
    return code ? code : load_tensors(load, modes);
}

int ga_load_modes(struct ga_load *load)
{
    const json_t *object = ga_load_entry(load, "modes");
    if (json_is_null(object))
        return GA_OK;
    if (ga_mode_state_open(&load->state->modes))
        return ga_error_code();
    return load_all(load, object) ? ga_fail_within("\"modes\"") : GA_OK;
}

static int check_turn(const struct ga_race_turn *turn, const struct ga_race_turn *before, size_t i)
{
    if (turn->time_ns < before->time_ns || turn->time_ns > INT64_C(1) << 62)
        return ga_fail(
            GA_EINPUT, "tensor \"%s\": element %zu is %lld, expected %lld or later, up to 2^62",
            GA_CHECKPOINT_TIMES, i, (long long)turn->time_ns, (long long)before->time_ns);
    if (turn->replica < 0 || turn->replica >= GA_MAX_REPLICAS)
        return ga_fail(GA_EINPUT, "tensor \"%s\": element %zu is %d, expected 0 to %d",
                       GA_CHECKPOINT_TURNS, i, (int)turn->replica, GA_MAX_REPLICAS - 1);
    return GA_OK;
}

static int join_race(struct ga_state *state, const int64_t *times, const int32_t *replicas)
{
    struct ga_race_turn before = {.time_ns = 0};
    state->race = ga_alloc(state->races, sizeof *state->race);
    if (!state->race)
        return ga_error_code();
    for (size_t i = 0; i < state->races; i++) {
        state->race[i] = (struct ga_race_turn){.time_ns = times[i], .replica = replicas[i]};
        if (check_turn(&state->race[i], &before, i))
            return ga_error_code();
        before = state->race[i];
    }
    return GA_OK;
}

static int load_turns(struct ga_load *load)
{
    struct ga_state *state = load->state;
    int64_t *times = NULL;
    int32_t *replicas = NULL;
    int code = ga_load_list(load, GA_CHECKPOINT_TIMES, GA_I64, &state->races, (void **)&times);
    if (!code && state->races == 0)
        code = ga_fail(GA_EINPUT, "no tensor \"%s\", expected the times of its turns",
                       GA_CHECKPOINT_TIMES);
    if (!code)
        code = ga_load_copy_new(load, GA_CHECKPOINT_TURNS, GA_I32, 1, state->races, 0,
                                (void **)&replicas);
    if (!code)
        code = join_race(state, times, replicas);
    free(times);
    free(replicas);
    return code;
}

int ga_load_race(struct ga_load *load)
{
    json_t *base = ga_load_entry(load, "race");
    int64_t first = 0;
    if (json_is_null(base))
        return GA_OK;
    if (ga_fields_read_integer(base, 0, INT64_MAX / 2, &first))
        return ga_fail_within("\"race\"");
    load->state->race_base = (uint64_t)first;
    return load_turns(load) ? ga_fail_within("\"race\"") : GA_OK;
}
