/*
 * Small thread tools: the monotonic clock, the floating-point environment, a bell and a triple
 * buffer.
 *
 * Bell: an eventfd that any thread rings and one thread polls; rings coalesce.
 * Triple buffer: one writer, one reader, three slots owned by the caller. The writer fills slot
 * ga_triple_back() and publishes it; the reader takes the newest with ga_triple_front(). One atomic
 * exchange each, no one waits. A slot belongs to whoever got its index until the next call.
 */
#ifndef GA_BASE_THREAD_H
#define GA_BASE_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

int64_t ga_now_ns(void); /* CLOCK_MONOTONIC */

/* Round to nearest, no flush-to-zero: called at the start of each thread and after loading a
 * library. */
void ga_float_environment_reset(void);

struct ga_bell {
    int fd; /* poll for POLLIN; -1 when closed */
};

int ga_bell_open(struct ga_bell *bell);
void ga_bell_close(struct ga_bell *bell);
void ga_bell_ring(const struct ga_bell *bell);
void ga_bell_clear(const struct ga_bell *bell);

struct ga_triple {
    atomic_uint shared; /* slot index, bit 2 set when it is newer than the reader's */
    unsigned back;      /* writer only */
    unsigned front;     /* reader only */
};

void ga_triple_init(struct ga_triple *triple);
unsigned ga_triple_back(const struct ga_triple *triple);
void ga_triple_publish(struct ga_triple *triple);
unsigned ga_triple_front(struct ga_triple *triple, bool *fresh);

#endif
