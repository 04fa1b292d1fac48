/* The table of metrics. */
#include "train/metrics.h"

#include <ctype.h>

#include "base/error.h"

static const struct ga_metric_info table[GA_METRIC_COUNT] = {
    [GA_METRIC_LOSS] = {"loss", "", "weighted mean over the last window", true, false},
    [GA_METRIC_DATASET_LOSS] = {"dataset_loss", "", "mean over all training rows now", true, false},
    [GA_METRIC_TEST_LOSS] = {"test_loss", "", "mean over the held-out rows now", true, false},
    [GA_METRIC_ACCURACY] = {"accuracy", "", "held-out rows classified right now", true, false},
    [GA_METRIC_GRAD_NORM] = {"grad_norm", "", "|g| of the last window, before clip", true, false},
    [GA_METRIC_UPDATE_NORM] = {"update_norm", "", "|w_new - w_old| of the last update", true,
                               false},
    [GA_METRIC_PARAM_NORM] = {"param_norm", "", "|w| now", true, false},
    [GA_METRIC_LR] = {"lr", "", "rate of the last update, after the schedule", true, false},
    [GA_METRIC_CLIP_SCALE] = {"clip_scale", "", "factor of the last clip, 1 when not clipped", true,
                              false},
    [GA_METRIC_UPDATE] = {"update", "updates", "updates applied", true, false},
    [GA_METRIC_MICRO_BATCHES] = {"micro_batches", "micro-batches", "micro-batches committed", true,
                                 true},
    [GA_METRIC_EXAMPLES] = {"examples", "examples", "examples in applied updates", true, false},
    [GA_METRIC_SKIPPED] = {"skipped", "windows", "windows closed without an update", true, false},
    [GA_METRIC_DROPPED] = {"dropped", "items", "items dropped", true, false},
    [GA_METRIC_APPLIED] = {"applied", "items", "items that are part of an update", true, false},
    [GA_METRIC_IN_FLIGHT] = {"in_flight", "items", "items started, not yet applied or dropped",
                             true, false},
    [GA_METRIC_EPOCH] = {"epoch", "epochs", "epoch of the last window, from 0", true, false},
    [GA_METRIC_TIME] = {"time", "s", "virtual time", true, false},
    [GA_METRIC_WINDOW] = {"window", "examples", "examples of the last window", true, false},
    [GA_METRIC_WINDOW_WEIGHT] = {"window_weight", "", "weight sum of the last window", true, false},
    [GA_METRIC_NOISE_SCALE] = {"noise_scale", "examples",
                               "S / |G|^2, smoothed; below 0: too few windows to tell", true,
                               false},
    [GA_METRIC_NOISE_TRACE] = {"noise_trace", "", "S: trace of the gradient covariance, smoothed",
                               true, false},
    [GA_METRIC_NOISE_SIGNAL] = {"noise_signal", "", "|G|^2: squared true gradient, smoothed", true,
                                false},
    [GA_METRIC_BYTES] = {"bytes", "bytes", "bytes communicated", true, false},
    [GA_METRIC_IDLE] = {"idle", "", "fraction of virtual time spent waiting, since a replica came",
                        true, true},
    [GA_METRIC_EXAMPLE_RATE] = {"example_rate", "examples/s", "examples per wall second", true,
                                false},
    [GA_METRIC_VIRTUAL_RATE] = {"virtual_rate", "examples/s", "examples per virtual second", true,
                                false},
    [GA_METRIC_CLOCK_GAP] = {"clock_gap", "items", "most minus fewest finished items", true, false},
    [GA_METRIC_REPLICA_LOSS] = {"loss", "", "of the replica's last item", false, true},
    [GA_METRIC_REPLICA_NORM] = {"norm", "", "|mean gradient| of the replica's last item", false,
                                true},
    [GA_METRIC_COSINE] = {"cosine", "", "of the last item's gradient with g", false, true},
    [GA_METRIC_STALENESS] = {"staleness", "updates", "updates applied since the pull", true, true},
    [GA_METRIC_STALENESS_MEAN] = {"staleness_mean", "updates",
                                  "mean over pushes since the mode or the replicas changed", true,
                                  false},
    [GA_METRIC_STALENESS_MAX] = {"staleness_max", "updates", "largest of the same pushes", true,
                                 false},
    [GA_METRIC_PUSHES] = {"pushes", "items", "items that reached an update or the server's buffer",
                          true, false},
    [GA_METRIC_PRIVATE_STEPS] = {"private_steps", "steps", "local mode: steps of single replicas",
                                 true, false},
    [GA_METRIC_DRIFT] = {"drift", "",
                         "local mode: sqrt(sum a_r |w_r - w_mean|^2) over the replicas' weights",
                         true, false},
    [GA_METRIC_LOST] = {"lost", "writes", "hogwild: writes undone by another replica", true, false},
    [GA_METRIC_KILLED] = {"killed", "", "replicas that are killed now", true, false},
    [GA_METRIC_SHARPNESS] = {"sharpness", "",
                             "lambda_max: largest eigenvalue of the Hessian over all training rows",
                             true, false},
    [GA_METRIC_GAUGE] = {"gauge", "",
                         "lr * lambda_max over the mode's limit: above 1 steps diverge", true,
                         false},
    [GA_METRIC_ACCUM_NORM] = {"accum_norm", "", "|mean gradient| in the accumulator", false, true},
    [GA_METRIC_ACCUM_WEIGHT] = {"accum_weight", "", "weight sum in the accumulator", false, true},
};

const struct ga_metric_info *ga_metric_info(enum ga_metric metric)
{
    return (unsigned)metric < GA_METRIC_COUNT ? &table[metric] : NULL;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '-' ? '_' : tolower((unsigned char)*a)) != *b)
            return false;
    return *a == *b;
}

int ga_metric_find(const char *name, bool replica)
{
    for (int i = 0; i < GA_METRIC_COUNT; i++)
        if (same_name(name, table[i].name) && (replica ? table[i].of_replica : table[i].of_run))
            return i;
    return ga_fail(GA_EINPUT, "unknown metric \"%.40s\"%s", name, replica ? " of a replica" : "");
}
