#include "compute/cuda/elements.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "compute/cuda/device.h"
#include "compute/cuda/exact_launch.h"
#include "compute/cuda/fast_launch.h"

static atomic_size_t *home(void)
{
    static atomic_size_t place;
    return &place;
}

void ga_cuda_set_home(size_t place)
{
    atomic_store(home(), place);
}

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

/* The room on the card: the blocks' sums, then the gradient. */
static int launch_mean(struct ga_cuda_desk *desk, enum kind kind, const struct ga_net *net,
                       const void *sums, double divisor)
{
    const size_t blocks = (net->parameters + GA_BODY_BLOCK - 1) / GA_BODY_BLOCK;
    double *squares = desk->room.device;
    float *gradient = (float *)(void *)(squares + blocks);
    const struct ga_k_mean doubles = {
        blocks,  net->parameters, sums,   (const double *)sums + net->parameters,
        divisor, gradient,        squares};
    const struct ga_k_mean_float floats = {blocks,  net->parameters, sums,
                                           divisor, gradient,        squares};
    return ga_cuda_check(kind == FAST ? ga_launch_mean_float(&floats, desk->stream)
                                      : ga_launch_mean(&doubles, desk->stream),
                         desk->room.place, "dividing sums");
}

/* Both come back in one copy, the gradient where `bytes` of it are wanted. */
static int mean_at(struct ga_cuda_desk *desk, enum kind kind, const struct ga_net *net,
                   const void *sums, double divisor, size_t bytes)
{
    const size_t blocks = (net->parameters + GA_BODY_BLOCK - 1) / GA_BODY_BLOCK;
    const size_t squares = blocks * sizeof(double);
    const size_t room = squares + net->parameters * sizeof(float);
    int code = ga_cuda_room_grow(&desk->room, room, room);
    if (code == GA_OK)
        code = launch_mean(desk, kind, net, sums, divisor);
    if (code == GA_OK)
        code = send(desk, desk->room.host, desk->room.device, squares + bytes);
    return code == GA_OK ? ga_cuda_wait(desk->stream, desk->room.place, "dividing sums") : code;
}

/* Block sums in order. */
static double norm_of(const double *squares, size_t blocks)
{
    double total = 0.0;
    for (size_t i = 0; i < blocks; i++)
        total += squares[i];
    return __builtin_sqrt(total);
}

static double mean(enum kind kind, const struct ga_net *net, const void *sums, double divisor,
                   float *gradient)
{
    const size_t blocks = (net->parameters + GA_BODY_BLOCK - 1) / GA_BODY_BLOCK;
    const size_t bytes = gradient ? net->parameters * sizeof(float) : 0;
    struct ga_cuda_desk *desk = desk_of(sums);
    double norm = __builtin_nan("");
    const int code = desk ? mean_at(desk, kind, net, sums, divisor, bytes) : GA_EIO;
    if (code == GA_OK) {
        const double *squares = desk->room.host;
        norm = norm_of(squares, blocks);
        if (gradient)
            memcpy(gradient, squares + blocks, bytes);
    } else {
        ga_cuda_note();
    }
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

/* Blocks of n floats in the desk's room, on the card as on the host. */
enum { OLD_WEIGHTS, GRADIENT, OLD_STATE, NEW_WEIGHTS = 4, NEW_STATE, BLOCKS = 7 };

static float *block(void *room, size_t n, int number)
{
    return (float *)room + (size_t)number * n;
}

static struct ga_k_step kernel_of(const struct ga_step *step, void *room, size_t n, size_t states)
{
    return (struct ga_k_step){
        .threads = n,
        .gradient = block(room, n, GRADIENT),
        .weights = block(room, n, OLD_WEIGHTS),
        .first = states > 0 ? block(room, n, OLD_STATE) : NULL,
        .second = states > 1 ? block(room, n, OLD_STATE + 1) : NULL,
        .new_weights = block(room, n, NEW_WEIGHTS),
        .new_first = states > 0 ? block(room, n, NEW_STATE) : NULL,
        .new_second = states > 1 ? block(room, n, NEW_STATE + 1) : NULL,
        .adaptive = step->kind != GA_STEP_SGD,
        .scaled = step->scaled,
        .nesterov = step->nesterov,
        .coupled = step->weight_decay != 0.0f && step->kind != GA_STEP_ADAMW,
        .gradient_scale = step->gradient_scale,
        .lr = step->lr,
        .momentum = step->momentum,
        .weight_decay = step->weight_decay,
        .decay = step->kind == GA_STEP_ADAMW ? step->decay_factor : 1.0f,
        .beta1 = step->beta1,
        .one_minus_beta1 = step->one_minus_beta1,
        .beta2 = step->beta2,
        .one_minus_beta2 = step->one_minus_beta2,
        .step_size = step->step_size,
        .root_bias2 = step->root_bias2,
        .epsilon = step->epsilon,
    };
}

static int step_at(struct ga_cuda_desk *desk, const struct ga_step *step, size_t n, size_t states)
{
    const size_t bytes = n * sizeof(float);
    const struct ga_k_step k = kernel_of(step, desk->room.device, n, states);
    int code = send(desk, desk->room.device, desk->room.host, (OLD_STATE + states) * bytes);
    if (code == GA_OK)
        code = ga_cuda_check(ga_launch_step(&k, desk->stream), desk->room.place, "a step");
    if (code == GA_OK)
        code =
            send(desk, block(desk->room.host, n, NEW_WEIGHTS), k.new_weights, (1 + states) * bytes);
    return code == GA_OK ? ga_cuda_wait(desk->stream, desk->room.place, "a step") : code;
}

void ga_cuda_step(const struct ga_net *net, const struct ga_step *step, const float *gradient,
                  const float *weights, const float *state, float *new_weights, float *new_state)
{
    const size_t n = net->parameters;
    const size_t states = state ? ga_cuda_host()->step_state_blocks(step->kind, step->momentum) : 0;
    const size_t bytes = n * sizeof(float);
    struct ga_cuda_desk *desk = ga_cuda_desk_take(atomic_load(home()));
    int code = desk ? ga_cuda_room_grow(&desk->room, BLOCKS * bytes, BLOCKS * bytes) : GA_EIO;
    if (code == GA_OK) {
        memcpy(block(desk->room.host, n, OLD_WEIGHTS), weights, bytes);
        memcpy(block(desk->room.host, n, GRADIENT), gradient, bytes);
        if (states > 0)
            memcpy(block(desk->room.host, n, OLD_STATE), state, states * bytes);
        code = step_at(desk, step, n, states);
    }
    if (code == GA_OK) {
        memcpy(new_weights, block(desk->room.host, n, NEW_WEIGHTS), bytes);
        if (states > 0)
            memcpy(new_state, block(desk->room.host, n, NEW_STATE), states * bytes);
    } else {
        ga_cuda_note();
    }
    if (desk)
        ga_cuda_desk_leave(desk);
}
