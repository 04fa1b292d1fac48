/* Starting moves, waiting for their end, and what is answered then. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/thread.h"
#include "console/command.h"
#include "console/describe.h"
#include "console/session.h"

#define SHOWN 100 /* lines at once where a person reads */

/* All lines; at a prompt the last of them, since a terminal can be far slower than training. */
void ga_drain(struct ga_console *console)
{
    struct ga_feed_line line;
    struct ga_text text = GA_TEXT_INIT;
    uint64_t hidden = ga_feed_take_forgotten(console->feed);
    size_t waiting = ga_feed_count(console->feed);
    for (; console->options.prompt && waiting > SHOWN; waiting--)
        hidden += ga_feed_take(console->feed, &line);
    if (hidden > 0)
        ga_text_printf(&text, "(%" PRIu64 " lines not shown; `set log-every N` thins them)\n",
                       hidden);
    while (ga_feed_take(console->feed, &line)) {
        ga_feed_format(&line, &text);
        ga_text_puts(&text, "\n");
    }
    ga_nccl_log_take(&console->nccl_log, &text);
    ga_say_text(console, &text);
    ga_text_free(&text);
}

static const char *const units[] = {
    [GA_MOVE_UPDATES] = "update",      [GA_MOVE_MICROS] = "micro-batch",
    [GA_MOVE_EVENTS] = "event",        [GA_MOVE_EPOCHS] = "epoch",
    [GA_MOVE_BACK_UPDATES] = "update", [GA_MOVE_BACK_MICROS] = "micro-batch",
    [GA_MOVE_BACK_EVENTS] = "event",
};

static bool goes_back(const struct ga_move *move)
{
    return move->kind >= GA_MOVE_BACK_UPDATES && move->kind <= GA_MOVE_BACK_EVENTS;
}

static void append_count(const struct ga_move *asked, struct ga_text *out)
{
    const char *unit = units[asked->kind];
    const char *plural = strcmp(unit, "micro-batch") == 0 ? "es" : "s";
    ga_text_printf(out, "%" PRIu64 " %s%s%s: ", asked->count, unit, asked->count == 1 ? "" : plural,
                   goes_back(asked) ? " back" : "");
}

struct ending {
    const struct ga_console *console;
    const struct ga_stop *stop;
    uint64_t first_event; /* of the history */
    struct ga_text text;
};

/* The answer when a move did what was asked. */
static void append_done(struct ending *ending, struct ga_run *run)
{
    const struct ga_console *console = ending->console;
    const enum ga_move_kind kind = console->move.asked.kind;
    /* Going back ends where the history begins, however much more was asked for. */
    const struct ga_move *asked = &console->move.asked;
    const bool begins = goes_back(asked) && ending->stop->events == ending->first_event;
    if (console->move.counted && begins)
        ga_text_puts(&ending->text, "back where the history begins: ");
    else if (console->move.counted)
        append_count(asked, &ending->text);
    if (kind == GA_MOVE_MICROS) {
        ga_describe_event_details(ga_run_last_event(run), &ending->text);
        return;
    }
    if (kind == GA_MOVE_EVENTS) {
        ga_describe_event(ga_run_last_event(run), &ending->text);
        return;
    }
    if (kind == GA_MOVE_UNTIL)
        ga_text_printf(&ending->text, "%s: ", console->move.asked.until.text);
    ga_text_puts(&ending->text, "at ");
    ga_describe_place(run, &ending->text);
}

/* A jump that was broken off: the record ahead is whole, and moving forward follows it. */
static void append_broken_off(struct ending *ending, struct ga_run *run)
{
    static const char *const verbs[][2] = {
        {"update", "next"}, {"window", "next"}, {"micro-batch", "micro"}, {"event", "event"}};
    const struct ga_way *way = &ending->stop->way;
    const bool absolute = ending->console->move.asked.kind == GA_MOVE_GOTO;
    const char *verb = absolute ? "goto" : "";
    for (size_t i = 0; !absolute && i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp(verbs[i][0], way->unit) == 0)
            verb = verbs[i][1];
    ga_text_printf(&ending->text, "stopped on the way from %s %" PRIu64 " to %" PRIu64 ", at ",
                   way->unit, way->from, way->to);
    ga_describe_place(run, &ending->text);
    ga_text_printf(&ending->text, "; `%s %" PRIu64 "` goes on", verb,
                   absolute ? way->to : way->to - way->at);
}

static int describe_ending(struct ga_run *run, void *arg)
{
    struct ending *ending = arg;
    const struct ga_stop *stop = ending->stop;
    if (stop->reason == GA_STOP_DONE) {
        append_done(ending, run);
        return 0;
    }
    if (stop->way.unit) {
        append_broken_off(ending, run);
        return 0;
    }
    if (stop->reason == GA_STOP_BREAK)
        ga_text_printf(&ending->text, "breakpoint %d, %s: at ", stop->breakpoint, stop->text);
    else
        ga_text_puts(&ending->text, "paused at ");
    ga_describe_place(run, &ending->text);
    return 0;
}

/*
 * Training that stopped is status 1. A run that could not be formed, or whose very first window is
 * out of range, is bad input.
 */
static int report_failure(struct ga_console *console, const struct ga_stop *stop)
{
    const int code = ga_error_put(&stop->error);
    const bool data = stop->reason == GA_STOP_NONFINITE && stop->updates == 0;
    const bool input = data || code == GA_EINPUT || code == GA_ERANGE ||
                       (console->move.asked.kind == GA_MOVE_REPLAY && code != GA_ENONFINITE);
    if (console->status == 0)
        console->status = input ? GA_STATUS_INPUT : GA_STATUS_TRAINING;
    return code;
}

static void keep_reason(struct ga_console *console, const struct ga_stop *stop)
{
    if (stop->reason == GA_STOP_BREAK)
        snprintf(console->stopped, sizeof(console->stopped), "breakpoint %d, %s", stop->breakpoint,
                 stop->text);
    else if (stop->reason == GA_STOP_NONFINITE || stop->reason == GA_STOP_ERROR)
        snprintf(console->stopped, sizeof(console->stopped), "%s", stop->error.text);
}

/* How one run's part of a move of all ended. */
static void append_part(const struct ga_run_info *info, struct ga_text *out)
{
    char digits[GA_HASH_TEXT];
    const struct ga_stop *stop = &info->stop;
    ga_hash_format(digits, info->hash);
    ga_text_printf(out, "%s: ", info->name);
    if (stop->reason == GA_STOP_NONFINITE || stop->reason == GA_STOP_ERROR)
        ga_text_printf(out, "stopped: %s\n", stop->error.text);
    else if (stop->reason == GA_STOP_BREAK)
        ga_text_printf(out, "breakpoint %d, %s: at update %" PRIu64 ", hash %.8s\n",
                       stop->breakpoint, stop->text, stop->updates, digits);
    else
        ga_text_printf(out, "%sat update %" PRIu64 ", hash %.8s\n",
                       stop->reason == GA_STOP_PAUSED ? "paused " : "", stop->updates, digits);
}

static bool failed(const struct ga_run_info *info)
{
    return info->moved && !info->moving &&
           (info->stop.reason == GA_STOP_NONFINITE || info->stop.reason == GA_STOP_ERROR);
}

/* Each run's end; fails with the first one that training stopped. */
static int report_all(struct ga_console *console)
{
    struct ga_run_info info;
    struct ga_run_info first;
    struct ga_text text = GA_TEXT_INIT;
    bool any = false;
    for (size_t k = 0; ga_engine_run_info(console->engine, k, &info); k++) {
        if (info.moved)
            append_part(&info, &text);
        if (failed(&info) && !any) {
            first = info;
            any = true;
        }
    }
    ga_say_text(console, &text);
    ga_text_free(&text);
    if (!any)
        return ga_logs_check(console);
    report_failure(console, &first.stop);
    return ga_fail_within("run %s", first.name);
}

static int report_ending(struct ga_console *console, const struct ga_stop *stop)
{
    console->move.active = false;
    keep_reason(console, stop);
    ga_drain(console);
    if (console->move.asked.all && stop->reason != GA_STOP_REPLACED)
        return report_all(console);
    if (stop->reason == GA_STOP_NONFINITE || stop->reason == GA_STOP_ERROR)
        return report_failure(console, stop);
    if (stop->reason == GA_STOP_REPLACED)
        return 0;
    if (stop->reason == GA_STOP_DONE && console->move.asked.kind == GA_MOVE_REPLAY)
        return ga_replay_report(console, &stop->replay);
    struct ga_history_info history;
    ga_engine_history(console->engine, &history);
    struct ending ending = {console, stop, history.first_event, GA_TEXT_INIT};
    const int code = ga_engine_call(console->engine, describe_ending, &ending);
    if (code == 0)
        ga_say_text(console, &ending.text);
    ga_text_free(&ending.text);
    return code < 0 ? code : ga_logs_check(console);
}

static void front_wait(struct ga_console *console)
{
    const struct ga_front *front = &console->options.front;
    if (front->wait) {
        const enum ga_wait answer = front->wait(front->self, console->bell.fd);
        console->interrupted = console->interrupted || answer == GA_WAIT_INTERRUPTED;
        console->broken = console->broken || answer == GA_WAIT_BROKEN;
        return;
    }
    struct pollfd bell = {.fd = console->bell.fd, .events = POLLIN};
    poll(&bell, 1, -1);
}

/* An engine that waits for room in the feed never comes to the question, so it may drop lines until
 * it has answered; how many they were is told. */
static void pause_engine(struct ga_console *console)
{
    ga_feed_set_lossy(console->feed, true);
    ga_engine_pause(console->engine);
    ga_feed_set_lossy(console->feed, console->options.prompt);
}

/* Prints logged lines until the move has ended. */
static int follow(struct ga_console *console)
{
    struct ga_stop stop;
    for (;;) {
        ga_bell_clear(&console->bell);
        ga_drain(console);
        if (ga_engine_wait(console->engine, console->move.ticket, 0, &stop))
            break;
        if (console->broken || console->interrupted)
            pause_engine(console);
        front_wait(console);
    }
    const int code = report_ending(console, &stop);
    if (code == 0 && console->interrupted)
        return ga_fail(GA_ESTATE, "interrupted at update %" PRIu64, stop.updates);
    return code;
}

int ga_move_arrive(struct ga_console *console)
{
    return console->move.active && ga_engine_jumping(console->engine) ? follow(console) : 0;
}

int ga_move_start(struct ga_console *console, struct ga_move *move, bool counted)
{
    console->move.asked = *move;
    console->stopped[0] = '\0';
    console->move.counted = counted;
    const int code = ga_engine_move(console->engine, move, &console->move.ticket);
    console->move.active = code == 0;
    if (code < 0)
        return code;
    return ga_at_prompt(console) ? 0 : follow(console);
}

int ga_console_pump(struct ga_console *console)
{
    struct ga_stop stop;
    ga_bell_clear(&console->bell);
    ga_drain(console);
    if (!console->move.active || !ga_engine_wait(console->engine, console->move.ticket, 0, &stop))
        return console->broken ? GA_EIO : 0;
    if (report_ending(console, &stop) < 0)
        ga_complain(console);
    return console->broken ? GA_EIO : 0;
}
