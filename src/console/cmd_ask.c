/* `ask`: a question to people, their answer, and what is revealed behind it. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "console/command.h"
#include "console/session.h"

#define CHOICES 26

/*
 * Choices carry numbers to be named by; letters where one of them begins with a digit, so that 2 is
 * never both the second and a number.
 */
struct question {
    const char *text;
    const char *answer;
    const char *list;   /* "a|b|c" or NULL */
    const char *reveal; /* or NULL */
    char *copy;         /* of the list, cut up; owned */
    const char *choice[CHOICES];
    size_t choices;
    bool letters;
};

static int read_option(const char *word, struct question *question)
{
    const struct {
        const char *key;
        const char **value;
    } options[] = {{"answer=", &question->answer},
                   {"choices=", &question->list},
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

static bool is_number(const char *text, double *out)
{
    return ga_read_double(text, -INFINITY, INFINITY, out) == 0;
}

static bool same_answer(const char *a, const char *b)
{
    double x = 0;
    double y = 0;
    if (strcasecmp(a, b) == 0)
        return true;
    return is_number(a, &x) && is_number(b, &y) && fabs(x - y) <= 1e-9 * fabs(y);
}

static int read_choices(struct question *question)
{
    bool found = false;
    char *at = question->copy = ga_copy_string(question->list);
    if (!at)
        return GA_ENOMEM;
    while (at && question->choices < CHOICES) {
        char *end = strchr(at, '|');
        if (end)
            *end = '\0';
        question->choice[question->choices++] = at;
        question->letters = question->letters || isdigit((unsigned char)*at);
        found = found || strcasecmp(at, question->answer) == 0;
        if (!*at)
            return ga_fail(GA_EINPUT, "ask: choices %s: expected text between the bars",
                           question->list);
        at = end ? end + 1 : NULL;
    }
    if (at)
        return ga_fail(GA_ERANGE, "ask: there are too many choices: expected at most %d", CHOICES);
    if (!found)
        return ga_fail(GA_EINPUT, "ask: answer %s: expected one of the choices %s",
                       question->answer, question->list);
    return 0;
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
    return out->list ? read_choices(out) : 0;
}

/* Blanks around a typed answer do not count. */
static char *trim(char *line)
{
    char *end = line + strlen(line);
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    return line + strspn(line, " \t");
}

/* The only choice that begins so, a number apart: half a number is another number. */
static const char *beginning(const struct question *question, const char *typed)
{
    const char *found = NULL;
    double number = 0;
    for (size_t k = 0; k < question->choices; k++) {
        if (strncasecmp(question->choice[k], typed, strlen(typed)) != 0 ||
            is_number(question->choice[k], &number))
            continue;
        if (found)
            return NULL;
        found = question->choice[k];
    }
    return found;
}

static const char *lettered(const struct question *question, const char *typed)
{
    const size_t k = (size_t)tolower((unsigned char)typed[0]) - 'a';
    return typed[0] && !typed[1] && k < question->choices ? question->choice[k] : NULL;
}

/* What was typed, as one of the choices; NULL when it is none. */
static const char *chosen(const struct question *question, const char *typed)
{
    int64_t number = 0;
    for (size_t k = 0; k < question->choices; k++)
        if (same_answer(typed, question->choice[k]))
            return question->choice[k];
    if (!question->letters && ga_read_int(typed, 1, (int64_t)question->choices, &number) == 0)
        return question->choice[number - 1];
    if (question->letters && lettered(question, typed))
        return lettered(question, typed);
    const char *found = beginning(question, typed);
    return found ? found : lettered(question, typed);
}

static void write_label(const struct question *question, size_t k, struct ga_text *out)
{
    if (question->letters)
        ga_text_printf(out, "%c", (char)('a' + k));
    else
        ga_text_printf(out, "%zu", k + 1);
}

static void tell_choices(struct ga_console *console, const struct question *question)
{
    struct ga_text text = GA_TEXT_INIT;
    for (size_t k = 0; k < question->choices; k++) {
        ga_text_puts(&text, "  ");
        write_label(question, k, &text);
        ga_text_printf(&text, " %s", question->choice[k]);
    }
    ga_tell(console, "%s", ga_text_get(&text));
    ga_text_free(&text);
}

/* "1-3 or how it begins" */
static void write_ways(const struct question *question, struct ga_text *out)
{
    write_label(question, 0, out);
    ga_text_puts(out, "-");
    write_label(question, question->choices - 1, out);
    ga_text_puts(out, question->letters ? " or in full" : " or how it begins");
}

/* Until an answer is right (true), or the user gives up or leaves. */
static bool converse(struct ga_console *console, const struct question *question)
{
    const struct ga_front *front = &console->options.front;
    struct ga_text ways = GA_TEXT_INIT;
    struct ga_text prompt = GA_TEXT_INIT;
    bool right = false;
    bool asking = true;
    if (question->choices > 0)
        write_ways(question, &ways);
    ga_text_puts(&prompt, "answer");
    if (ways.length > 0)
        ga_text_printf(&prompt, " (%s)", ga_text_get(&ways));
    ga_text_puts(&prompt, ": ");
    while (asking) {
        char *line = front->read_line(front->self, ga_text_get(&prompt));
        const char *typed = line ? trim(line) : "";
        const char *answer = question->choices > 0 && *typed ? chosen(question, typed) : typed;
        right = answer && same_answer(answer, question->answer);
        asking = !right && *typed && !ga_script_leaves(console, 2);
        if (asking && !answer)
            ga_tell(console, "'%s' is none of them: expected %s", typed, ga_text_get(&ways));
        else if (asking)
            ga_tell(console, "not yet: try again, or an empty line shows the answer");
        free(line);
    }
    ga_text_free(&prompt);
    ga_text_free(&ways);
    return right;
}

/* Time to read what nobody could know before. Going back from here asks again. */
static void rest(struct ga_console *console)
{
    const struct ga_front *front = &console->options.front;
    if (!front->wait_key || !front->read_line)
        return;
    front->wait_key(front->self);
    ga_script_leaves(console, 1);
}

static void ask(struct ga_console *console, const struct question *question)
{
    bool right = false;
    ga_tell(console, "%s", question->text);
    if (question->choices > 0)
        tell_choices(console, question);
    if (console->options.front.read_line)
        right = converse(console, question);
    if (ga_script_leaves(console, 2))
        return;
    ga_tell(console, right ? "right: %s" : "answer: %s", question->answer);
    if (question->reveal)
        ga_tell(console, "%s", question->reveal);
    if (question->reveal || !right)
        rest(console);
}

int ga_exec_ask(struct ga_console *console, size_t count, const char *const *word)
{
    struct question question;
    const int code = read_question(count, word, &question);
    if (code == 0)
        ask(console, &question);
    free(question.copy);
    return code;
}
