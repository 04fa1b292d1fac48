#include "console/figures.h"

#include <string.h>

#include "base/error.h"
#include "console/sensors.h"
#include "settings/words.h"
#include "train/metrics.h"

static bool fits(const struct ga_metric_info *info, bool of_replica)
{
    return of_replica ? info->of_replica : info->of_run;
}

/* A known name in the wrong place deserves another answer than a slip of the finger. */
static bool known_elsewhere(const char *name, bool of_replica)
{
    for (int i = 0; i < GA_METRIC_COUNT; i++) {
        const struct ga_metric_info *info = ga_metric_info((enum ga_metric)i);
        if (!fits(info, of_replica) && ga_word_same(info->name, name))
            return true;
    }
    return false;
}

static void fail_unknown(const char *name, bool of_replica)
{
    struct ga_word_nearest nearest = {name, NULL, 0};
    for (int i = 0; i < GA_METRIC_COUNT; i++)
        if (fits(ga_metric_info((enum ga_metric)i), of_replica))
            ga_word_consider(&nearest, ga_metric_info((enum ga_metric)i)->name);
    ga_fail(GA_EINPUT, "no figure%s is called %.40s: %s%s%sexpected one that `help metrics` lists",
            of_replica ? " of a replica" : "", name, nearest.name ? "did you mean " : "",
            nearest.name ? nearest.name : "", nearest.name ? "? " : "");
}

int ga_figure_find(const char *name, bool of_replica)
{
    if (strcmp(name, "|g|") == 0)
        return of_replica ? GA_METRIC_REPLICA_NORM : GA_METRIC_GRAD_NORM;
    const int metric = ga_metric_find(name, of_replica);
    if (metric >= 0)
        return metric;
    if (ga_sensor_named(name))
        ga_fail(GA_EINPUT,
                "%s is measured and differs each time: expected a figure of the training here; "
                "`print %s` and `log ... devices` tell it",
                name, name);
    else if (!known_elsewhere(name, of_replica))
        fail_unknown(name, of_replica);
    else if (of_replica)
        ga_fail(GA_EINPUT, "%s is a figure of the run: expected it without `replica R`", name);
    else
        ga_fail(GA_EINPUT, "%s is a figure of a replica: expected `replica R %s`", name, name);
    return -1;
}
