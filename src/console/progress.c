#include "console/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/thread.h"

#define FIRST_NS  INT64_C(500000000)
#define PERIOD_NS INT64_C(200000000)
#define COLUMNS   79

void ga_progress_init(struct ga_progress *progress, int fd)
{
    const char *terminal = getenv("TERM");
    const bool usable = isatty(fd) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
    *progress = (struct ga_progress){.fd = usable ? fd : -1};
}

static void put(const struct ga_progress *progress, const char *bytes, size_t length)
{
    if (write(progress->fd, bytes, length) < 0)
        return; /* a line about progress is worth no failure */
}

static int format(const struct ga_progress *progress, const struct ga_view *view, char *out,
                  size_t size)
{
    char loss[GA_NUMBER_TEXT];
    char rate[GA_NUMBER_TEXT];
    const uint64_t now = view->counters.updates;
    const uint64_t target = view->target_updates;
    ga_format_digits(loss, view->record.loss, 4);
    ga_format_digits(rate, view->examples_per_second, 3);
    int length = snprintf(out, size, "update %" PRIu64, now);
    if (target > now)
        length += snprintf(out + length, size - (size_t)length, " of %" PRIu64 " (%.0f %%)", target,
                           100.0 * (double)now / (double)target);
    length += snprintf(out + length, size - (size_t)length, "  loss %s  %s examples/s", loss, rate);
    if (target > now && now > progress->from_update) {
        const double elapsed = (double)(ga_now_ns() - progress->started_ns) * 1e-9;
        const double left =
            elapsed * (double)(target - now) / (double)(now - progress->from_update);
        length += snprintf(out + length, size - (size_t)length, "  %.0f s left", left);
    }
    return length;
}

void ga_progress_tick(struct ga_progress *progress, struct ga_engine *engine)
{
    const int64_t now = ga_now_ns();
    if (progress->fd < 0)
        return;
    const struct ga_view *view = ga_engine_view(engine);
    if (progress->started_ns == 0 || progress->target != view->target_updates) {
        progress->started_ns = now;
        progress->target = view->target_updates;
        progress->from_update = view->counters.updates;
    }
    if (now - progress->started_ns < FIRST_NS || now - progress->shown_ns < PERIOD_NS)
        return;
    char line[256] = "\r";
    const int length = format(progress, view, line + 1, sizeof(line) - 1);
    const int shown = length < COLUMNS ? length : COLUMNS;
    for (int i = shown; i < progress->width; i++)
        line[1 + i] = ' ';
    put(progress, line, 1 + (size_t)(shown > progress->width ? shown : progress->width));
    progress->width = shown;
    progress->shown_ns = now;
}

void ga_progress_clear(struct ga_progress *progress)
{
    if (progress->fd < 0 || progress->width == 0)
        return;
    char line[COLUMNS + 2];
    memset(line, ' ', sizeof(line));
    line[0] = '\r';
    line[1 + progress->width] = '\r';
    put(progress, line, 2 + (size_t)progress->width);
    progress->width = 0;
}
