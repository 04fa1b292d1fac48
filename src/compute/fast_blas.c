#include "compute/fast_blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "base/thread.h"

/* Where the build found one, then the names under which systems keep one. */
static const char *const libraries[] = {
#ifdef GA_CBLAS_LIBRARY
    GA_CBLAS_LIBRARY,
#endif
    "libopenblas.so.0", "libblis.so.4", "libcblas.so.3", "libblas.so.3",
};

/* Of the CBLAS interface (BLAS Technical Forum, 2001, appendix B). */
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

typedef void sgemm_function(int order, int transpose_a, int transpose_b, int m, int n, int k,
                            float alpha, const float *a, int lda, const float *b, int ldb,
                            float beta, float *c, int ldc);

/* What a library has beside sgemm: how many threads it may take, and its name for this machine. */
typedef void int_function(int threads);
typedef void long_function(int64_t threads);
typedef char *name_function(void);

struct blas {
    _Atomic(sgemm_function *) sgemm;
    _Atomic(name_function *) name;
    atomic_bool looked;
};

/* ISO C has no cast from an object to a function; POSIX promises that it works. */
static void symbol(void *library, const char *name, void *to)
{
    void **address = to;
    *address = dlsym(library, name);
}

static void use_one_thread(void *library)
{
    int_function *openblas = NULL;
    long_function *blis = NULL;
    symbol(library, "openblas_set_num_threads", &openblas);
    symbol(library, "bli_thread_set_num_threads", &blis);
    if (openblas)
        openblas(1);
    if (blis)
        blis(1);
}

static void load(struct blas *blas)
{
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        sgemm_function *sgemm = NULL;
        name_function *name = NULL;
        if (!library)
            continue;
        symbol(library, "cblas_sgemm", &sgemm);
        if (!sgemm) {
            dlclose(library);
            continue;
        }
        use_one_thread(library);
        symbol(library, "openblas_get_corename", &name);
        atomic_store(&blas->name, name);
        atomic_store(&blas->sgemm, sgemm);
        return;
    }
}

/*
 * Loaded at the first use, for ever. Threads that race for it come to the same answer. Threads that
 * the library starts for itself must not take the program's signals; and libraries have been seen
 * to leave another floating-point environment behind.
 */
static struct blas *loaded(void)
{
    static struct blas blas;
    sigset_t all;
    sigset_t before;
    if (atomic_load_explicit(&blas.looked, memory_order_acquire))
        return &blas;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    load(&blas);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ga_float_environment_reset();
    atomic_store_explicit(&blas.looked, true, memory_order_release);
    return &blas;
}

bool ga_fast_blas(void)
{
    return atomic_load_explicit(&loaded()->sgemm, memory_order_relaxed) != NULL;
}

void ga_fast_blas_name(char *out, size_t size)
{
    const struct blas *blas = loaded();
    name_function *name = atomic_load(&blas->name);
    if (name)
        snprintf(out, size, "OpenBLAS (%s)", name());
    else
        snprintf(out, size, "%s", atomic_load(&blas->sgemm) ? "CBLAS" : "no CBLAS here");
}

static sgemm_function *sgemm(void)
{
    return atomic_load_explicit(&loaded()->sgemm, memory_order_relaxed);
}

static void blas_forward(const struct ga_fast_product *p, const float *inputs, const float *weights,
                         float *outputs)
{
    sgemm()(ROW_MAJOR, AS_IT_IS, TRANSPOSED, (int)p->count, (int)p->out, (int)p->in, 1.0f, inputs,
            (int)p->in, weights, (int)p->in, 0.0f, outputs, (int)p->out);
}

static void blas_backward(const struct ga_fast_product *p, const float *deltas,
                          const float *weights, float *back)
{
    sgemm()(ROW_MAJOR, AS_IT_IS, AS_IT_IS, (int)p->count, (int)p->in, (int)p->out, 1.0f, deltas,
            (int)p->out, weights, (int)p->in, 0.0f, back, (int)p->in);
}

static void blas_sums(const struct ga_fast_product *p, size_t rows, const float *deltas,
                      const float *inputs, float *sums)
{
    sgemm()(ROW_MAJOR, TRANSPOSED, AS_IT_IS, (int)rows, (int)p->in, (int)p->count, 1.0f, deltas,
            (int)p->out, inputs, (int)p->in, 0.0f, sums, (int)p->in);
}

const struct ga_fast_products ga_fast_blas_products = {
    .forward = blas_forward,
    .backward = blas_backward,
    .sums = blas_sums,
};
