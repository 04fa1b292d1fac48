#include "capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/support.h"

static int keep_out(void *self, const char *bytes, size_t length)
{
    struct capture *capture = self;
    ga_text_append(&capture->out, bytes, length);
    return 0;
}

static void keep_fail(void *self, const char *bytes, size_t length)
{
    struct capture *capture = self;
    ga_text_append(&capture->fail, bytes, length);
}

static char *next_answer(void *self, const char *prompt)
{
    struct capture *capture = self;
    (void)prompt;
    if (!*capture->answers)
        return NULL;
    char *copy = strdup(*capture->answers);
    capture->answers++;
    return copy;
}

void capture_open(struct capture *capture, bool typed, bool readonly, const char *const *answers)
{
    memset(capture, 0, sizeof(*capture));
    capture->answers = answers;
    const struct ga_console_options options = {
        .sink = {capture, keep_out, keep_fail},
        .front = {.self = capture, .read_line = answers ? next_answer : NULL},
        .prompt = typed,
        .readonly = readonly,
    };
    if (ga_console_open(&capture->console, &options) < 0)
        fail_msg("%s", ga_error_text());
}

void capture_close(struct capture *capture)
{
    ga_console_close(capture->console);
    ga_text_free(&capture->out);
    ga_text_free(&capture->fail);
}

static int run(struct capture *capture, const char *line)
{
    const struct ga_origin origin = {"test", 1};
    ga_text_clear(&capture->out);
    ga_text_clear(&capture->fail);
    return ga_console_line(capture->console, line, strlen(line), &origin);
}

void capture_run(struct capture *capture, const char *line)
{
    if (run(capture, line) < 0)
        fail_msg("%s: %s", line, ga_text_get(&capture->fail));
}

void capture_refused(struct capture *capture, const char *line, const char *part)
{
    if (run(capture, line) >= 0)
        fail_msg("%s was accepted: %s", line, ga_text_get(&capture->out));
    assert_int_equal(strncmp(ga_text_get(&capture->fail), "gaconsole: test:1: ", 19), 0);
    if (!strstr(ga_text_get(&capture->fail), part))
        fail_msg("%s: '%s' does not say '%s'", line, ga_text_get(&capture->fail), part);
}

const char *capture_output(struct capture *capture)
{
    return ga_text_get(&capture->out);
}

void capture_contains(struct capture *capture, const char *part)
{
    if (!strstr(capture_output(capture), part))
        fail_msg("'%s' is not in '%s'", part, capture_output(capture));
}
