/*
 * What the program and its CUDA module agree on. The module (libgaconsole_cuda.so) is a shared
 * library that the program opens when a GPU is asked for; it exports ga_cuda_module() alone and
 * links no room, because a second copy of base would keep error texts of its own: what it needs of
 * the host it calls through the table it is given.
 *
 * Threads: both tables are const. ga_cuda_module() is called once.
 */
#ifndef GA_COMPUTE_CUDA_MODULE_H
#define GA_COMPUTE_CUDA_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "compute/compute.h"

/* Both sides state it; the loader refuses a module built from other sources. */
#define GA_CUDA_MODULE_VERSION 5

struct ga_collective; /* collective/collective.h */

struct ga_host {
    uint32_t version;
    size_t compute_bytes, tally_bytes; /* of struct ga_compute and struct ga_tally */
    int (*fail)(enum ga_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));
    int (*fail_within)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    const char *(*error_text)(void);
    enum ga_code (*error_code)(void);
    size_t (*step_state_blocks)(enum ga_step_kind kind, float momentum);
};

/* One card, as the CUDA runtime describes it. */
struct ga_cuda_card {
    char name[128];
    char bus[32]; /* PCI bus id "0000:01:00.0", as NVML writes it too */
    int major, minor, multiprocessors;
    uint64_t memory_total, memory_free; /* bytes */
};

struct ga_cuda_module {
    uint32_t version;
    const struct ga_compute *const *compute; /* NULL behind the last */
    const struct ga_collective *collective;  /* between replicas on cards */
    void (*nccl)(char *out, size_t size);    /* NCCL's version, or why it is not in */
    int (*card)(size_t place, struct ga_cuda_card *out);
};

typedef const struct ga_cuda_module *ga_cuda_module_function(const struct ga_host *host);

/* NULL with an error set through `host` where the two were not built from the same sources. */
ga_cuda_module_function ga_cuda_module;

#endif
