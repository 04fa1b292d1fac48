/*
 * This process as the kernel sees it: its share of all cores, its memory, and each thread's share
 * of one core. Shares are between two samples, so the first one has none.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "monitor/monitors.h"

#define MOST 512 /* threads */

/* CPU time used up to some moment. */
struct used {
    int64_t cpu_ns, wall_ns;
};

struct thread_used {
    int32_t thread;
    struct used used;
};

struct ga_session {
    long cores, page_bytes, pages;
    struct used process; /* wall_ns 0: not looked at yet */
    size_t threads;
    struct thread_used thread[MOST], fresh[MOST];
};

/* A small file of /proc, which is made anew by each open(). Returns its length. */
static ssize_t read_small(const char *path, char *out, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = -1;

    if (fd >= 0) {
        length = read(fd, out, size - 1);
        close(fd);
    }
    out[length > 0 ? length : 0] = '\0';
    return length;
}

/* Pages of this process in memory, its shared ones included: the second figure. */
static bool read_pages(uint64_t *out)
{
    char text[256];
    const ssize_t length = read_small("/proc/self/statm", text, sizeof text);

    return length > 0 && sscanf(text, "%*u %" SCNu64, out) == 1;
}

static int open_session(struct ga_session **out, const struct ga_monitor_options *options)
{
    struct ga_session *session = ga_alloc(1, sizeof *session);
    uint64_t pages = 0;

    (void)options;
    *out = NULL;
    if (!session)
        return GA_ENOMEM;
    session->cores = sysconf(_SC_NPROCESSORS_ONLN);
    session->page_bytes = sysconf(_SC_PAGESIZE);
    session->pages = sysconf(_SC_PHYS_PAGES);
    if (!read_pages(&pages)) {
        free(session);
        return ga_fail(GA_EUNSUPPORTED, "/proc/self/statm cannot be read: expected /proc of Linux");
    }
    *out = session;
    return GA_OK;
}

static void close_session(struct ga_session *session)
{
    free(session);
}

static const char *driver(const struct ga_session *session)
{
    (void)session;
    return "";
}

static size_t count(const struct ga_session *session)
{
    (void)session;
    return 1;
}

static int check_device(size_t device)
{
    return device == 0 ? GA_OK : ga_fail(GA_ERANGE, "proc: device %zu, expected 0", device);
}

static int info(struct ga_session *session, size_t device, struct ga_device_info *out)
{
    (void)session;
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "cpu");
    return check_device(device);
}

/* The share of `cores` cores since the last time; false when there was none. */
static bool share_of(const struct used *last, const struct used *now, long cores, double *out)
{
    const double span_ns = (double)(now->wall_ns - last->wall_ns) * (double)cores;
    const double share = (double)(now->cpu_ns - last->cpu_ns) / span_ns;

    if (last->wall_ns == 0 || !(span_ns > 0) || !(share >= 0))
        return false;
    *out = share < 1 ? share : 1;
    return true;
}

static int sample(struct ga_session *session, size_t device, struct ga_device_sample *out)
{
    struct timespec cpu = {0, 0};
    uint64_t pages = 0;

    memset(out, 0, sizeof *out);
    if (check_device(device) < 0)
        return ga_error_code();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    const struct used now = {(int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec, ga_now_ns()};
    if (session->cores > 0 && share_of(&session->process, &now, session->cores, &out->utilisation))
        out->valid |= GA_SENSES_UTILISATION;
    session->process = now;
    if (session->page_bytes > 0 && read_pages(&pages)) {
        out->memory_used = pages * (uint64_t)session->page_bytes;
        out->valid |= GA_SENSES_MEMORY_USED;
    }
    if (session->page_bytes > 0 && session->pages > 0) {
        out->memory_total = (uint64_t)session->pages * (uint64_t)session->page_bytes;
        out->valid |= GA_SENSES_MEMORY_TOTAL;
    }
    out->taken_ns = now.wall_ns;
    return GA_OK;
}

/* Nanoseconds from the scheduler where the kernel keeps them, else clock ticks. */
static bool read_thread(int32_t thread, int64_t *cpu_ns)
{
    char path[64], text[1024];
    const long ticks = sysconf(_SC_CLK_TCK);
    uint64_t user = 0, system = 0;

    snprintf(path, sizeof path, "/proc/self/task/%" PRId32 "/schedstat", thread);
    if (read_small(path, text, sizeof text) > 0 && sscanf(text, "%" SCNd64, cpu_ns) == 1)
        return true;
    snprintf(path, sizeof path, "/proc/self/task/%" PRId32 "/stat", thread);
    if (read_small(path, text, sizeof text) <= 0 || ticks <= 0)
        return false;
    const char *behind_name = strrchr(text, ')');
    if (!behind_name ||
        sscanf(behind_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
               &user, &system) != 2)
        return false;
    *cpu_ns = (int64_t)((user + system) * (uint64_t)(1000000000 / ticks));
    return true;
}

static const struct used *used_before(const struct ga_session *session, int32_t thread)
{
    static const struct used never = {0, 0};

    for (size_t i = 0; i < session->threads; i++)
        if (session->thread[i].thread == thread)
            return &session->thread[i].used;
    return &never;
}

/* One more thread; false for what is none, or ended meanwhile. */
static bool take_thread(const struct ga_session *session, const char *name,
                        struct thread_used *fresh, struct ga_thread_load *out)
{
    char *end = NULL;
    const long thread = strtol(name, &end, 10);
    double share = 0;

    if (end == name || *end != '\0' || thread <= 0 || thread > INT32_MAX)
        return false;
    fresh->thread = (int32_t)thread;
    fresh->used.wall_ns = ga_now_ns();
    if (!read_thread(fresh->thread, &fresh->used.cpu_ns))
        return false;
    out->thread = fresh->thread;
    out->share =
        share_of(used_before(session, fresh->thread), &fresh->used, 1, &share) ? (float)share : NAN;
    return true;
}

static size_t threads(struct ga_session *session, struct ga_thread_load *out, size_t most)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry = NULL;
    size_t found = 0;

    while (folder && found < most && found < MOST && (entry = readdir(folder)) != NULL)
        found += take_thread(session, entry->d_name, &session->fresh[found], &out[found]);
    if (folder)
        closedir(folder);
    session->threads = found;
    memcpy(session->thread, session->fresh, found * sizeof *session->fresh);
    return found;
}

const struct ga_monitor ga_monitor_proc = {.name = "proc",
                                           .help = "this process, by /proc",
                                           .open = open_session,
                                           .close = close_session,
                                           .driver = driver,
                                           .count = count,
                                           .info = info,
                                           .sample = sample,
                                           .threads = threads};
