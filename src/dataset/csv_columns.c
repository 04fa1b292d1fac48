#include "dataset/csv_columns.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

/* What the resolving functions share. */
struct choice {
    struct ga_csv_columns *columns;
    const char *path;
    const struct ga_options *options;
};

static bool is_not_finite(const char *text, size_t length)
{
    static const char *const words[] = {"nan", "inf", "infinity", NULL};
    if (length > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        length--;
    }
    for (size_t i = 0; words[i]; i++) {
        if (strlen(words[i]) == length && strncasecmp(text, words[i], length) == 0) {
            return true;
        }
    }
    return false;
}

bool ga_csv_is_header(const struct ga_csv_row *row)
{
    for (size_t i = 0; i < row->count; i++) {
        size_t length;
        double value;
        const char *text = ga_csv_field(row, i, &length);
        if (length > 0 && !is_not_finite(text, length) &&
            ga_read_double_n(text, length, -DBL_MAX, DBL_MAX, &value) == GA_EINPUT) {
            return true;
        }
    }
    return false;
}

const char *ga_csv_column_text(char out[GA_CSV_COLUMN_TEXT], const struct ga_csv_columns *columns,
                               size_t column)
{
    char quoted[GA_QUOTE_TEXT];
    const char *name = columns->column[column].name;
    if (name) {
        snprintf(out, GA_CSV_COLUMN_TEXT, "column %zu (%s)", column + 1, ga_quote(quoted, name));
    } else {
        snprintf(out, GA_CSV_COLUMN_TEXT, "column %zu", column + 1);
    }
    return out;
}

static int unknown_column(const struct choice *choice, const char *key, const char *text)
{
    enum { SHOWN = 8 };
    const struct ga_csv_columns *columns = choice->columns;
    char quoted[GA_QUOTE_TEXT];
    struct ga_text names = GA_TEXT_INIT;
    for (size_t i = 0; i < columns->count && i < SHOWN && columns->column[i].name; i++) {
        ga_text_printf(&names, ", %s", ga_quote(quoted, columns->column[i].name));
    }
    ga_fail(GA_EINPUT, "%s:%zu: %s=%s is no column, expected 1..%zu or -%zu..-1%s%s", choice->path,
            columns->line, key, ga_quote(quoted, text), columns->count, columns->count,
            ga_text_get(&names), columns->count > SHOWN && names.length > 0 ? ", ..." : "");
    ga_text_free(&names);
    return GA_EINPUT;
}

static int find_column(const struct choice *choice, const char *key, const char *text, size_t *out)
{
    const struct ga_csv_columns *columns = choice->columns;
    size_t found = 0;
    int64_t number = 0;
    int64_t count = (int64_t)columns->count;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->column[i].name && strcmp(columns->column[i].name, text) == 0) {
            *out = i;
            found++;
        }
    }
    if (found > 1) {
        return ga_fail(GA_EINPUT, "%s:%zu: %s=%s names %zu columns, expected the column's number",
                       choice->path, columns->line, key, text, found);
    }
    if (found == 0) {
        if (ga_read_int(text, -count, count, &number) != 0 || number == 0) {
            return unknown_column(choice, key, text);
        }
        *out = (size_t)(number > 0 ? number - 1 : number + count);
    }
    return 0;
}

static int choose(const struct choice *choice, const char *key, const char *text,
                  enum ga_csv_role role)
{
    char name[GA_CSV_COLUMN_TEXT];
    size_t found = 0;
    int code = find_column(choice, key, text, &found);
    if (code != 0) {
        return code;
    }
    struct ga_csv_column *column = &choice->columns->column[found];
    if (column->chosen) {
        return ga_fail(GA_EINPUT, "%s:%zu: %s is chosen twice, expected it in one place only",
                       choice->path, choice->columns->line,
                       ga_csv_column_text(name, choice->columns, found));
    }
    column->chosen = true;
    column->role = role;
    column->place = choice->columns->widths[role]++;
    return 0;
}

/* Each of the comma-separated columns of an option. */
static int choose_list(const struct choice *choice, const char *key, enum ga_csv_role role)
{
    char *list = ga_copy_string(ga_options_get(choice->options, key));
    char *rest = list;
    int code = list ? 0 : GA_ENOMEM;
    while (code == 0 && rest) {
        char *text = strsep(&rest, ",");
        code = choose(choice, key, text, role);
    }
    free(list);
    return code;
}

static int choose_default_target(const struct choice *choice, enum ga_csv_role role)
{
    struct ga_csv_columns *columns = choice->columns;
    size_t last = columns->count;
    while (last > 0 && columns->column[last - 1].chosen) {
        last--;
    }
    if (last > 0) {
        columns->column[last - 1].chosen = true;
        columns->column[last - 1].role = role;
        columns->widths[role]++;
    }
    return 0;
}

static int choose_targets(const struct choice *choice, enum ga_target_kind kind)
{
    struct ga_csv_columns *columns = choice->columns;
    enum ga_csv_role role = kind == GA_TARGET_CLASS ? GA_CSV_LABEL : GA_CSV_TARGET;
    int code = ga_options_get(choice->options, "target") ? choose_list(choice, "target", role)
                                                         : choose_default_target(choice, role);
    if (code != 0) {
        return code;
    }
    for (size_t i = 0; i < columns->count; i++) {
        if (!columns->column[i].chosen) {
            columns->column[i].place = columns->widths[GA_CSV_INPUT]++;
        }
    }
    if (columns->widths[role] == 0 || columns->widths[GA_CSV_INPUT] == 0) {
        return ga_fail(GA_EINPUT,
                       "%s:%zu: %zu column%s, expected at least one input beside target and weight",
                       choice->path, columns->line, columns->count, columns->count == 1 ? "" : "s");
    }
    if (role == GA_CSV_LABEL && columns->widths[role] > 1) {
        return ga_fail(GA_EINPUT, "%s:%zu: %zu target columns, expected one for kind=class",
                       choice->path, columns->line, columns->widths[role]);
    }
    return 0;
}

/* "lambda_3" for prefix "lambda_" gives 3; 0 when the name is of another kind. */
static size_t numbered(const char *name, const char *prefix)
{
    int64_t number = 0;
    size_t length = strlen(prefix);
    if (!name || strncmp(name, prefix, length) != 0 || name[length] < '1' || name[length] > '9' ||
        ga_read_int(name + length, 1, GA_CSV_MAX_COLUMNS, &number) != 0) {
        return 0;
    }
    return (size_t)number;
}

static bool has_lambda(const struct ga_csv_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (numbered(columns->column[i].name, "lambda_") > 0) {
            return true;
        }
    }
    return false;
}

/* One column of a quadratic with a header: its role and place come from its name. */
static int place_by_name(const struct choice *choice, size_t column, size_t pairs, bool *seen)
{
    char text[GA_CSV_COLUMN_TEXT];
    struct ga_csv_column *of = &choice->columns->column[column];
    size_t lambda = numbered(of->name, "lambda_");
    size_t number = lambda > 0 ? lambda : numbered(of->name, "c_");
    size_t flag = number + (lambda > 0 ? 0 : pairs);
    if (number == 0 || number > pairs || seen[flag - 1]) {
        return ga_fail(GA_EINPUT,
                       "%s:%zu: %s, expected lambda_1..lambda_%zu and c_1..c_%zu, each once",
                       choice->path, choice->columns->line,
                       ga_csv_column_text(text, choice->columns, column), pairs, pairs);
    }
    seen[flag - 1] = true;
    of->role = lambda > 0 ? GA_CSV_INPUT : GA_CSV_TARGET;
    of->place = number - 1;
    return 0;
}

static int place_by_names(const struct choice *choice, size_t pairs)
{
    bool *seen = ga_alloc(pairs, 2 * sizeof *seen);
    int code = seen ? 0 : GA_ENOMEM;
    for (size_t i = 0; code == 0 && i < choice->columns->count; i++) {
        if (!choice->columns->column[i].chosen) {
            code = place_by_name(choice, i, pairs, seen);
        }
    }
    free(seen);
    return code;
}

static void place_by_halves(struct ga_csv_columns *columns, size_t pairs)
{
    size_t place = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (!columns->column[i].chosen) {
            columns->column[i].role = place < pairs ? GA_CSV_INPUT : GA_CSV_TARGET;
            columns->column[i].place = place < pairs ? place : place - pairs;
            place++;
        }
    }
}

static int choose_quadratic(const struct choice *choice)
{
    struct ga_csv_columns *columns = choice->columns;
    size_t free_columns = columns->count - columns->widths[GA_CSV_WEIGHT];
    size_t pairs = free_columns / 2;
    int code = 0;
    if (free_columns == 0 || free_columns % 2 != 0) {
        return ga_fail(
            GA_EINPUT,
            "%s:%zu: %zu columns beside the weight, expected pairs: lambda_1.. and c_1..",
            choice->path, columns->line, free_columns);
    }
    if (has_lambda(columns)) {
        code = place_by_names(choice, pairs);
    } else {
        place_by_halves(columns, pairs);
    }
    columns->widths[GA_CSV_INPUT] = pairs;
    columns->widths[GA_CSV_TARGET] = pairs;
    return code;
}

static int copy_names(struct ga_csv_columns *columns, const struct ga_csv_row *row)
{
    for (size_t i = 0; i < row->count; i++) {
        size_t length;
        const char *text = ga_csv_field(row, i, &length);
        columns->column[i].name = ga_alloc(length + 1, 1);
        if (!columns->column[i].name) {
            return GA_ENOMEM;
        }
        memcpy(columns->column[i].name, text, length);
    }
    return 0;
}

static int choose_all(const struct choice *choice, enum ga_target_kind kind)
{
    const char *weight = ga_options_get(choice->options, "weight");
    int code = weight ? choose(choice, "weight", weight, GA_CSV_WEIGHT) : 0;
    if (code != 0) {
        return code;
    }
    return kind == GA_TARGET_QUADRATIC ? choose_quadratic(choice) : choose_targets(choice, kind);
}

int ga_csv_columns_init(struct ga_csv_columns *columns, const char *path,
                        const struct ga_csv_row *row, bool header, enum ga_target_kind kind,
                        const struct ga_options *options)
{
    const struct choice choice = {columns, path, options};
    *columns = (struct ga_csv_columns){.count = row->count, .line = row->line};
    columns->column = ga_alloc(row->count, sizeof *columns->column);
    int code = columns->column ? 0 : GA_ENOMEM;
    if (code == 0 && header) {
        code = copy_names(columns, row);
    }
    if (code == 0) {
        code = choose_all(&choice, kind);
    }
    if (code != 0) {
        ga_csv_columns_fini(columns);
    }
    return code;
}

void ga_csv_columns_fini(struct ga_csv_columns *columns)
{
    for (size_t i = 0; columns->column && i < columns->count; i++) {
        free(columns->column[i].name);
    }
    free(columns->column);
    *columns = (struct ga_csv_columns){0};
}
