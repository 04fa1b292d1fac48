/* Saving: the JSON entry first, then the list of tensors (data borrowed from the state), then the
 * file. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/version.h"
#include "storage/checkpoint_save.h"
#include "train/run.h"

static void save_fini(struct ga_save *save)
{
    free(save->version);
    free(save->row);
    free(save->piece_row);
    free(save->race_time);
    free(save->race_replica);
    free(save->tensor);
    free(save->name);
}

int64_t ga_save_version(struct ga_save *save, const struct ga_version *version)
{
    size_t i = 0;
    while (i < save->versions && save->version[i] != version)
        i++;
    if (!version)
        return -1;
    if (i == save->versions)
        save->version[save->versions++] = version;
    return (int64_t)i;
}

static void list_versions(struct ga_save *save)
{
    ga_save_version(save, save->state->server);
    for (size_t r = 0; r < save->state->replicas; r++)
        ga_save_version(save, save->state->replica[r].read);
    for (size_t r = 0; r < save->state->replicas; r++)
        ga_save_version(save, save->state->replica[r].own);
    ga_save_list_mode_versions(save);
}

static int save_init(struct ga_save *save, const struct ga_state *state)
{
    memset(save, 0, sizeof *save);
    save->state = state;
    const int code = ga_run_net(&state->settings->value, state->data, &save->net);
    if (code)
        return code;
    const size_t versions = 1 + 2 * state->replicas + ga_save_mode_versions(state->modes);
    const size_t most =
        3 * save->net.tensors + 2 * versions + 7 + ga_save_mode_tensors(state->modes);
    save->version = ga_alloc(versions, sizeof(struct ga_version *));
    save->row = ga_alloc(state->rows + 1, sizeof *save->row);
    save->tensor = ga_alloc(most, sizeof *save->tensor);
    save->name = ga_alloc(most, sizeof *save->name);
    if (!save->version || !save->row || !save->tensor || !save->name || ga_save_mode_room(save))
        return ga_error_code();
    list_versions(save);
    for (size_t i = 0; i < state->rows; i++)
        save->row[i] = state->row[i];
    return GA_OK;
}

char *ga_save_add(struct ga_save *save, enum ga_dtype dtype, int dimensions, size_t rows,
                  size_t columns, const void *data)
{
    struct ga_file_tensor *tensor = &save->tensor[save->tensors];
    char *name = save->name[save->tensors++];
    *tensor = (struct ga_file_tensor){.name = name,
                                      .dtype = dtype,
                                      .dimensions = dimensions,
                                      .shape = {rows, columns},
                                      .data = data};
    tensor->bytes = rows * (dimensions > 1 ? columns : 1) * ga_dtype_bytes(dtype);
    return name;
}

void ga_save_add_list(struct ga_save *save, const char *name, enum ga_dtype dtype, size_t count,
                      const void *data)
{
    if (count > 0)
        strcpy(ga_save_add(save, dtype, 1, count, 0, data), name);
}

static void add_parameters(struct ga_save *save, const char *block, const float *values)
{
    for (size_t i = 0; i < save->net.tensors; i++) {
        const struct ga_tensor *tensor = &save->net.tensor[i];
        char *name = ga_save_add(save, GA_F32, tensor->dimensions, tensor->rows, tensor->columns,
                                 values + tensor->offset);
        if (block)
            ga_checkpoint_name_block(name, block, tensor->name);
        else
            strcpy(name, tensor->name);
    }
}

static int add_server(struct ga_save *save)
{
    const struct ga_version *server = save->state->server;
    const float *blocks = ga_version_state(server);
    add_parameters(save, NULL, ga_version_weights(server));
    for (size_t b = 0; b < server->state_blocks; b++) {
        const char *name = ga_checkpoint_block_name(&save->state->settings->value, b);
        if (!name)
            return ga_fail(GA_EINTERNAL, "optimizer state block %zu has no name", b);
        add_parameters(save, name, blocks + b * server->parameters);
    }
    return GA_OK;
}

static void add_versions(struct ga_save *save)
{
    for (size_t i = 1; i < save->versions; i++) {
        const struct ga_version *version = save->version[i];
        ga_checkpoint_name_version(
            ga_save_add(save, GA_F32, 1, version->parameters, 0, ga_version_weights(version)), i,
            "weights");
        if (version->state_blocks > 0)
            ga_checkpoint_name_version(ga_save_add(save, GA_F32, 2, version->state_blocks,
                                                   version->parameters, ga_version_state(version)),
                                       i, "state");
    }
}

static void add_window(struct ga_save *save)
{
    const struct ga_state *state = save->state;
    const enum ga_dtype sums = ga_checkpoint_sums_dtype(state->sums_type);
    ga_save_add_list(save, GA_CHECKPOINT_ROWS, GA_I64, state->rows, save->row);
    ga_save_add_list(save, GA_CHECKPOINT_SUMS_OF, GA_I32, state->sums, state->sums_of);
    if (state->sums > 0)
        strcpy(ga_save_add(save, sums, 2, state->sums, state->sums_elements, state->sum),
               GA_CHECKPOINT_ACCUMS);
    ga_save_add_list(save, GA_CHECKPOINT_REDUCED, sums, state->reduced ? state->sums_elements : 0,
                     state->reduced);
    ga_save_add_list(save, GA_CHECKPOINT_GRADIENT, GA_F32,
                     state->gradient ? save->net.parameters : 0, state->gradient);
}

static json_t *describe_settings(const struct ga_settings_share *share)
{
    struct ga_text text = GA_TEXT_INIT;
    json_t *values = json_object();
    bool good = values != NULL;
    for (size_t i = 0; good && i < ga_setting_count(); i++) {
        ga_text_clear(&text);
        ga_setting_write(ga_setting_at(i), &share->value, &text);
        good = !ga_text_failed(&text) && json_object_set_new(values, ga_setting_at(i)->name,
                                                             json_string(ga_text_get(&text))) == 0;
    }
    ga_text_free(&text);
    if (!good) {
        json_decref(values);
        return NULL;
    }
    return json_pack("{s:o, s:o}", "epoch", json_sprintf("%" PRIu64, share->epoch), "values",
                     values);
}

static json_t *describe_versions(const struct ga_save *save)
{
    json_t *list = json_array();
    for (size_t i = 0; i < save->versions; i++)
        if (json_array_append_new(list, ga_fields_write(&ga_fields_version, save->version[i]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *describe_replicas(const struct ga_state *state)
{
    json_t *list = json_array();
    for (size_t r = 0; r < state->replicas; r++)
        if (json_array_append_new(list, ga_fields_write(&ga_fields_replica, &state->replica[r]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *describe_reads(struct ga_save *save)
{
    json_t *list = json_array();
    for (size_t r = 0; r < save->state->replicas; r++)
        if (json_array_append_new(
                list, json_integer(ga_save_version(save, save->state->replica[r].read)))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *list_counts(const uint64_t *value, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(list, json_sprintf("%" PRIu64, value[i]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *describe_shards(const struct ga_state *state)
{
    if (!state->stream.replica_epoch)
        return json_null();
    return json_pack("{s:o, s:o}", "epoch",
                     list_counts(state->stream.replica_epoch, state->replicas), "offset",
                     list_counts(state->stream.replica_offset, state->replicas));
}

/* The JSON entry, to be freed; NULL and an error when a text is not UTF-8 or memory is short. */
static char *describe(struct ga_save *save, const char *init_from)
{
    const struct ga_state *state = save->state;
    char fingerprint[GA_HASH_TEXT];
    ga_hash_format(fingerprint, ga_dataset_fingerprint(state->data));
    json_t *root = json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version",
        GA_CHECKPOINT_VERSION, "program", ga_version(), "data", ga_dataset_spec(state->data),
        "fingerprint", fingerprint, "init_from", init_from, "settings",
        describe_settings(state->settings), "pending",
        state->pending ? describe_settings(state->pending) : json_null(), "run",
        ga_fields_write(&ga_fields_run, state), "versions", describe_versions(save), "replicas",
        describe_replicas(state), "reads", describe_reads(save), "shards", describe_shards(state),
        "modes", ga_save_describe_modes(save), "race", ga_save_describe_race(state));
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!text)
        ga_fail(GA_EINPUT, "no memory to describe the run, or a file name in it is not UTF-8");
    return text;
}

static int write_file(const struct ga_save *save, const char *path, const char *text)
{
    uint64_t sum = ga_checkpoint_sum_note(text);
    char checksum[GA_HASH_TEXT];
    for (size_t i = 0; i < save->tensors; i++)
        sum += ga_checkpoint_sum_tensor(&save->tensor[i]);
    ga_hash_format(checksum, sum);
    const struct ga_file_note note[] = {
        {"format", "pt"}, {GA_CHECKPOINT_SUM, checksum}, {GA_CHECKPOINT_NOTE, text}};
    return ga_safetensors_write(path, save->tensor, save->tensors, note,
                                sizeof note / sizeof note[0]);
}

int ga_checkpoint_save(const char *path, const struct ga_state *state, const char *init_from)
{
    struct ga_save save;
    char *text = NULL;
    int code = save_init(&save, state);
    if (!code)
        code = add_server(&save);
    if (!code) {
        add_versions(&save);
        add_window(&save);
        ga_save_add_modes(&save);
        text = describe(&save, init_from);
        code = text ? write_file(&save, path, text) : ga_fail_within("%s", path);
    }
    free(text);
    save_fini(&save);
    return code;
}
