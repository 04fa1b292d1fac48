/* Opening a checkpoint: the JSON entry, the checksum, the data it needs and its settings. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "storage/checkpoint_inside.h"
#include "storage/dtype.h"

static int verify_sum(const struct ga_safetensors *file, const char *text)
{
    const char *stated = ga_safetensors_note(file, GA_CHECKPOINT_SUM);
    uint64_t sum = ga_checkpoint_sum_note(text);
    char found[GA_HASH_TEXT];
    for (size_t i = 0; i < ga_safetensors_count(file); i++)
        sum += ga_checkpoint_sum_tensor(ga_safetensors_at(file, i));
    ga_hash_format(found, sum);
    if (stated && strcmp(stated, found) == 0)
        return GA_OK;
    char shown[GA_SHOWN_NAME];
    return ga_fail(GA_EINPUT, "damaged: its content has the checksum %s, expected %s", found,
                   stated ? ga_show_name(shown, stated) : "one to be stated");
}

static const char *find_text(const struct ga_safetensors *file)
{
    const char *text = ga_safetensors_note(file, GA_CHECKPOINT_NOTE);
    if (!text)
        ga_fail(GA_EINPUT, "holds no run, expected a file made by `save` (weights alone are for "
                           "`init-from`)");
    return text && verify_sum(file, text) == GA_OK ? text : NULL;
}

static int parse_text(struct ga_checkpoint *self, const char *text)
{
    json_error_t error;
    char shown[GA_SHOWN_NAME];
    self->root = json_loadb(text, strlen(text), JSON_REJECT_DUPLICATES, &error);
    if (!self->root && json_error_code(&error) == json_error_out_of_memory)
        return ga_fail(GA_ENOMEM, "no memory for its description of the run");
    if (!self->root)
        return ga_fail(GA_EINPUT, "its description of the run is not valid JSON at byte %d: %s",
                       error.position, ga_show_name(shown, error.text));
    return GA_OK;
}

static int check_version(const json_t *root)
{
    const json_t *version = json_object_get(root, "version");
    if (!json_is_object(root) || !json_is_integer(version))
        return ga_fail(GA_EINPUT, "\"version\" is missing, expected %d", GA_CHECKPOINT_VERSION);
    if (json_integer_value(version) != GA_CHECKPOINT_VERSION)
        return ga_fail(GA_EUNSUPPORTED, "\"version\" is %lld, expected %d",
                       (long long)json_integer_value(version), GA_CHECKPOINT_VERSION);
    return GA_OK;
}

static int read_fingerprint(struct ga_checkpoint *self, const char *text)
{
    char again[GA_HASH_TEXT];
    self->fingerprint = text ? strtoull(text, NULL, 16) : 0;
    ga_hash_format(again, self->fingerprint);
    if (text && strcmp(text, again) == 0)
        return GA_OK;
    return ga_fail(GA_EINPUT, "\"fingerprint\" is not 16 hexadecimal digits");
}

/* Texts that are shown or run as commands hold printable characters only. */
static const char *read_line(const json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    for (const char *at = text; at && *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            text = NULL;
    if (!text)
        ga_fail(GA_EINPUT, "\"%s\" is not a line of text", key);
    return text;
}

static int read_setting(const struct ga_setting *row, const json_t *values, struct ga_settings *to)
{
    const char *text = json_string_value(json_object_get(values, row->name));
    if (!text)
        return ga_fail(GA_EINPUT, "\"%s\" is missing, expected a string", row->name);
    return ga_setting_read(row, to, text);
}

static int read_values(const json_t *values, struct ga_settings *to)
{
    ga_settings_default(to);
    for (size_t i = 0; i < ga_setting_count(); i++)
        if (read_setting(ga_setting_at(i), values, to))
            return ga_error_code();
    if (json_object_size(values) != ga_setting_count())
        return ga_fail(GA_EINPUT, "%zu values, expected %zu: some name is no setting",
                       json_object_size(values), ga_setting_count());
    return ga_settings_check(to);
}

static int read_settings(const json_t *root, const char *key, struct ga_checkpoint_settings *to)
{
    const json_t *object = json_object_get(root, key);
    int64_t epoch = 0;
    if (json_object_size(object) != 2)
        return ga_fail(GA_EINPUT, "\"%s\" is not an object of epoch and values", key);
    int code = ga_fields_read_integer(json_object_get(object, "epoch"), 0, INT64_MAX / 2, &epoch);
    if (code)
        return ga_fail_within("\"%s\": \"epoch\"", key);
    code = read_values(json_object_get(object, "values"), &to->value);
    if (code)
        return ga_fail_within("\"%s\"", key);
    to->epoch = (uint64_t)epoch;
    to->given = true;
    return GA_OK;
}

/* A change that needs a new run cannot wait for a window. */
static int check_pending(const struct ga_checkpoint *self)
{
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        if (row->when == GA_WHEN_START &&
            !ga_setting_same(row, &self->settings.value, &self->pending.value))
            return ga_fail(GA_EINPUT, "\"pending\": %s differs from the settings in force",
                           row->name);
    }
    return GA_OK;
}

static int read_head(struct ga_checkpoint *self)
{
    const json_t *root = self->root;
    if (check_version(root))
        return ga_error_code();
    if (json_object_size(root) != GA_CHECKPOINT_ENTRIES ||
        !json_is_string(json_object_get(root, "program")))
        return ga_fail(GA_EINPUT, "%zu entries in its description of the run, expected %d",
                       json_object_size(root), GA_CHECKPOINT_ENTRIES);
    self->data = read_line(root, "data");
    self->init_from = self->data ? read_line(root, "init_from") : NULL;
    if (!self->init_from)
        return ga_error_code();
    int code = read_fingerprint(self, json_string_value(json_object_get(root, "fingerprint")));
    if (!code)
        code = read_settings(root, "settings", &self->settings);
    if (!code && !json_is_null(json_object_get(root, "pending")))
        code = read_settings(root, "pending", &self->pending);
    return code || !self->pending.given ? code : check_pending(self);
}

int ga_checkpoint_take(struct ga_checkpoint **out, const char *name, struct ga_safetensors *file,
                       const char *text)
{
    struct ga_checkpoint *self = ga_alloc(1, sizeof *self);
    if (!self) {
        ga_safetensors_close(file);
        return ga_fail_within("%s", name);
    }
    self->file = file;
    self->path = ga_copy_string(name);
    if (self->path && !text)
        text = find_text(file);
    if (!self->path || !text || parse_text(self, text) || read_head(self)) {
        ga_checkpoint_close(self);
        return ga_fail_within("%s", name);
    }
    *out = self;
    return GA_OK;
}

int ga_checkpoint_open(struct ga_checkpoint **out, const char *path)
{
    struct ga_safetensors *file = NULL;
    const int code = ga_safetensors_open(&file, path);
    return code ? code : ga_checkpoint_take(out, path, file, NULL);
}

void ga_checkpoint_close(struct ga_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    json_decref(checkpoint->root);
    ga_safetensors_close(checkpoint->file);
    free(checkpoint->path);
    free(checkpoint);
}

const char *ga_checkpoint_data(const struct ga_checkpoint *checkpoint)
{
    return checkpoint->data;
}

uint64_t ga_checkpoint_fingerprint(const struct ga_checkpoint *checkpoint)
{
    return checkpoint->fingerprint;
}

const char *ga_checkpoint_init_from(const struct ga_checkpoint *checkpoint)
{
    return checkpoint->init_from;
}

const struct ga_settings *ga_checkpoint_settings(const struct ga_checkpoint *checkpoint)
{
    return &checkpoint->settings.value;
}
