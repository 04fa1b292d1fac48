#include "bench/peak.h"

#define CHAINS 12 /* more than latency times width of today's cores */

/* Vectors of `lanes` floats in one instruction set; the result is kept by a volatile. */
#define PEAK(name, lanes, fused)                                                                   \
    typedef float name##_vector __attribute__((vector_size((lanes)*4)));                           \
    static float name(int64_t rounds)                                                              \
    {                                                                                              \
        name##_vector sum[CHAINS], factor = {0}, term = {0};                                       \
        float out = 0;                                                                             \
        for (int i = 0; i < (lanes); i++) {                                                        \
            factor[i] = 0.999f;                                                                    \
            term[i] = 1e-3f;                                                                       \
        }                                                                                          \
        for (int i = 0; i < CHAINS; i++)                                                           \
            sum[i] = term * (float)i;                                                              \
        for (int64_t k = 0; k < rounds; k++) {                                                     \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) sum[i] =                     \
                fused(sum[i], factor, term);                                                       \
        }                                                                                          \
        for (int i = 0; i < CHAINS; i++)                                                           \
            out += sum[i][0];                                                                      \
        return out;                                                                                \
    }

#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))

PEAK(plain, 4, MULTIPLY_ADD)

#if defined(__x86_64__)
#include <immintrin.h>

#define FUSED_8(a, b, c)  ((avx2_vector)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define FUSED_16(a, b, c) ((avx512_vector)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))

static float avx2(int64_t rounds) __attribute__((target("avx2,fma")));
PEAK(avx2, 8, FUSED_8)
static float avx512(int64_t rounds) __attribute__((target("avx512f")));
PEAK(avx512, 16, FUSED_16)
#endif

struct kind {
    float (*run)(int64_t rounds);
    double lanes;
};

static struct kind widest(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return (struct kind){avx512, 16};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (struct kind){avx2, 8};
#endif
    return (struct kind){plain, 4};
}

double ga_peak_run(double operations)
{
    const struct kind kind = widest();
    const double each = 2 * CHAINS * kind.lanes;
    const int64_t rounds = (int64_t)(operations / each) + 1;

    volatile float kept = kind.run(rounds);
    (void)kept;
    return (double)rounds * each;
}
