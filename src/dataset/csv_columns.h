/*
 * Which column of a CSV file is what. Made from the first row (names, or only their number) and the
 * options; see dataset.h for the rules.
 */
#ifndef GA_DATASET_CSV_COLUMNS_H
#define GA_DATASET_CSV_COLUMNS_H

#include <stdbool.h>

#include "dataset/csv_reader.h"
#include "dataset/dataset.h"
#include "dataset/options.h"

enum ga_csv_role { GA_CSV_INPUT, GA_CSV_TARGET, GA_CSV_LABEL, GA_CSV_WEIGHT, GA_CSV_ROLES };

struct ga_csv_column {
    char *name; /* NULL without a header */
    enum ga_csv_role role;
    bool chosen;  /* by an option, not by default */
    size_t place; /* among the columns of its role */
};

struct ga_csv_columns {
    struct ga_csv_column *column; /* (count) */
    size_t count;
    size_t line;                 /* of the first row */
    size_t widths[GA_CSV_ROLES]; /* columns of each role */
};

/* All or nothing; `path` is for messages. */
int ga_csv_columns_init(struct ga_csv_columns *columns, const char *path,
                        const struct ga_csv_row *row, bool header, enum ga_target_kind kind,
                        const struct ga_options *options);
void ga_csv_columns_fini(struct ga_csv_columns *columns);

/* Is the first row a header? Only a field that cannot be meant as a number makes it one: an empty
 * field, nan or inf is a fault in a row of numbers. */
bool ga_csv_is_header(const struct ga_csv_row *row);

/* "column 3" or "column 3 (price)", for a message. */
#define GA_CSV_COLUMN_TEXT 96
const char *ga_csv_column_text(char out[GA_CSV_COLUMN_TEXT], const struct ga_csv_columns *columns,
                               size_t column);

#endif
