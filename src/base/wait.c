#include "base/wait.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

bool ga_wait_told_to_end(bool by_interrupt)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           ((by_interrupt && sigismember(&pending, SIGINT) == 1) ||
            sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGHUP) == 1);
}

int ga_wait_ready(int fd, short events)
{
    struct pollfd wanted = {.fd = fd, .events = events};
    for (;;) {
        const int ready = poll(&wanted, 1, GA_WAIT_LOOK_MS);
        if (ready > 0)
            return GA_OK;
        if (ready < 0 && errno != EINTR)
            return ga_fail_errno(GA_EIO, errno, "cannot wait");
        if (ga_wait_told_to_end(true))
            return ga_fail(GA_EIO, "interrupted while the other end said nothing");
    }
}
