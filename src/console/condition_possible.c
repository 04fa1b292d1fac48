/* Whether a condition can still come true going forward: by counters that only grow. */
#include <math.h>

#include "console/condition.h"
#include "console/condition_program.h"

/* Bounds of a figure from now on, and whether a truth value can be true, and false. */
struct outlook {
    double low, high;
    bool may_hold, may_fail;
};

static bool only_grows(const struct ga_condition_step *step)
{
    static const bool grows[GA_METRIC_COUNT] = {
        [GA_METRIC_UPDATE] = true,        [GA_METRIC_MICRO_BATCHES] = true,
        [GA_METRIC_EXAMPLES] = true,      [GA_METRIC_SKIPPED] = true,
        [GA_METRIC_DROPPED] = true,       [GA_METRIC_APPLIED] = true,
        [GA_METRIC_TIME] = true,          [GA_METRIC_BYTES] = true,
        [GA_METRIC_PRIVATE_STEPS] = true, [GA_METRIC_LOST] = true,
    };

    return step->replica < 0 && grows[step->metric];
}

static struct outlook either(void)
{
    return (struct outlook){-(double)INFINITY, (double)INFINITY, true, true};
}

static struct outlook of_metric(const struct ga_condition_step *step, struct ga_run *run)
{
    struct outlook out = either();
    if (only_grows(step))
        out.low = ga_run_metric(run, step->metric, step->replica);
    return out;
}

static struct outlook less(struct outlook a, struct outlook b)
{
    struct outlook out = either();
    out.may_hold = a.low < b.high;
    return out;
}

static struct outlook at_most(struct outlook a, struct outlook b)
{
    struct outlook out = either();
    out.may_hold = a.low <= b.high;
    return out;
}

/* A bound that is not known is infinite, and an infinite figure is not ruled out. */
static struct outlook compare(enum ga_condition_code code, struct outlook a, struct outlook b)
{
    struct outlook out = either();
    if (code == GA_CODE_LESS)
        out = less(a, b);
    else if (code == GA_CODE_GREATER)
        out = less(b, a);
    else if (code == GA_CODE_LESS_EQUAL)
        out = at_most(a, b);
    else if (code == GA_CODE_GREATER_EQUAL)
        out = at_most(b, a);
    else if (code == GA_CODE_EQUAL)
        out.may_hold = a.low <= b.high && b.low <= a.high;
    return out;
}

static struct outlook both(struct outlook a, struct outlook b)
{
    return (struct outlook){0, 1, a.may_hold && b.may_hold, a.may_fail || b.may_fail};
}

static struct outlook one_of(struct outlook a, struct outlook b)
{
    return (struct outlook){0, 1, a.may_hold || b.may_hold, a.may_fail && b.may_fail};
}

/* The stack holds what `step` takes. */
static size_t take_step(struct outlook *stack, size_t top, const struct ga_condition_step *step,
                        struct ga_run *run)
{
    struct outlook *last = stack + top - 1;
    switch (step->code) {
    case GA_CODE_PUSH:
        stack[top] = (struct outlook){step->number, step->number, true, true};
        return top + 1;
    case GA_CODE_METRIC:
        stack[top] = of_metric(step, run);
        return top + 1;
    case GA_CODE_HASH:
    case GA_CODE_NONFINITE:
        stack[top] = either();
        return top + 1;
    case GA_CODE_IS_NAN:
        *last = either();
        return top;
    case GA_CODE_NOT:
        *last = (struct outlook){0, 1, last->may_fail, last->may_hold};
        return top;
    case GA_CODE_AND:
        last[-1] = both(last[-1], *last);
        return top - 1;
    case GA_CODE_OR:
        last[-1] = one_of(last[-1], *last);
        return top - 1;
    default:
        last[-1] = compare(step->code, last[-1], *last);
        return top - 1;
    }
}

bool ga_condition_is_possible(const struct ga_condition *condition, struct ga_run *run)
{
    const struct ga_condition_program *program = condition->self;
    struct outlook stack[GA_CONDITION_DEPTH + 1] = {0};
    size_t top = 0;
    for (size_t i = 0; i < program->steps; i++)
        top = take_step(stack, top, &program->step[i], run);
    return stack[0].may_hold;
}
