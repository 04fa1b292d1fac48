/* A close-up of the run, made on the engine thread between two events. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "console/watch_inside.h"
#include "train/sharpness.h"

/* Beyond this a look at the accumulators would cost the run more than it shows. */
#define MOST_SUMS 65536

/* Rows times parameters for which the curvature of a net is looked for. */
#define CHEAP_MOVING   4000.0
#define CHEAP_STANDING 200000.0
#define GAUGE_NS       INT64_C(1000000000)

static void make_shares(struct ga_run *run, struct ga_closeup *out)
{
    double now = (double)ga_run_now(run);
    size_t replicas = ga_run_replicas(run);

    for (size_t r = 0; r < replicas && r < GA_VIEW_REPLICAS; r++) {
        const struct ga_replica_value *value = ga_run_replica(run, r);
        /* An item under way counts as far as it has come. */
        bool works = value->state == GA_REPLICA_BUSY || value->state == GA_REPLICA_LATE;
        double open = works ? now - (double)value->start_ns : 0;
        double span = now - (double)value->joined_ns;

        out->busy[r] = ((double)value->busy_ns + (open > 0 ? open : 0)) / span;
        out->talk[r] = (double)value->communication_ns / span;
        ga_run_seat(run, r, &out->seat[r]);
    }
}

static void make_device(struct ga_run *run, struct ga_closeup *out)
{
    struct ga_device_row *row = &out->device[0];
    bool here = ga_run_compute_of(run)->memory == NULL;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    out->replicas = ga_run_replicas(run);
    out->devices = 1;
    *row = (struct ga_device_row){.utilisation = (double)NAN,
                                  .temperature = (double)NAN,
                                  .memory_used = (double)out->run_bytes,
                                  .memory_total = (double)NAN,
                                  .power = (double)NAN,
                                  .clock = (double)NAN,
                                  .replicas = here ? (int32_t)out->replicas : 0,
                                  .step = 1};
    snprintf(row->name, sizeof row->name, "cpu");
    snprintf(row->kind, sizeof row->kind, "%ld core%s, %s kernels", cores, cores == 1 ? "" : "s",
             ga_compute_cpu_kernel());
}

static int make_gradients(struct ga_run *run, struct ga_watch *watch, struct ga_heat *heat)
{
    size_t parameters = heat->parameters, replicas = ga_run_replicas(run);

    heat->replicas = 0;
    if (parameters > MOST_SUMS)
        return GA_OK;
    if (ga_grow((void **)&watch->sum, &watch->sum_capacity, parameters, sizeof *watch->sum) < 0)
        return GA_ENOMEM;
    for (size_t r = 0; r < replicas && r < GA_WATCH_REPLICAS; r++) {
        double weight = 0;

        if (ga_run_accumulator(run, r, watch->sum, &weight) < 0)
            return ga_error_code();
        for (size_t i = 0; i < heat->values; i++)
            heat->gradient[r][i] = weight > 0 ? (float)(watch->sum[i * heat->stride] / weight) : 0;
        heat->replicas++;
    }
    return GA_OK;
}

static int make_heat(struct ga_run *run, struct ga_watch *watch, struct ga_heat *heat)
{
    const struct ga_net *net = ga_run_net_of(run);
    const struct ga_version *version = ga_run_version(run);

    heat->parameters = net->parameters;
    heat->stride = (net->parameters + GA_HEAT_VALUES - 1) / GA_HEAT_VALUES;
    heat->stride = heat->stride > 0 ? heat->stride : 1;
    heat->values = (net->parameters + heat->stride - 1) / heat->stride;
    for (size_t i = 0; i < heat->values; i++)
        heat->weight[i] = version->weights[i * heat->stride];
    heat->tensors = net->tensors;
    for (size_t t = 0; t < net->tensors && t < GA_NET_TENSORS; t++) {
        memcpy(heat->tensor[t].name, net->tensor[t].name, sizeof heat->tensor[t].name);
        heat->tensor[t].first = net->tensor[t].offset / heat->stride;
    }
    return make_gradients(run, watch, heat);
}

static void write_parameter(const struct ga_net *net, size_t position, char *out, size_t size)
{
    const struct ga_tensor *tensor = ga_net_tensor_at(net, position);
    size_t at = tensor ? position - tensor->offset : 0;

    if (!tensor)
        snprintf(out, size, "%s", "");
    else if (tensor->dimensions == 2 && tensor->columns > 1)
        snprintf(out, size, "%s[%zu,%zu]", tensor->name, at / tensor->columns,
                 at % tensor->columns);
    else
        snprintf(out, size, "%s[%zu]", tensor->name, at);
}

static int make_explanation(struct ga_run *run, size_t position, struct ga_closeup *out)
{
    struct ga_text text = GA_TEXT_INIT;
    int code = GA_OK;

    position = position < out->parameters ? position : 0;
    code = ga_run_explain(run, position, &text);
    snprintf(out->explain, sizeof out->explain, "%s", ga_text_get(&text));
    write_parameter(ga_run_net_of(run), position, out->parameter, sizeof out->parameter);
    ga_text_free(&text);
    return code;
}

_Static_assert(GA_TAU_BINS == GA_SHAPE_BINS, "bins of the law");

/*
 * Finding the curvature of a net costs some hundred gradients of the whole data, so it is left out
 * where they are not cheap, and made once a second at the most while the weights keep changing.
 */
static bool gauge_is_due(struct ga_run *run, struct ga_watch *watch)
{
    const struct ga_table *table = ga_dataset_table(ga_run_data(run));
    double cost = (double)table->train * (double)ga_run_net_of(run)->parameters;
    bool moving = ga_engine_moving(watch->engine);
    int64_t now = ga_now_ns();

    if (table->kind == GA_TARGET_QUADRATIC)
        return true;
    if (cost > (moving ? CHEAP_MOVING : CHEAP_STANDING) ||
        (moving && now - watch->gauge_ns < GAUGE_NS))
        return false;
    watch->gauge_ns = now;
    return true;
}

static void make_law(struct ga_run *run, struct ga_watch *watch, struct ga_law *law)
{
    const struct ga_settings *settings = ga_run_settings(run);
    struct ga_staleness_law staleness;
    struct ga_stability stability;
    struct ga_crew crew;

    ga_crew_of(run, settings, &crew);
    ga_staleness_law(settings, &crew, &staleness);
    law->has_mean = !isnan(staleness.mean);
    law->mean = staleness.mean;
    law->has_shape = staleness.has_shape;
    memcpy(law->shape, staleness.shape, sizeof law->shape);
    snprintf(law->text, sizeof law->text, "%s", staleness.text);
    ga_run_stability(run, &stability);
    law->limit = stability.limit;
    if (gauge_is_due(run, watch))
        law->gauge = ga_run_gauge(run);
    else if (!ga_engine_moving(watch->engine) || isnan(stability.limit))
        law->gauge = (double)NAN;
}

int ga_closeup_make(struct ga_run *run, const struct ga_look *look)
{
    struct ga_closeup *out = look->out;
    const struct ga_counters *counters = ga_run_counters(run);
    int code = GA_OK;

    out->events = counters->events;
    out->windows = counters->updates + counters->skipped;
    out->now_ns = ga_run_now(run);
    out->parameters = ga_run_net_of(run)->parameters;
    ga_run_memory(run, &out->memory, &out->run_bytes, &out->history_bytes);
    make_shares(run, out);
    make_device(run, out);
    if (look->parts & GA_LOOK_FIT)
        code = ga_fit_make(run, look->watch, &out->fit);
    if (code == GA_OK && look->parts & GA_LOOK_HEAT)
        code = make_heat(run, look->watch, &out->heat);
    if (look->parts & GA_LOOK_LAW)
        make_law(run, look->watch, &out->law);
    if (code == GA_OK && look->parts & GA_LOOK_EXPLAIN)
        code = make_explanation(run, look->position, out);
    return code;
}

static void add_span(struct ga_closeup *out, const struct ga_event *event, int64_t start_ns,
                     int32_t replica, enum ga_span_kind kind)
{
    if (out->spans < GA_SPANS)
        out->span[out->spans++] = (struct ga_span){.start_ns = start_ns,
                                                   .end_ns = event->time_ns,
                                                   .update = event->update,
                                                   .replica = replica,
                                                   .micro = event->micro,
                                                   .kind = (uint8_t)kind};
}

/* Events tell when the item began: its second micro-batch began where the first one ended. */
static void add_micro(struct ga_span_maker *maker, const struct ga_event *event)
{
    size_t r = (size_t)event->replica;
    int64_t start_ns = event->start_ns;

    if (r >= GA_MAX_REPLICAS)
        return;
    if (event->micro > 1 && maker->micro[r] == event->micro - 1)
        start_ns = maker->micro_end_ns[r];
    else if (event->micro > 1)
        start_ns = event->time_ns - (event->time_ns - event->start_ns) / event->micro;
    maker->micro[r] = event->micro;
    maker->micro_end_ns[r] = event->time_ns;
    add_span(maker->out, event, start_ns, event->replica, GA_SPAN_MICRO);
}

int ga_closeup_event(const struct ga_event *event, void *arg)
{
    struct ga_span_maker *maker = arg;
    struct ga_closeup *out = maker->out;

    if (event->kind == GA_EVENT_MICRO)
        add_micro(maker, event);
    else if (event->kind == GA_EVENT_DROP)
        add_span(out, event, event->start_ns, event->replica, GA_SPAN_DROP);
    else if (event->kind == GA_EVENT_PUSH)
        maker->last_push_ns = event->time_ns;
    else if (event->kind == GA_EVENT_APPLY)
        add_span(out, event, event->time_ns, -1, GA_SPAN_WAIT);
    else if (event->kind == GA_EVENT_REDUCE && maker->last_push_ns != INT64_MIN &&
             maker->last_push_ns < event->time_ns)
        add_span(out, event, maker->last_push_ns, GA_SPAN_ALL, GA_SPAN_TALK);
    out->now_ns = event->time_ns > out->now_ns ? event->time_ns : out->now_ns;
    return GA_OK;
}
