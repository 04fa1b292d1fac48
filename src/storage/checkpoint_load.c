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
#include "storage/checkpoint_inside.h"
#include "storage/dtype.h"
#include "train/run.h"

struct load {
    const struct ga_checkpoint *from;
    struct ga_net net;
    size_t sums_elements; /* of an accumulator, by the device */
    enum ga_type sums_type;
    struct ga_version **version;
    size_t versions;
    bool *used; /* of each tensor of the file: it belongs to the state */
    struct ga_state *state;
};

static json_t *entry(const struct load *load, const char *key)
{
    return json_object_get(load->from->root, key);
}

static const struct ga_file_tensor *find(const struct load *load, const char *name)
{
    return ga_safetensors_find(load->from->file, name);
}

static void mark_used(struct load *load, const char *name)
{
    const struct ga_safetensors *file = load->from->file;
    for (size_t i = 0; i < ga_safetensors_count(file); i++)
        if (strcmp(ga_safetensors_at(file, i)->name, name) == 0)
            load->used[i] = true;
}

static int check_strangers(const struct load *load)
{
    const struct ga_safetensors *file = load->from->file;
    char shown[GA_SHOWN_NAME];
    for (size_t i = 0; i < ga_safetensors_count(file); i++)
        if (!load->used[i])
            return ga_fail(GA_EINPUT, "tensor \"%s\" is not one that its run has",
                           ga_show_name(shown, ga_safetensors_at(file, i)->name));
    return GA_OK;
}

/* Copies a tensor into `out`, which has room for it by the caller's reckoning. */
static int copy(struct load *load, const char *name, enum ga_dtype dtype, int dimensions,
                size_t rows, size_t columns, void *out)
{
    const size_t shape[2] = {rows, columns};
    mark_used(load, name);
    return ga_safetensors_read(load->from->file, name, dtype, dimensions, shape, out);
}

/* The same into a new block. A tensor of that shape is in the file, so the block is no larger than
 * it. */
static int copy_new(struct load *load, const char *name, enum ga_dtype dtype, int dimensions,
                    size_t rows, size_t columns, void **out)
{
    const struct ga_file_tensor *tensor = find(load, name);
    *out = ga_alloc(tensor && tensor->bytes > 0 ? tensor->bytes : 1, 1);
    return *out ? copy(load, name, dtype, dimensions, rows, columns, *out) : ga_error_code();
}

/* A small file that states a large model is refused before memory is asked for. */
static int check_room(const struct load *load)
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

static int load_net(struct load *load, const struct ga_dataset *data)
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
    const struct ga_compute *compute =
        ga_compute_find(ga_choice_word("device", (int)settings->device),
                        ga_choice_word("numerics", (int)settings->numerics));
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

static int load_run(struct load *load)
{
    struct ga_state *state = load->state;
    if (ga_fields_read(&ga_fields_run, entry(load, "run"), state))
        return ga_fail_within("\"run\"");
    const int code = load_share(&state->settings, &load->from->settings);
    return code ? code : load_share(&state->pending, &load->from->pending);
}

static int load_parameters(struct load *load, const char *block, float *values)
{
    for (size_t i = 0; i < load->net.tensors; i++) {
        const struct ga_tensor *tensor = &load->net.tensor[i];
        char name[GA_CHECKPOINT_NAME];
        if (block)
            ga_checkpoint_name_block(name, block, tensor->name);
        else
            snprintf(name, sizeof name, "%s", tensor->name);
        if (copy(load, name, GA_F32, tensor->dimensions, tensor->rows, tensor->columns,
                 values + tensor->offset))
            return ga_error_code();
    }
    return GA_OK;
}

static int load_server(struct load *load, struct ga_version *version)
{
    int code = load_parameters(load, NULL, version->weights);
    for (size_t b = 0; !code && b < version->state_blocks; b++) {
        const enum ga_optimizer optimizer = load->from->settings.value.optimizer;
        const char *name = ga_checkpoint_block_name(optimizer, b);
        if (!name)
            return ga_fail(GA_EINPUT, "%zu blocks of optimizer state, expected fewer for %s",
                           version->state_blocks, ga_choice_word("optimizer", (int)optimizer));
        code = load_parameters(load, name, version->state + b * version->parameters);
    }
    return code;
}

static int load_older(struct load *load, struct ga_version *version, size_t index)
{
    char name[GA_CHECKPOINT_NAME];
    ga_checkpoint_name_version(name, index, "weights");
    if (copy(load, name, GA_F32, 1, version->parameters, 0, version->weights))
        return ga_error_code();
    if (version->state_blocks == 0)
        return GA_OK;
    ga_checkpoint_name_version(name, index, "state");
    return copy(load, name, GA_F32, 2, version->state_blocks, version->parameters, version->state);
}

static int load_version(struct load *load, json_t *object, size_t index)
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
static int load_versions(struct load *load)
{
    const json_t *list = entry(load, "versions");
    const size_t count = json_array_size(list);
    if (count == 0 || count > (size_t)load->from->settings.value.replicas + 1)
        return ga_fail(GA_EINPUT, "\"versions\" is not a list of 1 to %d",
                       load->from->settings.value.replicas + 1);
    load->version = ga_alloc(count, sizeof(struct ga_version *));
    if (!load->version)
        return ga_error_code();
    for (size_t i = 0; i < count; i++)
        if (load_version(load, json_array_get(list, i), i))
            return ga_fail_within("\"versions\": %zu", i);
    load->state->server = ga_version_share(load->version[0]);
    return GA_OK;
}

static int load_read(struct load *load, size_t replica, const json_t *value)
{
    const json_int_t index = json_integer_value(value);
    if (!json_is_integer(value) || index < -1 || index >= (json_int_t)load->versions)
        return ga_fail(GA_EINPUT, "\"reads\": %zu is not a whole number from -1 to %zu", replica,
                       load->versions - 1);
    if (index >= 0)
        load->state->replica[replica].read = ga_version_share(load->version[index]);
    return GA_OK;
}

static int load_replicas(struct load *load)
{
    struct ga_state *state = load->state;
    const size_t count = (size_t)load->from->settings.value.replicas;
    const json_t *list = entry(load, "replicas"), *reads = entry(load, "reads");
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
        if (load_read(load, r, json_array_get(reads, r)))
            return ga_error_code();
    }
    return GA_OK;
}

static int load_counts(const struct load *load, json_t *list, uint64_t **out)
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

static int load_shards(struct load *load)
{
    const json_t *shards = entry(load, "shards");
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

static int refuse_row(size_t position, int64_t row, size_t train)
{
    return ga_fail(GA_EINPUT, "tensor \"%s\": element %zu is %lld, expected a row from 0 to %zu",
                   GA_CHECKPOINT_ROWS, position, (long long)row, train - 1);
}

static int narrow_rows(const int64_t *wide, size_t count, size_t train, uint32_t *row)
{
    for (size_t i = 0; i < count; i++) {
        if (wide[i] < 0 || (uint64_t)wide[i] >= train)
            return refuse_row(i, wide[i], train);
        row[i] = (uint32_t)wide[i];
    }
    return GA_OK;
}

/* That replicas hold as many rows as their parts say is left to the examination. */
static int load_rows(struct load *load)
{
    const struct ga_file_tensor *tensor = find(load, GA_CHECKPOINT_ROWS);
    struct ga_state *state = load->state;
    int64_t *wide = NULL;
    if (!tensor)
        return GA_OK;
    const size_t count = tensor->bytes / sizeof *wide;
    int code = copy_new(load, GA_CHECKPOINT_ROWS, GA_I64, 1, count, 0, (void **)&wide);
    state->row = ga_alloc(count + 1, sizeof *state->row);
    if (!code && !state->row)
        code = ga_error_code();
    if (!code)
        code = narrow_rows(wide, count, ga_dataset_table(state->data)->train, state->row);
    state->rows = count;
    free(wide);
    return code;
}

static int load_sums(struct load *load)
{
    struct ga_state *state = load->state;
    const enum ga_dtype dtype = ga_checkpoint_sums_dtype(load->sums_type);
    const struct ga_file_tensor *tensor = find(load, GA_CHECKPOINT_SUMS_OF);
    state->sums_elements = load->sums_elements;
    state->sums_type = load->sums_type;
    if (!tensor)
        return GA_OK;
    state->sums = tensor->bytes / sizeof *state->sums_of;
    int code =
        copy_new(load, GA_CHECKPOINT_SUMS_OF, GA_I32, 1, state->sums, 0, (void **)&state->sums_of);
    if (!code)
        code = copy_new(load, GA_CHECKPOINT_ACCUMS, dtype, 2, state->sums, load->sums_elements,
                        &state->sum);
    return code;
}

static int load_reduced(struct load *load)
{
    struct ga_state *state = load->state;
    int code = GA_OK;
    if (find(load, GA_CHECKPOINT_REDUCED))
        code = copy_new(load, GA_CHECKPOINT_REDUCED, ga_checkpoint_sums_dtype(load->sums_type), 1,
                        load->sums_elements, 0, &state->reduced);
    if (!code && find(load, GA_CHECKPOINT_GRADIENT))
        code = copy_new(load, GA_CHECKPOINT_GRADIENT, GA_F32, 1, load->net.parameters, 0,
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

static int load_all(struct load *load, struct ga_dataset *data)
{
    static int (*const steps[])(struct load *) = {
        load_run, load_versions, load_replicas, load_shards, load_rows, load_sums, load_reduced};
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
    struct load load;
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
