/*
 * The panel seam: a part of the screen that draws what the engine published. A panel owns its own
 * little state (scroll, zoom, selection), reads the view and the samples, and never touches the
 * engine: what a key does is a command text, run through the console like a typed one.
 */
#ifndef GA_UI_PANEL_H
#define GA_UI_PANEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "console/watch.h"
#include "train/view.h"
#include "ui/cells.h"

struct ga_samples;   /* ui/samples.h: the recorded curves, with min/max pyramids */
struct ga_log_lines; /* ui/log_lines.h: what was answered and echoed */

/* A run beside the one in use, for the comparison. */
struct ga_scene_run {
    const char *name;
    const struct ga_samples *samples;
    bool current; /* the one in use */
};

/* Everything a panel may look at. Borrowed for the time of a call. */
struct ga_scene {
    const struct ga_view *view;
    const struct ga_samples *samples;
    const struct ga_log_lines *log;
    const struct ga_closeup *closeup; /* never NULL; all zero before the first look */
    const char *explain;              /* text of the last event for the selected parameter; "" */
    const char *lesson;               /* what a script says and asks; "" */
    int lesson_first;                 /* row of it that is read */
    const char *stopped;              /* why it stopped: a fault or breakpoint; "" */
    const char *run_name;             /* of the run in use, "main" */
    size_t runs;                      /* all runs, the one in use among them; 0: only one */
    const struct ga_scene_run *run;
    int64_t wall_ns;
    bool log_y;       /* chart settings that keys switch */
    int x_axis;       /* enum ga_x_axis of ui/samples.h */
    double smoothing; /* 0: none, else EMA weight below 1 */
    size_t parameter; /* that explain is about */
};

struct ga_panel_state; /* opaque, of one panel kind */

struct ga_panel {
    const char *name;          /* "loss", "replicas", ... */
    const char *title;         /* in its frame */
    int min_rows, min_columns; /* inside the frame; smaller: the layout leaves it out */
    unsigned look;             /* parts of the close-up it draws, GA_LOOK_... */
    int (*open)(struct ga_panel_state **out);
    void (*close)(struct ga_panel_state *state);
    /* Draws into the clip of `cells`, which is `inside`. */
    void (*draw)(struct ga_panel_state *state, const struct ga_scene *scene, struct ga_cells *cells,
                 struct ga_rect inside);
    /* A key of ui/decoder.h while the panel has the focus: true when it was used (scrolling,
     * selecting). */
    bool (*key)(struct ga_panel_state *state, const struct ga_scene *scene, int key);
    /* What the title says besides its name ("log, smoothed 0.9"); may be NULL. */
    void (*caption)(struct ga_panel_state *state, const struct ga_scene *scene,
                    struct ga_text *out);
};

/* Positions in the registry: the number keys 1 .. 9, and three without a key. */
enum ga_panel_position {
    GA_PANEL_LOSS,
    GA_PANEL_FIT,
    GA_PANEL_REPLICAS,
    GA_PANEL_TIMELINE,
    GA_PANEL_EXPLAIN,
    GA_PANEL_NORMS,
    GA_PANEL_STALENESS,
    GA_PANEL_WEIGHTS,
    GA_PANEL_DEVICES,
    GA_PANEL_RUNS,
    GA_PANEL_LOG,
    GA_PANEL_LESSON,
    GA_PANELS
};

const struct ga_panel *ga_panel_at(int position); /* NULL beyond the last */
int ga_panel_find(const char *name);              /* -1 */

#endif
