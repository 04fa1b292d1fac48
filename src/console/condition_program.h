/* The compiled form of a condition, between condition_parse.c and condition.c: a stack program. */
#ifndef GA_CONSOLE_CONDITION_PROGRAM_H
#define GA_CONSOLE_CONDITION_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "train/metrics.h"

#define GA_CONDITION_STEPS 128 /* of one program */
#define GA_CONDITION_DEPTH 32  /* of its stack, and of brackets */

enum ga_condition_code {
    GA_CODE_PUSH,   /* number */
    GA_CODE_METRIC, /* of the run, or of a replica */
    GA_CODE_LESS,   /* the comparisons take two values and leave 0 or 1 */
    GA_CODE_LESS_EQUAL,
    GA_CODE_GREATER,
    GA_CODE_GREATER_EQUAL,
    GA_CODE_EQUAL,
    GA_CODE_DIFFERENT,
    GA_CODE_IS_NAN,    /* takes one value */
    GA_CODE_HASH,      /* the run hash begins with these digits */
    GA_CODE_NONFINITE, /* the last window's loss or gradient norm is not finite */
    GA_CODE_AND,
    GA_CODE_OR,
    GA_CODE_NOT
};

struct ga_condition_step {
    enum ga_condition_code code;
    enum ga_metric metric;
    int32_t replica; /* METRIC: -1 of the run */
    int digits;      /* HASH */
    uint64_t hash;   /* HASH, the digits as a number */
    double number;   /* PUSH */
};

struct ga_condition_program {
    size_t steps;
    struct ga_condition_step step[GA_CONDITION_STEPS];
};

/* Fills a zeroed program. */
int ga_condition_compile(struct ga_condition_program *program, const char *text);

#endif
