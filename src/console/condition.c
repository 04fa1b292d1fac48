#include "console/condition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "console/condition_program.h"

static double metric_value(const struct ga_condition_step *step, struct ga_run *run)
{
    if (step->replica >= 0 && (size_t)step->replica >= ga_run_replicas(run))
        return NAN;
    return ga_run_metric(run, step->metric, step->replica);
}

static bool hash_begins(const struct ga_condition_step *step, const struct ga_run *run)
{
    return ga_run_hash(run) >> (64 - 4 * step->digits) == step->hash;
}

static bool last_window_nonfinite(const struct ga_run *run)
{
    const struct ga_update_record *record = ga_run_last_record(run);
    return record && !(isfinite(record->loss) && isfinite(record->grad_norm));
}

static double compare(enum ga_condition_code code, double left, double right)
{
    if (isnan(left) || isnan(right))
        return 0;
    switch (code) {
    case GA_CODE_LESS:
        return left < right;
    case GA_CODE_LESS_EQUAL:
        return left <= right;
    case GA_CODE_GREATER:
        return left > right;
    case GA_CODE_GREATER_EQUAL:
        return left >= right;
    case GA_CODE_EQUAL:
        return left == right;
    default:
        return left != right;
    }
}

/* Truth values are 0 and 1; compiling has bounded the stack. */
static bool evaluate(const struct ga_condition_program *program, struct ga_run *run)
{
    double stack[GA_CONDITION_DEPTH + 1] = {0};
    size_t top = 0; /* values held */
    for (size_t i = 0; i < program->steps; i++) {
        const struct ga_condition_step *step = &program->step[i];
        switch (step->code) {
        case GA_CODE_PUSH:
            stack[top++] = step->number;
            break;
        case GA_CODE_METRIC:
            stack[top++] = metric_value(step, run);
            break;
        case GA_CODE_HASH:
            stack[top++] = hash_begins(step, run);
            break;
        case GA_CODE_NONFINITE:
            stack[top++] = last_window_nonfinite(run);
            break;
        case GA_CODE_IS_NAN:
            stack[top - 1] = isnan(stack[top - 1]);
            break;
        case GA_CODE_NOT:
            stack[top - 1] = !(stack[top - 1] > 0);
            break;
        case GA_CODE_AND:
            top--;
            stack[top - 1] = stack[top - 1] > 0 && stack[top] > 0;
            break;
        case GA_CODE_OR:
            top--;
            stack[top - 1] = stack[top - 1] > 0 || stack[top] > 0;
            break;
        default:
            top--;
            stack[top - 1] = compare(step->code, stack[top - 1], stack[top]);
        }
    }
    return stack[0] > 0;
}

static bool holds(const void *self, struct ga_run *run)
{
    return evaluate(self, run);
}

/* Where a row has the metric; behind its end where it has none. */
static size_t row_place(enum ga_metric metric)
{
    switch (metric) {
    case GA_METRIC_LOSS:
        return offsetof(struct ga_burst_row, loss);
    case GA_METRIC_GRAD_NORM:
        return offsetof(struct ga_burst_row, grad_norm);
    case GA_METRIC_UPDATE_NORM:
        return offsetof(struct ga_burst_row, update_norm);
    case GA_METRIC_PARAM_NORM:
        return offsetof(struct ga_burst_row, param_norm);
    default:
        return sizeof(struct ga_burst_row);
    }
}

/* METRIC NUMBER COMPARISON, of a metric that rows tell, or of the update's number. */
static bool is_scanned(const struct ga_condition_program *program)
{
    const struct ga_condition_step *step = program->step;
    return program->steps == 3 && step[0].code == GA_CODE_METRIC && step[0].replica < 0 &&
           (row_place(step[0].metric) < sizeof(struct ga_burst_row) ||
            step[0].metric == GA_METRIC_UPDATE) &&
           step[1].code == GA_CODE_PUSH && step[2].code >= GA_CODE_LESS &&
           step[2].code <= GA_CODE_DIFFERENT;
}

/* The first of the rows whose figure compares otherwise than `held`. One loop a comparison: a burst
 * is looked through in a hundredth of the time that it takes. */
#define SCAN_WHILE(sign)                                                                           \
    do {                                                                                           \
        while (k < count && (*(const double *)(const void *)at sign limit) == held) {              \
            k++;                                                                                   \
            at += sizeof(struct ga_burst_row);                                                     \
        }                                                                                          \
    } while (0)

static size_t scan_figures(enum ga_condition_code code, const char *at, size_t count, double limit,
                           bool held)
{
    size_t k = 0;
    switch (code) {
    case GA_CODE_LESS:
        SCAN_WHILE(<);
        break;
    case GA_CODE_LESS_EQUAL:
        SCAN_WHILE(<=);
        break;
    case GA_CODE_GREATER:
        SCAN_WHILE(>);
        break;
    case GA_CODE_GREATER_EQUAL:
        SCAN_WHILE(>=);
        break;
    case GA_CODE_EQUAL:
        SCAN_WHILE(==);
        break;
    default:
        SCAN_WHILE(!=);
    }
    return k;
}

static bool holds_at(enum ga_condition_code code, const struct ga_burst_rows *rows, size_t k,
                     double limit)
{
    return compare(code, (double)(rows->before.update + k + 1), limit) > 0;
}

/* Updates count upwards, so where an order holds at both ends it holds all the way. */
static size_t scan_updates(enum ga_condition_code code, const struct ga_burst_rows *rows,
                           double limit, bool held)
{
    const bool is_order = code != GA_CODE_EQUAL && code != GA_CODE_DIFFERENT;
    size_t k = 0;
    if (rows->count == 0 || (is_order && holds_at(code, rows, 0, limit) == held &&
                             holds_at(code, rows, rows->count - 1, limit) == held))
        return rows->count;
    while (k < rows->count && holds_at(code, rows, k, limit) == held)
        k++;
    return k;
}

static size_t scan(const void *self, const struct ga_burst_rows *rows, bool held)
{
    const struct ga_condition_step *step = ((const struct ga_condition_program *)self)->step;
    if (step[0].metric == GA_METRIC_UPDATE)
        return scan_updates(step[2].code, rows, step[1].number, held);
    return scan_figures(step[2].code, (const char *)rows->row + row_place(step[0].metric),
                        rows->count, step[1].number, held);
}

int ga_condition_read(struct ga_condition *out, const char *text)
{
    memset(out, 0, sizeof(*out));
    struct ga_condition_program *program = ga_alloc(1, sizeof(*program));
    if (!program)
        return GA_ENOMEM;
    const int code = ga_condition_compile(program, text);
    if (code < 0) {
        free(program);
        return code;
    }
    out->holds = holds;
    out->scan = is_scanned(program) ? scan : NULL;
    out->close = free;
    out->self = program;
    if (snprintf(out->text, sizeof(out->text), "%s", text) >= (int)sizeof(out->text))
        strcpy(out->text + sizeof(out->text) - 4, "...");
    return 0;
}

void ga_condition_fini(struct ga_condition *condition)
{
    if (condition->close)
        condition->close(condition->self);
    memset(condition, 0, sizeof(*condition));
}

int32_t ga_condition_replica(const struct ga_condition *condition)
{
    const struct ga_condition_program *program = condition->self;
    int32_t largest = -1;
    for (size_t i = 0; i < program->steps; i++)
        if (program->step[i].replica > largest)
            largest = program->step[i].replica;
    return largest;
}

static void append_value(const struct ga_condition_step *step, struct ga_run *run,
                         struct ga_text *out)
{
    const char *comma = out->length ? ", " : "";
    if (step->code == GA_CODE_HASH) {
        char digits[GA_HASH_TEXT];
        ga_hash_format(digits, ga_run_hash(run));
        ga_text_printf(out, "%shash = %s", comma, digits);
    } else if (step->code == GA_CODE_METRIC) {
        ga_text_puts(out, comma);
        if (step->replica >= 0)
            ga_text_printf(out, "replica %d ", (int)step->replica);
        ga_text_printf(out, "%s = ", ga_metric_info(step->metric)->name);
        ga_text_number(out, metric_value(step, run));
    } else if (step->code == GA_CODE_NONFINITE) {
        const struct ga_update_record *record = ga_run_last_record(run);
        ga_text_printf(out, "%sloss = ", comma);
        ga_text_number(out, record ? record->loss : NAN);
        ga_text_puts(out, ", grad_norm = ");
        ga_text_number(out, record ? record->grad_norm : NAN);
    }
}

void ga_condition_values(const struct ga_condition *condition, struct ga_run *run,
                         struct ga_text *out)
{
    const struct ga_condition_program *program = condition->self;
    struct ga_text values = GA_TEXT_INIT;
    for (size_t i = 0; i < program->steps; i++)
        append_value(&program->step[i], run, &values);
    ga_text_puts(out, ga_text_get(&values));
    ga_text_free(&values);
}
