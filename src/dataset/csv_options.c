/* The options of a table of columns, and the shape that comes of them. */
#include "base/error.h"
#include "dataset/cell.h"
#include "dataset/csv_table.h"

#define MAX_SCALE 1e30

static int refuse_together(const struct ga_options *options, const char *key, const char *kind)
{
    return ga_fail(GA_EINPUT, "data %s: %s= does not go with kind=%s, expected it left out",
                   options->subject, key, kind);
}

static int check_kind(const struct ga_options *options, enum ga_target_kind kind)
{
    static const char *const not_quadratic[] = {"target", "scale", NULL};
    for (size_t i = 0; kind == GA_TARGET_QUADRATIC && not_quadratic[i]; i++) {
        if (ga_options_get(options, not_quadratic[i])) {
            return refuse_together(options, not_quadratic[i], "quadratic");
        }
    }
    if (kind != GA_TARGET_CLASS && ga_options_get(options, "classes")) {
        return refuse_together(options, "classes", kind == GA_TARGET_VALUE ? "value" : "quadratic");
    }
    if (ga_options_get(options, "shuffle") && !ga_options_get(options, "train") &&
        !ga_options_get(options, "test")) {
        return ga_fail(
            GA_EINPUT,
            "data %s: shuffle= draws the held-out rows, expected train= or test= with it",
            options->subject);
    }
    return 0;
}

int ga_csv_table_options(struct ga_csv_table *table)
{
    static const char *const kinds[] = {"value", "class", "quadratic", NULL};
    static const char *const headers[] = {"auto", "yes", "no", NULL};
    size_t kind = GA_TARGET_VALUE;
    size_t header = GA_CSV_HEADER_AUTO;
    const struct ga_options *options = table->options;
    table->scale = 1.0;
    table->classes = GA_CELL_CLASSES;
    int code = ga_options_choice(options, "kind", kinds, &kind);
    if (code == 0) {
        code = ga_options_choice(options, "header", headers, &header);
    }
    if (code == 0) {
        code = ga_options_double(options, "scale", -MAX_SCALE, MAX_SCALE, &table->scale);
    }
    if (code == 0) {
        code = ga_options_count(options, "classes", 1, GA_CELL_CLASSES, &table->classes);
    }
    if (code == 0) {
        code = ga_room_read(options, &table->memory);
    }
    if (code == 0 && table->scale == 0.0) {
        code = ga_fail(GA_ERANGE, "data %s: scale=0 makes all inputs 0, expected another number",
                       options->subject);
    }
    table->kind = (enum ga_target_kind)kind;
    table->header = (enum ga_csv_header)header;
    return code == 0 ? check_kind(options, table->kind) : code;
}

void ga_csv_table_shape(const struct ga_csv_table *table, struct ga_table *out)
{
    const size_t *widths = table->columns.widths;
    out->kind = table->kind;
    out->input_width = widths[GA_CSV_INPUT];
    out->target_width = widths[GA_CSV_TARGET];
    if (table->kind == GA_TARGET_CLASS) {
        bool told = ga_options_get(table->options, "classes") != NULL;
        out->target_width = told ? table->classes : (size_t)table->largest + 1;
    }
}
