/* Which figures a logged line has, and how the line looks: "update      51  epoch    50  loss ...".
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/number.h"
#include "console/feed.h"
#include "console/figures.h"

void ga_columns_default(struct ga_columns *columns, int terminal_columns)
{
    /* `most`: columns that a line with this figure takes. */
    static const struct {
        enum ga_metric metric;
        int most;
    } usual[] = {{GA_METRIC_UPDATE, 0}, {GA_METRIC_EPOCH, 91},    {GA_METRIC_EXAMPLES, 111},
                 {GA_METRIC_LOSS, 0},   {GA_METRIC_GRAD_NORM, 0}, {GA_METRIC_LR, 0},
                 {GA_METRIC_TIME, 0}};
    columns->count = 0;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (terminal_columns == 0 || usual[i].most <= terminal_columns)
            columns->column[columns->count++] = (struct ga_column){(int)usual[i].metric, -1};
}

/* Takes one figure from the words at *at. */
static int read_column(struct ga_column *column, size_t count, const char *const *word, size_t *at)
{
    *column = (struct ga_column){GA_COLUMN_HASH, -1};
    if (strcmp(word[*at], "replica") == 0) {
        int64_t replica = 0;
        if (count - *at < 3)
            return ga_fail(GA_EINPUT, "replica: expected its number and a figure, as in replica 2 "
                                      "loss");
        if (ga_read_int(word[*at + 1], 0, GA_MAX_REPLICAS - 1, &replica) < 0)
            return ga_fail_within("replica %s", word[*at + 1]);
        column->replica = (int32_t)replica;
        *at += 2;
    }
    const char *name = word[(*at)++];
    if (column->replica < 0 && strcmp(name, "hash") == 0)
        return 0;
    column->metric = ga_figure_find(name, column->replica >= 0);
    return column->metric < 0 ? (int)ga_error_code() : 0;
}

int ga_columns_read(struct ga_columns *out, size_t count, const char *const *word)
{
    struct ga_columns columns = {.count = 0};
    for (size_t at = 0; at < count;) {
        if (columns.count == GA_FEED_COLUMNS)
            return ga_fail(GA_ERANGE, "%zu words of columns: expected at most %d figures", count,
                           GA_FEED_COLUMNS);
        const int code = read_column(&columns.column[columns.count++], count, word, &at);
        if (code < 0)
            return code;
    }
    *out = columns;
    return 0;
}

void ga_columns_write(const struct ga_columns *columns, struct ga_text *out)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct ga_column *column = &columns->column[i];
        if (i > 0)
            ga_text_puts(out, " ");
        if (column->replica >= 0)
            ga_text_printf(out, "replica %d ", (int)column->replica);
        ga_text_puts(out, column->metric == GA_COLUMN_HASH
                              ? "hash"
                              : ga_metric_info((enum ga_metric)column->metric)->name);
    }
}

/* Counts are whole and right-aligned; other figures are left-aligned with six digits. */
struct look {
    enum ga_metric metric;
    const char *label;
    int width;
    bool whole;
};

static const struct look looks[] = {
    {GA_METRIC_UPDATE, "update", 7, true},      {GA_METRIC_EPOCH, "epoch", 5, true},
    {GA_METRIC_EXAMPLES, "examples", 9, true},  {GA_METRIC_MICRO_BATCHES, NULL, 8, true},
    {GA_METRIC_SKIPPED, NULL, 4, true},         {GA_METRIC_WINDOW, NULL, 6, true},
    {GA_METRIC_BYTES, NULL, 10, true},          {GA_METRIC_GRAD_NORM, "|g|", 11, false},
    {GA_METRIC_REPLICA_NORM, "|g|", 11, false}, {GA_METRIC_LR, "lr", 8, false},
};

static struct look look_of(const struct ga_column *column)
{
    const enum ga_metric metric = (enum ga_metric)column->metric;
    struct look look = {metric, NULL, 11, false};
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
        if (looks[i].metric == metric)
            look = looks[i];
    if (!look.label)
        look.label = ga_metric_info(metric)->name;
    return look;
}

static void append_figure(const struct look *look, double value, struct ga_text *out)
{
    char number[GA_NUMBER_TEXT];
    if (look->metric == GA_METRIC_TIME && isfinite(value) && fabs(value) < 9e9)
        ga_format_time(number, llround(value * 1e9));
    else if (look->whole && isfinite(value) && fabs(value) < 9e15)
        snprintf(number, sizeof(number), "%" PRId64, (int64_t)value);
    else
        ga_format_digits(number, value, 6);
    ga_text_printf(out, look->whole ? "%s %*s" : "%s %-*s", look->label, look->width, number);
}

static void trim(struct ga_text *out)
{
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

void ga_feed_format(const struct ga_feed_line *line, struct ga_text *out)
{
    for (size_t i = 0; i < line->columns.count; i++) {
        const struct ga_column *column = &line->columns.column[i];
        if (i > 0)
            ga_text_puts(out, "  ");
        if (column->metric == GA_COLUMN_HASH) {
            char digits[GA_HASH_TEXT];
            ga_hash_format(digits, line->hash);
            ga_text_printf(out, "hash %s", digits);
            continue;
        }
        if (column->replica >= 0)
            ga_text_printf(out, "replica %d ", (int)column->replica);
        const struct look look = look_of(column);
        append_figure(&look, line->value[i], out);
    }
    trim(out);
    if (!line->applied)
        ga_text_puts(out, "  window skipped");
}
