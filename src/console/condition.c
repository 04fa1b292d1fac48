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

/* One row's figure: a run's metric that a row tells. NULL: it does not. */
static double row_loss(const struct ga_burst_rows *rows, size_t k)
{
    return rows->row[k].loss;
}

static double row_grad_norm(const struct ga_burst_rows *rows, size_t k)
{
    return rows->row[k].grad_norm;
}

static double row_update_norm(const struct ga_burst_rows *rows, size_t k)
{
    return rows->row[k].update_norm;
}

static double row_param_norm(const struct ga_burst_rows *rows, size_t k)
{
    return rows->row[k].param_norm;
}

static double row_update(const struct ga_burst_rows *rows, size_t k)
{
    return (double)(rows->before.update + k + 1);
}

static double (*const row_metrics[GA_METRIC_COUNT])(const struct ga_burst_rows *rows, size_t k) = {
    [GA_METRIC_LOSS] = row_loss,
    [GA_METRIC_GRAD_NORM] = row_grad_norm,
    [GA_METRIC_UPDATE_NORM] = row_update_norm,
    [GA_METRIC_PARAM_NORM] = row_param_norm,
    [GA_METRIC_UPDATE] = row_update,
};

/* METRIC NUMBER COMPARISON, of a metric that rows tell. */
static bool is_scanned(const struct ga_condition_program *program)
{
    const struct ga_condition_step *step = program->step;
    return program->steps == 3 && step[0].code == GA_CODE_METRIC && step[0].replica < 0 &&
           row_metrics[step[0].metric] && step[1].code == GA_CODE_PUSH &&
           step[2].code >= GA_CODE_LESS && step[2].code <= GA_CODE_DIFFERENT;
}

static size_t scan(const void *self, const struct ga_burst_rows *rows, bool held)
{
    const struct ga_condition_program *program = self;
    double (*const value)(const struct ga_burst_rows *rows, size_t k) =
        row_metrics[program->step[0].metric];
    size_t k = 0;
    while (k < rows->count &&
           (compare(program->step[2].code, value(rows, k), program->step[1].number) > 0) == held)
        k++;
    return k;
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
