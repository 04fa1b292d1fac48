/*
 * A program on a pseudo-terminal whose screen libvterm keeps, with someone typing. Whatever is
 * waited for comes within PTY_PATIENCE_NS or fails the test with a picture of the screen; nothing
 * sleeps.
 *
 * The program gets a home of its own, empty at first, no NO_COLOR, TERM=xterm-256color and a UTF-8
 * locale, unless the options say otherwise. One terminal at a time a struct; main thread only.
 */
#ifndef GA_TESTS_UI_PSEUDO_H
#define GA_TESTS_UI_PSEUDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "base/text.h"

#define PTY_PATIENCE_NS INT64_C(60000000000)

struct pty_options {
    int rows, columns;       /* 0: 36 x 120 */
    const char *program;     /* NULL: gaconsole */
    const char *const *argv; /* with argv[0], NULL-terminated; NULL: no arguments */
    const char *const *env;  /* "NAME=VALUE" or "NAME" to unset, NULL-terminated; NULL: none */
};

struct pty {
    pid_t child;
    int master, slave, process; /* descriptors */
    int rows, columns;
    bool ended;
    int status;              /* of waitpid(), once ended */
    char *home;              /* NULL: closed */
    struct termios before;   /* modes of the terminal when the program started */
    bool alternate, visible; /* the alternate screen; the cursor */
    void *vterm;
    struct ga_text raw; /* all that was written */
};

/* For cmocka_unit_test_setup_teardown(): `*state` is a struct pty, closed whatever happens. */
int pty_setup(void **state);
int pty_teardown(void **state);
#define PTY_TEST(test) cmocka_unit_test_setup_teardown(test, pty_setup, pty_teardown)

/* A screen without a program: rows and columns are the caller's, bytes go in by pty_feed(). */
void pty_open_screen(struct pty *pty);
void pty_feed(struct pty *pty, const char *bytes, size_t count);
void pty_fit_screen(struct pty *pty); /* to rows and columns */
void pty_close_screen(struct pty *pty);

/* Starts the program, anew when one was open; NULL: the defaults. */
void pty_open(struct pty *pty, const struct pty_options *options);
void pty_close(struct pty *pty); /* a program that still runs is killed */

void pty_type(struct pty *pty, const char *keys);
void pty_resize(struct pty *pty, int rows, int columns);
void pty_signal(const struct pty *pty, int number);
void pty_hang_up(struct pty *pty); /* the terminal goes away */

int64_t pty_deadline_ns(void); /* from now */

/* Takes what was written; waits for it until the deadline. False: nothing came. */
bool pty_pump(struct pty *pty, int64_t deadline_ns);

/* Wait until a text is on the screen, or is not. */
void pty_expect(struct pty *pty, const char *text);
void pty_expect_gone(struct pty *pty, const char *text);
void pty_expect_screen(struct pty *pty, const char *screen); /* all of it, as of pty_screen() */
bool pty_shows(const struct pty *pty, const char *text);     /* now */

/* Waits until the program sleeps with every key read and all that it wrote taken. A program that
 * trains, or waits for time to pass (Esc), may still do something by itself. */
void pty_settle(struct pty *pty);

/* Waits until it ends; the status of waitpid(). */
int pty_wait(struct pty *pty);
void pty_expect_exit(struct pty *pty, int status);
void pty_expect_signal(struct pty *pty, int number);

/* The terminal is as it was before: main screen, cursor, echo and all other modes. */
void pty_expect_restored(struct pty *pty);

/* One row, or all with newlines, trailing blanks cut; to be freed. */
char *pty_row(const struct pty *pty, int row);
char *pty_screen(const struct pty *pty);

struct pty_cell {
    uint32_t character;
    bool bold, reverse, underline, colored; /* colored: not the default foreground or background */
};
struct pty_cell pty_cell(const struct pty *pty, int row, int column);
void pty_cursor(const struct pty *pty, int *row, int *column);

#endif
