#include "ui/trap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.h"

#define STACK_BYTES  65536
#define DRAIN_BLOCKS 512
#define STUCK_MS     300

static const int orderly[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT};
static const int deadly[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGQUIT,
                             SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGSYS};
static const int ignored[] = {SIGPIPE, SIGXFSZ}; /* errors of the write that met them */

#define ORDERLY (sizeof(orderly) / sizeof(orderly[0]))
#define DEADLY  (sizeof(deadly) / sizeof(deadly[0]))
#define IGNORED (sizeof(ignored) / sizeof(ignored[0]))

/* For the handlers, which get no pointer of ours. */
static struct {
    int reader, writer;
    volatile sig_atomic_t armed;  /* `rescue` counts */
    volatile sig_atomic_t ending; /* TERM or HUP came */
    struct ga_term_rescue rescue;
    int caught, error;
    void *stack;
    stack_t old_stack;
    struct sigaction old_orderly[ORDERLY], old_deadly[DEADLY], old_ignored[IGNORED];
} trap = {.reader = -1, .writer = -1};

/* The terminal is touched only while it is ours: in the background that would stop the process. */
static bool owns_terminal(void)
{
    const pid_t group = tcgetpgrp(trap.rescue.fd);
    return group < 0 || group == getpgrp();
}

static void write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        bytes += written;
        count -= (size_t)written;
    }
}

/* Stopped, or read by nobody: a write would not come back. */
static bool takes_nothing(void)
{
    struct pollfd terminal = {.fd = trap.rescue.fd, .events = POLLOUT};
    return poll(&terminal, 1, STUCK_MS) == 0;
}

static void put_back(bool stuck)
{
    char bytes[4096];
    if (!trap.armed)
        return;
    trap.armed = 0;
    if (owns_terminal()) {
        if (stuck || takes_nothing()) { /* whatever it waits for to be written is let go */
            tcflow(trap.rescue.fd, TCOON);
            tcflush(trap.rescue.fd, TCOFLUSH);
        }
        write_all(trap.rescue.fd, trap.rescue.bytes, trap.rescue.count);
        tcsetattr(trap.rescue.fd, TCSANOW, &trap.rescue.usual);
    }
    if (trap.caught < 0)
        return;
    for (int i = 0; i < DRAIN_BLOCKS; i++) {
        const ssize_t count = read(trap.caught, bytes, sizeof(bytes));
        if (count <= 0)
            return;
        write_all(trap.error, bytes, (size_t)count);
    }
}

static void die(int number)
{
    const int saved = errno;
    const int real = number == SIGALRM && trap.ending ? trap.ending : number;
    put_back(number == SIGALRM);
    for (size_t i = 0; i < DEADLY; i++)
        if (deadly[i] == real)
            sigaction(real, &trap.old_deadly[i], NULL);
    if (real != number)
        signal(real, SIG_DFL);
    errno = saved;
    raise(real);
}

static void note(int number)
{
    const int saved = errno;
    const char byte = (char)number;
    if (number == SIGTERM || number == SIGHUP) {
        const struct itimerval patience = {.it_value = {GA_TRAP_PATIENCE_NS / 1000000000,
                                                        GA_TRAP_PATIENCE_NS % 1000000000 / 1000}};
        trap.ending = number;
        setitimer(ITIMER_REAL, &patience, NULL);
    }
    if (write(trap.writer, &byte, 1) < 0)
        errno = 0; /* full: the loop has enough to do */
    errno = saved;
}

static void watch(const int *numbers, size_t count, void (*handler)(int), int flags,
                  struct sigaction *old)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < count; i++)
        sigaction(numbers[i], &action, &old[i]);
}

static void unwatch(const int *numbers, size_t count, const struct sigaction *old)
{
    for (size_t i = 0; i < count; i++)
        sigaction(numbers[i], &old[i], NULL);
}

/* A stack of its own: a stack that overflowed has no room for a handler. */
static void open_stack(void)
{
    trap.stack = malloc(STACK_BYTES);
    if (!trap.stack)
        return;
    const stack_t stack = {.ss_sp = trap.stack, .ss_size = STACK_BYTES};
    sigaltstack(&stack, &trap.old_stack);
}

static void close_stack(void)
{
    if (!trap.stack)
        return;
    sigaltstack(&trap.old_stack, NULL);
    free(trap.stack);
    trap.stack = NULL;
}

int ga_trap_open(void)
{
    int end[2];
    if (pipe2(end, O_CLOEXEC | O_NONBLOCK) < 0)
        return ga_fail_errno(GA_EIO, errno, "cannot watch for signals");
    trap.reader = end[0];
    trap.writer = end[1];
    trap.caught = trap.error = -1;
    open_stack();
    watch(orderly, ORDERLY, note, SA_RESTART, trap.old_orderly);
    watch(deadly, DEADLY, die, SA_ONSTACK, trap.old_deadly);
    watch(ignored, IGNORED, SIG_IGN, 0, trap.old_ignored);
    return trap.reader;
}

void ga_trap_close(void)
{
    const struct itimerval none = {{0, 0}, {0, 0}};
    if (trap.reader < 0)
        return;
    setitimer(ITIMER_REAL, &none, NULL);
    unwatch(orderly, ORDERLY, trap.old_orderly);
    unwatch(deadly, DEADLY, trap.old_deadly);
    unwatch(ignored, IGNORED, trap.old_ignored);
    close_stack();
    close(trap.reader);
    close(trap.writer);
    trap.reader = trap.writer = -1;
    trap.armed = trap.ending = 0;
}

int ga_trap_take(void)
{
    char number = 0;
    return read(trap.reader, &number, 1) == 1 ? number : 0;
}

void ga_trap_rescue(const struct ga_term_rescue *rescue, int caught_fd, int error_fd)
{
    trap.armed = 0;
    if (!rescue)
        return;
    trap.rescue = *rescue;
    trap.caught = caught_fd;
    trap.error = error_fd;
    trap.armed = 1;
}

/* Who stops by himself need not be told that he goes on: CONT is left alone meanwhile. */
void ga_trap_stop(void)
{
    struct sigaction usual = {.sa_handler = SIG_IGN};
    struct sigaction stops;
    struct sigaction goes_on;
    sigemptyset(&usual.sa_mask);
    sigaction(SIGTSTP, &usual, &stops);
    kill(0, SIGTSTP); /* a script around us, which the shell waits for */
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCONT, &usual, &goes_on);
    sigaction(SIGTSTP, &usual, NULL);
    raise(SIGTSTP); /* to this thread, so that nothing runs on before it takes effect */
    sigaction(SIGTSTP, &stops, NULL);
    sigaction(SIGCONT, &goes_on, NULL);
}

void ga_trap_raise(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}
