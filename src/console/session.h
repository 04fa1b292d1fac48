/*
 * A console from the inside, shared by the files of this room that carry out commands.
 */
#ifndef GA_CONSOLE_SESSION_H
#define GA_CONSOLE_SESSION_H

#include "base/text.h"
#include "console/console.h"
#include "console/feed.h"
#include "console/lexer.h"
#include "console/nccl_log.h"
#include "storage/log.h"

#define GA_SOURCE_DEPTH 16 /* scripts within scripts */
#define GA_LOGS         7  /* log files at once */

/* What lies between two pauses of a script. */
struct ga_page {
    size_t at, line; /* where it begins: a byte of the file, and the lines before it */
    uint64_t events, generation;
};

/* A line of a script to go on from, and the pages up to there. Memory is owned. */
struct ga_place {
    char *path;
    size_t at, line;
    struct ga_page *page;
    size_t pages;
};

struct ga_console {
    struct ga_console_options options;
    struct ga_engine *engine;
    struct ga_bell bell;
    struct ga_feed *feed;
    struct ga_nccl_log nccl_log;
    struct ga_log *log[GA_LOGS];
    struct ga_log_watch
        *log_watch[GA_LOGS]; /* of the log beside it; NULL: it asks for no devices */
    struct ga_dataset *data; /* the engine's, shared: what `data` or `load` set last */
    char *demo_spec;         /* of the data set it started with */
    size_t explain_at;       /* parameter that `explain` spoke of last */
    const struct ga_origin *origin;
    int depth;                       /* of sourced scripts */
    int status;                      /* of the first failure, a GA_STATUS_ */
    bool told;                       /* the failure of this line was written */
    bool quits, interrupted, broken; /* broken: the sink takes nothing more */
    struct {
        bool known;
        uint64_t hash;
    } saved; /* the run as it was saved or loaded last */
    char stopped[GA_ERROR_TEXT];
    struct {
        bool paused;         /* the line just run waited for someone */
        size_t back;         /* pages that they want to go back; 1: to the present one's begin */
        uint64_t generation; /* counts what makes the run another one */
        size_t places;       /* where scripts were left, the innermost first */
        struct ga_place place[GA_SOURCE_DEPTH];
    } script;
    struct {
        bool active;
        uint64_t ticket;
        struct ga_move asked;
        bool counted; /* answered with "N updates" */
    } move;
};

/* One line to the sink, without its newline. */
void ga_say(struct ga_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same to people: where a screen shows a lesson, apart from the answers of commands. */
void ga_tell(struct ga_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whole lines. */
void ga_say_text(struct ga_console *console, const struct ga_text *text);

/* script.c: the lines of a file, up to its end, its first failure or `quit`. */
int ga_script_run(struct ga_console *console, const char *path);
void ga_script_forget(struct ga_console *console); /* where scripts were left */

/*
 * cmd_script.c: after a pause, whether the user goes elsewhere instead of on: out of the script, or
 * back by as many `pages`.
 */
bool ga_script_leaves(struct ga_console *console, size_t pages);

/* "gaconsole: FILE:LINE: text" for this thread's error; raises the status. Returns its code. */
int ga_complain(struct ga_console *console);

/* Whether lines are typed right now: a move need not end before the next. */
bool ga_at_prompt(const struct ga_console *console);

/*
 * move.c: starts a move (its condition is taken); in scripts waits for its end and says how it
 * ended. `counted`: the answer begins with "N updates".
 */
int ga_move_start(struct ga_console *console, struct ga_move *move, bool counted);

/*
 * move.c: what changes the run waits until a jump under way has arrived. Fails when the user breaks
 * it off, or when it fails.
 */
int ga_move_arrive(struct ga_console *console);

/* cmd_law.c: whether a replay came to the recorded bits. */
int ga_replay_report(struct ga_console *console, const struct ga_replay *replay);

/* cmd_data.c: "parabola" and "quadratic" are no file names. */
bool ga_is_built_in_data(const char *word);

/* cmd_show.c: the paragraph of a setting: values, default, aliases, choices. */
void ga_setting_describe(const struct ga_setting *row, struct ga_text *out);

/* A condition from words, its replicas checked; the verb is named in errors. */
int ga_read_condition(struct ga_console *console, const char *verb, size_t count,
                      const char *const *word, struct ga_condition *out);

/* Writes what the feed holds. */
void ga_drain(struct ga_console *console);

/* cmd_log.c: the first log that failed is reported and closed; 0 when none did. */
int ga_logs_check(struct ga_console *console);
void ga_logs_close(struct ga_console *console);

/*
 * The file that `path` means: as it is when it is absolute or exists from here, else from the
 * folder of the script that names it. To be freed. GA_EINPUT names both places.
 */
int ga_find_file(const struct ga_console *console, const char *path, char **out);

/* Words joined by blanks, to be freed. */
char *ga_join(size_t count, const char *const *word);

/* "from update 121", "at once", ... for a change of a setting of this kind. */
void ga_write_when(int when, const struct ga_change *change, struct ga_text *out);

/* A text filled on the engine thread; for ga_engine_call(). */
struct ga_report {
    size_t count;
    const char *const *word;
    size_t at; /* a parameter */
    struct ga_text text;
};

/* Calls, writes the report to the sink, frees its text. */
int ga_report(struct ga_console *console, int (*call)(struct ga_run *run, void *report),
              struct ga_report *report);

#endif
