/*
 * libcsv cuts fields. It does not count lines, so it is fed line by line; a row
 * may span several when a quoted field holds line ends.
 */
#include "dataset/csv_reader.h"

#include <csv.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/wait.h"
#include "dataset/bytes.h"

#define BLOCK_BYTES 65536

struct reader {
    const char *path;
    struct csv_parser parser;
    int (*take)(void *self, const struct ga_csv_row *row);
    void *self;
    int code;        /* first failure; everything behind it is ignored */
    size_t line;     /* being fed */
    size_t row_line; /* where the present row began */
    bool after_cr;
    struct ga_text bytes; /* of the fields that libcsv cut */
    struct ga_csv_span *field;
    size_t count, capacity;
};

const char *ga_csv_field(const struct ga_csv_row *row, size_t field, size_t *length_bytes)
{
    *length_bytes = row->field[field].end - row->field[field].first;
    return row->bytes + row->field[field].first;
}

/* One more field of the present row. */
static int add_field(struct reader *reader, size_t first, size_t end)
{
    void *field = reader->field;
    if (reader->count == GA_CSV_MAX_COLUMNS) {
        return ga_fail(GA_ERANGE, "%s:%zu: too many columns, expected at most %d", reader->path,
                       reader->row_line, GA_CSV_MAX_COLUMNS);
    }
    if (reader->count == reader->capacity) {
        int code = ga_grow(&field, &reader->capacity, reader->count + 1, sizeof *reader->field);
        reader->field = field;
        if (code != 0) {
            return code;
        }
    }
    reader->field[reader->count++] = (struct ga_csv_span){first, end};
    return 0;
}

static void take_field(void *field, size_t length, void *self)
{
    struct reader *reader = self;
    const size_t first = reader->bytes.length;
    if (reader->code != 0) {
        return;
    }
    if (first + length > GA_CSV_MAX_ROW) {
        reader->code = ga_fail(GA_ERANGE, "%s:%zu: a row of more than %d bytes, expected numbers",
                               reader->path, reader->row_line, GA_CSV_MAX_ROW);
        return;
    }
    ga_text_append(&reader->bytes, length > 0 ? field : "", length);
    reader->code =
        ga_text_failed(&reader->bytes) ? (int)GA_ENOMEM : add_field(reader, first, first + length);
}

static void end_row(struct reader *reader, const char *bytes)
{
    if (reader->code == 0 && reader->count > 0) {
        const struct ga_csv_row row = {reader->row_line, reader->count, bytes, reader->field};
        reader->code = reader->take(reader->self, &row);
    }
    reader->count = 0;
}

static void take_row(int end_character, void *self)
{
    struct reader *reader = self;
    (void)end_character;
    end_row(reader, ga_text_get(&reader->bytes));
    ga_text_clear(&reader->bytes);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int add_trimmed(struct reader *reader, const char *bytes, size_t first, size_t end)
{
    while (first < end && is_blank(bytes[first])) {
        first++;
    }
    while (end > first && is_blank(bytes[end - 1])) {
        end--;
    }
    return add_field(reader, first, end);
}

/* Nothing of a row, or only blanks, has been given to libcsv. */
static bool is_between_rows(const struct reader *reader)
{
    return reader->count == 0 && reader->parser.entry_pos == 0 && !reader->parser.quoted;
}

/* Cuts at commas up to a line end, a quote or the end of the bytes; gives that place. */
static size_t cut_fields(struct reader *reader, const char *bytes, size_t length)
{
    size_t first = 0;
    size_t i = 0;
    for (; i < length && reader->code == 0; i++) {
        const char c = bytes[i];
        if (c == ',') {
            reader->code = add_trimmed(reader, bytes, first, i);
            first = i + 1;
        } else if (c == '\n' || c == '\r' || c == '"') {
            break;
        }
    }
    if (reader->code == 0) {
        reader->code = add_trimmed(reader, bytes, first, i);
    }
    return i;
}

/*
 * The fast way for a whole line without quotes, several times as fast as libcsv. `*count` becomes
 * its length without its end; false when the line is not of that kind and nothing was done.
 */
static bool take_line(struct reader *reader, const char *bytes, size_t length, size_t *count)
{
    if (!is_between_rows(reader)) {
        return false;
    }
    reader->row_line = reader->line;
    const size_t i = cut_fields(reader, bytes, length);
    if (reader->code == 0 && (i == length || bytes[i] == '"')) {
        reader->count = 0;
        return false;
    }
    if (reader->count == 1 && reader->field[0].first == reader->field[0].end) {
        reader->count = 0; /* a blank line */
    }
    end_row(reader, bytes);
    *count = i;
    return true;
}

static int parse_failure(struct reader *reader)
{
    if (csv_error(&reader->parser) == CSV_ENOMEM) {
        return ga_fail(GA_ENOMEM, "%s:%zu: out of memory", reader->path, reader->line);
    }
    return ga_fail(GA_EINPUT,
                   "%s:%zu: a quote in the middle of a field, expected the whole field in quotes "
                   "and each quote inside it doubled",
                   reader->path, reader->line);
}

static int feed(struct reader *reader, const char *bytes, size_t length)
{
    struct csv_parser *parser = &reader->parser;
    if (is_between_rows(reader)) {
        reader->row_line = reader->line;
    }
    if (csv_parse(parser, bytes, length, take_field, take_row, reader) != length &&
        reader->code == 0) {
        reader->code = parse_failure(reader);
    }
    if (reader->code == 0 && parser->entry_pos > GA_CSV_MAX_FIELD) {
        reader->code = ga_fail(
            GA_EINPUT, "%s:%zu: a field of more than %d bytes, expected a number%s", reader->path,
            reader->row_line, GA_CSV_MAX_FIELD, parser->quoted ? " and a closing quote" : "");
    }
    return reader->code;
}

static size_t line_length(const char *bytes, size_t length)
{
    size_t i = 0;
    while (i < length && bytes[i] != '\n' && bytes[i] != '\r') {
        i++;
    }
    return i;
}

/* CR LF is one line end, counted at the CR. */
static void count_line(struct reader *reader, char end)
{
    reader->line += end == '\n' && reader->after_cr ? 0 : 1;
    reader->after_cr = end == '\r';
}

static int feed_lines(struct reader *reader, const char *bytes, size_t length)
{
    size_t at = 0;
    while (at < length && reader->code == 0) {
        const char *line = bytes + at;
        size_t count = 0;
        if (!take_line(reader, line, length - at, &count)) {
            count = line_length(line, length - at);
            feed(reader, line, count + (at + count < length ? 1 : 0));
        }
        reader->after_cr = reader->after_cr && count == 0;
        at += count;
        if (at < length && reader->code == 0) {
            count_line(reader, bytes[at++]);
        }
    }
    return reader->code;
}

static int finish(struct reader *reader)
{
    if (csv_fini(&reader->parser, take_field, take_row, reader) != 0 && reader->code == 0) {
        reader->code = ga_fail(GA_EINPUT,
                               "%s:%zu: the file ends inside a quoted field, expected a closing "
                               "quote",
                               reader->path, reader->row_line);
    }
    return reader->code;
}

/* Lines without end and without a row are not refused for their memory. */
static int check_signals(const struct reader *reader)
{
    if (!ga_wait_told_to_end(true)) {
        return 0;
    }
    return ga_fail(GA_EIO, "%s:%zu: interrupted while it was read", reader->path, reader->line);
}

static int read_blocks(struct reader *reader, struct ga_bytes *bytes, char *block)
{
    static const char mark[3] = {'\xef', '\xbb', '\xbf'};
    bool start = true;
    for (;;) {
        size_t got = 0;
        int code = ga_bytes_read(bytes, block, BLOCK_BYTES, &got);
        if (code != 0) {
            return code;
        }
        if (got == 0) {
            return finish(reader);
        }
        size_t skip = start && got >= 3 && memcmp(block, mark, sizeof mark) == 0 ? 3 : 0;
        start = false;
        if (feed_lines(reader, block + skip, got - skip) != 0) {
            return reader->code;
        }
        code = got == BLOCK_BYTES ? check_signals(reader) : 0;
        if (code != 0) {
            return code;
        }
    }
}

int ga_csv_read(const char *path, int (*take)(void *self, const struct ga_csv_row *row), void *self)
{
    struct reader reader = {.path = path, .take = take, .self = self, .line = 1, .row_line = 1};
    struct ga_bytes *bytes = NULL;
    char *block = NULL;
    int code = ga_bytes_open(&bytes, path);
    if (code == 0) {
        code = ga_bytes_ahead(&bytes, bytes);
    }
    if (code != 0) {
        return code;
    }
    csv_init(&reader.parser, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_blk_size(&reader.parser, 4096);
    block = ga_alloc(BLOCK_BYTES, 1);
    code = block ? read_blocks(&reader, bytes, block) : GA_ENOMEM;
    free(block);
    csv_free(&reader.parser);
    ga_bytes_close(bytes);
    free(reader.field);
    ga_text_free(&reader.bytes);
    return code;
}
