#include "compute/cuda/elements.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "compute/cuda/device.h"
#include "compute/cuda/exact_launch.h"

static atomic_size_t *home(void)
{
    static atomic_size_t place;
    return &place;
}

void ga_cuda_set_home(size_t place)
{
    atomic_store(home(), place);
}

static size_t sum_bytes(const struct ga_net *net)
{
    return 2 * net->parameters * sizeof(double);
}

/* The desk of the card that `sums` lie on. */
static struct ga_cuda_desk *desk_of(const void *sums)
{
    size_t place = 0;
    return ga_cuda_place_of(sums, &place) < 0 ? NULL : ga_cuda_desk_take(place);
}

/* Ends the work at a desk (NULL: there was none) with this code, which poll() tells if it is bad.
 */
static int finish(struct ga_cuda_desk *desk, int code, const char *what)
{
    if (desk && code == GA_OK)
        code = ga_cuda_wait(desk->stream, desk->room.place, what);
    if (!desk || code < 0)
        ga_cuda_note();
    if (desk)
        ga_cuda_desk_leave(desk);
    return desk ? code : ga_cuda_host()->error_code();
}

static int send(struct ga_cuda_desk *desk, void *to, const void *from, size_t bytes)
{
    return ga_cuda_check((int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, desk->stream),
                         desk->room.place, "copying");
}

static int add_at(struct ga_cuda_desk *desk, const struct ga_net *net, void *to, const void *from)
{
    struct ga_k_add k = {.threads = 2 * net->parameters, .to = to, .from = from};
    size_t other = 0;
    int code = ga_cuda_place_of(from, &other);
    if (code == GA_OK && other != desk->room.place) {
        code = ga_cuda_room_grow(&desk->room, sum_bytes(net), 0);
        if (code == GA_OK)
            code = send(desk, desk->room.device, from, sum_bytes(net));
        k.from = desk->room.device;
    }
    return code < 0
               ? code
               : ga_cuda_check(ga_launch_add(&k, desk->stream), desk->room.place, "adding sums");
}

void ga_cuda_add(const struct ga_net *net, void *to, const void *from)
{
    struct ga_cuda_desk *desk = desk_of(to);
    (void)finish(desk, desk ? add_at(desk, net, to, from) : GA_OK, "adding sums");
}

void ga_cuda_clear(const struct ga_net *net, void *sums)
{
    struct ga_cuda_desk *desk = desk_of(sums);
    int code = GA_OK;
    if (desk)
        code = ga_cuda_check((int)cudaMemsetAsync(sums, 0, sum_bytes(net), desk->stream),
                             desk->room.place, "clearing sums");
    (void)finish(desk, code, "clearing sums");
}

/* The desk's room holds the blocks' sums, then the gradient; both come back in one copy. */
static int mean_at(struct ga_cuda_desk *desk, const struct ga_net *net, const double *sums,
                   double divisor, size_t bytes)
{
    const size_t blocks = (net->parameters + GA_BODY_BLOCK - 1) / GA_BODY_BLOCK;
    const size_t squares = blocks * sizeof(double);
    int code = ga_cuda_room_grow(&desk->room, squares + net->parameters * sizeof(float),
                                 squares + net->parameters * sizeof(float));
    if (code < 0)
        return code;
    const struct ga_k_mean k = {
        .threads = blocks,
        .parameters = net->parameters,
        .high = sums,
        .low = sums + net->parameters,
        .divisor = divisor,
        .squares = desk->room.device,
        .gradient = (float *)(void *)((char *)desk->room.device + squares),
    };
    code = ga_cuda_check(ga_launch_mean(&k, desk->stream), desk->room.place, "dividing sums");
    return code < 0 ? code : send(desk, desk->room.host, desk->room.device, squares + bytes);
}

/* Block sums in order. */
static double norm_of(const double *squares, size_t blocks)
{
    double total = 0.0;
    for (size_t i = 0; i < blocks; i++)
        total += squares[i];
    return __builtin_sqrt(total);
}

double ga_cuda_mean(const struct ga_net *net, const void *sums, double divisor, float *gradient)
{
    const size_t blocks = (net->parameters + GA_BODY_BLOCK - 1) / GA_BODY_BLOCK;
    const size_t bytes = gradient ? net->parameters * sizeof(float) : 0;
    struct ga_cuda_desk *desk = desk_of(sums);
    double norm = __builtin_nan("");
    int code = desk ? mean_at(desk, net, sums, divisor, bytes) : GA_EIO;
    if (desk && code == GA_OK)
        code = ga_cuda_wait(desk->stream, desk->room.place, "dividing sums");
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
