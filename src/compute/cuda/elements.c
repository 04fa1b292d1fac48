#include "compute/cuda/elements.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "compute/cuda/device.h"
#include "compute/cuda/exact_launch.h"
#include "compute/cuda/fast_launch.h"
#include "compute/cuda/held.h"

static atomic_size_t *home(void)
{
    static atomic_size_t place;
    return &place;
}

void ga_cuda_set_home(size_t place)
{
    atomic_store(home(), place);
}

_Static_assert(GA_BODY_PRODUCT == GA_MEASURE_PRODUCT, "the kernel knows the measure's kinds");

/* Which sums: n floats, or n doubles and n more. */
enum kind { EXACT, FAST };

static size_t sum_bytes(enum kind kind, const struct ga_net *net)
{
    return kind == FAST ? net->parameters * sizeof(float) : 2 * net->parameters * sizeof(double);
}

/* The desk of the card that `sums` lie on. */
static struct ga_cuda_desk *desk_of(const void *sums)
{
    size_t place = 0;
    return ga_cuda_place_of(sums, &place) < 0 ? NULL : ga_cuda_desk_take(place);
}

/* Ends the work at a desk (NULL: there was none) with this code, which poll() tells if it is bad.
 */
static void finish(struct ga_cuda_desk *desk, int code, const char *what)
{
    if (desk && code == GA_OK)
        code = ga_cuda_wait(desk->stream, desk->room.place, what);
    if (!desk || code < 0)
        ga_cuda_note();
    if (desk)
        ga_cuda_desk_leave(desk);
}

static int send(struct ga_cuda_desk *desk, void *to, const void *from, size_t bytes)
{
    return ga_cuda_check((int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, desk->stream),
                         desk->room.place, "copying");
}

static int launch_add(struct ga_cuda_desk *desk, enum kind kind, const struct ga_net *net, void *to,
                      const void *from)
{
    const struct ga_k_add doubles = {.threads = 2 * net->parameters, .to = to, .from = from};
    const struct ga_k_add_float floats = {.threads = net->parameters, .to = to, .from = from};
    return ga_cuda_check(kind == FAST ? ga_launch_add_float(&floats, desk->stream)
                                      : ga_launch_add(&doubles, desk->stream),
                         desk->room.place, "adding sums");
}

/* Sums of another card come by way of the desk's room. */
static int add_at(struct ga_cuda_desk *desk, enum kind kind, const struct ga_net *net, void *to,
                  const void *from)
{
    const size_t bytes = sum_bytes(kind, net);
    size_t other = 0;
    int code = ga_cuda_place_of(from, &other);
    if (code == GA_OK && other != desk->room.place) {
        code = ga_cuda_room_grow(&desk->room, bytes, 0);
        if (code == GA_OK)
            code = send(desk, desk->room.device, from, bytes);
        from = desk->room.device;
    }
    return code < 0 ? code : launch_add(desk, kind, net, to, from);
}

static void add(enum kind kind, const struct ga_net *net, void *to, const void *from)
{
    struct ga_cuda_desk *desk = desk_of(to);
    finish(desk, desk ? add_at(desk, kind, net, to, from) : GA_OK, "adding sums");
}

void ga_cuda_add(const struct ga_net *net, void *to, const void *from)
{
    add(EXACT, net, to, from);
}

void ga_cuda_add_float(const struct ga_net *net, void *to, const void *from)
{
    add(FAST, net, to, from);
}

static void clear(enum kind kind, const struct ga_net *net, void *sums)
{
    struct ga_cuda_desk *desk = desk_of(sums);
    int code = GA_OK;
    if (desk)
        code = ga_cuda_check((int)cudaMemsetAsync(sums, 0, sum_bytes(kind, net), desk->stream),
                             desk->room.place, "clearing sums");
    finish(desk, code, "clearing sums");
}

void ga_cuda_clear(const struct ga_net *net, void *sums)
{
    clear(EXACT, net, sums);
}

void ga_cuda_clear_float(const struct ga_net *net, void *sums)
{
    clear(FAST, net, sums);
}

static size_t blocks_of(size_t count)
{
    return (count + GA_BODY_BLOCK - 1) / GA_BODY_BLOCK;
}

/* A division under way; the room, on the card as on the host, has the blocks' sums and behind them
 * a gradient that is not held. */
struct dividing {
    const struct ga_net *net;
    const void *sums;
    double divisor;
    float *gradient;            /* wanted on the host, or NULL */
    struct ga_cuda_lease lease; /* on it, where it is held */
    float *on_card;
};

static int launch_mean(struct ga_cuda_desk *desk, enum kind kind, const struct dividing *d)
{
    const size_t n = d->net->parameters;
    const size_t blocks = blocks_of(n);
    double *squares = desk->room.device;
    const struct ga_k_mean doubles = {blocks,     n,          d->sums, (const double *)d->sums + n,
                                      d->divisor, d->on_card, squares};
    const struct ga_k_mean_float floats = {blocks, n, d->sums, d->divisor, d->on_card, squares};
    return ga_cuda_check(kind == FAST ? ga_launch_mean_float(&floats, desk->stream)
                                      : ga_launch_mean(&doubles, desk->stream),
                         desk->room.place, "dividing sums");
}

static int begin_mean(struct ga_cuda_desk *desk, struct dividing *d)
{
    const size_t squares = blocks_of(d->net->parameters) * sizeof(double);
    const size_t bytes = d->gradient ? d->net->parameters * sizeof(float) : 0;
    int code = GA_OK;
    if (d->gradient)
        d->on_card = ga_cuda_lease_write(&d->lease, d->gradient, bytes, desk->room.place, &code);
    if (code == GA_OK)
        code = ga_cuda_room_grow(&desk->room, squares + (d->on_card ? 0 : bytes), squares + bytes);
    if (code == GA_OK && d->gradient && !d->on_card)
        d->on_card = (float *)(void *)((char *)desk->room.device + squares);
    return code;
}

/* Sums of squares, and the gradient where the host wants it now. */
static int mean_at(struct ga_cuda_desk *desk, enum kind kind, struct dividing *d)
{
    const size_t squares = blocks_of(d->net->parameters) * sizeof(double);
    const size_t bytes = d->gradient ? d->net->parameters * sizeof(float) : 0;
    int code = begin_mean(desk, d);
    const bool back = bytes > 0 && (!d->lease.held || ga_cuda_brings_back(bytes));
    if (code == GA_OK)
        code = launch_mean(desk, kind, d);
    if (code == GA_OK)
        code = send(desk, desk->room.host, desk->room.device, squares);
    if (code == GA_OK && back)
        code = send(desk, (char *)desk->room.host + squares, d->on_card, bytes);
    if (code == GA_OK)
        code = ga_cuda_wait(desk->stream, desk->room.place, "dividing sums");
    if (code == GA_OK && back)
        memcpy(d->gradient, (char *)desk->room.host + squares, bytes);
    if (code == GA_OK)
        ga_cuda_lease_written(&d->lease, back);
    ga_cuda_lease_end(&d->lease);
    return code;
}

/* Block sums in order. */
static double total_of(const double *sums, size_t blocks)
{
    double total = 0.0;
    for (size_t i = 0; i < blocks; i++)
        total += sums[i];
    return total;
}

static double mean(enum kind kind, const struct ga_net *net, const void *sums, double divisor,
                   float *gradient)
{
    struct dividing d = {.net = net, .sums = sums, .divisor = divisor, .gradient = gradient};
    struct ga_cuda_desk *desk = desk_of(sums);
    double norm = __builtin_nan("");
    if (desk && mean_at(desk, kind, &d) == GA_OK)
        norm = __builtin_sqrt(total_of(desk->room.host, blocks_of(net->parameters)));
    else
        ga_cuda_note();
    if (desk)
        ga_cuda_desk_leave(desk);
    return norm;
}

double ga_cuda_mean(const struct ga_net *net, const void *sums, double divisor, float *gradient)
{
    return mean(EXACT, net, sums, divisor, gradient);
}

double ga_cuda_mean_float(const struct ga_net *net, const void *sums, double divisor,
                          float *gradient)
{
    return mean(FAST, net, sums, divisor, gradient);
}

void ga_cuda_read_sums_float(const struct ga_net *net, const void *sums, size_t first, size_t count,
                             double *out)
{
    float *values = calloc(count > 0 ? count : 1, sizeof *values);
    (void)net;
    if (!values)
        ga_cuda_host()->fail(GA_ENOMEM, "no memory to read %zu sums", count);
    if (!values ||
        ga_cuda_copy_out(values, (const float *)sums + first, count * sizeof *values) < 0)
        ga_cuda_note();
    for (size_t i = 0; i < count; i++)
        out[i] = values ? (double)values[i] : __builtin_nan("");
    free(values);
}

/* H and L of the elements, then their sum. */
void ga_cuda_read_sums(const struct ga_net *net, const void *sums, size_t first, size_t count,
                       double *out)
{
    const double *high = (const double *)sums + first;
    double *low = calloc(count > 0 ? count : 1, sizeof *low);
    if (!low)
        ga_cuda_host()->fail(GA_ENOMEM, "no memory to read %zu sums", count);
    if (!low || ga_cuda_copy_out(out, high, count * sizeof *out) < 0 ||
        ga_cuda_copy_out(low, high + net->parameters, count * sizeof *low) < 0)
        ga_cuda_note();
    for (size_t i = 0; i < count; i++)
        out[i] = low ? out[i] + low[i] : __builtin_nan("");
    free(low);
}

/* ---- measures ---- */

/* Values at the desk's card: where they are, or brought to `room` there by way of `host`. */
static int bring_in(struct ga_cuda_desk *desk, const struct ga_cuda_lease *from, size_t bytes,
                    float *room, float *host, const float **out)
{
    return ga_cuda_lease_bring(from, desk->stream, desk->room.place, bytes, room, host, out);
}

/* The room, on the card as on the host: sums of the blocks, then a, then b. */
static int measure_at(struct ga_cuda_desk *desk, enum ga_measure kind, size_t count,
                      const struct ga_cuda_lease from[2], double *sum)
{
    const size_t blocks = blocks_of(count);
    const size_t bytes = count * sizeof(float);
    const size_t room = blocks * sizeof(double) + 2 * bytes;
    struct ga_k_measure k = {.threads = blocks, .count = count, .kind = (int32_t)kind};
    int code = ga_cuda_room_grow(&desk->room, room, room);
    float *values = (float *)(void *)((double *)desk->room.device + blocks);
    float *staged = (float *)(void *)((double *)desk->room.host + blocks);
    k.sums = desk->room.device;
    if (code == GA_OK)
        code = bring_in(desk, &from[0], bytes, values, staged, &k.a);
    if (code == GA_OK && kind != GA_MEASURE_SQUARE)
        code = bring_in(desk, &from[1], bytes, values + count, staged + count, &k.b);
    if (code == GA_OK)
        code = ga_cuda_check(ga_launch_measure(&k, desk->stream), desk->room.place, "a norm");
    if (code == GA_OK)
        code = send(desk, desk->room.host, k.sums, blocks * sizeof(double));
    if (code == GA_OK)
        code = ga_cuda_wait(desk->stream, desk->room.place, "a norm");
    if (code == GA_OK)
        *sum = total_of(desk->room.host, blocks);
    return code;
}

bool ga_cuda_measure(enum ga_measure kind, const float *a, const float *b, size_t count,
                     double *sum)
{
    struct ga_cuda_lease from[2] = {ga_cuda_lease_read(a), ga_cuda_lease_read(b)};
    const bool here = from[0].ahead || from[1].ahead;
    struct ga_cuda_desk *desk =
        here ? ga_cuda_desk_take(from[0].ahead ? from[0].place : from[1].place) : NULL;
    *sum = __builtin_nan("");
    if (here && (!desk || measure_at(desk, kind, count, from, sum) < 0))
        ga_cuda_note();
    if (desk)
        ga_cuda_desk_leave(desk);
    ga_cuda_lease_end(&from[0]);
    ga_cuda_lease_end(&from[1]);
    return here;
}

/* ---- steps ---- */

/* Blocks of n floats in the desk's room, on the card as on the host, for what is not held. */
enum { OLD_WEIGHTS, GRADIENT, OLD_STATE, NEW_WEIGHTS = 4, NEW_STATE, BLOCKS = 7 };

static float *block(void *room, size_t n, int number)
{
    return (float *)room + (size_t)number * n;
}

/* A step under way: what it reads and writes, and where on the card. */
struct stepping {
    size_t n, states;
    float *new_weights, *new_state; /* of the host */
    struct ga_cuda_lease weights, gradient, state, to_weights, to_state;
    struct ga_k_step k;
};

/* Room for what is written: where it will stay, or the desk's. */
static int step_targets(struct ga_cuda_desk *desk, struct stepping *s)
{
    const size_t n = s->n;
    const size_t bytes = n * sizeof(float);
    void *weights = NULL;
    void *state = NULL;
    int code = GA_OK;
    weights = ga_cuda_lease_write(&s->to_weights, s->new_weights, bytes, desk->room.place, &code);
    if (code == GA_OK && s->states > 0)
        state = ga_cuda_lease_write(&s->to_state, s->new_state, s->states * bytes, desk->room.place,
                                    &code);
    if (code == GA_OK)
        code = ga_cuda_room_grow(&desk->room, BLOCKS * bytes, BLOCKS * bytes);
    if (code < 0)
        return code;
    s->k.new_weights = weights ? weights : block(desk->room.device, n, NEW_WEIGHTS);
    s->k.new_first = state ? state : block(desk->room.device, n, NEW_STATE);
    s->k.new_second = s->states > 1 ? s->k.new_first + n : NULL;
    s->k.new_first = s->states > 0 ? s->k.new_first : NULL;
    return GA_OK;
}

static int step_sources(struct ga_cuda_desk *desk, struct stepping *s)
{
    const size_t n = s->n;
    const size_t bytes = n * sizeof(float);
    const struct {
        const struct ga_cuda_lease *from;
        const float **to;
        size_t blocks;
        int number;
    } sources[] = {{&s->weights, &s->k.weights, 1, OLD_WEIGHTS},
                   {&s->gradient, &s->k.gradient, 1, GRADIENT},
                   {&s->state, &s->k.first, s->states, OLD_STATE}};
    int code = GA_OK;
    for (size_t i = 0; code == GA_OK && i < sizeof sources / sizeof sources[0]; i++)
        if (sources[i].blocks > 0)
            code = bring_in(desk, sources[i].from, sources[i].blocks * bytes,
                            block(desk->room.device, n, sources[i].number),
                            block(desk->room.host, n, sources[i].number), sources[i].to);
    s->k.second = s->states > 1 ? s->k.first + n : NULL;
    return code;
}

/* What the host wants now; the rest stays where it is. */
static int step_back(struct ga_cuda_desk *desk, const struct stepping *s, bool weights, bool state)
{
    const size_t bytes = s->n * sizeof(float);
    float *to = block(desk->room.host, s->n, NEW_WEIGHTS);
    float *to_state = block(desk->room.host, s->n, NEW_STATE);
    int code = weights ? send(desk, to, s->k.new_weights, bytes) : GA_OK;
    if (code == GA_OK && state)
        code = send(desk, to_state, s->k.new_first, s->states * bytes);
    if (code == GA_OK)
        code = ga_cuda_wait(desk->stream, desk->room.place, "a step");
    if (code < 0)
        return code;
    if (weights)
        memcpy(s->new_weights, to, bytes);
    if (state)
        memcpy(s->new_state, to_state, s->states * bytes);
    return GA_OK;
}

static int step_at(struct ga_cuda_desk *desk, struct stepping *s)
{
    const bool few = ga_cuda_brings_back((1 + s->states) * s->n * sizeof(float));
    int code = step_targets(desk, s);
    if (code == GA_OK)
        code = step_sources(desk, s);
    if (code == GA_OK)
        code = ga_cuda_check(ga_launch_step(&s->k, desk->stream), desk->room.place, "a step");
    const bool weights = few || !s->to_weights.held;
    const bool state = s->states > 0 && (few || !s->to_state.held);
    if (code == GA_OK)
        code = step_back(desk, s, weights, state);
    if (code == GA_OK) {
        ga_cuda_lease_written(&s->to_weights, weights);
        ga_cuda_lease_written(&s->to_state, state);
    }
    return code;
}

void ga_cuda_step(const struct ga_net *net, const struct ga_step *step, const float *gradient,
                  const float *weights, const float *state, float *new_weights, float *new_state)
{
    struct stepping s = {
        .n = net->parameters,
        .states = state ? ga_cuda_host()->step_state_blocks(step->kind, step->momentum) : 0,
        .new_weights = new_weights,
        .new_state = new_state,
        .weights = ga_cuda_lease_read(weights),
        .gradient = ga_cuda_lease_read(gradient),
        .state = ga_cuda_lease_read(state),
        .k = {.threads = net->parameters, .step = *step},
    };
    struct ga_cuda_lease *const leases[] = {&s.weights, &s.gradient, &s.state, &s.to_weights,
                                            &s.to_state};
    struct ga_cuda_desk *desk = ga_cuda_desk_take(atomic_load(home()));
    if (!desk || step_at(desk, &s) < 0)
        ga_cuda_note();
    if (desk)
        ga_cuda_desk_leave(desk);
    for (size_t i = 0; i < sizeof leases / sizeof leases[0]; i++)
        ga_cuda_lease_end(leases[i]);
}
