/* The verbs that only scripts need: say, ask, expect, wait, quit. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/number.h"
#include "console/command.h"
#include "console/condition.h"
#include "console/session.h"
#include "settings/words.h"

/* To people: where a screen shows a lesson, apart from the answers of commands. */
static void tell(struct ga_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void tell(struct ga_console *console, const char *format, ...)
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
    tell(console, "%s", text);
    free(text);
    return 0;
}

struct question {
    const char *text;
    const char *answer;
    const char *choices; /* "a|b|c" or NULL */
    const char *reveal;  /* or NULL */
};

static int read_option(const char *word, struct question *question)
{
    const struct {
        const char *key;
        const char **value;
    } options[] = {{"answer=", &question->answer},
                   {"choices=", &question->choices},
                   {"reveal=", &question->reveal}};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const size_t length = strlen(options[i].key);
        if (strncmp(word, options[i].key, length) != 0)
            continue;
        if (*options[i].value)
            return ga_fail(GA_EINPUT, "ask: %s is given twice: expected once", options[i].key);
        *options[i].value = word + length;
        return 0;
    }
    return ga_fail(GA_EINPUT,
                   "ask: '%s': expected answer=..., choices=A|B|C or reveal=... behind the "
                   "question (in quotes when there are blanks)",
                   word);
}

static bool same_number(const char *a, const char *b)
{
    double x = 0;
    double y = 0;
    if (ga_read_double(a, -INFINITY, INFINITY, &x) < 0 ||
        ga_read_double(b, -INFINITY, INFINITY, &y) < 0)
        return false;
    return fabs(x - y) <= 1e-9 * fabs(y);
}

static bool same_answer(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0 || same_number(a, b);
}

static bool among_choices(const struct question *question)
{
    const char *at = question->choices;
    while (at) {
        const size_t length = strcspn(at, "|");
        if (strlen(question->answer) == length && strncasecmp(at, question->answer, length) == 0)
            return true;
        at = at[length] ? at + length + 1 : NULL;
    }
    return false;
}

static int read_question(size_t count, const char *const *word, struct question *out)
{
    *out = (struct question){.text = word[0]};
    for (size_t i = 1; i < count; i++) {
        const int code = read_option(word[i], out);
        if (code < 0)
            return code;
    }
    if (!out->answer || !*out->answer)
        return ga_fail(GA_EINPUT, "ask: expected answer=TEXT behind the question");
    if (out->choices && !among_choices(out))
        return ga_fail(GA_EINPUT, "ask: answer %s: expected one of the choices %s", out->answer,
                       out->choices);
    return 0;
}

/* Blanks around a typed answer do not count. */
static char *trim(char *line)
{
    char *end = line + strlen(line);
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    return line + strspn(line, " \t");
}

/* Whether the user goes elsewhere instead of on: out of the script, or a page back. */
static bool leaves(struct ga_console *console)
{
    const struct ga_front *front = &console->options.front;
    console->script.paused = true;
    if (!console->interrupted && !console->script.back && front->leaves) {
        const enum ga_leave leave = front->leaves(front->self);
        console->interrupted = leave == GA_LEAVE_SCRIPT;
        console->script.back = leave == GA_LEAVE_PAGE;
    }
    return console->interrupted || console->script.back;
}

static void converse(struct ga_console *console, const struct question *question)
{
    const struct ga_front *front = &console->options.front;
    bool asking = true;
    while (asking) {
        char *line = front->read_line(front->self, "answer: ");
        const char *typed = line ? trim(line) : "";
        const bool right = same_answer(typed, question->answer);
        asking = !right && *typed && !leaves(console);
        if (right)
            tell(console, "right");
        else if (asking)
            tell(console, "not yet: try again, or an empty line shows the answer");
        free(line);
    }
}

int ga_exec_ask(struct ga_console *console, size_t count, const char *const *word)
{
    struct question question;
    const int code = read_question(count, word, &question);
    if (code < 0 || !question.answer)
        return code;
    tell(console, "%s", question.text);
    if (question.choices)
        tell(console, "  %s", question.choices);
    if (console->options.front.read_line)
        converse(console, &question);
    if (leaves(console))
        return 0;
    tell(console, "answer: %s", question.answer);
    if (question.reveal)
        tell(console, "%s", question.reveal);
    return 0;
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

int ga_exec_wait(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    const struct ga_front *front = &console->options.front;
    if (!ga_word_same(word[0], "key"))
        return ga_fail(GA_EINPUT, "wait %s: expected `wait key`", word[0]);
    if (front->wait_key)
        front->wait_key(front->self);
    leaves(console);
    return 0;
}

int ga_exec_quit(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    console->quits = true;
    return 0;
}
