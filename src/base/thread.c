#include "base/thread.h"

#include "base/error.h"

#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* With x87 arithmetic float sums would be rounded twice and the results would differ. */
_Static_assert(FLT_EVAL_METHOD == 0,
               "float must be computed as float (32-bit x86: -msse2 -mfpmath=sse)");

#define SLOT  3u /* the bits of ga_triple.shared that hold a slot index */
#define NEWER 4u

int64_t ga_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void ga_float_environment_reset(void)
{
    fesetenv(FE_DFL_ENV);
}

int ga_bell_open(struct ga_bell *bell)
{
    bell->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (bell->fd < 0)
        return ga_fail_errno(GA_EIO, errno, "cannot open an event descriptor");
    return GA_OK;
}

void ga_bell_close(struct ga_bell *bell)
{
    if (!bell || bell->fd < 0)
        return;
    close(bell->fd);
    bell->fd = -1;
}

/* A full counter (EAGAIN) is a bell that rings already; errno stays as it was for signal handlers.
 */
void ga_bell_ring(const struct ga_bell *bell)
{
    const int saved = errno;
    const uint64_t one = 1;
    while (write(bell->fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    errno = saved;
}

void ga_bell_clear(const struct ga_bell *bell)
{
    const int saved = errno;
    uint64_t rings = 0;
    while (read(bell->fd, &rings, sizeof rings) < 0 && errno == EINTR)
        continue;
    errno = saved;
}

void ga_triple_init(struct ga_triple *triple)
{
    triple->back = 0;
    atomic_init(&triple->shared, 1);
    triple->front = 2;
}

unsigned ga_triple_back(const struct ga_triple *triple)
{
    return triple->back;
}

void ga_triple_publish(struct ga_triple *triple)
{
    const unsigned old =
        atomic_exchange_explicit(&triple->shared, triple->back | NEWER, memory_order_acq_rel);
    triple->back = old & SLOT;
}

unsigned ga_triple_front(struct ga_triple *triple, bool *fresh)
{
    const bool newer = atomic_load_explicit(&triple->shared, memory_order_relaxed) & NEWER;
    if (newer) {
        const unsigned old =
            atomic_exchange_explicit(&triple->shared, triple->front, memory_order_acq_rel);
        triple->front = old & SLOT;
    }
    if (fresh)
        *fresh = newer;
    return triple->front;
}
