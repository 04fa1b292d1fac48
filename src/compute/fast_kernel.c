#include "compute/fast_kernel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

void ga_fast_kernels(const struct ga_fast_kernel *out[GA_FAST_KERNELS + 1])
{
    size_t count = 0;
#ifdef GA_CPU_AVX2
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        out[count++] = &ga_fast_kernel_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        out[count++] = &ga_fast_kernel_avx2;
#endif
    out[count++] = &ga_fast_kernel_baseline;
    out[count] = NULL;
}

static const struct ga_fast_kernel *choose(void)
{
    const struct ga_fast_kernel *kernels[GA_FAST_KERNELS + 1];
    const char *name = getenv("GA_CPU_KERNEL");
    struct ga_text list = GA_TEXT_INIT;
    ga_fast_kernels(kernels);
    if (!name || !*name)
        return kernels[0];
    for (size_t i = 0; kernels[i]; i++)
        if (strcmp(kernels[i]->name, name) == 0)
            return kernels[i];
    for (size_t i = 0; kernels[i]; i++)
        ga_text_printf(&list, "%s%s", i > 0 ? ", " : "", kernels[i]->name);
    ga_fail(GA_EINPUT, "GA_CPU_KERNEL is \"%s\": expected one that this machine runs: %s", name,
            ga_text_get(&list));
    ga_text_free(&list);
    return NULL;
}

const struct ga_fast_kernel *ga_fast_kernel(void)
{
    static const struct ga_fast_kernel *_Atomic chosen;
    const struct ga_fast_kernel *kernel = atomic_load_explicit(&chosen, memory_order_acquire);
    if (kernel)
        return kernel;
    kernel = choose();
    atomic_store_explicit(&chosen, kernel, memory_order_release);
    return kernel;
}

const struct ga_fast_kernel *ga_fast_any_kernel(void)
{
    const struct ga_fast_kernel *kernel = ga_fast_kernel();
    return kernel ? kernel : &ga_fast_kernel_baseline;
}
