#include "damage_support.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "support/support.h"

struct sample make_sample(const struct run_variant *variant, size_t events)
{
    struct sample sample = {.data = run_open_data(variant->data), .folder = ga_test_folder()};
    struct ga_run *run = run_open_variant(variant, sample.data);
    struct ga_state state;
    sample.path = ga_test_path(sample.folder, "x.safetensors");
    assert_non_null(run);
    assert_int_equal(run_go(run, variant, events), GA_OK);
    assert_int_equal(ga_run_capture(run, &state), GA_OK);
    assert_int_equal(ga_checkpoint_save(sample.path, &state, ""), GA_OK);
    sample.bytes = ga_test_read_file(sample.path, &sample.length);
    ga_state_fini(&state);
    ga_run_close(run);
    return sample;
}

void drop_sample(struct sample *sample)
{
    ga_dataset_close(sample->data);
    free(sample->bytes);
    free(sample->path);
    ga_test_folder_remove(sample->folder);
}

int read_state(const char *bytes, size_t length, const char *text, struct ga_dataset *data,
               struct ga_state *state)
{
    struct ga_safetensors *file = NULL;
    struct ga_checkpoint *checkpoint = NULL;
    ga_state_init(state);
    int code = ga_safetensors_parse(&file, "edited", bytes, length);
    if (!code)
        code = ga_checkpoint_take(&checkpoint, "edited", file, text);
    if (!code)
        code = ga_checkpoint_state(checkpoint, data, state);
    ga_checkpoint_close(checkpoint);
    return code;
}

char *note_of(const struct sample *sample)
{
    struct ga_safetensors *file = NULL;
    assert_int_equal(ga_safetensors_parse(&file, "sample", sample->bytes, sample->length), GA_OK);
    char *text = strdup(ga_safetensors_note(file, GA_CHECKPOINT_NOTE));
    ga_safetensors_close(file);
    assert_non_null(text);
    return text;
}

char *replaced(const char *text, const char *after, const char *from, const char *to)
{
    const char *start = strstr(text, after);
    const char *at = start ? strstr(start, from) : NULL;
    if (!at)
        fail_msg("\"%s\" after \"%s\" is not in %s", from, after, text);
    char *copy = calloc(1, strlen(text) + strlen(to) + 1);
    assert_non_null(copy);
    memcpy(copy, text, (size_t)(at - text));
    strcat(strcat(copy, to), at + strlen(from));
    return copy;
}

struct parts take_parts(const struct sample *sample)
{
    struct parts parts = {.file = NULL};
    assert_int_equal(ga_safetensors_parse(&parts.file, "x", sample->bytes, sample->length), GA_OK);
    parts.count = ga_safetensors_count(parts.file);
    assert_true(parts.count < MOST_PARTS);
    for (size_t i = 0; i < parts.count; i++)
        parts.tensor[i] = *ga_safetensors_at(parts.file, i);
    return parts;
}

struct ga_file_tensor *part(struct parts *parts, const char *name)
{
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->tensor[i].name, name) == 0)
            return &parts->tensor[i];
    fail_msg("no tensor %s", name);
    return NULL;
}

void remove_part(struct parts *parts, const char *name)
{
    *part(parts, name) = parts->tensor[parts->count - 1];
    parts->count--;
}

int reload(struct parts *parts, const struct sample *sample, struct ga_state *state)
{
    const char *text = ga_safetensors_note(parts->file, GA_CHECKPOINT_NOTE);
    struct ga_checkpoint *checkpoint = NULL;
    char checksum[GA_HASH_TEXT];
    uint64_t sum = ga_checkpoint_sum_note(text);
    for (size_t i = 0; i < parts->count; i++)
        sum += ga_checkpoint_sum_tensor(&parts->tensor[i]);
    ga_hash_format(checksum, sum);
    const struct ga_file_note notes[] = {{GA_CHECKPOINT_NOTE, text}, {GA_CHECKPOINT_SUM, checksum}};
    assert_int_equal(ga_safetensors_write(sample->path, parts->tensor, parts->count, notes, 2),
                     GA_OK);
    assert_int_equal(ga_checkpoint_open(&checkpoint, sample->path), GA_OK);
    const int code = ga_checkpoint_state(checkpoint, sample->data, state);
    ga_checkpoint_close(checkpoint);
    ga_safetensors_close(parts->file);
    return code;
}

void assert_parts_refused(struct parts *parts, const struct sample *sample, const char *words)
{
    struct ga_state state;
    assert_int_equal(reload(parts, sample, &state), GA_EINPUT);
    if (!strstr(ga_error_text(), words))
        fail_msg("\"%s\", expected \"%s\"", ga_error_text(), words);
}

void assert_edit_refused(const struct sample *sample, const struct edit *edit)
{
    char *text = note_of(sample);
    char *edited = replaced(text, edit->after, edit->from, edit->to);
    struct ga_state state;
    const int code = read_state(sample->bytes, sample->length, edited, sample->data, &state);
    if (!code || !strstr(ga_error_text(), edit->words) ||
        strncmp(ga_error_text(), "edited: ", 8) != 0)
        fail_msg("%s -> %s: \"%s\", expected \"%s\"", edit->from, edit->to,
                 code ? ga_error_text() : "accepted", edit->words);
    assert_null(state.data);
    free(edited);
    free(text);
}
