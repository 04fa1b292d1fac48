#include "dataset/csv_table.h"

#include <float.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "dataset/cell.h"

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

static int refuse_text(const struct cell *cell, const char *text, size_t length, int code)
{
    char quoted[GA_QUOTE_TEXT];
    char what[GA_QUOTE_TEXT + 64];
    if (code == GA_ENOMEM) {
        return code;
    }
    snprintf(what, sizeof what, "%s is %s, expected a finite number",
             ga_quote_n(quoted, text, length), code == GA_ERANGE ? "out of range" : "not a number");
    return refuse(cell, (enum ga_code)code, what);
}

static int refuse_value(const struct cell *cell, double value, const char *expected)
{
    char number[GA_NUMBER_TEXT];
    char what[GA_NUMBER_TEXT + 128];
    ga_format_double(number, value);
    snprintf(what, sizeof what, "%s, expected %s", number, expected);
    return refuse(cell, GA_ERANGE, what);
}

typedef const char *(*store_fn)(struct ga_csv_table *, double, size_t, char *);

static const char *store_input(struct ga_csv_table *table, double value, size_t place, char *text)
{
    (void)text;
    return ga_cell_float(value, &table->dataset->inputs[place]);
}

static const char *store_target(struct ga_csv_table *table, double value, size_t place, char *text)
{
    (void)text;
    return ga_cell_float(value, &table->dataset->targets[place]);
}

static const char *store_label(struct ga_csv_table *table, double value, size_t place, char *text)
{
    int32_t label = 0;
    const char *expected = ga_cell_label(value, table->classes, &label, text);
    if (!expected) {
        table->dataset->labels[place] = label;
        table->largest = label > table->largest ? label : table->largest;
    }
    return expected;
}

static const char *store_weight(struct ga_csv_table *table, double value, size_t place, char *text)
{
    (void)text;
    return ga_cell_weight(value, &table->dataset->weights[place]);
}

static const store_fn store[GA_CSV_ROLES] = {
    [GA_CSV_INPUT] = store_input,
    [GA_CSV_TARGET] = store_target,
    [GA_CSV_LABEL] = store_label,
    [GA_CSV_WEIGHT] = store_weight,
};

/* Numbers that one row keeps, over all arrays. */
static uint64_t row_width(const struct ga_csv_table *table)
{
    uint64_t width = 0;
    for (int role = 0; role < GA_CSV_ROLES; role++) {
        width += table->columns.widths[role];
    }
    return width;
}

/* Room for `rows` rows in the array of one role. */
static int grow_role(struct ga_csv_table *table, enum ga_csv_role role, size_t rows, void **array)
{
    const size_t need = rows * table->columns.widths[role]; /* fits: grow() looked */
    return ga_grow(array, &table->capacity[role], need, sizeof(float));
}

/* Half as many rows again, as far as there is room; at least one. */
static int grow(struct ga_csv_table *table)
{
    struct ga_dataset *dataset = table->dataset;
    const uint64_t width = row_width(table);
    const uint64_t most = table->memory.bytes / sizeof(float) / width;
    const size_t wanted = table->rows + 1 + table->rows / 2;
    const size_t rows = wanted < most ? wanted : (size_t)most;
    void *array[GA_CSV_ROLES] = {dataset->inputs, dataset->targets, dataset->labels,
                                 dataset->weights};
    int code = rows > table->rows ? 0 : ga_room_refuse(&table->memory, table->path, most, width);
    for (int role = 0; code == 0 && role < GA_CSV_ROLES; role++) {
        if (table->columns.widths[role] > 0) {
            code = grow_role(table, (enum ga_csv_role)role, rows, &array[role]);
        }
    }
    dataset->inputs = array[GA_CSV_INPUT];
    dataset->targets = array[GA_CSV_TARGET];
    dataset->labels = array[GA_CSV_LABEL];
    dataset->weights = array[GA_CSV_WEIGHT];
    table->room = code == 0 ? rows : table->room;
    return code;
}

/* Checks a row's count of columns and makes room for it. */
static int begin_row(struct ga_csv_table *table, size_t line, size_t count)
{
    const struct ga_csv_columns *columns = &table->columns;
    if (count != columns->count) {
        return ga_fail(GA_EINPUT, "%s:%zu: %zu column%s, expected %zu as in line %zu", table->path,
                       line, count, count == 1 ? "" : "s", columns->count, columns->line);
    }
    if (table->rows == UINT32_MAX) {
        return ga_fail(GA_ERANGE, "%s:%zu: too many rows, expected at most %lu", table->path, line,
                       (unsigned long)UINT32_MAX);
    }
    return table->rows < table->room ? 0 : grow(table);
}

/* The value of column `i` to where its role has it. */
static int store_value(struct ga_csv_table *table, size_t line, size_t i, double value)
{
    char text[GA_CELL_TEXT];
    const struct ga_csv_column *column = &table->columns.column[i];
    const size_t place = table->rows * table->columns.widths[column->role] + column->place;
    const double scaled = column->role == GA_CSV_INPUT ? value * table->scale : value;
    const char *expected = store[column->role](table, scaled, place, text);
    return expected ? refuse_value(&(struct cell){table, line, i}, scaled, expected) : 0;
}

/*
 * Most numbers of most files: up to 15 digits without an exponent. Digits and power of ten are
 * exact doubles then, so that one division rounds to the nearest double (Clinger 1990).
 */
static bool read_short(const char *text, size_t length, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const bool negative = length > 0 && text[0] == '-';
    size_t at = negative ? 1 : 0;
    size_t point = length; /* where it stands */
    uint64_t digits = 0;
    if (length - at > 16) {
        return false;
    }
    for (; at < length; at++) {
        const unsigned digit = (unsigned)(text[at] - '0');
        if (digit <= 9) {
            digits = digits * 10 + digit;
        } else if (text[at] == '.' && point == length) {
            point = at;
        } else {
            return false;
        }
    }
    const size_t before = point - (negative ? 1 : 0);
    const size_t behind = point < length ? length - point - 1 : 0;
    if (before + behind == 0 || before + behind > 15) {
        return false;
    }
    const double value = (double)digits / powers[behind];
    *out = negative ? -value : value;
    return true;
}

static int read_number(const char *text, size_t length, double *out)
{
    return read_short(text, length, out) ? 0
                                         : ga_read_double_n(text, length, -DBL_MAX, DBL_MAX, out);
}

static int take_numbers(struct ga_csv_table *table, const struct ga_csv_row *row)
{
    int code = begin_row(table, row->line, row->count);
    for (size_t i = 0; code == 0 && i < row->count; i++) {
        size_t length;
        double value = 0.0;
        const char *text = ga_csv_field(row, i, &length);
        code = read_number(text, length, &value);
        code = code == 0 ? store_value(table, row->line, i, value)
                         : refuse_text(&(struct cell){table, row->line, i}, text, length, code);
    }
    table->rows += code == 0 ? 1 : 0;
    return code;
}

int ga_csv_table_begin(struct ga_csv_table *table, const struct ga_csv_row *row, bool header)
{
    return ga_csv_columns_init(&table->columns, table->path, row, header, table->kind,
                               table->options);
}

int ga_csv_table_values(struct ga_csv_table *table, size_t line, const double *value, size_t count)
{
    int code = begin_row(table, line, count);
    for (size_t i = 0; code == 0 && i < count; i++) {
        code = store_value(table, line, i, value[i]);
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
    int code = ga_csv_table_begin(table, row, header);
    return code == 0 && !header ? take_numbers(table, row) : code;
}

void ga_csv_table_fini(struct ga_csv_table *table)
{
    ga_csv_columns_fini(&table->columns);
}
