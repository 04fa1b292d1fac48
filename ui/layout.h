/*
 * Where everything goes: a pure function from the size of the screen, the panels chosen for the
 * slots, the focus and zoom to rectangles. What does not fit is left out in a fixed order, so the
 * same wish always gives the same screen. On small screens the focused panel comes in place of
 * another, so that every panel can be reached at any size that can show it.
 *
 *   under 20x3         a notice, nothing else
 *   NUMBERS            the status line(s); one command line when there are two rows
 *   TABLE              status, replica table, command line           from 32x8
 *   STACK              charts over the table                         from 60x16
 *   FULL               the slots of the 120x36 screen                from 100x30
 *   WIDE               three columns, every panel that has room      from 160x44
 *
 * Sizes here are columns x rows. Rectangles of panels hold their frame.
 */
#ifndef GA_UI_LAYOUT_H
#define GA_UI_LAYOUT_H

#include <stdbool.h>

#include "ui/cells.h"

enum ga_layout_kind {
    GA_LAYOUT_NOTICE,
    GA_LAYOUT_NUMBERS,
    GA_LAYOUT_TABLE,
    GA_LAYOUT_STACK,
    GA_LAYOUT_FULL,
    GA_LAYOUT_WIDE
};

/* A place that one panel of a group takes at a time. */
enum ga_slot {
    GA_SLOT_CHART,  /* loss, norms, runs */
    GA_SLOT_RIGHT,  /* fit, staleness */
    GA_SLOT_TABLE,  /* replicas, devices */
    GA_SLOT_TIME,   /* timeline, weights */
    GA_SLOT_DETAIL, /* explain */
    GA_SLOTS
};

struct ga_layout_wish {
    int rows, columns;
    int chosen[GA_SLOTS]; /* panel position shown there */
    int focus;            /* panel position; -1: none */
    bool zoom;            /* the focused panel takes the panels' whole area */
    int table_rows;       /* rows the replica table would like inside its frame: P + 1 */
    int command_rows;     /* of the command line, at least 1 */
    int lesson_rows;      /* likewise the lesson; 0: there is none */
};

#define GA_LAYOUT_PLACES 16

struct ga_layout {
    enum ga_layout_kind kind;
    struct ga_rect status;  /* empty under NOTICE */
    struct ga_rect command; /* empty when there is no room */
    struct ga_rect hint;    /* likewise */
    struct ga_rect panels;  /* all panels together: where palette and help may cover them */
    int places;
    struct {
        int panel; /* position in the registry */
        struct ga_rect rect;
    } place[GA_LAYOUT_PLACES];
};

void ga_layout_wish_init(struct ga_layout_wish *wish, int rows, int columns);
void ga_layout_make(struct ga_layout *out, const struct ga_layout_wish *wish);

/* Slot whose group holds the panel; -1: none (the log, the lesson). */
int ga_layout_slot(int panel);

/*
 * What a number key does: brings the panel into its slot and the focus to it; on the panel that has
 * the focus already it switches zoom, which else stays as it is. Changes the wish only.
 */
void ga_layout_select(struct ga_layout_wish *wish, int panel);

/* The next (+1) or previous (-1) panel on screen behind the focused one, in reading order. */
int ga_layout_next(const struct ga_layout *layout, int focus, int step);

/* The rectangle of a panel on screen; empty when it is not there. */
struct ga_rect ga_layout_rect(const struct ga_layout *layout, int panel);

#endif
