/*
 * Standard output and error of the program and its libraries, caught in a pipe while the screen is
 * on, so that nothing they write tears it. What is written when nobody reads is lost, never waited
 * for. One at a time: descriptors 1 and 2 belong to the process. One thread.
 */
#ifndef GA_UI_CAPTURE_H
#define GA_UI_CAPTURE_H

#include <stddef.h>

#define GA_CAPTURE_LINE 1024 /* bytes; a longer line is cut in two */

struct ga_capture {
    int fd;        /* to poll and to read; -1 when closed */
    int out, err;  /* the descriptors as they were */
    size_t length; /* of a line begun */
    char line[GA_CAPTURE_LINE];
};

int ga_capture_open(struct ga_capture *capture);

/* Puts the descriptors back and writes what was not read to standard error. */
void ga_capture_close(struct ga_capture *capture);

/* Hands over the lines that have come, without their newline. */
void ga_capture_read(struct ga_capture *capture,
                     void (*line)(void *self, const char *bytes, size_t length), void *self);

#endif
