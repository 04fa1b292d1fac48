/*
 * What a compute device must do. A device is a const table of functions; a context is one worker's
 * opaque state on it (activations, scratch), used by one thread at a time. Buffers named "device"
 * below come from alloc() of the same device and are touched by the host through copies only (on
 * the CPU they are plain memory).
 *
 * Gradient sums. A device says how many elements of which type hold the gradient sum of a net:
 * sum_count(net) elements of sum_type. All-reduce adds them element by element. `exact` uses 2n
 * doubles: H[n] then L[n] (the two-double exact sum: semantics below); `fast` uses n floats. Sums
 * are released or zeroed by assignment, never by multiplying with 0.
 *
 * The exact sum of a term x (a product of two floats, exact in double):
 *     q = (x + C) - C, C = 1.5*2^52*2^-8;   H += q;   r = x - q;   L += (r + D) - D, D
 * = 1.5*2^52*2^-44. H holds multiples of 2^-8 and L of 2^-44, so both are free of order while |x|
 * <= 2^27 and at most 2^18 examples meet in one update. A term with !(|x| <= 2^27) is added as NaN
 * to H and L and sets GA_TALLY_BEYOND. Losses use three doubles (a first constant 1.5*2^52*2^28):
 * range 2^63.
 *
 * Threads: tables are const; a context belongs to its thread; device buffers to whoever allocated.
 */
#ifndef GA_COMPUTE_COMPUTE_H
#define GA_COMPUTE_COMPUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compute/net.h"
#include "compute/step.h"

enum ga_type { GA_FLOAT32, GA_FLOAT64 };
size_t ga_type_bytes(enum ga_type type);

/* Examples: rows `index[0..count)` of tables held by the data set. All pointers are borrowed. */
struct ga_batch {
    const float *inputs;   /* (N, width[0]); for quadratic: lambda (N, n) */
    const float *targets;  /* (N, width[layers]); for quadratic: c (N, n); NULL with labels */
    const int32_t *labels; /* (N) class numbers for xent, or NULL */
    const float *weights;  /* (N) example weights, or NULL: all 1 */
    const uint32_t *index; /* (count) row numbers; NULL: rows first .. first+count-1 */
    size_t first;
    size_t count;
};

/* Set in ga_tally.flags. */
enum {
    GA_TALLY_BEYOND = 1,   /* a finite gradient term beyond 2^27, or a loss beyond 2^63 */
    GA_TALLY_NONFINITE = 2 /* a term, or a loss, that is not finite */
};

/* What a batch adds up to beside the gradient; on the host. Order-free like the gradient sums. */
struct ga_tally {
    double loss[3]; /* weighted loss sum in three doubles; their sum, largest first, is the loss */
    double weight[2];     /* sum of example weights in two doubles */
    double weight_square; /* of example weights, for the noise scale only: exact while they are 1 */
    uint64_t examples;
    uint64_t correct; /* xent: examples whose largest output (lowest index on ties) is the label */
    uint32_t flags;
};

void ga_tally_clear(struct ga_tally *tally);
void ga_tally_add(struct ga_tally *to, const struct ga_tally *from);
double ga_tally_loss_sum(const struct ga_tally *tally);
double ga_tally_weight_sum(const struct ga_tally *tally);

/* Blocks of `parameters` floats of optimizer state: sgd with momentum 1, adam and adamw 2, else 0.
 */
size_t ga_step_state_blocks(enum ga_step_kind kind, float momentum);

enum ga_into { GA_ASSIGN, GA_ADD };

/* A range of parameters. `first` is a multiple of GA_PART, and so is `count`, but at the end. */
#define GA_PART 8192
struct ga_part {
    size_t first, count;
};

/* What a step reads and writes, as in ga_compute.step. */
struct ga_step_blocks {
    const float *gradient, *weights, *state;
    float *new_weights, *new_state;
};

/* One update of a burst, loss and gradient as accumulate() and its tally tell them. */
struct ga_burst_row {
    double loss;        /* mean over the batch, weighted, at the weights before the update */
    double grad_norm;   /* |g| = |own sums| / weight, as accumulate() or mean() tells it */
    double update_norm; /* |new w - w| */
    double param_norm;  /* |new w| */
};

/*
 * A burst: updates that each take one step on the gradient of the same batch. Blocks are memory of
 * the host, which the device may hold; `new_weights` and `new_state` get what the last one leads
 * to, and overlap nothing.
 */
struct ga_burst {
    struct ga_batch batch;
    const struct ga_step *step; /* (steps) */
    size_t steps;               /* 1: the same for all; else `count` */
    const float *weights, *state;
    float *new_weights, *new_state;
    struct ga_burst_row *row; /* (count) */
    size_t count;
};

struct ga_context; /* a worker's, opaque, of one device */

/*
 * Who wants to know of parts of a gradient while it is being computed. `part` is called for one
 * range of elements after another, without gaps from the last element to the first, once all work
 * is queued; `mark`, which the device and its collectives understand, stands for the moment when
 * the range is there, and is good until the context's next call. Same thread.
 */
struct ga_told {
    const void *onto; /* sums that the batch's own join, or NULL */
    void *total;      /* onto + the batch's own; the parts are of it. Without `onto`: of `sums` */
    void (*part)(void *self, size_t first, size_t count, const void *mark);
    void *self;
};

enum ga_measure { GA_MEASURE_SQUARE, GA_MEASURE_DISTANCE, GA_MEASURE_PRODUCT };

/* What a place's memory is taken for. */
enum ga_device_use {
    GA_USE_WORK,     /* what sums, steps and norms are done in, and collectives */
    GA_USE_SUMS,     /* gradient sums */
    GA_USE_BATCHES,  /* micro-batches of contexts, their weights and activations; bursts */
    GA_USE_HELD,     /* copies of held blocks, and such room kept for the next ones */
    GA_USE_PRODUCTS, /* what products of matrices are done in */
    GA_USE_PINNED,   /* not of the card: memory of the host that it copies from and to */
    GA_DEVICE_USES
};

/*
 * What a device does for buffers that are not plain memory of this process. A place is one of the
 * cards behind a table, numbered as the driver does; gradient() works where its sums lie, and add()
 * takes sums of two places.
 */
struct ga_device_memory {
    int (*places)(size_t *count); /* 0 with at least one, or the reason why there is none */
    void *(*alloc)(size_t bytes, size_t place); /* as ga_compute.alloc, which takes place 0 */
    /* Where the context works when it has no sums to go by, and steps are made; else place 0. */
    void (*home)(struct ga_context *context, size_t place);
    int (*copy_in)(void *device, const void *host, size_t bytes);
    int (*copy_out)(void *host, const void *device, size_t bytes);
    int (*copy)(void *to, const void *from, size_t bytes); /* device to device, any places */

    /*
     * Seconds that a card worked for the context's last gradient(), by its own clock; NaN where
     * that was not measured. `next`: whether the following ones are.
     */
    double (*work_seconds)(struct ga_context *context, bool next);

    /*
     * Held blocks: host memory of which the device keeps the newest values itself, between hold()
     * and release(). Weights go up once for all micro-batches at them, and what step() and mean()
     * write into a held block stays on the card until the host reads: fetch() before that, renew()
     * after the host has written. The device may give its copy up at any time, after a fetch() of
     * its own. Where the newest values cannot be had any more, fetch() fills the block with NaN and
     * fails, until the block is written again. Any thread; not while another writes the block.
     */
    int (*hold)(void *block, size_t bytes);
    void (*release)(void *block); /* the host's values may be old then */
    int (*fetch)(const void *block);
    void (*renew)(void *block);

    /*
     * Of blocks of `count` floats, by the rule of the norms: the sum of a^2, of (a - b)^2 or of ab.
     * False where the host has the newest values of both: then it is done there.
     */
    bool (*measure)(enum ga_measure kind, const float *a, const float *b, size_t count,
                    double *sum);

    /*
     * The first failure of a call that returns no code (add, clear, mean, read_sums, step,
     * measure, burst), of fetch(), or of the device itself, since the program started; 0 while
     * there is none. The call has then left its results undefined; mean() and what is measured are
     * NaN.
     */
    int (*poll)(void);
    /* What is taken of a place's memory now, in bytes; what its driver and libraries take beside it
     * is not in. */
    void (*usage)(size_t place, size_t bytes[GA_DEVICE_USES]);
    /* Forgets that failure, and tries again the devices that did not answer: for a run that starts
     * anew. */
    void (*revive)(void);
};

struct ga_compute {
    const char *name;     /* "cpu" */
    const char *numerics; /* "exact", "fast" */
    enum ga_type sum_type;
    const struct ga_device_memory *memory; /* NULL: buffers are plain memory of this process */
    size_t (*sum_count)(const struct ga_net *net); /* elements */

    /* A context for nets of this shape and batches up to max_batch; room for more is made on
     * demand. */
    int (*open)(struct ga_context **out, const struct ga_net *net, size_t max_batch);
    void (*close)(struct ga_context *context);
    /* Bytes of activations and scratch that a context with this batch holds (exact accounting). */
    size_t (*context_bytes)(const struct ga_net *net, size_t max_batch);

    void *(*alloc)(size_t bytes); /* zeroed, 64-byte aligned; NULL and GA_ENOMEM */
    void (*free)(void *buffer);

    /*
     * Forward and backward of a micro-batch at `weights` (device, parameters floats): its gradient
     * sum into `sums` (device; assigned or added), its tally into `*tally` (assigned). Never fails
     * on values: they are flagged. Fails on memory.
     */
    int (*gradient)(struct ga_context *context, const float *weights, const struct ga_batch *batch,
                    enum ga_into into, void *sums, struct ga_tally *tally);

    /* Loss and correct count only, in file order of the batch; blocks of 2^18 are the caller's. */
    int (*evaluate)(struct ga_context *context, const float *weights, const struct ga_batch *batch,
                    struct ga_tally *tally);

    /*
     * Outputs of the net for `batch`, (count, width[layers]) floats, host memory. GA_EUNSUPPORTED
     * for a quadratic, which has none.
     */
    int (*predict)(struct ga_context *context, const float *weights, const struct ga_batch *batch,
                   float *outputs);

    void (*add)(const struct ga_net *net, void *to, const void *from); /* sums += sums */
    void (*clear)(const struct ga_net *net, void *sums);

    /*
     * g = (float)((H + L) / divisor) into `gradient` (host, parameters floats; may be NULL), and
     * its norm in double: squares in file order within blocks of 256, block sums in order, then
     * sqrt.
     */
    double (*mean)(const struct ga_net *net, const void *sums, double divisor, float *gradient);

    /* The sums of elements [first, first+count) as plain doubles (H + L), host. For explain and
     * print. */
    void (*read_sums)(const struct ga_net *net, const void *sums, size_t first, size_t count,
                      double *out);

    /* w, state -> new w, new state (device; out-of-place, no overlap; state NULL when there is
     * none). */
    void (*step)(const struct ga_net *net, const struct ga_step *step, const float *gradient,
                 const float *weights, const float *state, float *new_weights, float *new_state);

    /*
     * The rest is NULL where sums are exact, and where a device does not offer it; then the engine
     * does with the functions above.
     *
     * As gradient(), but sums = onto + the batch's own sums (`onto` NULL: 0; it may be `sums`), and
     * |own sums|^2 to `*square`: a micro-batch joins the accumulator without a pass of its own.
     */
    int (*accumulate)(struct ga_context *context, const float *weights,
                      const struct ga_batch *batch, const void *onto, void *sums,
                      struct ga_tally *tally, double *square);

    /*
     * A part of the division and of the step, for lanes that work side by side (all blocks in host
     * memory). mean_part() also adds the `ranks` replicas' sums, in order: gradient = sum /
     * divisor. Squares and products come in blocks of GA_PART elements, from the part's first one
     * on, so that no result depends on how the parameters were cut: squares[i] of g, dots[i*ranks +
     * r] of g with replica r's sums (`dots` may be NULL); step_part() gives |new w - w|^2 in
     * squares[2*i] and |new w|^2 in squares[2*i + 1].
     */
    void (*mean_part)(const void *const *sums, size_t ranks, double divisor,
                      const struct ga_part *part, float *gradient, double *squares, double *dots);
    void (*step_part)(const struct ga_net *net, const struct ga_step *step,
                      const struct ga_step_blocks *blocks, const struct ga_part *part,
                      double *squares);

    /*
     * Does the burst's updates to the last bit as accumulate() (or gradient(), where there is no
     * such function), mean() and step() would, and returns how many: it stops before one whose loss
     * or gradient is not finite, and at 0 where the net is too large for this to be of use (the new
     * blocks are then not written). A device that fails returns 0, too, and tells it by poll().
     */
    size_t (*burst)(struct ga_context *context, const struct ga_burst *burst);

    /* As gradient() with GA_ASSIGN, for somebody who is told of its parts; NULL where sums are
     * exact, too. A failure may come after all was told. */
    int (*gradient_in_parts)(struct ga_context *context, const float *weights,
                             const struct ga_batch *batch, void *sums, struct ga_tally *tally,
                             const struct ga_told *told);
};

extern const struct ga_compute ga_compute_cpu_exact;
extern const struct ga_compute ga_compute_cpu_fast;

/* Buffers of any device: places (1 for plain memory), room at one of them, copies, and the first
 * failure of a call without a code. */
int ga_buffer_places(const struct ga_compute *compute, size_t *count);
void *ga_buffer_alloc(const struct ga_compute *compute, size_t bytes, size_t place);
void ga_buffer_home(const struct ga_compute *compute, struct ga_context *context, size_t place);
int ga_buffer_copy_in(const struct ga_compute *compute, void *device, const void *host,
                      size_t bytes);
int ga_buffer_copy_out(const struct ga_compute *compute, void *host, const void *device,
                       size_t bytes);
int ga_buffer_copy(const struct ga_compute *compute, void *to, const void *from, size_t bytes);
int ga_buffer_poll(const struct ga_compute *compute);
void ga_buffer_revive(const struct ga_compute *compute);

/* Held blocks, as in ga_device_memory; plain memory needs none of it. A fetch that fails is kept
 * for poll(). */
int ga_buffer_hold(const struct ga_compute *compute, void *block, size_t bytes);
void ga_buffer_release(const struct ga_compute *compute, void *block); /* NULL is fine */
void ga_buffer_fetch(const struct ga_compute *compute, const void *block);
void ga_buffer_renew(const struct ga_compute *compute, void *block);
/* ga_norm(), ga_norm_of_difference() and ga_dot() of blocks that may be held. */
double ga_buffer_norm(const struct ga_compute *compute, const float *values, size_t count);
double ga_buffer_distance(const struct ga_compute *compute, const float *a, const float *b,
                          size_t count);
double ga_buffer_dot(const struct ga_compute *compute, const float *a, const float *b,
                     size_t count);

/* By device and numerics word; NULL and an error that lists what there is. "auto" is cuda where the
 * driver lists a card that can be used, else cpu: then the error text says why. */
const struct ga_compute *ga_compute_find(const char *device, const char *numerics);

/* L2 norm in double by the rule above (blocks of 256), for update and parameter norms; dot
 * likewise. */
double ga_norm(const float *values, size_t count);
double ga_norm_of_difference(const float *a, const float *b, size_t count);
double ga_dot(const float *a, const float *b, size_t count);

/* Index of the first value that is not finite, or `count`. */
size_t ga_first_nonfinite(const float *values, size_t count);

/* Nanoseconds of device work that one example costs, roughly: decides inline or worker. */
double ga_compute_example_cost_ns(const struct ga_net *net);

/*
 * Which instruction set the exact kernels run on: "avx2" or "baseline"; for `devices`. Chosen at
 * the first use; the environment variable GA_CPU_KERNEL may name one (for tests: all give the same
 * bits), and open() fails with GA_EINPUT where this machine does not have it.
 */
const char *ga_compute_cpu_kernel(void);

/* What the fast numerics run on: "avx2 kernels; OpenBLAS (Haswell) from a million weights a
 * layer"; for `devices`. */
void ga_compute_fast_library(char *out, size_t size);

#endif
