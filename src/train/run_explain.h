/*
 * Explaining the last event, shared by run_explain.c and run_explain_modes.c only: a page is the
 * text being written for one parameter.
 */
#ifndef GA_TRAIN_RUN_EXPLAIN_H
#define GA_TRAIN_RUN_EXPLAIN_H

#include "train/run_internal.h"

struct ga_explain_page {
    struct ga_run *run;
    size_t position;             /* of the parameter */
    char name[96];               /* layers.0.weight[2] */
    double lr, clip_scale, norm; /* of the update that is explained */
    struct ga_text *out;
};

static inline unsigned long long explain_number(uint64_t value)
{
    return (unsigned long long)value;
}

/* The parameter's sum in a buffer of gradient sums. */
double ga_explain_sum(const struct ga_explain_page *page, const void *sums);

/* Lines that several events have. */
void ga_explain_skip(const struct ga_explain_page *page);
void ga_explain_clip(const struct ga_explain_page *page, double *gradient);
void ga_explain_optimizer(const struct ga_explain_page *page, double gradient);

/* run_explain_modes.c */
void ga_explain_server(struct ga_explain_page *page); /* push modes: a push or buffer is applied */
void ga_explain_send(struct ga_explain_page *page);
void ga_explain_private(struct ga_explain_page *page); /* local: a step of a replica's own */
void ga_explain_round(struct ga_explain_page *page);   /* local: weights are averaged */

#endif
