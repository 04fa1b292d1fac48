/* Data from a CSV file: options, reading, split. */
#include <stdlib.h>

#include "base/error.h"
#include "dataset/csv_table.h"
#include "dataset/kind.h"
#include "dataset/split.h"

static int check_rows(const struct ga_csv_table *table)
{
    if (table->rows > 0) {
        return 0;
    }
    return ga_fail(GA_EINPUT, "%s:1: %s, expected at least one row of numbers", table->path,
                   table->columns.column ? "only a header" : "the file is empty");
}

static int open_csv(struct ga_dataset *dataset, const struct ga_options *options, const char *path)
{
    struct ga_csv_table table = {.dataset = dataset, .path = path, .options = options};
    int code = ga_csv_table_options(&table);
    if (code == 0) {
        code = ga_csv_read(path, ga_csv_table_take, &table);
    }
    if (code == 0) {
        code = check_rows(&table);
    }
    if (code == 0) {
        ga_csv_table_shape(&table, &dataset->table);
        code = ga_dataset_split(dataset, table.rows, options);
    }
    ga_csv_table_fini(&table);
    return code;
}

static const char *const keys[] = {"kind", "target",  "weight", "classes", "scale", "train",
                                   "test", "shuffle", "header", "limit",   NULL};

const struct ga_dataset_kind ga_dataset_csv = {
    .format = "csv",
    .usage = "FILE [kind=value|class|quadratic] [target=COL[,COL...]] [weight=COL] [classes=C] "
             "[scale=X] [train=ROWS] [test=ROWS|FRACTION] [shuffle=SEED] [header=auto|yes|no] "
             "[limit=SIZE]",
    .keys = keys,
    .open = open_csv,
};
