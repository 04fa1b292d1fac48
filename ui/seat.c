#include "ui/seat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"

#define PATIENCE_NS INT64_C(60000000000)
#define MOST_WORDS  32

static void run_child(const char *terminal, const char *const *argv, const struct winsize *size)
{
    const char *word[MOST_WORDS] = {"gaconsole", "--readonly"};
    for (size_t i = 0; argv[i] && i + 3 < MOST_WORDS; i++)
        word[i + 2] = argv[i];
    setsid();
    const int fd = open(terminal, O_RDWR);
    if (fd < 0)
        _exit(127);
    ioctl(fd, TIOCSCTTY, 0);
    ioctl(fd, TIOCSWINSZ, size);
    dup2(fd, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    unsetenv("NO_COLOR");
    execv("/proc/self/exe", (char *const *)word);
    _exit(127);
}

int ga_seat_open(struct ga_seat *seat, const char *const *argv, int rows, int columns)
{
    const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    char terminal[64];
    *seat = (struct ga_seat){.child = -1, .seen = GA_TEXT_INIT};
    seat->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (seat->fd < 0 || grantpt(seat->fd) < 0 || unlockpt(seat->fd) < 0 ||
        ptsname_r(seat->fd, terminal, sizeof(terminal)) != 0) {
        const int why = errno;
        ga_seat_close(seat);
        return ga_fail_errno(GA_EIO, why, "cannot make a pseudo-terminal");
    }
    seat->started_ns = ga_now_ns();
    seat->child = fork();
    if (seat->child == 0)
        run_child(terminal, argv, &size);
    if (seat->child > 0)
        return 0;
    const int why = errno;
    ga_seat_close(seat);
    return ga_fail_errno(GA_EIO, why, "cannot start another process");
}

void ga_seat_close(struct ga_seat *seat)
{
    if (seat->child > 0) {
        kill(seat->child, SIGKILL);
        waitpid(seat->child, NULL, 0);
    }
    if (seat->fd >= 0)
        close(seat->fd);
    ga_text_free(&seat->seen);
    seat->child = -1;
    seat->fd = -1;
}

int ga_seat_take(struct ga_seat *seat, int64_t deadline_ns)
{
    char bytes[65536];
    struct pollfd watched = {.fd = seat->fd, .events = POLLIN};
    const int64_t left_ns = deadline_ns - ga_now_ns();
    const struct timespec left = {left_ns > 0 ? left_ns / 1000000000 : 0,
                                  left_ns > 0 ? left_ns % 1000000000 : 0};
    if (ppoll(&watched, 1, &left, NULL) <= 0)
        return 0;
    const ssize_t count = read(seat->fd, bytes, sizeof(bytes));
    if (count <= 0)
        return GA_ESTATE;
    seat->seen_ns = ga_now_ns();
    ga_text_append(&seat->seen, bytes, (size_t)count);
    return ga_text_failed(&seat->seen) ? ga_fail(GA_ENOMEM, "no memory for what was written") : 1;
}

int ga_seat_expect(struct ga_seat *seat, size_t from, const char *bytes)
{
    const int64_t deadline_ns = ga_now_ns() + PATIENCE_NS;
    for (;;) {
        const size_t length = seat->seen.length;
        if (length > from &&
            memmem(seat->seen.data + from, length - from, bytes, strlen(bytes)) != NULL)
            return 0;
        const int came = ga_seat_take(seat, deadline_ns);
        if (came <= 0)
            return ga_fail(GA_ESTATE, "\"%s\" was not written: expected it on the screen", bytes);
    }
}

void ga_seat_type(struct ga_seat *seat, const char *keys)
{
    if (write(seat->fd, keys, strlen(keys)) < 0)
        return; /* what is expected next will be missed */
}

/* The number behind `label` in a file of /proc; -1: it is not there. An empty label: the first. */
static int64_t read_number(const char *path, const char *label)
{
    char bytes[8192] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    const size_t count = fread(bytes, 1, sizeof(bytes) - 1, file);
    fclose(file);
    bytes[count] = '\0';
    const char *at = strstr(bytes, label);
    return at ? strtoll(at + strlen(label), NULL, 10) : -1;
}

/* What all threads but the main one have used. */
static int64_t read_others(int process)
{
    char path[96];
    struct dirent *entry = NULL;
    int64_t sum_ns = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", process);
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    while ((entry = readdir(folder))) {
        const int thread = atoi(entry->d_name);
        if (thread <= 0 || thread == process)
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", process, thread);
        const int64_t ns = read_number(path, "");
        sum_ns += ns > 0 ? ns : 0;
    }
    closedir(folder);
    return sum_ns;
}

void ga_seat_use(const struct ga_seat *seat, struct ga_seat_use *out)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)seat->child, (int)seat->child);
    out->cpu_ns = read_number(path, "");
    out->others_ns = read_others((int)seat->child);
    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)seat->child, (int)seat->child);
    out->wakes = read_number(path, "\nvoluntary_ctxt_switches:");
    const int64_t kib = read_number(path, "\nRssAnon:");
    out->anonymous_bytes = kib < 0 ? -1 : kib * 1024;
}
