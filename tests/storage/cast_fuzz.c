/*
 * A recording of arbitrary bytes: each piece begins with its length and the time before it, and may
 * be a change of size. What was taken comes back from the file as JSON, event by event and byte by
 * byte; what was refused was no UTF-8, and ends the recording.
 */
#include "support/replay.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "storage/cast.h"

#define RESIZE 0xff /* of the byte that tells a length */

static void must(bool promise)
{
    if (!promise)
        abort();
}

/* One line of the file; the caller ends it. */
static json_t *next_line(const char **at)
{
    const char *end = strchr(*at, '\n');
    must(end != NULL);
    json_t *value =
        json_loadb(*at, (size_t)(end - *at), JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    must(value != NULL);
    *at = end + 1;
    return value;
}

static void check_event(const char **at, const char *kind, const char *bytes, size_t count,
                        double *before)
{
    json_t *event = next_line(at);
    const double seconds = json_number_value(json_array_get(event, 0));
    const json_t *text = json_array_get(event, 2);
    must(json_array_size(event) == 3 && seconds >= *before);
    must(strcmp(json_string_value(json_array_get(event, 1)), kind) == 0);
    must(json_string_length(text) == count && memcmp(json_string_value(text), bytes, count) == 0);
    *before = seconds;
    json_decref(event);
}

struct pieces {
    const char *bytes;
    size_t size, at;
    int64_t now_ns;
};

struct piece {
    bool resize;
    const char *bytes;
    size_t count;
    char text[32]; /* of a new size */
    int columns, rows;
};

static bool next_piece(struct pieces *pieces, struct piece *out)
{
    if (pieces->size - pieces->at < 2)
        return false;
    const unsigned length = (unsigned char)pieces->bytes[pieces->at];
    pieces->now_ns += (int64_t)(unsigned char)pieces->bytes[pieces->at + 1] * 1234567;
    pieces->at += 2;
    const size_t left = pieces->size - pieces->at;
    out->resize = length == RESIZE;
    out->bytes = pieces->bytes + pieces->at;
    out->count = length < left ? length : left;
    out->columns = (int)length;
    out->rows = (int)(left & 0xff);
    if (out->resize) {
        out->count =
            (size_t)snprintf(out->text, sizeof out->text, "%dx%d", out->columns, out->rows);
        out->bytes = out->text;
        return true;
    }
    pieces->at += out->count;
    return true;
}

/* Events written before the first refusal. */
static size_t record(struct ga_cast *cast, struct pieces pieces)
{
    struct piece piece;
    size_t events = 0;
    int code = 0;
    while (next_piece(&pieces, &piece)) {
        const int before = code;
        code = piece.resize ? ga_cast_resize(cast, piece.columns, piece.rows, pieces.now_ns)
                            : ga_cast_output(cast, piece.bytes, piece.count, pieces.now_ns);
        if (before < 0)
            must(code == before || (code == 0 && piece.count == 0));
        code = before < 0 ? before : code;
        events += code == 0 && piece.count > 0;
        must(code == 0 || ga_error_text()[0]);
    }
    must(ga_cast_events(cast) == events);
    must(ga_cast_close(cast) == code);
    return events;
}

static void check(const char *path, struct pieces pieces, size_t events)
{
    char *bytes = NULL;
    size_t length = 0;
    struct piece piece;
    double seconds = 0;
    must(ga_file_read(path, 1 << 24, &bytes, &length) == 0);
    const char *at = bytes;
    json_decref(next_line(&at));
    while (events > 0 && next_piece(&pieces, &piece)) {
        if (piece.count == 0)
            continue;
        check_event(&at, piece.resize ? "r" : "o", piece.bytes, piece.count, &seconds);
        events--;
    }
    must(events == 0 && at == bytes + length);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[64];
    struct ga_cast *cast = NULL;
    const struct pieces pieces = {.bytes = (const char *)bytes, .size = size};
    const int file = memfd_create("fuzz.cast", MFD_CLOEXEC);
    must(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    must(ga_cast_open(&cast, path, 80, 24, "xterm", 0) == 0);
    const size_t events = record(cast, pieces);
    check(path, pieces, events);
    close(file);
    return 0;
}
