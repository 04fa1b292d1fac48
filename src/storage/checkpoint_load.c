/*
 * From an opened checkpoint to a state: fields by table, tensors by the net that settings and data
 * make, then the examination of the whole. Sizes of memory come from the tensors that are there,
 * never from a number that the file merely states.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/checkpoint_load.h"
#include "storage/dtype.h"
#include "train/run.h"

json_t *ga_load_entry(const struct ga_load *load, const char *key)
{
    return json_object_get(load->from->root, key);
}

const struct ga_file_tensor *ga_load_find(const struct ga_load *load, const char *name)
{
    return ga_safetensors_find(load->from->file, name);
}

static void mark_used(struct ga_load *load, const char *name)
{
    const struct ga_file_tensor *tensor = ga_load_find(load, name);
    if (tensor)
        load->used[tensor - ga_safetensors_at(load->from->file, 0)] = true;
}

static int check_strangers(const struct ga_load *load)
{
    const struct ga_safetensors *file = load->from->file;
    char shown[GA_SHOWN_NAME];
    for (size_t i = 0; i < ga_safetensors_count(file); i++)
        if (!load->used[i])
            return ga_fail(GA_EINPUT, "tensor \"%s\" is not one that its run has",
                           ga_show_name(shown, ga_safetensors_at(file, i)->name));
    return GA_OK;
}

int ga_load_copy(struct ga_load *load, const char *name, enum ga_dtype dtype, int dimensions,
                 size_t rows, size_t columns, void *out)
{
    const size_t shape[2] = {rows, columns};
    mark_used(load, name);
    return ga_safetensors_read(load->from->file, name, dtype, dimensions, shape, out);
}

int ga_load_copy_new(struct ga_load *load, const char *name, enum ga_dtype dtype, int dimensions,
                     size_t rows, size_t columns, void **out)
{
    const struct ga_file_tensor *tensor = ga_load_find(load, name);
    *out = ga_alloc(tensor && tensor->bytes > 0 ? tensor->bytes : 1, 1);
    return *out ? ga_load_copy(load, name, dtype, dimensions, rows, columns, *out)
                : ga_error_code();
}

/* A small file that states a large model is refused before memory is asked for. */
static int check_room(const struct ga_load *load)
{
    size_t bytes = 0;
    for (size_t i = 0; i < ga_safetensors_count(load->from->file); i++)
        bytes += ga_safetensors_at(load->from->file, i)->bytes;
    if (load->net.parameters <= bytes / sizeof(float))
        return GA_OK;
    return ga_fail(GA_EINPUT,
                   "%zu bytes of tensors, expected at least the %zu parameters of its model", bytes,
                   load->net.parameters);
}

static int load_net(struct ga_load *load, const struct ga_dataset *data)
{
    const struct ga_checkpoint *from = load->from;
    const struct ga_settings *settings = &from->settings.value;
    if (ga_dataset_fingerprint(data) != from->fingerprint)
        return ga_fail(GA_EINPUT, "made with other data: expected what \"data %s\" had been",
                       from->data);
    if (ga_run_check_settings(settings, data) < 0 || ga_run_net(settings, data, &load->net) < 0)
        return ga_error_code();
    if (from->pending.given && ga_run_check_settings(&from->pending.value, data) < 0)
        return ga_fail_within("\"pending\"");
    const struct ga_compute *compute = ga_run_compute(settings, &load->net);
    if (!compute)
        return ga_error_code();
    load->sums_elements = compute->sum_count(&load->net);
    load->sums_type = compute->sum_type;
    return check_room(load);
}

static int load_share(struct ga_settings_share **out, const struct ga_checkpoint_settings *from)
{
    return from->given ? ga_settings_share_open(out, &from->value, from->epoch) : GA_OK;
}

static int load_run(struct ga_load *load)
{
    struct ga_state *state = load->state;
    if (ga_fields_read(&ga_fields_run, ga_load_entry(load, "run"), state))
        return ga_fail_within("\"run\"");
    const int code = load_share(&state->settings, &load->from->settings);
    return code ? code : load_share(&state->pending, &load->from->pending);
}

static int load_parameters(struct ga_load *load, const char *block, float *values)
{
    for (size_t i = 0; i < load->net.tensors; i++) {
        const struct ga_tensor *tensor = &load->net.tensor[i];
        char name[GA_CHECKPOINT_NAME];
        if (block)
            ga_checkpoint_name_block(name, block, tensor->name);
        else
            snprintf(name, sizeof name, "%s", tensor->name);
        if (ga_load_copy(load, name, GA_F32, tensor->dimensions, tensor->rows, tensor->columns,
                         values + tensor->offset))
            return ga_error_code();
    }
    return GA_OK;
}

static int load_server(struct ga_load *load, struct ga_version *version)
{
    int code = load_parameters(load, NULL, version->weights);
    for (size_t b = 0; !code && b < version->state_blocks; b++) {
        const struct ga_settings *settings = &load->from->settings.value;
        const char *name = ga_checkpoint_block_name(settings, b);
        if (!name)
            return ga_fail(GA_EINPUT, "%zu blocks of optimizer state, expected %zu by the settings",
                           version->state_blocks, ga_run_state_blocks(settings));
        code = load_parameters(load, name, version->state + b * version->parameters);
    }
    return code;
}

static int load_older(struct ga_load *load, struct ga_version *version, size_t index)
{
    char name[GA_CHECKPOINT_NAME];
    ga_checkpoint_name_version(name, index, "weights");
    if (ga_load_copy(load, name, GA_F32, 1, version->parameters, 0, version->weights))
        return ga_error_code();
    if (version->state_blocks == 0)
        return GA_OK;
    ga_checkpoint_name_version(name, index, "state");
    return ga_load_copy(load, name, GA_F32, 2, version->state_blocks, version->parameters,
                        version->state);
}

static int load_version(struct ga_load *load, json_t *object, size_t index)
{
    struct ga_version head, *version = NULL;
    memset(&head, 0, sizeof head);
    if (ga_fields_read(&ga_fields_version, object, &head))
        return ga_error_code();
    if (ga_version_open(&version, load->net.parameters, head.state_blocks))
        return ga_error_code();
    load->version[load->versions++] = version;
    version->number = head.number;
    version->scalars = head.scalars;
    return index == 0 ? load_server(load, version) : load_older(load, version, index);
}

/* Each older version needs a tensor of its own, which bounds the memory that a list can ask for. */
static int load_versions(struct ga_load *load)
{
    const json_t *list = ga_load_entry(load, "versions");
    const size_t count = json_array_size(list);
    const size_t most = 1 + 2 * (size_t)load->from->settings.value.replicas + GA_MAX_LAG;
    if (count == 0 || count > most)
        return ga_fail(GA_EINPUT, "\"versions\" is not a list of 1 to %zu", most);
    load->version = ga_alloc(count, sizeof(struct ga_version *));
    if (!load->version)
        return ga_error_code();
    for (size_t i = 0; i < count; i++)
        if (load_version(load, json_array_get(list, i), i))
            return ga_fail_within("\"versions\": %zu", i);
    load->state->server = ga_version_share(load->version[0]);
    return GA_OK;
}

int ga_load_version(const struct ga_load *load, json_t *value, int least, struct ga_version **out)
{
    const json_int_t index = json_integer_value(value);
    if (!json_is_integer(value) || index < least || index >= (json_int_t)load->versions)
        return ga_fail(GA_EINPUT, "is not a whole number from %d to %zu", least,
                       load->versions - 1);
    *out = index >= 0 ? ga_version_share(load->version[index]) : NULL;
    return GA_OK;
}

static int load_replicas(struct ga_load *load)
{
    struct ga_state *state = load->state;
    const size_t count = (size_t)load->from->settings.value.replicas;
    const json_t *list = ga_load_entry(load, "replicas"), *reads = ga_load_entry(load, "reads");
    if (json_array_size(list) != count || json_array_size(reads) != count)
        return ga_fail(GA_EINPUT,
                       "\"replicas\" and \"reads\" have %zu and %zu entries, expected %zu",
                       json_array_size(list), json_array_size(reads), count);
    state->replica = ga_alloc(count, sizeof *state->replica);
    if (!state->replica)
        return ga_error_code();
    state->replicas = count;
    for (size_t r = 0; r < count; r++) {
        if (ga_fields_read(&ga_fields_replica, json_array_get(list, r), &state->replica[r]))
            return ga_fail_within("\"replicas\": %zu", r);
        if (ga_load_version(load, json_array_get(reads, r), -1, &state->replica[r].read))
            return ga_fail_within("\"reads\": %zu", r);
    }
    return GA_OK;
}

static int load_counts(const struct ga_load *load, json_t *list, uint64_t **out)
{
    const size_t count = load->state->replicas;
    if (json_array_size(list) != count)
        return ga_fail(GA_EINPUT, "%zu entries, expected %zu", json_array_size(list), count);
    *out = ga_alloc(count, sizeof **out);
    if (!*out)
        return ga_error_code();
    for (size_t r = 0; r < count; r++) {
        int64_t value = 0;
        if (ga_fields_read_integer(json_array_get(list, r), 0, INT64_MAX / 2, &value))
            return ga_fail_within("%zu", r);
        (*out)[r] = (uint64_t)value;
    }
    return GA_OK;
}

static int load_shards(struct ga_load *load)
{
    const json_t *shards = ga_load_entry(load, "shards");
    const bool fixed = load->from->settings.value.sharding != GA_SHARD_STREAM;
    if (!fixed && json_is_null(shards))
        return GA_OK;
    if (!fixed || json_object_size(shards) != 2)
        return ga_fail(GA_EINPUT, "\"shards\": expected %s by the setting sharding",
                       fixed ? "an object of epoch and offset" : "null");
    if (load_counts(load, json_object_get(shards, "epoch"), &load->state->stream.replica_epoch))
        return ga_fail_within("\"shards\": \"epoch\"");
    if (load_counts(load, json_object_get(shards, "offset"), &load->state->stream.replica_offset))
        return ga_fail_within("\"shards\": \"offset\"");
    return GA_OK;
}

int ga_load_list(struct ga_load *load, const char *name, enum ga_dtype dtype, size_t *count,
                 void **out)
{
    const struct ga_file_tensor *tensor = ga_load_find(load, name);
    if (!tensor)
        return GA_OK;
    *count = tensor->bytes / ga_dtype_bytes(dtype);
    return ga_load_copy_new(load, name, dtype, 1, *count, 0, out);
}

static int narrow_rows(const struct ga_load *load, const char *name, const int64_t *wide,
                       size_t count, uint32_t *row)
{
    const size_t train = ga_dataset_table(load->state->data)->train;
    for (size_t i = 0; i < count; i++) {
        if (wide[i] < 0 || (uint64_t)wide[i] >= train)
            return ga_fail(GA_EINPUT,
                           "tensor \"%s\": element %zu is %lld, expected a row from 0 to %zu", name,
                           i, (long long)wide[i], train - 1);
        row[i] = (uint32_t)wide[i];
    }
    return GA_OK;
}

int ga_load_rows(struct ga_load *load, const char *name, size_t *count, uint32_t **out)
{
    int64_t *wide = NULL;
    int code = ga_load_list(load, name, GA_I64, count, (void **)&wide);
    if (!code && wide) {
        *out = ga_alloc(*count + 1, sizeof **out);
        code = *out ? narrow_rows(load, name, wide, *count, *out) : ga_error_code();
    }
    free(wide);
    return code;
}

/* That replicas hold as many rows as their parts say is left to the examination. */
static int load_parts(struct ga_load *load)
{
    return ga_load_rows(load, GA_CHECKPOINT_ROWS, &load->state->rows, &load->state->row);
}

static int load_sums(struct ga_load *load)
{
    struct ga_state *state = load->state;
    const enum ga_dtype dtype = ga_checkpoint_sums_dtype(load->sums_type);
    state->sums_elements = load->sums_elements;
    state->sums_type = load->sums_type;
    int code =
        ga_load_list(load, GA_CHECKPOINT_SUMS_OF, GA_I32, &state->sums, (void **)&state->sums_of);
    if (!code && state->sums_of)
        code = ga_load_copy_new(load, GA_CHECKPOINT_ACCUMS, dtype, 2, state->sums,
                                load->sums_elements, &state->sum);
    return code;
}

static int load_reduced(struct ga_load *load)
{
    struct ga_state *state = load->state;
    int code = GA_OK;
    if (ga_load_find(load, GA_CHECKPOINT_REDUCED))
        code =
            ga_load_copy_new(load, GA_CHECKPOINT_REDUCED, ga_checkpoint_sums_dtype(load->sums_type),
                             1, load->sums_elements, 0, &state->reduced);
    if (!code && ga_load_find(load, GA_CHECKPOINT_GRADIENT))
        code = ga_load_copy_new(load, GA_CHECKPOINT_GRADIENT, GA_F32, 1, load->net.parameters, 0,
                                (void **)&state->gradient);
    return code;
}

/*
 * The last word is the train room's: a run of its own takes the state and is thrown away, so that
 * what it refuses (a place in the data that is not there) is found before anything is changed.
 */
static int try_state(const struct ga_state *state)
{
    struct ga_run_start start = {.data = state->data, .settings = state->settings->value};
    struct ga_run *run = NULL;
    start.settings.init = GA_INIT_ZEROS;
    int code = ga_run_open(&run, &start);
    if (!code)
        code = ga_run_restore(run, state);
    ga_run_close(run);
    return code;
}

static int load_all(struct ga_load *load, struct ga_dataset *data)
{
    static int (*const steps[])(struct ga_load *) = {load_run,     load_versions, load_replicas,
                                                     load_shards,  load_parts,    load_sums,
                                                     load_reduced, ga_load_modes, ga_load_race};
    int code = load_net(load, data);
    load->state->data = ga_dataset_share(data);
    for (size_t i = 0; !code && i < sizeof steps / sizeof steps[0]; i++)
        code = steps[i](load);
    if (!code)
        code = check_strangers(load);
    if (!code)
        code = ga_checkpoint_examine(load->state);
    return code ? code : try_state(load->state);
}

int ga_checkpoint_state(const struct ga_checkpoint *checkpoint, struct ga_dataset *data,
                        struct ga_state *out)
{
    struct ga_load load;
    memset(&load, 0, sizeof load);
    load.from = checkpoint;
    load.state = out;
    ga_state_init(out);
    load.used = ga_alloc(ga_safetensors_count(checkpoint->file) + 1, sizeof *load.used);
    int code = load.used ? load_all(&load, data) : ga_error_code();
    for (size_t i = 0; i < load.versions; i++)
        ga_version_close(load.version[i]);
    free(load.version);
    free(load.used);
    if (code) {
        code = ga_fail_within("%s", checkpoint->path);
        ga_state_fini(out);
    }
    return code;
}
