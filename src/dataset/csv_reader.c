/*
 * zlib unpacks, libcsv cuts fields. libcsv does not count lines, so it is fed line by line; a row
 * may span several when a quoted field holds line ends.
 */
#include "dataset/csv_reader.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

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
    struct ga_text bytes;
    size_t *end;
    size_t count, capacity;
};

const char *ga_csv_field(const struct ga_csv_row *row, size_t field, size_t *length_bytes)
{
    size_t first = field > 0 ? row->end[field - 1] : 0;
    *length_bytes = row->end[field] - first;
    return row->bytes + first;
}

static void take_field(void *field, size_t length, void *self)
{
    struct reader *reader = self;
    void *end = reader->end;
    if (reader->code != 0) {
        return;
    }
    if (reader->count == GA_CSV_MAX_COLUMNS) {
        reader->code = ga_fail(GA_ERANGE, "%s:%zu: too many columns, expected at most %d",
                               reader->path, reader->row_line, GA_CSV_MAX_COLUMNS);
        return;
    }
    reader->code = ga_grow(&end, &reader->capacity, reader->count + 1, sizeof *reader->end);
    reader->end = end;
    ga_text_append(&reader->bytes, length > 0 ? field : "", length);
    if (ga_text_failed(&reader->bytes)) {
        reader->code = GA_ENOMEM;
    }
    if (reader->code == 0) {
        reader->end[reader->count++] = reader->bytes.length;
    }
}

static void take_row(int end_character, void *self)
{
    struct reader *reader = self;
    (void)end_character;
    if (reader->code == 0 && reader->count > 0) {
        const struct ga_csv_row row = {reader->row_line, reader->count, ga_text_get(&reader->bytes),
                                       reader->end};
        reader->code = reader->take(reader->self, &row);
    }
    reader->count = 0;
    ga_text_clear(&reader->bytes);
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
    if (reader->count == 0 && parser->entry_pos == 0 && !parser->quoted) {
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

static int feed_lines(struct reader *reader, const char *bytes, size_t length)
{
    size_t first = 0;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '\n' && bytes[i] != '\r') {
            reader->after_cr = false;
            continue;
        }
        bool second = bytes[i] == '\n' && reader->after_cr; /* of one CRLF, counted at the CR */
        reader->after_cr = bytes[i] == '\r';
        if (second) {
            reader->line--;
        }
        if (feed(reader, bytes + first, i + 1 - first) != 0) {
            return reader->code;
        }
        first = i + 1;
        reader->line++;
    }
    return first < length ? feed(reader, bytes + first, length - first) : 0;
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

static int read_failure(const char *path, gzFile file)
{
    int code = Z_OK;
    int system_error = errno;
    const char *text = gzerror(file, &code);
    if (code == Z_ERRNO) {
        return ga_fail_errno(GA_EIO, system_error, "cannot read %s", path);
    }
    if (code == Z_MEM_ERROR) {
        return ga_fail(GA_ENOMEM, "%s: out of memory while unpacking", path);
    }
    return ga_fail(GA_EINPUT, "%s: truncated or damaged gzip data (%s), expected a whole file",
                   path, text);
}

static bool failed(gzFile file)
{
    int code = Z_OK;
    gzerror(file, &code);
    return code != Z_OK && code != Z_STREAM_END;
}

static int read_blocks(struct reader *reader, gzFile file, char *block)
{
    static const char mark[3] = {'\xef', '\xbb', '\xbf'};
    bool start = true;
    for (;;) {
        int got = gzread(file, block, BLOCK_BYTES);
        if (got < 0 || failed(file)) {
            return read_failure(reader->path, file);
        }
        if (got == 0) {
            return finish(reader);
        }
        size_t skip = start && got >= 3 && memcmp(block, mark, sizeof mark) == 0 ? 3 : 0;
        start = false;
        if (feed_lines(reader, block + skip, (size_t)got - skip) != 0) {
            return reader->code;
        }
    }
}

/* A pipe or a terminal could keep the caller waiting for ever. */
static int open_file(const char *path, gzFile *out)
{
    struct stat status;
    int code = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return ga_fail_errno(GA_EIO, errno, "cannot open %s, expected a CSV file", path);
    }
    if (fstat(fd, &status) != 0) {
        code = ga_fail_errno(GA_EIO, errno, "cannot open %s", path);
    } else if (!S_ISREG(status.st_mode)) {
        code = ga_fail(GA_EINPUT, "%s is %s, expected a CSV file", path,
                       S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
    } else {
        *out = gzdopen(fd, "rb");
        code = *out ? 0 : ga_fail(GA_ENOMEM, "%s: out of memory", path);
    }
    if (code != 0) {
        close(fd);
    }
    return code;
}

int ga_csv_read(const char *path, int (*take)(void *self, const struct ga_csv_row *row), void *self)
{
    struct reader reader = {.path = path, .take = take, .self = self, .line = 1, .row_line = 1};
    gzFile file = NULL;
    char *block = NULL;
    int code = open_file(path, &file);
    if (code != 0) {
        return code;
    }
    csv_init(&reader.parser, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_blk_size(&reader.parser, 4096);
    block = ga_alloc(BLOCK_BYTES, 1);
    code = block ? read_blocks(&reader, file, block) : GA_ENOMEM;
    free(block);
    csv_free(&reader.parser);
    gzclose(file);
    free(reader.end);
    ga_text_free(&reader.bytes);
    return code;
}
