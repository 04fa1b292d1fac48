#include "compute/cpu_kernel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void ga_cpu_kernels(const struct ga_cpu_kernel *out[GA_CPU_KERNELS + 1])
{
    size_t count = 0;
#ifdef GA_CPU_AVX2
    if (__builtin_cpu_supports("avx2"))
        out[count++] = &ga_cpu_kernel_avx2;
#endif
    out[count++] = &ga_cpu_kernel_baseline;
    out[count] = NULL;
}

static const struct ga_cpu_kernel *choose(void)
{
    const struct ga_cpu_kernel *kernels[GA_CPU_KERNELS + 1];
    const char *name = getenv("GA_CPU_KERNEL");
    ga_cpu_kernels(kernels);
    if (!name || !*name)
        return kernels[0];
    for (size_t i = 0; kernels[i]; i++) {
        if (strcmp(kernels[i]->name, name) == 0)
            return kernels[i];
    }
    ga_fail(GA_EINPUT, "GA_CPU_KERNEL is \"%s\": expected %s%s", name, kernels[0]->name,
            kernels[1] ? " or baseline" : ", the only one this machine runs");
    return NULL;
}

/* The choice is made once for the process; threads that race for it come to the same answer. */
const struct ga_cpu_kernel *ga_cpu_kernel(void)
{
    static const struct ga_cpu_kernel *_Atomic chosen;
    const struct ga_cpu_kernel *kernel = atomic_load_explicit(&chosen, memory_order_acquire);
    if (kernel)
        return kernel;
    kernel = choose();
    atomic_store_explicit(&chosen, kernel, memory_order_release);
    return kernel;
}

const char *ga_compute_cpu_kernel(void)
{
    const struct ga_cpu_kernel *kernel = ga_cpu_kernel();
    return kernel ? kernel->name : "none";
}
