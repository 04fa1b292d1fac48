/*
 * The command table: one const record a verb, feeding the parser, help, completion and man page.
 * `exec` gets the words behind the verb and may leave one sentence of error text.
 */
#ifndef GA_CONSOLE_COMMAND_H
#define GA_CONSOLE_COMMAND_H

#include <stddef.h>

struct ga_console;

enum ga_command_group {
    GA_GROUP_MOVING,
    GA_GROUP_CHANGING,
    GA_GROUP_LOOKING,
    GA_GROUP_COMPARING,
    GA_GROUP_KEEPING,
    GA_GROUP_REPLICAS,
    GA_GROUP_SCRIPTS,
    GA_GROUPS
};

enum {
    GA_COMMAND_MOVES = 1,    /* starts a move */
    GA_COMMAND_WRITES = 2,   /* writes a file: refused with --readonly */
    GA_COMMAND_RESTARTS = 4, /* the run is another one afterwards */
    GA_COMMAND_MIDWAY = 8    /* does not wait for the end of a jump: it looks, or stops it */
};

/* What may stand behind the verb, for completion. */
enum ga_complete {
    GA_COMPLETE_NOTHING,
    GA_COMPLETE_SETTINGS, /* NAME VALUE NAME VALUE ... */
    GA_COMPLETE_SETTING,  /* NAME */
    GA_COMPLETE_MODE,
    GA_COMPLETE_CONDITION,
    GA_COMPLETE_EXPRESSION, /* of print */
    GA_COMPLETE_COLUMNS,
    GA_COMPLETE_TENSOR,
    GA_COMPLETE_HELP,
    GA_COMPLETE_RUN, /* names of runs */
    GA_COMPLETE_FILE /* behind the words of `words`, if there are any */
};

struct ga_command {
    const char *name;
    const char *alias; /* "" or one other name */
    const char *usage; /* behind the verb: "[N | N epochs | TIME]" */
    enum ga_command_group group;
    unsigned flags;
    size_t least, most; /* words behind the verb */
    int (*exec)(struct ga_console *console, size_t count, const char *const *word);
    enum ga_complete complete;
    const char *words; /* fixed first words, blank-separated: "jsonl csv off" */
    const char *help;
};

#define GA_MANY_WORDS ((size_t)-1)

size_t ga_command_count(void);
const struct ga_command *ga_command_at(size_t position); /* NULL beyond the last */
const char *ga_command_group_name(enum ga_command_group group);

/* Whole name, alias, or an unambiguous prefix; NULL and an error with what could be meant. */
const struct ga_command *ga_command_find(const char *word);

/* The same without prefixes and without an error. */
const struct ga_command *ga_command_named(const char *word);

/* One function a verb. */
typedef int ga_command_exec(struct ga_console *console, size_t count, const char *const *word);

ga_command_exec ga_exec_run, ga_exec_pause, ga_exec_next, ga_exec_micro, ga_exec_event,
    ga_exec_back, ga_exec_goto, ga_exec_until, ga_exec_break, ga_exec_breaks, ga_exec_delete,
    ga_exec_flush, ga_exec_discard, ga_exec_reset;
ga_command_exec ga_exec_set, ga_exec_mode, ga_exec_fit, ga_exec_refused, ga_exec_show,
    ga_exec_settings, ga_exec_init_from, ga_exec_data;
ga_command_exec ga_exec_slow, ga_exec_kill, ga_exec_restore;
ga_command_exec ga_exec_fork, ga_exec_use, ga_exec_runs, ga_exec_drop, ga_exec_compare,
    ga_exec_replay;
ga_command_exec ga_exec_print, ga_exec_explain, ga_exec_eval, ga_exec_devices, ga_exec_history,
    ga_exec_columns, ga_exec_staleness, ga_exec_law;
ga_command_exec ga_exec_save, ga_exec_load, ga_exec_export, ga_exec_log;
ga_command_exec ga_exec_view, ga_exec_save_display;
ga_command_exec ga_exec_source, ga_exec_resume, ga_exec_say, ga_exec_ask, ga_exec_expect,
    ga_exec_wait, ga_exec_quit, ga_exec_help;

#endif
