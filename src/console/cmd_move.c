/* The verbs that move a run, and those that stop it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "console/command.h"
#include "console/condition.h"
#include "console/describe.h"
#include "console/session.h"
#include "settings/words.h"

#define MOST 1000000000000000 /* of updates, micro-batches, events in one command */

static int read_count(const char *verb, const char *text, int64_t low, uint64_t *out)
{
    int64_t count = 0;
    if (ga_read_int(text, low, MOST, &count) < 0)
        return ga_fail_within("%s", verb);
    *out = (uint64_t)count;
    return 0;
}

/* "100", "3 epochs", "10 ms", "10ms". */
static int read_span(size_t count, const char *const *word, struct ga_move *move)
{
    const char *unit = count == 2 ? word[1] : "updates";
    const bool epochs = ga_word_in_list(unit, "epoch epochs");
    int64_t number = 0;
    if ((epochs || ga_word_in_list(unit, "update updates")) &&
        ga_read_int(word[0], 1, MOST, &number) == 0) {
        *move = (struct ga_move){.kind = epochs ? GA_MOVE_EPOCHS : GA_MOVE_UPDATES,
                                 .count = (uint64_t)number};
        return 0;
    }
    char *span = ga_join(count, word);
    if (!span)
        return GA_ENOMEM;
    const int code = ga_read_time(span, 1, INT64_MAX, &number);
    if (code < 0)
        ga_fail((enum ga_code)code,
                "run %s: expected N updates (1..%lld), N epochs, or a virtual time such as 10ms",
                span, (long long)MOST);
    free(span);
    *move = (struct ga_move){.kind = GA_MOVE_TIME, .count = (uint64_t)number};
    return code;
}

int ga_exec_run(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_move move = {.kind = GA_MOVE_FOREVER};
    const bool all = count > 0 && ga_word_same(word[count - 1], "all");
    if (all)
        count--;
    else if (count == 3)
        return ga_fail(GA_EINPUT, "run: '%.40s' behind the number: expected nothing, or all",
                       word[2]);
    if (count == 0 && !ga_at_prompt(console))
        return ga_fail(GA_EINPUT, "run: a script has to say how far: expected a number of updates, "
                                  "N epochs or a virtual time such as 10ms");
    const int code = count > 0 ? read_span(count, word, &move) : 0;
    if (code < 0)
        return code;
    move.all = all;
    if (count == 0)
        ga_say(console, "running; `pause` or ctrl-C stops it");
    return ga_move_start(console, &move, false);
}

int ga_exec_pause(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    ga_engine_pause(console->engine);
    return 0;
}

static int step(struct ga_console *console, const char *verb, enum ga_move_kind kind, size_t count,
                const char *const *word)
{
    struct ga_move move = {.kind = kind, .count = 1};
    const int code = count > 0 ? read_count(verb, word[0], 1, &move.count) : 0;
    return code < 0 ? code : ga_move_start(console, &move, true);
}

int ga_exec_next(struct ga_console *console, size_t count, const char *const *word)
{
    return step(console, "next", GA_MOVE_UPDATES, count, word);
}

int ga_exec_micro(struct ga_console *console, size_t count, const char *const *word)
{
    return step(console, "micro", GA_MOVE_MICROS, count, word);
}

int ga_exec_event(struct ga_console *console, size_t count, const char *const *word)
{
    return step(console, "event", GA_MOVE_EVENTS, count, word);
}

int ga_exec_back(struct ga_console *console, size_t count, const char *const *word)
{
    static const struct {
        const char *words;
        enum ga_move_kind kind;
    } kinds[] = {{"update updates", GA_MOVE_BACK_UPDATES},
                 {"micro micros micro-batch micro-batches", GA_MOVE_BACK_MICROS},
                 {"event events", GA_MOVE_BACK_EVENTS}};
    const char *unit = count == 2 ? word[1] : "updates";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (ga_word_in_list(unit, kinds[i].words))
            return step(console, "back", kinds[i].kind, count, word);
    return ga_fail(GA_EINPUT, "back %s %s: expected updates, micros or events", word[0], unit);
}

int ga_exec_goto(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    struct ga_move move = {.kind = GA_MOVE_GOTO};
    const int code = read_count("goto", word[0], 0, &move.count);
    return code < 0 ? code : ga_move_start(console, &move, false);
}

int ga_read_condition(struct ga_console *console, const char *verb, size_t count,
                      const char *const *word, struct ga_condition *out)
{
    char *text = ga_join(count, word);
    if (!text)
        return GA_ENOMEM;
    int code = ga_condition_read(out, text);
    free(text);
    if (code < 0)
        return ga_fail_within("%s", verb);
    struct ga_settings in_force;
    struct ga_settings draft;
    ga_engine_settings(console->engine, &in_force, &draft);
    const int32_t replica = ga_condition_replica(out);
    if (replica < draft.replicas)
        return 0;
    ga_condition_fini(out);
    return ga_fail(GA_ERANGE, "%s: replica %d of %d: expected 0..%d", verb, (int)replica,
                   (int)draft.replicas, (int)draft.replicas - 1);
}

/* Refuses to wait for what cannot come, with the figures that say so. */
static int check_outlook(struct ga_run *run, void *arg)
{
    const struct ga_condition *condition = arg;
    struct ga_text values = GA_TEXT_INIT;
    if (condition->holds(condition->self, run) || ga_condition_is_possible(condition, run))
        return GA_OK;
    ga_condition_values(condition, run, &values);
    const int code = ga_fail(GA_ERANGE,
                             "until %s: cannot come true any more (%s), since counters only grow: "
                             "expected a later value, or `goto` and `back` to an earlier place",
                             condition->text, ga_text_get(&values));
    ga_text_free(&values);
    return code;
}

int ga_exec_until(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_move move = {.kind = GA_MOVE_UNTIL};
    int code = ga_read_condition(console, "until", count, word, &move.until);
    if (code < 0)
        return code;
    code = ga_engine_call(console->engine, check_outlook, &move.until);
    if (code < 0) {
        ga_condition_fini(&move.until);
        return code;
    }
    return ga_move_start(console, &move, false);
}

int ga_exec_break(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_condition condition;
    const int code = ga_read_condition(console, "break", count, word, &condition);
    if (code < 0)
        return code;
    char text[sizeof(condition.text)];
    memcpy(text, condition.text, sizeof(text));
    const int number = ga_engine_break_add(console->engine, &condition);
    if (number < 0) {
        ga_condition_fini(&condition);
        return number;
    }
    ga_say(console, "breakpoint %d: %s", number, text);
    return 0;
}

int ga_exec_breaks(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    int number = 0;
    char text[128];
    size_t k = 0;
    while (ga_engine_break_at(console->engine, k, &number, text)) {
        ga_say(console, "breakpoint %d: %s", number, text);
        k++;
    }
    if (k == 0)
        ga_say(console, "no breakpoints");
    return 0;
}

static int delete_all(struct ga_console *console)
{
    int number = 0;
    char text[128];
    while (ga_engine_break_at(console->engine, 0, &number, text)) {
        const int code = ga_engine_break_delete(console->engine, number);
        if (code < 0)
            return code;
        ga_say(console, "breakpoint %d is gone: %s", number, text);
    }
    return 0;
}

int ga_exec_delete(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    int64_t number = 0;
    if (strcmp(word[0], "all") == 0)
        return delete_all(console);
    if (ga_read_int(word[0], 1, INT32_MAX, &number) < 0)
        return ga_fail_within("delete");
    const int code = ga_engine_break_delete(console->engine, (int)number);
    if (code == 0)
        ga_say(console, "breakpoint %d is gone", (int)number);
    return code;
}

static int say_place(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    ga_text_printf(&report->text, "%s: at ", report->word[0]);
    ga_describe_place(run, &report->text);
    return 0;
}

static int after_window(struct ga_console *console, const char *what,
                        const struct ga_change *change)
{
    if (change->forgotten > 0)
        ga_say(console, "what was recorded beyond this point is forgotten");
    struct ga_report report = {.count = 1, .word = &what, .text = GA_TEXT_INIT};
    if (!ga_at_prompt(console))
        ga_drain(console);
    return ga_report(console, say_place, &report);
}

int ga_exec_flush(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    struct ga_change change = {0};
    const int code = ga_engine_flush(console->engine, &change);
    return code < 0 ? code : after_window(console, "flushed", &change);
}

int ga_exec_discard(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    struct ga_change change = {0};
    const int code = ga_engine_discard(console->engine, &change);
    return code < 0 ? code : after_window(console, "discarded", &change);
}

static int append_slow(struct ga_run *run, void *arg)
{
    struct ga_text *out = arg;
    for (size_t r = 0; r < ga_run_replicas(run); r++) {
        const double factor = ga_run_replica(run, r)->slow;
        if (factor < 1 || factor > 1)
            ga_text_printf(out, "%s%zu by %g", out->length > 0 ? ", " : "", r, factor);
    }
    return GA_OK;
}

/* A speed belongs to what a run starts from, as settings do; without a run nobody is slow. */
static void say_slow(struct ga_console *console)
{
    struct ga_text slow = GA_TEXT_INIT;
    ga_engine_call(console->engine, append_slow, &slow);
    if (slow.length > 0)
        ga_say(console, "slow replicas stay slow: %s; `slow R 1` ends it", ga_text_get(&slow));
    ga_text_free(&slow);
}

int ga_exec_reset(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_settings in_force;
    struct ga_settings draft;
    struct ga_change change = {0};
    if (count == 1 || (count == 2 && !ga_word_same(word[0], "seed")))
        return ga_fail(GA_EINPUT, "reset %s: expected `reset` or `reset seed N`", word[0]);
    if (count == 2) {
        ga_engine_settings(console->engine, &in_force, &draft);
        int code = ga_setting_read(ga_setting_find("seed"), &draft, word[1]);
        if (code == 0)
            code = ga_engine_change(console->engine, &draft, &change);
        if (code < 0)
            return ga_fail_within("reset");
    }
    say_slow(console);
    struct ga_move move = {.kind = GA_MOVE_RESET};
    return ga_move_start(console, &move, false);
}
