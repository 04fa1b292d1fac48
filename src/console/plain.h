/*
 * The plain front end from the inside: plain.c runs the session, prompt.c is its readline part,
 * line_reader.c takes whole lines from a descriptor.
 */
#ifndef GA_CONSOLE_PLAIN_H
#define GA_CONSOLE_PLAIN_H

#include "console/front.h"

/* Lines from a descriptor, with an eye on signals. Zeroed apart from the descriptors at first. */
struct ga_line_reader {
    int fd;
    int signals; /* watched too */
    char *bytes; /* what was read and not yet taken */
    size_t capacity, length;
    bool ended;
};

/*
 * The next line without its newline, to be freed; it may hold NULs. NULL at the end of the file, on
 * an error, or when a signal came: then `*signal_number` says which, else it is 0. A line beyond
 * GA_LINE_LIMIT is handed on as far as it was read, to be refused for its length, and is the last:
 * there may be no end to it.
 */
char *ga_line_next(struct ga_line_reader *reader, size_t *length, int *signal_number);
void ga_line_reader_fini(struct ga_line_reader *reader);

struct ga_plain {
    struct ga_stream stream;
    struct ga_sink direct; /* the stream's own */
    struct ga_console *console;
    const struct ga_arguments *arguments;
    struct ga_line_reader input;
    int signals;
    int caught; /* the signal that ends the session; 0 */
    bool terminal;
    bool left; /* the script, at a pause */
};

/* prompt.c: lines typed at a terminal, until the end of the file, `quit` or a signal. */
void ga_prompt_run(struct ga_plain *plain);

/* Takes the half-typed line off the screen before something is written; fine without a prompt. */
void ga_prompt_hide(void);

#endif
