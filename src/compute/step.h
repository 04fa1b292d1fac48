/*
 * One optimizer step: its numbers, and what it does to one parameter. This is the formula: the
 * cards' kernels run these lines, and the vector forms of the CPU's (cpu_step.inc, fast_step.inc)
 * are held to them by tests: the exact one to the last bit. Formulas and order of operations as in
 * PyTorch 1.13 (torch/optim/_functional.py, single tensor).
 *
 * Inline and free of state; the file compiles as C and as CUDA.
 */
#ifndef GA_COMPUTE_STEP_H
#define GA_COMPUTE_STEP_H

#include <stdbool.h>

#ifdef __CUDACC__
#define GA_STEP_INLINE static __host__ __device__ inline
#else
#define GA_STEP_INLINE static inline
#endif

/* One optimizer step, scalars already rounded to float where they meet a tensor. */
enum ga_step_kind { GA_STEP_SGD, GA_STEP_ADAM, GA_STEP_ADAMW };
struct ga_step {
    enum ga_step_kind kind;
    float gradient_scale; /* clip; exactly 1 when not clipped: then it is not multiplied in */
    bool scaled;          /* whether gradient_scale is applied */
    float lr;             /* sgd: lr; adamw: unused */
    float momentum;       /* sgd: 0 = no buffer touched */
    bool nesterov;
    float weight_decay; /* sgd, adam: g += wd * w; 0 = not applied */
    float decay_factor; /* adamw: w *= 1 - lr*wd */
    float beta1, one_minus_beta1, beta2, one_minus_beta2;
    float step_size;  /* adam: lr / (1 - beta1^t) */
    float root_bias2; /* adam: sqrt(1 - beta2^t) */
    float epsilon;
};

GA_STEP_INLINE float ga_step_root(float x)
{
#ifdef __CUDA_ARCH__
    return __fsqrt_rn(x);
#else
    return __builtin_sqrtf(x);
#endif
}

/* m = beta1*m + (1-beta1)*g;  v = beta2*v + (1-beta2)*g*g;
 * w = decay*w - step_size * (m / (sqrt(v)/root_bias2 + epsilon)), without decay for adam */
GA_STEP_INLINE float ga_step_adam(const struct ga_step *s, float g, float w, float *m, float *v)
{
    *m = s->beta1 * *m + s->one_minus_beta1 * g;
    *v = s->beta2 * *v + s->one_minus_beta2 * g * g;
    const float root = ga_step_root(*v) / s->root_bias2 + s->epsilon;
    const float decayed = s->kind == GA_STEP_ADAMW ? s->decay_factor * w : w;
    return decayed - s->step_size * (*m / root);
}

/* The new weight of a parameter with gradient g and weight w. Its state goes from old to new: sgd
 * with momentum has the first, adam and adamw both. */
GA_STEP_INLINE float ga_step_one(const struct ga_step *s, float g, float w, float *first,
                                 float *second)
{
    if (s->scaled)
        g *= s->gradient_scale;
    if (s->weight_decay != 0.0f && s->kind != GA_STEP_ADAMW)
        g += s->weight_decay * w;
    if (s->kind != GA_STEP_SGD)
        return ga_step_adam(s, g, w, first, second);
    if (s->momentum != 0.0f) {
        *first = s->momentum * *first + g;
        g = s->nesterov ? g + s->momentum * *first : *first;
    }
    return w - s->lr * g;
}

#endif
