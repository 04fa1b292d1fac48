/* No prompt: what -e and SCRIPT say, in order, up to the first failure. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/error.h"
#include "console/front.h"
#include "console/progress.h"

struct batch {
    struct ga_stream stream;
    struct ga_progress progress;
    struct ga_sink direct; /* the stream's own */
    struct ga_console *console;
    int signals;
    int caught; /* the signal that ended it; 0 */
};

/* What ended a write that waited for a reader, or a command. */
static void take_signal(struct batch *batch, bool failed)
{
    if (failed && !batch->caught)
        batch->caught = ga_signals_take(batch->signals);
}

static bool is_told_to_end(const struct batch *batch)
{
    return batch->stream.system_error == EINTR;
}

static int batch_out(void *self, const char *bytes, size_t length)
{
    struct batch *batch = self;
    const int code = batch->direct.out(batch->direct.self, bytes, length);
    take_signal(batch, is_told_to_end(batch));
    return code;
}

static void batch_fail(void *self, const char *bytes, size_t length)
{
    struct batch *batch = self;
    ga_progress_clear(&batch->progress);
    batch->direct.fail(batch->direct.self, bytes, length);
}

/* Flushes first: while it waits, what was printed is there to be read. */
static enum ga_wait batch_wait(void *self, int bell_fd)
{
    struct batch *batch = self;
    struct pollfd watched[2] = {{.fd = bell_fd, .events = POLLIN},
                                {.fd = batch->signals, .events = POLLIN}};
    if (batch->stream.used > 0)
        ga_progress_clear(&batch->progress);
    if (ga_stream_flush(&batch->stream) < 0) {
        take_signal(batch, is_told_to_end(batch));
        return GA_WAIT_BROKEN;
    }
    ga_progress_tick(&batch->progress, ga_console_engine(batch->console));
    poll(watched, 2, batch->progress.fd < 0 ? -1 : 250);
    const int number = ga_signals_take(batch->signals);
    if (number == 0)
        return GA_WAIT_ON;
    batch->caught = number;
    return GA_WAIT_INTERRUPTED;
}

static int open_batch(struct batch *batch, const struct ga_arguments *arguments)
{
    batch->signals = ga_signals_open(false);
    if (batch->signals < 0)
        return batch->signals;
    ga_stream_init(&batch->stream, STDOUT_FILENO, STDERR_FILENO);
    ga_progress_init(&batch->progress, STDERR_FILENO);
    batch->direct = ga_stream_sink(&batch->stream);
    const struct ga_console_options options = {
        .sink = {batch, batch_out, batch_fail},
        .front = {.self = batch, .wait = batch_wait},
        .prompt = false,
        .readonly = arguments->readonly,
    };
    return ga_console_open(&batch->console, &options);
}

int ga_batch_main(const struct ga_arguments *arguments)
{
    struct batch batch = {.signals = -1};
    int status = open_batch(&batch, arguments);
    if (status < 0)
        return status;
    ga_run_sources(batch.console, arguments, true);
    ga_console_end(batch.console);
    ga_progress_clear(&batch.progress);
    status = ga_finish(&batch.stream, ga_console_status(batch.console));
    take_signal(&batch, status != GA_STATUS_FINE);
    ga_console_close(batch.console);
    close(batch.signals);
    if (batch.caught)
        ga_signals_raise(batch.caught);
    return status;
}
