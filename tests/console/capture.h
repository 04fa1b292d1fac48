/* A console whose output is kept in memory. Main thread only. */
#ifndef GA_TESTS_CAPTURE_H
#define GA_TESTS_CAPTURE_H

#include "base/text.h"
#include "console/console.h"

struct capture {
    struct ga_console *console;
    struct ga_text out;
    struct ga_text fail;
    const char *const *answers; /* what a person would type to `ask`; NULL-terminated */
};

/* `typed`: as at a prompt. With answers somebody is there to ask. */
void capture_open(struct capture *capture, bool typed, bool readonly, const char *const *answers);
void capture_close(struct capture *capture);

/* Runs a line of a script called "test"; fails the test when the line fails. */
void capture_run(struct capture *capture, const char *line);

/* Runs a line that must fail with `part` in its message; the output so far is forgotten. */
void capture_refused(struct capture *capture, const char *line, const char *part);

/* The output since the last look; valid until the next line. */
const char *capture_output(struct capture *capture);

void capture_contains(struct capture *capture, const char *part);

#endif
