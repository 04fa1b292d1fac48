/* The loop: one turn waits for keys, signals, stray output, the engine's bell and frame time. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "ui/app_parts.h"
#include "ui/trap.h"

enum { TERMINAL, SIGNALS, STRAY, BELL, WATCHED };

void ga_app_touch(struct ga_app *app)
{
    app->wanted = true;
    app->frame_ns = 0;
}

void ga_app_change(struct ga_app *app)
{
    app->looked = false;
    ga_app_touch(app);
}

int64_t ga_app_due_ns(const struct ga_app *app)
{
    return app->drawn_ns + (app->fast ? GA_FAST_FRAME_NS : GA_FRAME_NS);
}

/* The engine has news: a frame when the last one is old enough. */
static void want_frame(struct ga_app *app)
{
    const int64_t usual_ns = ga_app_due_ns(app);
    app->looked = false;
    if (!app->wanted || app->frame_ns > usual_ns)
        app->frame_ns = usual_ns;
    app->wanted = true;
}

static void end_by(struct ga_app *app, int number)
{
    app->caught = number;
    app->ended = app->interrupted = true;
}

/* Also when it is the old size again: in between the terminal may have lost what it showed. */
static void take_size(struct ga_app *app)
{
    if (app->away)
        return;
    ga_term_measure(app->term);
    ga_term_forget(app->term);
    ga_line_resize(app->line, ga_term_rows(app->term), ga_term_columns(app->term));
    ga_app_touch(app);
}

static void take_signals(struct ga_app *app)
{
    bool resized = false;
    int number = 0;
    while ((number = ga_trap_take()) != 0) {
        if (number == SIGWINCH)
            resized = true;
        else if (number == SIGINT)
            ga_app_interrupt(app);
        else if (number == SIGTSTP)
            ga_app_suspend(app);
        else if (number == SIGCONT)
            ga_app_resume(app);
        else
            end_by(app, number);
    }
    if (resized)
        take_size(app);
}

static void press_all(struct ga_app *app, int64_t now_ns)
{
    struct ga_input input;
    while (!app->ended && !app->away && ga_decoder_next(app->decoder, now_ns, &input))
        ga_app_press(app, &input);
}

/* A terminal that gives no bytes any more is gone. */
static void take_bytes(struct ga_app *app)
{
    char bytes[4096];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (count > 0)
        ga_decoder_feed(app->decoder, bytes, (size_t)count, ga_now_ns());
    else if (count == 0 || (errno != EINTR && errno != EAGAIN))
        end_by(app, SIGHUP);
}

static void take_stray(void *self, const char *bytes, size_t length)
{
    struct ga_app *app = self;
    ga_log_lines_add(app->log, GA_LOG_STDERR, "", bytes, length);
}

static void take_bell(struct ga_app *app, enum ga_turn turn)
{
    if (turn == GA_TURN_LISTEN)
        ga_console_pump(app->console);
    want_frame(app);
}

/* When a turn ends though nothing happens. */
static int64_t wake_ns(const struct ga_app *app, int64_t listen_ns, bool listens)
{
    int64_t wake = app->away ? INT64_MAX : ga_decoder_deadline(app->decoder);
    if (app->wanted && !app->away && app->frame_ns < wake)
        wake = app->frame_ns;
    if (!listens && listen_ns < wake)
        wake = listen_ns;
    return wake;
}

static void wait_for(struct pollfd watched[WATCHED], int64_t wake_ns)
{
    const int64_t left_ns = wake_ns == INT64_MAX ? 0 : wake_ns - ga_now_ns();
    struct timespec left = {0, 0};
    if (left_ns > 0)
        left = (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
    if (ppoll(watched, WATCHED, wake_ns == INT64_MAX ? NULL : &left, NULL) >= 0)
        return;
    for (int i = 0; i < WATCHED; i++) /* a signal came: it is in the pipe */
        watched[i].revents = i == SIGNALS ? POLLIN : 0;
}

void ga_app_turn(struct ga_app *app, enum ga_turn turn)
{
    const int64_t listen_ns = ga_app_due_ns(app);
    const bool listens = turn == GA_TURN_BELL || ga_now_ns() >= listen_ns;
    struct pollfd watched[WATCHED] = {
        [TERMINAL] = {.fd = app->away ? -1 : STDIN_FILENO, .events = POLLIN},
        [SIGNALS] = {.fd = app->signals, .events = POLLIN},
        [STRAY] = {.fd = app->capture.fd, .events = POLLIN},
        [BELL] = {.fd = listens ? ga_console_bell(app->console) : -1, .events = POLLIN}};
    wait_for(watched, wake_ns(app, listen_ns, listens));
    if (watched[SIGNALS].revents)
        take_signals(app);
    if (watched[TERMINAL].revents && !app->away)
        take_bytes(app);
    press_all(app, ga_now_ns());
    if (watched[STRAY].revents) {
        ga_capture_read(&app->capture, take_stray, app);
        want_frame(app);
    }
    if (watched[BELL].revents && !app->ended)
        take_bell(app, turn);
    if (app->wanted && !app->away && !app->ended && ga_now_ns() >= app->frame_ns)
        ga_app_draw(app);
}
