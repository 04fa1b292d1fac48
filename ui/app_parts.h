/*
 * The full-screen console from the inside: app.c opens and closes a session, app_loop.c waits,
 * app_keys.c gives each key its meaning, app_front.c serves the console, app_draw.c makes frames.
 *
 * Everything belongs to the main thread. While the console carries out a line (`busy`), the front's
 * functions turn the same loop, so that the screen lives on; keys then only look, scroll, answer or
 * interrupt.
 */
#ifndef GA_UI_APP_PARTS_H
#define GA_UI_APP_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "console/console.h"
#include "console/options.h"
#include "console/watch.h"
#include "ui/capture.h"
#include "ui/cells.h"
#include "ui/decoder.h"
#include "ui/display.h"
#include "ui/layout.h"
#include "ui/lesson.h"
#include "ui/line.h"
#include "ui/log_lines.h"
#include "ui/palette.h"
#include "ui/panel.h"
#include "ui/recorder.h"
#include "ui/runs.h"
#include "ui/samples.h"
#include "ui/screen.h"
#include "ui/term.h"

/* Between two frames that nobody's key asked for, and where each is many updates further on. */
#define GA_FRAME_NS      INT64_C(100000000)
#define GA_FAST_FRAME_NS INT64_C(150000000)
#define GA_FAST_UPDATES  64

/* Between two close-ups while it trains, and between two of them with numbers to read. */
#define GA_LOOK_NS INT64_C(450000000)
#define GA_READ_NS INT64_C(950000000)

/* Who gets the next key. */
enum ga_app_mode {
    GA_APP_KEYS,    /* the key table */
    GA_APP_COMMAND, /* the command line */
    GA_APP_ANSWER,  /* the same, for a script's question */
    GA_APP_ANY_KEY, /* a script waits for one */
    GA_APP_MORE,    /* the same, for the rest of a page above a question */
    GA_APP_CONFIRM, /* y or n */
    GA_APP_PALETTE,
    GA_APP_HELP
};

struct ga_app;

/* A question with y or n, and what a y does. */
struct ga_confirm {
    char question[160];
    void (*yes)(struct ga_app *app, const char *text);
    char *text;               /* owned */
    enum ga_app_mode instead; /* where a no leads back to */
};

struct ga_app {
    const struct ga_arguments *arguments;
    struct ga_term *term;
    struct ga_line *line;
    struct ga_decoder *decoder;
    struct ga_capture capture;
    int signals; /* descriptor of trap.h */

    struct ga_console *console;
    struct ga_bell bell; /* the console's */
    struct ga_watch *watch;
    struct ga_samples *samples;
    struct ga_runs *runs;
    struct ga_log_lines *log;
    struct ga_closeup *closeup;
    struct ga_screen *screen;
    struct ga_recorder *recorder; /* NULL: nothing is recorded */
    struct ga_palette *palette;
    struct ga_palette_key *palette_keys; /* for it, as long as it is open */
    struct ga_cells cells;
    struct ga_display display;
    struct ga_layout layout;
    struct ga_scene scene; /* as drawn last; panels' keys look at it */

    enum ga_app_mode mode;
    struct ga_confirm confirm;
    char note[200]; /* in the command line's place until the next key */
    int help_row;
    struct ga_lesson lesson;
    char *answer; /* to a script's question; owned */

    int busy;         /* lines under way, one within the other */
    bool interrupted; /* the user wants them to end */
    bool pressed;     /* ANY_KEY, MORE or ANSWER is done */
    bool back;        /* by a wish to see the page before */
    bool muted;       /* answers are not shown */
    bool away;        /* the terminal is not ours: stopped, or in the background */
    bool ended;
    int caught; /* the signal that ends the session; 0 */

    bool wanted;                /* a frame */
    int64_t frame_ns;           /* from when on */
    int64_t drawn_ns;           /* the last one */
    uint64_t drawn_updates;     /* that it stands at */
    bool fast;                  /* it is many updates further on than the one before */
    bool looked;                /* the close-up is as good as new */
    unsigned looked_parts;      /* that it has */
    int64_t looked_ns, read_ns; /* when it was made, and its numbers */
    int64_t break_ns;           /* the last ctrl-C */
    int64_t moving_ns;          /* wall time of training not in a file */
};

/* app_loop.c */

/* What may wake a turn besides keys, signals and time. */
enum ga_turn {
    GA_TURN_LISTEN, /* the engine, as often as frames are shown; its news are taken */
    GA_TURN_BELL    /* the engine at once; the console, which waits for it, takes its news */
};
void ga_app_turn(struct ga_app *app, enum ga_turn turn);
void ga_app_touch(struct ga_app *app);           /* a frame at once */
void ga_app_change(struct ga_app *app);          /* a frame at once, with a new close-up */
int64_t ga_app_due_ns(const struct ga_app *app); /* when the next frame may be, by itself */

/* app_keys.c */
void ga_app_press(struct ga_app *app, const struct ga_input *input);
void ga_app_run(struct ga_app *app, const char *key, const char *text); /* one command */
void ga_app_interrupt(struct ga_app *app);                              /* ctrl-C */
void ga_app_suspend(struct ga_app *app);                                /* ctrl-Z */
void ga_app_resume(struct ga_app *app);

/* app_front.c */
struct ga_sink ga_app_sink(struct ga_app *app);
struct ga_front ga_app_front(struct ga_app *app);

/* app_draw.c */
void ga_app_draw(struct ga_app *app);
const struct ga_view *ga_app_view(struct ga_app *app); /* the newest */

#endif
