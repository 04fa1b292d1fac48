/*
 * Metrics, one definition each; the screen, logs and conditions use these names. An update's
 * figures are kept as a record; a metric by name is looked up once and read many times.
 */
#ifndef GA_TRAIN_METRICS_H
#define GA_TRAIN_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One closed window. `applied` is false where the window was skipped. A plain value. */
struct ga_update_record {
    uint64_t update;   /* updates applied so far, this one included */
    uint64_t epoch;    /* of the window's first example, from 0 */
    uint64_t examples; /* examples seen by applied updates, cumulative */
    uint64_t micros;   /* micro-batches committed, cumulative */
    uint64_t skipped;  /* windows skipped, cumulative */
    uint64_t dropped;  /* examples dropped (late items), cumulative */
    uint64_t bytes;    /* bytes communicated, cumulative */
    int64_t time_ns;   /* virtual time after the update */
    uint32_t window_examples;
    uint32_t window_micros;
    double window_weight;
    double loss;         /* window: weighted mean at the weights before the update */
    double grad_norm;    /* |g| before clip */
    double clip_scale;   /* 1: not clipped */
    double lr;           /* rate used, after the schedule and the scale */
    double scale;        /* factor on lr by the setting scale, for this update */
    double update_norm;  /* |w_new - w_old| */
    double param_norm;   /* |w_new| */
    double noise_trace;  /* S smoothed; NaN when it is not defined */
    double noise_signal; /* |G|^2 smoothed */
    uint64_t pushes;     /* items that reached an update or the server's buffer, cumulative */
    uint64_t stale;      /* sum over them of the updates applied since their pull */
    uint64_t lost;       /* hogwild: writes undone by another replica, cumulative */
    uint32_t staleness;  /* largest of the pushes in this window; UINT32_MAX: that or more */
    int32_t replica;     /* the one that pushed last into it, -1: none */
    bool applied;
    uint8_t mode; /* enum ga_mode */
};

enum ga_metric {
    GA_METRIC_LOSS,
    GA_METRIC_DATASET_LOSS, /* all training rows at the present weights; computed when asked */
    GA_METRIC_TEST_LOSS,    /* held-out rows; NaN without any */
    GA_METRIC_ACCURACY,     /* held-out rows (training rows without any), classes only */
    GA_METRIC_GRAD_NORM,
    GA_METRIC_UPDATE_NORM,
    GA_METRIC_PARAM_NORM,
    GA_METRIC_LR,
    GA_METRIC_CLIP_SCALE,
    GA_METRIC_UPDATE,
    GA_METRIC_MICRO_BATCHES,
    GA_METRIC_EXAMPLES,
    GA_METRIC_SKIPPED,
    GA_METRIC_DROPPED,   /* items */
    GA_METRIC_APPLIED,   /* items */
    GA_METRIC_IN_FLIGHT, /* items */
    GA_METRIC_EPOCH,
    GA_METRIC_TIME,   /* virtual seconds */
    GA_METRIC_WINDOW, /* examples of the last window */
    GA_METRIC_WINDOW_WEIGHT,
    GA_METRIC_NOISE_SCALE,
    GA_METRIC_NOISE_TRACE,
    GA_METRIC_NOISE_SIGNAL,
    GA_METRIC_BYTES,
    GA_METRIC_IDLE,         /* fraction: over all replicas, or of one */
    GA_METRIC_EXAMPLE_RATE, /* examples per wall second while it ran */
    GA_METRIC_VIRTUAL_RATE, /* examples per virtual second */
    GA_METRIC_CLOCK_GAP,    /* largest minus smallest count of finished items */
    GA_METRIC_REPLICA_LOSS, /* the replica's last item; the four below need a replica */
    GA_METRIC_REPLICA_NORM,
    GA_METRIC_COSINE,
    GA_METRIC_STALENESS,
    GA_METRIC_STALENESS_MEAN, /* over pushes since the mode or the replicas changed last */
    GA_METRIC_STALENESS_MAX,  /* likewise */
    GA_METRIC_PUSHES,
    GA_METRIC_PRIVATE_STEPS, /* local mode */
    GA_METRIC_DRIFT,      /* local mode: sqrt(sum a_r |w_r - w_mean|^2), a_r shares of examples */
    GA_METRIC_LOST,       /* hogwild: writes undone by others */
    GA_METRIC_KILLED,     /* replicas */
    GA_METRIC_SHARPNESS,  /* lambda_max at the present weights; found when asked */
    GA_METRIC_GAUGE,      /* lr * lambda_max over the limit of the mode; above 1 it diverges */
    GA_METRIC_ACCUM_NORM, /* |mean gradient| in its accumulator now */
    GA_METRIC_ACCUM_WEIGHT,
    GA_METRIC_COUNT
};

struct ga_metric_info {
    const char *name; /* "loss", "grad_norm", ... */
    const char *unit; /* "", "s", "examples" */
    const char *help;
    bool of_run;     /* may be read without a replica */
    bool of_replica; /* may be read for one replica: `replica 2 loss` is GA_METRIC_REPLICA_LOSS */
};

const struct ga_metric_info *ga_metric_info(enum ga_metric metric);

/* By name, "-" equal to "_". `replica` tells which of two meanings ("loss") is wanted. -1 + error.
 */
int ga_metric_find(const char *name, bool replica);

#endif
