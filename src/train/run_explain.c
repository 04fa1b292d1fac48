/*
 * The arithmetic of the last event in words and numbers, for one parameter. Everything printed is
 * read from the buffers that the event used, or recomputed from the same rows and weights.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "train/plan.h"
#include "train/run_explain.h"

static void parameter_name(const struct ga_net *net, size_t position, char *out, size_t size)
{
    const struct ga_tensor *tensor = ga_net_tensor_at(net, position);
    size_t at = position - tensor->offset;

    if (tensor->dimensions == 2 && tensor->columns > 1)
        snprintf(out, size, "%s[%zu,%zu]", tensor->name, at / tensor->columns,
                 at % tensor->columns);
    else
        snprintf(out, size, "%s[%zu]", tensor->name, at);
}

double ga_explain_sum(const struct ga_explain_page *page, const void *sums)
{
    double sum = 0;

    page->run->compute->read_sums(&page->run->net, sums, page->position, 1, &sum);
    return sum;
}

/* Rows as "35..39" where they follow each other, else the first few. */
static void rows_text(const uint32_t *row, size_t count, struct ga_text *out)
{
    bool run = true;

    for (size_t i = 1; i < count; i++)
        run = run && row[i] == row[i - 1] + 1;
    if (count == 0) {
        ga_text_puts(out, "none");
    } else if (run && count > 1) {
        ga_text_printf(out, "%u..%u", row[0], row[count - 1]);
    } else {
        for (size_t i = 0; i < count && i < 8; i++)
            ga_text_printf(out, "%s%u", i ? " " : "", row[i]);
        if (count > 8)
            ga_text_printf(out, " ... %u", row[count - 1]);
    }
}

static void explain_none(struct ga_explain_page *page)
{
    ga_text_printf(page->out,
                   "nothing has happened yet: `micro` steps one micro-batch\n  %-22s %.6g\n",
                   page->name, (double)page->run->server->weights[page->position]);
}

static void explain_open(struct ga_explain_page *page)
{
    const struct ga_run *run = page->run;

    if (ga_run_pushes(run)) {
        ga_text_puts(page->out, "all replicas pull and start, each on a piece of its own\n");
        return;
    }
    ga_text_printf(page->out, "update %llu: a window of %zu examples of epoch %llu is open\n",
                   explain_number(page->run->last_event.update), run->window.examples,
                   explain_number(run->window.epoch));
    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica *replica = &run->replica[r];

        ga_text_printf(page->out, "  replica %-3zu examples ", r);
        rows_text(replica->rows, replica->v.part, page->out);
        ga_text_printf(page->out, " (%u, in %u micro-batch%s)\n", replica->v.part,
                       ga_plan_micros(run_set(run), replica->v.part),
                       ga_plan_micros(run_set(run), replica->v.part) == 1 ? "" : "es");
    }
}

/* The committed micro-batch once more, for its part of the sum; the same bits by construction. */
static int micro_again(const struct ga_explain_page *page, size_t r, uint32_t micro, double *part)
{
    struct ga_run *run = page->run;
    const struct ga_replica *replica = &run->replica[r];
    struct ga_context *context = run_context(run, 0);
    struct ga_batch batch = run_batch(run);
    struct ga_tally tally;
    size_t first = 0;
    void *sums = ga_run_alloc_sums(run, 0, 1);
    int code = sums && context ? GA_OK : ga_error_code();

    if (code == GA_OK) {
        ga_plan_part(replica->v.examples, replica->v.micros, micro, &first, &batch.count);
        batch.index = replica->rows + replica->v.step_row + first;
        code = run->compute->gradient(context, replica->v.read->weights, &batch, GA_ASSIGN, sums,
                                      &tally);
    }
    if (code == GA_OK)
        *part = ga_explain_sum(page, sums);
    run->compute->free(sums);
    return code;
}

/* Sums and weights of all replicas that hold something; returns their total. */
static double replica_lines(const struct ga_explain_page *page, const char *just_added,
                            size_t adder, double *weight)
{
    double total = 0;

    *weight = 0;
    for (size_t r = 0; r < page->run->replicas; r++) {
        const struct ga_replica *replica = &page->run->replica[r];
        const struct ga_tally *tally = replica->has_kept ? &replica->kept : &replica->v.tally;
        double own = ga_tally_weight_sum(tally);
        bool holds =
            replica->has_kept || (replica->v.micro > 0 && replica->v.state != GA_REPLICA_LATE);
        double sum = holds ? ga_explain_sum(page, replica->sums) : 0;

        if (!holds)
            continue;
        ga_text_printf(page->out, "    replica %-3zu sum %s%.6g   weight %g   mean %.6g\n", r,
                       r == adder ? just_added : "", sum, own, own > 0 ? sum / own : 0);
        total += sum;
        *weight += own;
    }
    return total;
}

static void micro_head(const struct ga_explain_page *page, const struct ga_event *event)
{
    const struct ga_replica *replica = &page->run->replica[event->replica];
    size_t first = 0, count = 0;

    ga_plan_part(replica->v.examples, replica->v.micros, event->micro - 1, &first, &count);
    ga_text_printf(page->out,
                   "update %llu, micro-batch %u/%u on replica %d, weights of version %llu\n",
                   explain_number(event->update), event->micro, event->micros, event->replica,
                   explain_number(event->version));
    ga_text_puts(page->out, "  examples               ");
    rows_text(replica->rows + replica->v.step_row + first, count, page->out);
    ga_text_printf(page->out, " (%zu)   loss %.6g   |g| %.6g\n", count, event->loss, event->norm);
}

/* What a private step or a change of replicas left behind can be told of, but not looked at. */
static bool is_in_hand(const struct ga_run *run, const struct ga_event *event)
{
    const struct ga_replica_value *v = NULL;

    if ((size_t)event->replica >= run->replicas)
        return false;
    v = &run->replica[event->replica].v;
    return v->state == GA_REPLICA_BUSY && v->micro == event->micro && v->micros == event->micros;
}

static void explain_micro(struct ga_explain_page *page)
{
    const struct ga_event *event = &page->run->last_event;
    const struct ga_replica *replica = NULL;
    size_t r = (size_t)event->replica;
    double after = 0, part = 0, total = 0, weight = 0;
    char added[96] = "";

    if (!is_in_hand(page->run, event)) {
        ga_text_printf(page->out,
                       "update %llu, micro-batch %u/%u on replica %d: its item has moved on\n"
                       "  %u examples   loss %.6g   |g| %.6g\n",
                       explain_number(event->update), event->micro, event->micros, event->replica,
                       event->examples, event->loss, event->norm);
        return;
    }
    replica = &page->run->replica[r];
    after = ga_explain_sum(page, replica->sums);
    micro_head(page, event);
    if (micro_again(page, r, event->micro - 1, &part) == GA_OK)
        snprintf(added, sizeof added, "%.6g + %.6g = ", after - part, part);
    ga_text_printf(page->out, "  %s\n", page->name);
    total = replica_lines(page, added, r, &weight);
    if (ga_run_pushes(page->run)) /* each replica pushes its own sum: there is no common one */
        ga_text_printf(page->out, "    its item    has %u of %u examples\n",
                       replica->v.done_examples, replica->v.examples);
    else
        ga_text_printf(
            page->out, "    so far      %.6g / %g = %.6g   (%g of the window's %zu examples)\n",
            total, weight, weight > 0 ? total / weight : 0, weight, page->run->window.examples);
}

static void explain_push(struct ga_explain_page *page)
{
    const struct ga_event *event = &page->run->last_event;
    double weight = 0;

    ga_text_printf(page->out,
                   "update %llu: replica %d hands over %u examples after %.6g ms\n"
                   "  it read version %llu; staleness %g   loss %.6g   |g| %.6g\n  %s\n",
                   explain_number(event->update), event->replica, event->examples,
                   (double)(event->time_ns - event->start_ns) * 1e-6,
                   explain_number(event->version), event->value, event->loss, event->norm,
                   page->name);
    replica_lines(page, "", SIZE_MAX, &weight);
    ga_text_printf(page->out,
                   ga_run_pushes(page->run) ? "    the server's buffer has %u of %u pushes\n"
                                            : "    %u of %u replicas have arrived\n",
                   page->run->window.arrived, page->run->window.expected);
}

static void explain_drop(struct ga_explain_page *page)
{
    const struct ga_event *event = &page->run->last_event;

    ga_text_printf(
        page->out,
        "update %llu: the item of replica %d is dropped (%u of %u micro-batches done, %u "
        "examples spent)\n",
        explain_number(event->update), event->replica, event->micro, event->micros,
        event->examples);
}

/* What the sgd step did, term by term. */
static void sgd_lines(const struct ga_explain_page *page, double gradient)
{
    const struct ga_run *run = page->run;
    const struct ga_settings *set = run_set(run);
    double old = (double)run->previous->weights[page->position];
    double step = gradient;

    if (set->weight_decay > 0) {
        step = gradient + set->weight_decay * old;
        ga_text_printf(page->out, "    decay       %.6g + %g * %.6g = %.6g\n", gradient,
                       set->weight_decay, old, step);
    }
    if (run->previous->state && run->server->state) {
        double buffer = (double)run->previous->state[page->position];
        double fresh = (double)run->server->state[page->position];

        ga_text_printf(page->out, "    momentum    %g * %.6g + %.6g = %.6g\n", set->momentum,
                       buffer, step, fresh);
        if (set->nesterov)
            ga_text_printf(page->out, "    nesterov    %.6g + %g * %.6g = %.6g\n", step,
                           set->momentum, fresh, step + set->momentum * fresh);
        step = set->nesterov ? step + set->momentum * fresh : fresh;
    }
    ga_text_printf(page->out, "    sgd         %.6g - lr %g * %.6g = %.6g\n", old, page->lr, step,
                   (double)run->server->weights[page->position]);
}

static void adam_lines(const struct ga_explain_page *page, double gradient)
{
    const struct ga_run *run = page->run;
    const struct ga_settings *set = run_set(run);
    size_t n = run->net.parameters;
    const struct ga_optimizer_scalars *scalars = &run->server->scalars;
    double m = (double)run->server->state[page->position];
    double v = (double)run->server->state[n + page->position];

    ga_text_printf(page->out,
                   "    %-11s g %.6g   m %.6g   v %.6g   t %llu\n"
                   "                m/(1 - beta1^t) = %.6g   sqrt(v/(1 - beta2^t)) = %.6g\n",
                   ga_choice_word("optimizer", (int)set->optimizer), gradient, m, v,
                   explain_number(scalars->t), m / (1 - scalars->beta1_power),
                   sqrt(v / (1 - scalars->beta2_power)));
    ga_text_printf(page->out, "                %.6g -> %.6g at lr %g\n",
                   (double)run->previous->weights[page->position],
                   (double)run->server->weights[page->position], page->lr);
}

void ga_explain_clip(const struct ga_explain_page *page, double *gradient)
{
    double limit = run_set(page->run)->clip;

    if (!(limit > 0))
        return;
    if (page->clip_scale >= 1) {
        ga_text_printf(page->out, "    clip        |g| %.6g is below %g: not clipped\n", page->norm,
                       limit);
        return;
    }
    ga_text_printf(page->out, "    clip        |g| %.6g over %g: x %.6g = %.6g\n", page->norm,
                   limit, page->clip_scale, *gradient * page->clip_scale);
    *gradient *= page->clip_scale;
}

static void tensorflow_line(const struct ga_explain_page *page, double total, double weight,
                            size_t holders)
{
    if (run_set(page->run)->reduce == GA_REDUCE_SUM || holders < 2)
        return;
    ga_text_printf(
        page->out,
        "    TensorFlow  its optimizers SUM over replicas: %zu replica means would add up to "
        "about %.6g;\n"
        "                there the loss must be divided by the global batch (%g)\n",
        holders, (double)holders * total / weight, weight);
}

static size_t count_holders(const struct ga_run *run)
{
    size_t holders = 0;

    for (size_t r = 0; r < run->replicas; r++)
        holders += run->replica[r].v.in_window || run->replica[r].has_kept;
    return holders;
}

void ga_explain_skip(const struct ga_explain_page *page)
{
    ga_text_puts(page->out, "    skipped     no update: weights and optimizer are as before\n");
}

void ga_explain_optimizer(const struct ga_explain_page *page, double gradient)
{
    if (run_set(page->run)->optimizer == GA_SGD)
        sgd_lines(page, gradient);
    else
        adam_lines(page, gradient);
}

static void step_lines(struct ga_explain_page *page, double gradient)
{
    const struct ga_run *run = page->run;
    enum ga_event_kind kind = run->last_event.kind;

    page->lr = run->window.lr;
    page->clip_scale = run->window.clip_scale;
    page->norm = run->window.norm;
    if (kind >= GA_EVENT_CLIP && !run->window.skipped)
        ga_explain_clip(page, &gradient);
    if (run->window.skipped || kind == GA_EVENT_SKIP)
        ga_explain_skip(page);
    else if ((kind == GA_EVENT_APPLY || kind == GA_EVENT_CLEAR) && run->previous)
        ga_explain_optimizer(page, gradient);
    else
        ga_text_printf(page->out, "    next        %s\n", ga_phase_name(run->phase));
}

static void explain_window(struct ga_explain_page *page)
{
    const struct ga_run *run = page->run;
    const struct ga_event *event = &run->last_event;
    bool sum_only = run_set(run)->reduce == GA_REDUCE_SUM;
    double total = 0, weight = 0, gradient = 0;

    if (run_is(run, GA_FAMILY_ROUND)) {
        ga_explain_round(page);
        return;
    }
    if (ga_run_pushes(run)) {
        ga_explain_server(page);
        return;
    }

    ga_text_printf(page->out, "update %llu, %s: window of %llu examples, %u micro-batches\n",
                   explain_number(event->update), ga_event_name(event->kind),
                   explain_number(run->window.total.examples), run->window.micros);
    ga_text_printf(page->out, "  loss %.6g   |g| %.6g\n  %s\n", run->window.loss, run->window.norm,
                   page->name);
    total = replica_lines(page, "", SIZE_MAX, &weight);
    if (!run->has_gradient) {
        step_lines(page, 0);
        return;
    }
    gradient = (double)ga_run_gradient(run)[page->position];
    ga_text_printf(page->out, "    all-reduce  sum %.6g   weight %g\n", total, weight);
    if (sum_only)
        ga_text_printf(page->out, "    reduce sum  g = %.6g, not divided by %g\n", gradient,
                       weight);
    else
        ga_text_printf(page->out, "    divide once %.6g / %g = %.6g\n", total, weight, gradient);
    tensorflow_line(page, total, weight, count_holders(run));
    step_lines(page, gradient);
}

static void (*const explain_of[GA_EVENT_KINDS])(struct ga_explain_page *) = {
    [GA_EVENT_SEND] = ga_explain_send, [GA_EVENT_NONE] = explain_none,
    [GA_EVENT_OPEN] = explain_open,    [GA_EVENT_MICRO] = explain_micro,
    [GA_EVENT_PUSH] = explain_push,    [GA_EVENT_DROP] = explain_drop,
    [GA_EVENT_FLUSH] = explain_window, [GA_EVENT_REDUCE] = explain_window,
    [GA_EVENT_CHECK] = explain_window, [GA_EVENT_CLIP] = explain_window,
    [GA_EVENT_APPLY] = explain_window, [GA_EVENT_SKIP] = explain_window,
    [GA_EVENT_CLEAR] = explain_window, [GA_EVENT_PRIVATE] = ga_explain_private,
};

/* What a page may read. */
static void fetch_all(const struct ga_run *run)
{
    ga_buffer_fetch(run->compute, run->gradient);
    ga_version_fetch(run->server);
    ga_version_fetch(run->previous);
    for (size_t r = 0; r < run->replicas; r++)
        ga_version_fetch(run->replica[r].v.own);
}

int ga_run_explain(struct ga_run *run, size_t position, struct ga_text *out)
{
    struct ga_explain_page page = {.run = run, .position = position, .out = out};

    if (position >= run->net.parameters)
        return ga_fail(GA_ERANGE, "there is no parameter %zu: expected 0..%zu", position,
                       run->net.parameters - 1);
    parameter_name(&run->net, position, page.name, sizeof page.name);
    fetch_all(run);
    explain_of[run->last_event.kind](&page);
    return ga_text_failed(out) ? ga_fail(GA_ENOMEM, "no memory to explain") : GA_OK;
}

/* One index "2" or two "4,0" between brackets; *at becomes the position in the tensor. */
static int read_index(const struct ga_tensor *tensor, const char *text, size_t *at)
{
    char part[24] = "";
    const char *comma = strchr(text, ',');
    int64_t row = 0, column = 0;
    size_t length = comma ? (size_t)(comma - text) : strlen(text);

    if (length >= sizeof part)
        return ga_fail(GA_EINPUT, "index [%s]: expected [row] or [row,column]", text);
    memcpy(part, text, length);
    if (!comma && tensor->columns > 1) {
        if (ga_read_int(part, 0, (int64_t)(tensor->rows * tensor->columns) - 1, &row) < 0)
            return ga_fail_within("%s[%s]", tensor->name, text);
        *at = (size_t)row;
        return GA_OK;
    }
    if (ga_read_int(part, 0, (int64_t)tensor->rows - 1, &row) < 0 ||
        (comma && ga_read_int(comma + 1, 0, (int64_t)tensor->columns - 1, &column) < 0))
        return ga_fail_within("%s[%s]", tensor->name, text);
    *at = (size_t)row * tensor->columns + (size_t)column;
    return GA_OK;
}

static int unknown_tensor(const struct ga_net *net, const char *text)
{
    struct ga_text names = GA_TEXT_INIT;

    for (size_t i = 0; i < net->tensors; i++)
        ga_text_printf(&names, "%s%s", i ? ", " : "", net->tensor[i].name);
    ga_fail(GA_EINPUT, "there is no tensor \"%.40s\": expected one of %s", text,
            ga_text_get(&names));
    ga_text_free(&names);
    return ga_error_code();
}

int ga_run_parameters(const struct ga_run *run, const char *text, size_t *first, size_t *count)
{
    const struct ga_tensor *tensor = NULL;
    const char *bracket = strchr(text, '[');
    char name[32] = "", index[48] = "";
    size_t length = bracket ? (size_t)(bracket - text) : strlen(text), at = 0;

    if (length < sizeof name)
        memcpy(name, text, length);
    tensor = ga_net_tensor(&run->net, name);
    if (!tensor)
        return unknown_tensor(&run->net, text);
    if (!bracket) {
        *first = tensor->offset;
        *count = tensor->rows * tensor->columns;
        return GA_OK;
    }
    length = strlen(bracket);
    if (length < 3 || length - 2 >= sizeof index || bracket[length - 1] != ']')
        return ga_fail(GA_EINPUT, "\"%.60s\": expected an index like %s[0]", text, tensor->name);
    memcpy(index, bracket + 1, length - 2);
    if (read_index(tensor, index, &at) < 0)
        return ga_error_code();
    *first = tensor->offset + at;
    *count = 1;
    return GA_OK;
}
