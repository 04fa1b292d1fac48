/* The verbs that only scripts need: say, expect, wait, quit. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "console/command.h"
#include "console/condition.h"
#include "console/session.h"
#include "settings/words.h"

void ga_tell(struct ga_console *console, const char *format, ...)
{
    const struct ga_front *front = &console->options.front;
    struct ga_text text = GA_TEXT_INIT;
    va_list args;
    va_start(args, format);
    ga_text_vprintf(&text, format, args);
    va_end(args);
    if (front->say && !ga_at_prompt(console))
        front->say(front->self, ga_text_get(&text));
    else
        ga_say(console, "%s", ga_text_get(&text));
    ga_text_free(&text);
}

int ga_exec_say(struct ga_console *console, size_t count, const char *const *word)
{
    char *text = ga_join(count, word);
    if (!text)
        return GA_ENOMEM;
    ga_tell(console, "%s", text);
    free(text);
    return 0;
}

bool ga_script_leaves(struct ga_console *console, size_t pages)
{
    const struct ga_front *front = &console->options.front;
    console->script.paused = true;
    if (!console->interrupted && console->script.back == 0 && front->leaves) {
        const enum ga_leave leave = front->leaves(front->self);
        console->interrupted = leave == GA_LEAVE_SCRIPT;
        console->script.back = leave == GA_LEAVE_PAGE ? pages : 0;
    }
    return console->interrupted || console->script.back > 0;
}

struct expectation {
    const struct ga_condition *condition;
    bool holds;
    struct ga_text found;
};

static int check(struct ga_run *run, void *arg)
{
    struct expectation *expectation = arg;
    const struct ga_condition *condition = expectation->condition;
    expectation->holds = condition->holds(condition->self, run);
    if (!expectation->holds)
        ga_condition_values(condition, run, &expectation->found);
    return 0;
}

int ga_exec_expect(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_condition condition;
    int code = ga_read_condition(console, "expect", count, word, &condition);
    if (code < 0)
        return code;
    struct expectation expectation = {&condition, false, GA_TEXT_INIT};
    code = ga_engine_call(console->engine, check, &expectation);
    if (code == 0 && !expectation.holds) {
        if (console->status == 0)
            console->status = GA_STATUS_TRAINING;
        code = ga_fail(GA_ESTATE, "expected %s, found %s", condition.text,
                       ga_text_get(&expectation.found));
    }
    ga_text_free(&expectation.found);
    ga_condition_fini(&condition);
    return code;
}

int ga_exec_refused(struct ga_console *console, size_t count, const char *const *word)
{
    const struct ga_command *command = ga_command_find(word[0]);
    if (!command)
        return ga_error_code();
    if (command->group != GA_GROUP_CHANGING || count - 1 < command->least ||
        count - 1 > command->most)
        return ga_fail(
            GA_EINPUT,
            "refused %s: expected a command that changes something, with its words, as in "
            "`refused set batch 512`",
            command->name);
    if (command->exec(console, count - 1, word + 1) < 0) {
        struct ga_text text = GA_TEXT_INIT;
        ga_text_printf(&text, "refused: %s\n", ga_error_text());
        ga_say_text(console, &text);
        ga_text_free(&text);
        return 0;
    }
    if (console->status == 0)
        console->status = GA_STATUS_TRAINING;
    return ga_fail(GA_ESTATE, "refused %s: expected a refusal, and it was done", command->name);
}

int ga_exec_wait(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    const struct ga_front *front = &console->options.front;
    if (!ga_word_same(word[0], "key"))
        return ga_fail(GA_EINPUT, "wait %s: expected `wait key`", word[0]);
    if (front->wait_key)
        front->wait_key(front->self);
    ga_script_leaves(console, 2);
    return 0;
}

int ga_exec_quit(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    console->quits = true;
    return 0;
}
