#include "ui/term.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef columns /* term.h's names for capabilities */
#undef lines

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "ui/paint.h"

#define MOST      1000 /* rows or columns; a terminal that claims more is drawn on as far as that */
#define PASTE_ON  "\x1b[?2004h"
#define PASTE_OFF "\x1b[?2004l"

enum cursor { CURSOR_UNKNOWN, CURSOR_HIDDEN, CURSOR_SHOWN };

struct ga_term {
    FILE *out; /* a copy of standard output */
    SCREEN *screen;
    struct termios usual;    /* before */
    struct ga_text rescue;   /* puts everything back */
    struct ga_text farewell; /* what curses leaves to do */
    bool entered;
    bool utf8, colored;
    int rows, columns;
    enum cursor cursor;
    struct ga_cells shown; /* prepared cells, as on the screen */
    bool stale;            /* `shown` says nothing: the screen is drawn anew */
    enum ga_theme theme;
    bool paints; /* bytes by paint.h; else through curses */
    struct ga_paint paint;
    struct ga_text frame;      /* bytes of one */
    const char *hide, *reveal; /* the cursor */
};

static int refuse(const char *name, const char *why)
{
    return ga_fail(GA_EUNSUPPORTED,
                   "TERM=%s %s: expected a terminal with a movable cursor, such as xterm-256color",
                   name, why);
}

int ga_term_check(void)
{
    const char *name = getenv("TERM");
    int found = 0;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return ga_fail(GA_EUNSUPPORTED,
                       "standard input or output is no terminal: expected one for the full screen");
    if (!name || !*name)
        return ga_fail(GA_EUNSUPPORTED, "TERM is not set: expected for example xterm-256color");
    if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
        return refuse(name, "is not known on this machine");
    const char *move_cursor = tigetstr("cup");
    const bool movable = move_cursor && (intptr_t)move_cursor != -1;
    del_curterm(cur_term);
    return movable ? 0 : refuse(name, "cannot move its cursor");
}

static bool wants_color(enum ga_color_when when)
{
    const char *no_color = getenv("NO_COLOR");
    return when == GA_COLOR_ALWAYS || (when == GA_COLOR_AUTO && !(no_color && *no_color));
}

static void write_bytes(const struct ga_term *term, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(fileno(term->out), bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* a terminal that is gone is found out by reading */
        bytes += written;
        count -= (size_t)written;
    }
}

/* Appends a capability; padding such as $<5> is left out. */
static void append_capability(struct ga_text *out, const char *name)
{
    const char *at = tigetstr(name);
    if (!at || (intptr_t)at == -1)
        return;
    while (*at) {
        const char *end = at[0] == '$' && at[1] == '<' ? strchr(at, '>') : NULL;
        if (!end)
            ga_text_append(out, at, 1);
        at = end ? end + 1 : at + 1;
    }
}

static int prepare_rescue(struct ga_term *term)
{
    ga_text_puts(&term->rescue, PASTE_OFF);
    append_capability(&term->rescue, "sgr0");
    if (term->colored)
        append_capability(&term->rescue, "op");
    append_capability(&term->rescue, "rmcup");
    append_capability(&term->rescue, "cnorm");
    ga_text_puts(&term->rescue, "\r");
    /* Some terminals take the cursor's visibility back with the main screen. */
    ga_text_puts(&term->farewell, PASTE_OFF);
    append_capability(&term->farewell, "cnorm");
    if (ga_text_failed(&term->rescue) || ga_text_failed(&term->farewell))
        return ga_fail(GA_ENOMEM, "no memory for the screen");
    return 0;
}

/* Keys arrive as bytes; only ctrl-\ is still a signal, for a program that hangs. */
static void set_modes(const struct ga_term *term)
{
    struct termios modes;
    cbreak();
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    typeahead(-1);
    leaveok(stdscr, FALSE);
    if (tcgetattr(fileno(term->out), &modes) == 0) {
        modes.c_iflag &= (tcflag_t) ~(IXON | IXOFF | ICRNL | INLCR | IGNCR);
        modes.c_lflag |= ISIG;
        modes.c_cc[VINTR] = _POSIX_VDISABLE;
        modes.c_cc[VSUSP] = _POSIX_VDISABLE;
        modes.c_cc[VLNEXT] = _POSIX_VDISABLE;
        modes.c_cc[VDISCARD] = _POSIX_VDISABLE;
        tcsetattr(fileno(term->out), TCSADRAIN, &modes);
    }
    def_prog_mode();
}

static int open_screen(struct ga_term *term, enum ga_color_when when)
{
    const int fd = dup(STDOUT_FILENO);
    term->out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!term->out) {
        const int why = errno;
        if (fd >= 0)
            close(fd);
        return ga_fail_errno(GA_EIO, why, "cannot write to the terminal");
    }
    if (tcgetattr(fd, &term->usual) < 0)
        return ga_fail_errno(GA_EIO, errno, "cannot ask the terminal for its modes");
    term->screen = newterm(NULL, term->out, stdin);
    if (!term->screen)
        return ga_fail(GA_EUNSUPPORTED, "TERM=%s: curses cannot use this terminal",
                       getenv("TERM") ? getenv("TERM") : "");
    term->entered = true;
    set_modes(term);
    term->colored = wants_color(when) && has_colors() && start_color() == OK;
    if (term->colored)
        use_default_colors();
    return 0;
}

static const char *capability(const char *name)
{
    const char *text = tigetstr(name);
    return text && (intptr_t)text != -1 ? text : "";
}

/* Whether the terminal moves its cursor and colours its text by ECMA-48, as nearly all do. */
static bool speaks_ecma48(const struct ga_term *term)
{
    const char *color = capability("setaf");
    if (strcmp(capability("cup"), "\x1b[%i%p1%d;%p2%dH") != 0 || tigetflag("xenl") <= 0)
        return false;
    return !term->colored || (COLORS <= 256 && strncmp(color, "\x1b[", 2) == 0);
}

static void choose_painter(struct ga_term *term)
{
    const int colors = !term->colored ? 0 : COLORS >= 256 ? 256 : COLORS >= 16 ? 16 : 8;
    ga_paint_init(&term->paint, term->utf8, colors);
    term->paints = speaks_ecma48(term);
    term->hide = capability("civis");
    term->reveal = capability("cnorm");
    term->theme = GA_THEMES; /* none yet */
}

int ga_term_open(struct ga_term **out, enum ga_color_when when)
{
    *out = NULL;
    struct ga_term *term = ga_alloc(1, sizeof(*term));
    if (!term)
        return GA_ENOMEM;
    setlocale(LC_CTYPE, "");
    term->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    term->rows = term->columns = -1;
    term->stale = true;
    int code = open_screen(term, when);
    if (code == 0)
        choose_painter(term);
    if (code == 0)
        code = prepare_rescue(term);
    if (code < 0) {
        ga_term_close(term);
        return code;
    }
    write_bytes(term, PASTE_ON, sizeof(PASTE_ON) - 1);
    ga_term_measure(term);
    *out = term;
    return 0;
}

void ga_term_close(struct ga_term *term)
{
    if (!term)
        return;
    ga_term_leave(term);
    if (term->screen)
        delscreen(term->screen);
    if (term->out)
        fclose(term->out);
    ga_cells_close(&term->shown);
    ga_text_free(&term->frame);
    ga_text_free(&term->rescue);
    ga_text_free(&term->farewell);
    free(term);
}

bool ga_term_utf8(const struct ga_term *term)
{
    return term->utf8;
}

bool ga_term_colored(const struct ga_term *term)
{
    return term->colored;
}

/* The Linux console's fonts have blocks, seldom braille. */
enum ga_glyphs ga_term_glyphs(const struct ga_term *term)
{
    const char *name = getenv("TERM");
    if (!term->utf8)
        return GA_GLYPHS_ASCII;
    return name && strcmp(name, "linux") == 0 ? GA_GLYPHS_BLOCK : GA_GLYPHS_BRAILLE;
}

int ga_term_rows(const struct ga_term *term)
{
    return term->rows;
}

int ga_term_columns(const struct ga_term *term)
{
    return term->columns;
}

bool ga_term_measure(struct ga_term *term)
{
    struct winsize size;
    int rows = LINES;
    int columns = COLS;
    if (ioctl(fileno(term->out), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        rows = size.ws_row < MOST ? size.ws_row : MOST;
        columns = size.ws_col < MOST ? size.ws_col : MOST;
    }
    if (rows == term->rows && columns == term->columns)
        return false;
    if (rows != LINES || columns != COLS)
        resizeterm(rows, columns);
    term->rows = rows;
    term->columns = columns;
    ga_term_forget(term);
    return true;
}

static attr_t attributes_of(unsigned attributes)
{
    static const struct {
        unsigned ours;
        attr_t theirs;
    } table[] = {{GA_ATTR_BOLD, A_BOLD},
                 {GA_ATTR_DIM, A_DIM},
                 {GA_ATTR_REVERSE, A_REVERSE},
                 {GA_ATTR_UNDERLINE, A_UNDERLINE}};
    attr_t found = A_NORMAL;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (attributes & table[i].ours)
            found |= table[i].theirs;
    return found;
}

static void tell_cell(const struct ga_term *term, int row, int column, const struct ga_cell *cell)
{
    const struct ga_look look = ga_paint_look(&term->paint, cell);
    const bool fits = cell->character >= ' ' && (term->utf8 || cell->character < 0x7f);
    const wchar_t text[2] = {fits ? (wchar_t)cell->character : L'?', L'\0'};
    int pair = 0;
    cchar_t shape;
    if (look.foreground >= 0 || look.background >= 0)
        pair = alloc_pair(look.foreground, look.background);
    pair = pair > 0 ? pair : 0;
    setcchar(&shape, text, attributes_of(look.attributes), 0, &pair);
    mvadd_wch(row, column, &shape);
}

/* All cells: curses finds out what changed. */
static void show_by_curses(struct ga_term *term, const struct ga_cell *cell, int row, int column)
{
    for (int r = 0; r < term->rows; r++)
        for (int c = 0; c < term->columns; c++, cell++)
            if (cell->character != 0)
                tell_cell(term, r, c, cell);
    const enum cursor cursor = row < 0 ? CURSOR_HIDDEN : CURSOR_SHOWN;
    if (cursor != term->cursor)
        curs_set(row < 0 ? 0 : 1);
    term->cursor = cursor;
    if (row >= 0)
        move(row, column);
    wnoutrefresh(stdscr);
    doupdate();
}

static void show_by_paint(struct ga_term *term, const struct ga_cell *cell, int row, int column)
{
    const enum cursor cursor = row < 0 ? CURSOR_HIDDEN : CURSOR_SHOWN;
    struct ga_text *frame = &term->frame;
    ga_text_clear(frame);
    if (cursor == CURSOR_HIDDEN && cursor != term->cursor)
        ga_text_puts(frame, term->hide);
    ga_paint_frame(&term->paint, term->shown.cell, cell, term->rows, term->columns, frame);
    if (row >= 0)
        ga_paint_move(&term->paint, row, column, frame);
    if (cursor == CURSOR_SHOWN && cursor != term->cursor)
        ga_text_puts(frame, term->reveal);
    term->cursor = cursor;
    write_bytes(term, ga_text_get(frame), frame->length);
}

/* An empty screen, as curses knows it; what is shown on it is told from there. */
static int begin_anew(struct ga_term *term)
{
    const int code = term->shown.cell
                         ? ga_cells_resize(&term->shown, term->rows, term->columns)
                         : ga_cells_open(&term->shown, term->rows, term->columns, GA_GLYPHS_ASCII);
    if (code < 0)
        return code;
    erase();
    clearok(curscr, TRUE);
    wnoutrefresh(stdscr);
    doupdate();
    ga_paint_forget(&term->paint);
    term->cursor = CURSOR_UNKNOWN;
    term->stale = false;
    return 0;
}

void ga_term_show(struct ga_term *term, const struct ga_cells *cells, enum ga_theme theme,
                  int cursor_row, int cursor_column)
{
    const size_t count = (size_t)cells->rows * (size_t)cells->columns;
    if (!term->entered || cells->rows != term->rows || cells->columns != term->columns)
        return;
    if (theme != term->theme)
        ga_paint_theme(&term->paint, theme);
    term->stale = term->stale || theme != term->theme;
    term->theme = theme;
    struct ga_cell *wanted = ga_alloc(count + 1, sizeof(*wanted));
    if (!wanted || (term->stale && begin_anew(term) < 0)) {
        free(wanted);
        return;
    }
    memcpy(wanted, cells->cell, count * sizeof(*wanted));
    for (int row = 0; row < cells->rows; row++)
        ga_paint_prepare(&term->paint, wanted + (size_t)row * (size_t)cells->columns,
                         cells->columns);
    const int column = cursor_column < term->columns ? cursor_column : term->columns - 1;
    if (term->paints)
        show_by_paint(term, wanted, cursor_row, column);
    else
        show_by_curses(term, wanted, cursor_row, column);
    memcpy(term->shown.cell, wanted, count * sizeof(*wanted));
    free(wanted);
}

void ga_term_forget(struct ga_term *term)
{
    term->stale = true;
}

void ga_term_leave(struct ga_term *term)
{
    if (!term->entered)
        return;
    term->entered = false;
    curs_set(1);
    endwin();
    write_bytes(term, ga_text_get(&term->farewell), term->farewell.length);
}

void ga_term_enter(struct ga_term *term)
{
    if (term->entered)
        return;
    term->entered = true;
    reset_prog_mode();
    write_bytes(term, PASTE_ON, sizeof(PASTE_ON) - 1);
    ga_term_measure(term);
    ga_term_forget(term);
}

bool ga_term_foreground(const struct ga_term *term)
{
    const pid_t group = tcgetpgrp(fileno(term->out));
    return group < 0 || group == getpgrp();
}

void ga_term_rescue(const struct ga_term *term, struct ga_term_rescue *out)
{
    *out = (struct ga_term_rescue){.fd = fileno(term->out),
                                   .bytes = ga_text_get(&term->rescue),
                                   .count = term->rescue.length,
                                   .usual = term->usual};
}
