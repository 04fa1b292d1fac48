/*
 * The first byte picks a run in one of the variants, the rest is a list of edits to the JSON entry
 * of its checkpoint: position (2 bytes), bytes to delete (1), bytes to insert (1), and those. So a
 * corpus stays good when fields are added. What is accepted must be a state that a run goes on from
 * without a broken promise.
 */
#include "support/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "run_support.h"
#include "storage/checkpoint_format.h"
#include "storage/safetensors.h"

#define BASES  256
#define EVENTS 40

/* A checkpoint file in memory, and the data of its run. Made on first use and kept. */
static struct base {
    struct ga_dataset *data;
    char *bytes;
    size_t length;
} bases[BASES];

static void save_base(struct base *base, const struct ga_run *run)
{
    char path[] = "/tmp/gaconsole-fuzz-XXXXXX";
    struct ga_state state;
    const int fd = mkstemp(path);
    if (fd < 0 || ga_run_capture(run, &state) || ga_checkpoint_save(path, &state, "") ||
        ga_file_read(path, 1 << 22, &base->bytes, &base->length))
        abort();
    close(fd);
    unlink(path);
    ga_state_fini(&state);
}

static const struct base *get_base(unsigned number)
{
    struct base *base = &bases[number % BASES];
    const struct run_variant *variant = &run_variants[number % run_variant_count];
    if (base->bytes)
        return base;
    base->data = run_open_data(variant->data);
    struct ga_run *run = run_open_variant(variant, base->data);
    if (!run || run_go(run, variant, number % BASES / 2))
        abort();
    save_base(base, run);
    ga_run_close(run);
    return base;
}

/* One event, and a look at it as a user has one; the real clock is not waited for. */
static int step(struct ga_run *run)
{
    struct ga_text text = GA_TEXT_INIT;
    int64_t due = 0;
    int code = ga_run_explain(run, 0, &text);
    ga_text_free(&text);
    if (!code && ga_run_ready(run, &due))
        code = ga_run_event(run);
    return code;
}

static void go_on(const struct ga_state *state)
{
    struct ga_run *run = run_restored(state);
    int code = GA_OK;
    for (int i = 0; run && !code && i < EVENTS; i++)
        code = step(run);
    if (!run || code == GA_EINTERNAL) {
        fputs(ga_error_text(), stderr);
        abort();
    }
    ga_run_close(run);
}

static void load(const struct base *base, const char *text)
{
    struct ga_safetensors *file = NULL;
    struct ga_checkpoint *checkpoint = NULL;
    struct ga_state state;
    if (ga_safetensors_parse(&file, "base", base->bytes, base->length))
        abort();
    if (ga_checkpoint_take(&checkpoint, "input", file, text) == GA_OK &&
        ga_checkpoint_state(checkpoint, base->data, &state) == GA_OK) {
        go_on(&state);
        ga_state_fini(&state);
    }
    ga_checkpoint_close(checkpoint);
}

/* One edit from the front of the input; the bytes it took. */
static size_t edit(char *text, const uint8_t *bytes, size_t size)
{
    const size_t length = strlen(text), at = (bytes[0] | (size_t)bytes[1] << 8) % (length + 1);
    const size_t cut = bytes[2] < length - at ? bytes[2] : length - at;
    const size_t insert = bytes[3] < size - 4 ? bytes[3] : size - 4;
    memmove(text + at + insert, text + at + cut, length - at - cut + 1);
    memcpy(text + at, bytes + 4, insert);
    for (size_t i = 0; i < insert; i++)
        if (text[at + i] == '\0')
            text[at + i] = '0';
    return 4 + insert;
}

/* The base's own entry with the edits made. */
static char *edited(const struct base *base, const uint8_t *bytes, size_t size)
{
    struct ga_safetensors *file = NULL;
    if (ga_safetensors_parse(&file, "base", base->bytes, base->length))
        abort();
    const char *own = ga_safetensors_note(file, GA_CHECKPOINT_NOTE);
    char *text = malloc(strlen(own) + size + 1);
    if (!text)
        abort();
    strcpy(text, own);
    while (size >= 4) {
        const size_t took = edit(text, bytes, size);
        bytes += took;
        size -= took;
    }
    ga_safetensors_close(file);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    const struct base *base = get_base(bytes[0]);
    char *text = edited(base, bytes + 1, size - 1);
    load(base, text);
    free(text);
    return 0;
}
