/* Saving what only modes other than sync have, and the race of a real clock. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/checkpoint_save.h"

_Static_assert(sizeof(int32_t) == sizeof(uint32_t), "counts below 2^31 are written as I32");

size_t ga_save_mode_versions(const struct ga_mode_state *modes)
{
    return modes ? modes->versions : 0;
}

/* Steps, pieces, their rows, average, weights and writes of hogwild; two for each of its items. */
size_t ga_save_mode_tensors(const struct ga_mode_state *modes)
{
    return modes ? 6 + 2 * modes->items : 0;
}

static void take_race_apart(struct ga_save *save)
{
    for (size_t i = 0; i < save->state->races; i++) {
        save->race_time[i] = save->state->race[i].time_ns;
        save->race_replica[i] = save->state->race[i].replica;
    }
}

int ga_save_mode_room(struct ga_save *save)
{
    const struct ga_mode_state *modes = save->state->modes;
    const size_t rows = modes ? modes->piece_rows : 0, races = save->state->races;
    save->piece_row = ga_alloc(rows + 1, sizeof *save->piece_row);
    save->race_time = ga_alloc(races + 1, sizeof *save->race_time);
    save->race_replica = ga_alloc(races + 1, sizeof *save->race_replica);
    if (!save->piece_row || !save->race_time || !save->race_replica)
        return ga_error_code();
    for (size_t i = 0; i < rows; i++)
        save->piece_row[i] = modes->piece_row[i];
    take_race_apart(save);
    return GA_OK;
}

void ga_save_list_mode_versions(struct ga_save *save)
{
    const struct ga_mode_state *modes = save->state->modes;
    for (size_t i = 0; i < ga_save_mode_versions(modes); i++)
        ga_save_version(save, modes->version[i]);
}

static void add_item(struct ga_save *save, size_t k)
{
    const struct ga_mode_state *modes = save->state->modes;
    const size_t replica = (size_t)modes->item_of[k], count = save->net.parameters;
    ga_checkpoint_name_item(ga_save_add(save, GA_F32, 1, count, 0, modes->item[k].change), replica,
                            "change");
    ga_checkpoint_name_item(ga_save_add(save, GA_I32, 1, count, 0, modes->item[k].writes), replica,
                            "writes");
}

static void add_race(struct ga_save *save)
{
    ga_save_add_list(save, GA_CHECKPOINT_TIMES, GA_I64, save->state->races, save->race_time);
    ga_save_add_list(save, GA_CHECKPOINT_TURNS, GA_I32, save->state->races, save->race_replica);
}

void ga_save_add_modes(struct ga_save *save)
{
    const struct ga_mode_state *modes = save->state->modes;
    const size_t count = save->net.parameters;
    add_race(save);
    if (!modes)
        return;
    ga_save_add_list(save, GA_CHECKPOINT_STEPS, GA_I32, modes->step_counts, modes->step_count);
    ga_save_add_list(save, GA_CHECKPOINT_PIECES, GA_I32, modes->pieces, modes->piece);
    ga_save_add_list(save, GA_CHECKPOINT_PIECE_ROWS, GA_I64, modes->piece_rows, save->piece_row);
    ga_save_add_list(save, GA_CHECKPOINT_AVERAGE, GA_F32, modes->average ? count : 0,
                     modes->average);
    ga_save_add_list(save, GA_CHECKPOINT_SHARED, GA_F32, modes->shared ? count : 0, modes->shared);
    ga_save_add_list(save, GA_CHECKPOINT_WRITES, GA_I32, modes->shared ? count : 0,
                     modes->shared_writes);
    for (size_t k = 0; k < modes->items; k++)
        add_item(save, k);
}

static json_t *list_owns(struct ga_save *save)
{
    json_t *list = json_array();
    for (size_t r = 0; r < save->state->replicas; r++)
        if (json_array_append_new(
                list, json_integer(ga_save_version(save, save->state->replica[r].own)))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *list_recent(struct ga_save *save)
{
    const struct ga_mode_state *modes = save->state->modes;
    json_t *list = json_array();
    for (size_t i = 0; i < modes->versions; i++)
        if (json_array_append_new(list, json_integer(ga_save_version(save, modes->version[i])))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *list_items(const struct ga_mode_state *modes)
{
    json_t *list = json_array();
    for (size_t k = 0; k < modes->items; k++) {
        const struct ga_checkpoint_item item = {modes->item_of[k], modes->item[k].at};
        if (json_array_append_new(list, ga_fields_write(&ga_fields_item, &item))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

json_t *ga_save_describe_modes(struct ga_save *save)
{
    const struct ga_mode_state *modes = save->state->modes;
    if (!modes)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "values", ga_fields_write(&ga_fields_modes, modes),
                     "owns", list_owns(save), "recent", list_recent(save), "items",
                     list_items(modes));
}

json_t *ga_save_describe_race(const struct ga_state *state)
{
    if (!state->race)
        return json_null();
    return json_sprintf("%" PRIu64, state->race_base);
}
