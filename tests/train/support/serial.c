#include "train/support/serial.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "dataset/permutation.h"
#include "support/support.h"
#include "train/run.h"

static const struct ga_compute *const device = &ga_compute_cpu_exact;

static void *must(void *memory)
{
    assert_non_null(memory);
    return memory;
}

static const struct ga_table *table_of(const struct ga_test_serial *serial)
{
    return ga_dataset_table(serial->data);
}

static void optimizer_of(const struct ga_settings *set, struct ga_optimizer_spec *out)
{
    const enum ga_step_kind kind[] = {GA_STEP_SGD, GA_STEP_ADAM, GA_STEP_ADAMW};

    *out = (struct ga_optimizer_spec){
        .kind = kind[set->optimizer],
        .momentum = set->momentum,
        .beta1 = set->beta1,
        .beta2 = set->beta2,
        .epsilon = set->epsilon,
        .weight_decay = set->weight_decay,
        .nesterov = set->nesterov,
    };
}

static double rate_of(const struct ga_test_serial *serial)
{
    const enum ga_schedule_kind kind[] = {GA_LR_CONSTANT, GA_LR_STEP, GA_LR_COSINE};
    const struct ga_settings *set = &serial->settings;
    struct ga_schedule_spec spec = {
        .kind = kind[set->schedule.kind],
        .every = set->schedule.every,
        .value = set->schedule.value,
        .warmup = set->warmup,
    };

    return ga_schedule_rate(&spec, set->lr, serial->updates);
}

static void new_owners(struct ga_test_serial *serial, uint64_t epoch)
{
    bool fixed = serial->settings.sharding != GA_SHARD_STREAM;

    free(serial->owner);
    serial->owners = fixed ? (size_t)serial->settings.replicas : 1;
    serial->owner = must(ga_alloc(serial->owners, sizeof *serial->owner));
    for (size_t k = 0; k < serial->owners; k++)
        serial->owner[k].epoch = epoch;
}

static void open_weights(struct ga_test_serial *serial, const struct ga_test_start *start)
{
    const enum ga_model_init init[] = {GA_MODEL_NORMAL, GA_MODEL_UNIFORM, GA_MODEL_XAVIER,
                                       GA_MODEL_HE, GA_MODEL_ZEROS};
    size_t floats = serial->net.parameters;

    serial->weights = must(ga_alloc_aligned(floats, sizeof(float)));
    serial->next_weights = must(ga_alloc_aligned(floats, sizeof(float)));
    serial->state = must(ga_alloc_aligned(2 * floats, sizeof(float)));
    serial->next_state = must(ga_alloc_aligned(2 * floats, sizeof(float)));
    serial->gradient = must(ga_alloc_aligned(floats, sizeof(float)));
    if (start->weights)
        memcpy(serial->weights, start->weights, floats * sizeof(float));
    else
        ga_model_initialise(&serial->net, init[serial->settings.init], serial->settings.seed,
                            serial->weights);
}

void ga_test_serial_open(struct ga_test_serial *serial, const struct ga_test_start *start)
{
    memset(serial, 0, sizeof *serial);
    serial->data = ga_test_start_data(start);
    ga_test_start_settings(start, &serial->settings);
    ga_test_ok(ga_run_net(&serial->settings, serial->data, &serial->net));
    ga_test_ok(device->open(&serial->context, &serial->net, 1));
    serial->sums = must(device->alloc(device->sum_count(&serial->net) * sizeof(double)));
    serial->list = must(ga_alloc(table_of(serial)->train, sizeof *serial->list));
    serial->window = must(ga_alloc(GA_MAX_WINDOW, sizeof *serial->window));
    ga_optimizer_scalars_init(&serial->scalars);
    open_weights(serial, start);
    new_owners(serial, 0);
}

void ga_test_serial_close(struct ga_test_serial *serial)
{
    device->close(serial->context);
    device->free(serial->sums);
    free(serial->weights);
    free(serial->next_weights);
    free(serial->state);
    free(serial->next_state);
    free(serial->gradient);
    free(serial->owner);
    free(serial->list);
    free(serial->window);
    ga_dataset_close(serial->data);
}

/* How many of n things are in part k of p. */
static size_t part(size_t n, size_t p, size_t k)
{
    return n / p + (k < n % p);
}

static size_t window_of(const struct ga_settings *set)
{
    if (set->global > 0)
        return (size_t)set->global;
    return (size_t)set->replicas * (size_t)set->accum * (size_t)set->batch;
}

static bool owns(const struct ga_test_serial *serial, size_t k, size_t row)
{
    size_t rows = table_of(serial)->train, first = 0;

    if (serial->settings.sharding == GA_SHARD_STREAM)
        return true;
    if (serial->settings.sharding == GA_SHARD_STRIDED)
        return row % serial->owners == k;
    for (size_t i = 0; i < k; i++)
        first += part(rows, serial->owners, i);
    return row >= first && row < first + part(rows, serial->owners, k);
}

/* The list of owner k in its epoch; returns its length. */
static size_t make_list(struct ga_test_serial *serial, size_t k)
{
    size_t rows = table_of(serial)->train, count = 0;

    if (serial->settings.order == GA_ORDER_FILE)
        ga_permutation_identity(serial->list, rows);
    else
        ga_permutation_shuffle(serial->list, rows, serial->settings.seed, serial->owner[k].epoch,
                               GA_DRAW_SHUFFLE);
    for (size_t i = 0; i < rows; i++)
        if (owns(serial, k, serial->list[i]))
            serial->list[count++] = serial->list[i];
    return count;
}

static size_t share_of(const struct ga_test_serial *serial, size_t k)
{
    return part(window_of(&serial->settings), serial->owners, k);
}

/* short: when nobody has anything left; drop: when somebody cannot give his share. */
static bool epoch_is_over(struct ga_test_serial *serial)
{
    bool all_empty = true, all_full = true;

    for (size_t k = 0; k < serial->owners; k++) {
        size_t left = make_list(serial, k) - serial->owner[k].taken;

        all_empty = all_empty && left == 0;
        all_full = all_full && left >= share_of(serial, k);
    }
    return serial->settings.tail == GA_TAIL_DROP ? !all_full : all_empty;
}

static void take(struct ga_test_serial *serial, size_t k)
{
    bool wrap = serial->settings.tail == GA_TAIL_WRAP;
    struct ga_test_owner *owner = &serial->owner[k];
    size_t length = make_list(serial, k);

    for (size_t n = share_of(serial, k); n > 0 && length > 0; n--) {
        if (owner->taken == length && !wrap)
            return;
        if (owner->taken == length) {
            owner->epoch++;
            owner->taken = 0;
            make_list(serial, k);
        }
        serial->window[serial->examples++] = serial->list[owner->taken++];
    }
}

static void cut_window(struct ga_test_serial *serial)
{
    bool over = serial->settings.tail != GA_TAIL_WRAP && epoch_is_over(serial);

    serial->examples = 0;
    for (size_t k = 0; over && k < serial->owners; k++)
        serial->owner[k] = (struct ga_test_owner){serial->owner[k].epoch + 1, 0};
    for (size_t k = 0; k < serial->owners; k++)
        take(serial, k);
}

static void swap(float **a, float **b)
{
    float *kept = *a;

    *a = *b;
    *b = kept;
}

static void step(struct ga_test_serial *serial)
{
    struct ga_optimizer_spec spec;
    struct ga_step step;
    double scale = ga_clip_scale(serial->settings.clip, serial->norm);
    bool state = false;

    optimizer_of(&serial->settings, &spec);
    state = ga_step_state_blocks(spec.kind, (float)spec.momentum) > 0;
    ga_optimizer_advance(&spec, &serial->scalars, rate_of(serial), scale, &step);
    device->step(&serial->net, &step, serial->gradient, serial->weights,
                 state ? serial->state : NULL, serial->next_weights,
                 state ? serial->next_state : NULL);
    swap(&serial->weights, &serial->next_weights);
    if (state)
        swap(&serial->state, &serial->next_state);
    serial->updates++;
}

static void update(struct ga_test_serial *serial)
{
    const struct ga_table *table = table_of(serial);
    struct ga_tally tally;
    struct ga_batch batch = {
        .inputs = table->inputs,
        .targets = table->targets,
        .labels = table->labels,
        .weights = table->weights,
        .index = serial->window,
    };
    double weight = 0;

    cut_window(serial);
    batch.count = serial->examples;
    ga_test_ok(device->gradient(serial->context, serial->weights, &batch, GA_ASSIGN, serial->sums,
                                &tally));
    weight = ga_tally_weight_sum(&tally);
    if (!(weight > 0))
        return;
    serial->loss = ga_tally_loss_sum(&tally) / weight;
    serial->norm =
        device->mean(&serial->net, serial->sums,
                     serial->settings.reduce == GA_REDUCE_SUM ? 1 : weight, serial->gradient);
    step(serial);
}

void ga_test_serial_updates(struct ga_test_serial *serial, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        update(serial);
}

uint64_t ga_test_serial_hash(const struct ga_test_serial *serial)
{
    return ga_hash_parameters(serial->weights, serial->net.parameters);
}

void ga_test_serial_set(struct ga_test_serial *serial, const char *words)
{
    struct ga_settings old = serial->settings;
    bool fixed = false, recut = false;
    bool fresh = true;

    ga_test_ok(ga_test_read_settings(&serial->settings, words));
    fixed = serial->settings.sharding != GA_SHARD_STREAM;
    recut = old.sharding != serial->settings.sharding ||
            (fixed && old.replicas != serial->settings.replicas);
    if (!recut)
        return;
    for (size_t k = 0; k < serial->owners; k++)
        fresh = fresh && serial->owner[k].taken == 0;
    new_owners(serial, serial->owner[0].epoch + !fresh);
}

uint64_t ga_test_serial_run(const struct ga_test_start *start, uint64_t updates)
{
    struct ga_test_serial serial;
    uint64_t hash = 0;

    ga_test_serial_open(&serial, start);
    ga_test_serial_updates(&serial, updates);
    hash = ga_test_serial_hash(&serial);
    ga_test_serial_close(&serial);
    return hash;
}
