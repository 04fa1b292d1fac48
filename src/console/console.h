/*
 * A console: the one grammar of scripts, -e, the prompt and keys, over one engine.
 *
 * Everything a user types goes through ga_console_line(). In scripts and with -e a moving command
 * ends before the next line starts; at the prompt it returns at once and ga_console_pump() reports
 * how it ended. Answers and failures go to the sink, whole lines at a time.
 *
 * One thread, the console's, calls all of this; the engine has its own.
 */
#ifndef GA_CONSOLE_CONSOLE_H
#define GA_CONSOLE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

#include "console/sink.h"
#include "train/engine.h"

struct ga_console;

enum ga_wait {
    GA_WAIT_ON,
    GA_WAIT_INTERRUPTED, /* the user wants the script to stop */
    GA_WAIT_BROKEN       /* nobody takes the output any more */
};

/* Where the user goes instead of on with a script. */
enum ga_leave {
    GA_LEAVE_NOT,
    GA_LEAVE_PAGE,  /* to the pause before this one, with the run as it was */
    GA_LEAVE_SCRIPT /* out; `resume` goes on */
};

/* What a front end does for the console. Functions may be NULL: then nobody is there to ask. */
struct ga_front {
    void *self;
    /*
     * Waits until the bell's descriptor is readable or something else happens; called again and
     * again while a script waits for a move.
     */
    enum ga_wait (*wait)(void *self, int bell_fd);
    /* One line of an answer to `prompt`, to be freed; NULL: the user gave up. */
    char *(*read_line)(void *self, const char *prompt);
    void (*wait_key)(void *self);
    enum ga_leave (*leaves)(void *self); /* asked after those two */
    void (*say)(void *self,
                const char *text); /* a script's line to people; NULL: the sink has it */
    /* `view WORDS` and `save-display FILE`: what a screen shows. 0 or a code with its text. */
    int (*view)(void *self, size_t count, const char *const *word);
    int (*save_display)(void *self, const char *path);
    /* `log cast PATH`: records what the screen shows from now on; NULL ends it. 0 or a code. */
    int (*cast)(void *self, const char *path);
    const char *(*cast_path)(void *self); /* of the recording under way; NULL: there is none */
};

struct ga_console_options {
    struct ga_sink sink;
    struct ga_front front;
    bool prompt;          /* lines are typed: moves return at once, logged lines may be left out */
    bool readonly;        /* refuse commands that write files */
    int terminal_columns; /* that logged lines are written to; 0: no terminal, or not known */
    bool curves; /* the front end draws what closed windows say: they are not written as lines */
};

int ga_console_open(struct ga_console **out, const struct ga_console_options *options);
void ga_console_close(struct ga_console *console); /* ends a move under way; NULL is fine */

/* Closes the logs, so that their failures count in the status; nothing is run afterwards. */
void ga_console_end(struct ga_console *console);

/* Where a line comes from, for messages and for files named in it. A plain value, borrowed. */
struct ga_origin {
    const char *file; /* "demos/parabola.ga", "-e"; NULL: typed at the prompt */
    size_t line;      /* from 1 */
};

/*
 * Runs one line. 0, or a negative code after the failure was written to the sink. With the prompt
 * option and no file the line counts as typed.
 */
int ga_console_line(struct ga_console *console, const char *line, size_t length,
                    const struct ga_origin *origin);

/* Runs a script up to its end, its first failure or `quit`. */
int ga_console_script(struct ga_console *console, const char *path);

enum {
    GA_STATUS_FINE = 0,
    GA_STATUS_TRAINING = 1, /* an expect failed, or training stopped on an error */
    GA_STATUS_INPUT = 2     /* bad usage, input or command */
};
int ga_console_status(const struct ga_console *console); /* of the first failure */
bool ga_console_quits(const struct ga_console *console); /* `quit` was run */
bool ga_console_interrupted(const struct ga_console *console);

/* Why the last move ended by itself: the fault or breakpoint; "" for every other end. */
const char *ga_console_stopped(const struct ga_console *console);

/* Whether the run with this hash is in a file: what was saved or loaded last. */
bool ga_console_saved(const struct ga_console *console, uint64_t hash);

/* Writes logged lines and the end of a move to the sink; for the front end's loop. */
int ga_console_pump(struct ga_console *console);

int ga_console_bell(const struct ga_console *console); /* descriptor; readable: pump */
bool ga_console_moving(struct ga_console *console);
void ga_console_pause(struct ga_console *console);
struct ga_engine *ga_console_engine(struct ga_console *console);

#endif
