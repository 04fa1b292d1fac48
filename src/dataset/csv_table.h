/*
 * Turns CSV rows into the arrays of a data set, one row at a time: memory in proportion to the
 * table, never to the text. A table larger than its room (room.h) is refused.
 */
#ifndef GA_DATASET_CSV_TABLE_H
#define GA_DATASET_CSV_TABLE_H

#include "dataset/csv_columns.h"
#include "dataset/kind.h"
#include "dataset/room.h"

enum ga_csv_header { GA_CSV_HEADER_AUTO, GA_CSV_HEADER_YES, GA_CSV_HEADER_NO };

struct ga_csv_table {
    struct ga_dataset *dataset; /* its arrays grow here */
    const char *path;
    const struct ga_options *options;
    enum ga_target_kind kind;
    enum ga_csv_header header;
    double scale;
    size_t classes; /* labels are below it */
    struct ga_csv_columns columns;
    size_t rows;
    size_t room;                   /* rows that every array has room for */
    size_t capacity[GA_CSV_ROLES]; /* elements of each array */
    int32_t largest;               /* label */
    struct ga_room memory;         /* that the table may take */
};

/* Reads kind=, header=, scale=, classes= and limit= into a table whose data set, path and options
 * are set. */
int ga_csv_table_options(struct ga_csv_table *table);
void ga_csv_table_shape(const struct ga_csv_table *table, struct ga_table *out);

/* Rows without text, of `line` numbers (values may be anything, also not finite): the columns are
 * chosen as for a first row of that many fields. */
int ga_csv_table_begin(struct ga_csv_table *table, const struct ga_csv_row *row, bool header);
int ga_csv_table_values(struct ga_csv_table *table, size_t line, const double *value, size_t count);

/* A ga_csv_read() callback; `self` is a struct ga_csv_table. */
int ga_csv_table_take(void *self, const struct ga_csv_row *row);
void ga_csv_table_fini(struct ga_csv_table *table);

#endif
