/*
 * Rows of a CSV file, plain or gzip (told by its first bytes): RFC 4180 with blanks around fields
 * ignored, LF, CRLF or CR, a last line with or without its end, blank lines left out, a UTF-8 byte
 * order mark left out. One pass, memory for one row, of 16 MiB at the most. Refusals begin with
 * "FILE:LINE: ".
 */
#ifndef GA_DATASET_CSV_READER_H
#define GA_DATASET_CSV_READER_H

#include <stddef.h>

#define GA_CSV_MAX_COLUMNS 65536
#define GA_CSV_MAX_FIELD   65536 /* bytes */
#define GA_CSV_MAX_ROW     (16 << 20)

/* Offsets in bytes, the second one behind the last byte. */
struct ga_csv_span {
    size_t first, end;
};

/* Borrowed, for the time of the call. */
struct ga_csv_row {
    size_t line;                     /* where it begins, from 1 */
    size_t count;                    /* fields, at least 1 */
    const char *bytes;               /* that the fields are parts of */
    const struct ga_csv_span *field; /* (count) */
};

const char *ga_csv_field(const struct ga_csv_row *row, size_t field, size_t *length_bytes);

/* Calls `take` for each row; an answer other than 0 ends the reading and is handed on. */
int ga_csv_read(const char *path, int (*take)(void *self, const struct ga_csv_row *row),
                void *self);

#endif
