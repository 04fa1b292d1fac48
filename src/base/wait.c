#include "base/wait.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>

/* How long a pending signal may go unnoticed. */
#define LOOK_EVERY_MS 100

static bool told_to_end(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1);
}

int ga_wait_ready(int fd, short events)
{
    struct pollfd wanted = {.fd = fd, .events = events};
    for (;;) {
        const int ready = poll(&wanted, 1, LOOK_EVERY_MS);
        if (ready > 0)
            return GA_OK;
        if (ready < 0 && errno != EINTR)
            return ga_fail_errno(GA_EIO, errno, "cannot wait");
        if (told_to_end())
            return ga_fail(GA_EIO, "interrupted while the other end said nothing");
    }
}
