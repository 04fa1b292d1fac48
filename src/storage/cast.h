/*
 * Recordings of a terminal in the format asciicast v2: a header line with version, width, height,
 * timestamp and env, then one line an event, [seconds, "o", bytes] for what was written to the
 * terminal or [seconds, "r", "COLUMNSxROWS"] when its size changed. Players: asciinema play, and
 * others that know the format (https://docs.asciinema.org/manual/asciicast/v2/).
 *
 * Each event reaches the file by one write, so that a recording which is cut off can be played up
 * to there. Only regular files: nothing here waits for a reader. One thread at a time.
 */
#ifndef GA_STORAGE_CAST_H
#define GA_STORAGE_CAST_H

#include <stddef.h>
#include <stdint.h>

struct ga_cast;

/* Begins at `now_ns` of the monotonic clock; an existing file is emptied. `term` is the kind of
 * terminal that understands the bytes. */
int ga_cast_open(struct ga_cast **out, const char *path, int columns, int rows, const char *term,
                 int64_t now_ns);

/* Bytes in UTF-8, whole characters. An error ends the recording: later calls answer it again. */
int ga_cast_output(struct ga_cast *cast, const char *bytes, size_t count, int64_t now_ns);
int ga_cast_resize(struct ga_cast *cast, int columns, int rows, int64_t now_ns);

const char *ga_cast_path(const struct ga_cast *cast);
uint64_t ga_cast_events(const struct ga_cast *cast);

/* Frees it; gives its first error. NULL is fine. */
int ga_cast_close(struct ga_cast *cast);

#endif
