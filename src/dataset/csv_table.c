#include "dataset/csv_table.h"

#include <float.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

/* Where a message is about. */
struct cell {
    const struct ga_csv_table *table;
    size_t line, column;
};

static int refuse(const struct cell *cell, enum ga_code code, const char *what)
{
    char name[GA_CSV_COLUMN_TEXT];
    return ga_fail(code, "%s:%zu: %s: %s", cell->table->path, cell->line,
                   ga_csv_column_text(name, &cell->table->columns, cell->column), what);
}

static int read_cell(const struct cell *cell, const char *text, size_t length, double *out)
{
    char quoted[GA_QUOTE_TEXT];
    struct ga_text what = GA_TEXT_INIT;
    int code = ga_read_double_n(text, length, -DBL_MAX, DBL_MAX, out);
    if (code == 0 || code == GA_ENOMEM) {
        return code;
    }
    ga_text_printf(&what, "%s is %s, expected a finite number", ga_quote_n(quoted, text, length),
                   code == GA_ERANGE ? "out of range" : "not a number");
    refuse(cell, (enum ga_code)code, ga_text_get(&what));
    ga_text_free(&what);
    return code;
}

static int refuse_value(const struct cell *cell, double value, const char *expected)
{
    char number[GA_NUMBER_TEXT];
    struct ga_text what = GA_TEXT_INIT;
    ga_format_double(number, value);
    ga_text_printf(&what, "%s, expected %s", number, expected);
    refuse(cell, GA_ERANGE, ga_text_get(&what));
    ga_text_free(&what);
    return GA_ERANGE;
}

static int store_float(const struct cell *cell, double value, float *out)
{
    if (!(value >= -FLT_MAX && value <= FLT_MAX)) {
        return refuse_value(cell, value, "at most 3.4028234663852886e+38, the largest float");
    }
    *out = (float)value;
    return 0;
}

static int store_input(struct ga_csv_table *table, const struct cell *cell, double value,
                       size_t place)
{
    return store_float(cell, value * table->scale, &table->dataset->inputs[place]);
}

static int store_target(struct ga_csv_table *table, const struct cell *cell, double value,
                        size_t place)
{
    return store_float(cell, value, &table->dataset->targets[place]);
}

static int store_label(struct ga_csv_table *table, const struct cell *cell, double value,
                       size_t place)
{
    if (!(value >= 0.0 && value < (double)table->classes) || value != (double)(int32_t)value) {
        char expected[80];
        snprintf(expected, sizeof expected, "a class, a whole number 0..%zu", table->classes - 1);
        return refuse_value(cell, value, expected);
    }
    int32_t label = (int32_t)value;
    table->dataset->labels[place] = label;
    table->largest = label > table->largest ? label : table->largest;
    return 0;
}

/* The range for which the sums of weighted terms stay exact. */
static int store_weight(struct ga_csv_table *table, const struct cell *cell, double value,
                        size_t place)
{
    if (value != 0.0 && !(value >= 0x1p-20 && value <= 0x1p20)) {
        return refuse_value(cell, value,
                            "a weight of 0 or from 9.5367431640625e-07 (2^-20) to 1048576 (2^20)");
    }
    table->dataset->weights[place] = value != 0.0 ? (float)value : 0.0f;
    return 0;
}

typedef int (*store_fn)(struct ga_csv_table *, const struct cell *, double, size_t);

static const store_fn store[GA_CSV_ROLES] = {
    [GA_CSV_INPUT] = store_input,
    [GA_CSV_TARGET] = store_target,
    [GA_CSV_LABEL] = store_label,
    [GA_CSV_WEIGHT] = store_weight,
};

/* Room for one more row in the array of one role. */
static int grow_role(struct ga_csv_table *table, enum ga_csv_role role, void **array)
{
    size_t width = table->columns.widths[role];
    size_t need;
    if (__builtin_mul_overflow(table->rows + 1, width, &need) ||
        need > table->memory_bytes / sizeof(float)) {
        return ga_fail(GA_ENOMEM,
                       "%s: a table of more than %zu rows, expected one that fits this machine's "
                       "memory",
                       table->path, table->rows);
    }
    return ga_grow(array, &table->capacity[role], need, sizeof(float));
}

static int grow(struct ga_csv_table *table)
{
    struct ga_dataset *dataset = table->dataset;
    void *array[GA_CSV_ROLES] = {dataset->inputs, dataset->targets, dataset->labels,
                                 dataset->weights};
    int code = 0;
    for (int role = 0; code == 0 && role < GA_CSV_ROLES; role++) {
        if (table->columns.widths[role] > 0) {
            code = grow_role(table, (enum ga_csv_role)role, &array[role]);
        }
    }
    dataset->inputs = array[GA_CSV_INPUT];
    dataset->targets = array[GA_CSV_TARGET];
    dataset->labels = array[GA_CSV_LABEL];
    dataset->weights = array[GA_CSV_WEIGHT];
    return code;
}

static int take_numbers(struct ga_csv_table *table, const struct ga_csv_row *row)
{
    const struct ga_csv_columns *columns = &table->columns;
    if (row->count != columns->count) {
        return ga_fail(GA_EINPUT, "%s:%zu: %zu column%s, expected %zu as in line %zu", table->path,
                       row->line, row->count, row->count == 1 ? "" : "s", columns->count,
                       columns->line);
    }
    if (table->rows == UINT32_MAX) {
        return ga_fail(GA_ERANGE, "%s:%zu: too many rows, expected at most %lu", table->path,
                       row->line, (unsigned long)UINT32_MAX);
    }
    int code = grow(table);
    for (size_t i = 0; code == 0 && i < row->count; i++) {
        const struct ga_csv_column *column = &columns->column[i];
        const struct cell cell = {table, row->line, i};
        size_t length;
        double value = 0.0;
        const char *text = ga_csv_field(row, i, &length);
        code = read_cell(&cell, text, length, &value);
        if (code == 0) {
            code = store[column->role](table, &cell, value,
                                       table->rows * columns->widths[column->role] + column->place);
        }
    }
    table->rows += code == 0 ? 1 : 0;
    return code;
}

int ga_csv_table_take(void *self, const struct ga_csv_row *row)
{
    struct ga_csv_table *table = self;
    if (table->columns.column) {
        return take_numbers(table, row);
    }
    bool header = table->header == GA_CSV_HEADER_YES ||
                  (table->header == GA_CSV_HEADER_AUTO && ga_csv_is_header(row));
    int code =
        ga_csv_columns_init(&table->columns, table->path, row, header, table->kind, table->options);
    table->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return code == 0 && !header ? take_numbers(table, row) : code;
}

void ga_csv_table_fini(struct ga_csv_table *table)
{
    ga_csv_columns_fini(&table->columns);
}
