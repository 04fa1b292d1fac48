/*
 * The log: the key, the command it ran, and the answer on the same row where it is one line. The
 * newest stands at the bottom; going up holds the lines seen.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/log_lines.h"
#include "ui/panels.h"

#define KEY_COLUMNS 6

struct ga_panel_state {
    uint64_t held; /* lines added when scrolling began; 0: at the newest */
    size_t back;   /* lines below the bottom row, counted at that time */
    int page;
};

static int log_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void log_close(struct ga_panel_state *state)
{
    free(state);
}

static unsigned role_of(enum ga_log_kind kind)
{
    static const unsigned roles[] = {[GA_LOG_COMMAND] = GA_ROLE_TITLE,
                                     [GA_LOG_ANSWER] = GA_ROLE_TEXT,
                                     [GA_LOG_FAILURE] = GA_ROLE_BAD,
                                     [GA_LOG_NOTE] = GA_ROLE_LAW,
                                     [GA_LOG_STDERR] = GA_ROLE_WARN};

    return (unsigned)kind < sizeof roles / sizeof *roles ? roles[kind] : GA_ROLE_TEXT;
}

static bool answers(enum ga_log_kind kind)
{
    return kind == GA_LOG_ANSWER || kind == GA_LOG_FAILURE;
}

/* Columns of commands, so that answers stand below each other. */
static int command_columns(int columns)
{
    return columns >= 100 ? 22 : columns >= 60 ? 10 : 4;
}

/* A command; returns the column where its answer may begin. */
static int draw_command(const struct ga_log_line *line, struct ga_cells *cells, struct ga_rect row)
{
    int column = row.column + KEY_COLUMNS, end = row.column + row.columns;
    int after = 0;

    ga_cells_fit(cells, row.row, row.column, KEY_COLUMNS - 1, *line->key ? line->key : ":",
                 *line->key ? GA_ROLE_KEY : GA_ROLE_DIM, *line->key ? GA_ATTR_BOLD : 0);
    after =
        ga_cells_fit(cells, row.row, column, end - column, line->text, GA_ROLE_TITLE, GA_ATTR_BOLD);
    if (line->repeats > 1)
        after =
            ga_cells_printf(cells, row.row, after + 1, GA_ROLE_DIM, 0, "\u00d7%u", line->repeats);
    after += 2;
    return after < column + command_columns(row.columns) ? column + command_columns(row.columns)
                                                         : after;
}

static void draw_text(const struct ga_log_line *line, struct ga_cells *cells, int row, int column,
                      int end)
{
    if (column < end)
        ga_cells_fit(cells, row, column, end - column, line->text, role_of(line->kind), 0);
}

/* The row that ends in line `back`; returns how many lines it shows. */
static size_t draw_row(const struct ga_log_lines *log, size_t back, struct ga_cells *cells,
                       struct ga_rect row)
{
    struct ga_log_line line, before;
    int end = row.column + row.columns;

    if (!ga_log_lines_get(log, back, &line))
        return 0;
    if (line.kind == GA_LOG_COMMAND) {
        draw_command(&line, cells, row);
        return 1;
    }
    if (answers(line.kind) && ga_log_lines_get(log, back + 1, &before) &&
        before.kind == GA_LOG_COMMAND &&
        ga_text_columns(before.text) + KEY_COLUMNS + 12 < row.columns) {
        draw_text(&line, cells, row.row, draw_command(&before, cells, row), end);
        return 2;
    }
    int indent = KEY_COLUMNS + (answers(line.kind) ? command_columns(row.columns) : 0);
    draw_text(&line, cells, row.row, row.column + indent, end);
    return 1;
}

/* Lines below the bottom row now. */
static size_t hidden(const struct ga_panel_state *state, const struct ga_log_lines *log)
{
    size_t count = ga_log_lines_count(log), back = 0;

    if (state->held == 0)
        return 0;
    back = state->back + (size_t)(ga_log_lines_total(log) - state->held);
    return back < count ? back : count > 0 ? count - 1 : 0;
}

static void log_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                     struct ga_cells *cells, struct ga_rect inside)
{
    size_t back = hidden(state, scene->log);

    state->page = inside.rows;
    if (ga_log_lines_count(scene->log) == 0)
        ga_cells_fit(cells, inside.row, inside.column + 1, inside.columns - 2,
                     "what keys and commands did is written here; ? shows the keys", GA_ROLE_DIM,
                     0);
    for (int r = inside.rows - 1; r >= 0; r--) {
        size_t shown =
            draw_row(scene->log, back, cells,
                     (struct ga_rect){inside.row + r, inside.column + 1, 1, inside.columns - 2});

        if (shown == 0)
            return;
        back += shown;
    }
}

static bool log_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    size_t count = ga_log_lines_count(scene->log);
    int rows = count < 1000000 ? (int)count : 1000000;
    int back = (int)hidden(state, scene->log);
    /* Scrolling counts from the top, the log from the bottom. */
    int top = rows - state->page - back;
    int first = ga_scroll(top < 0 ? 0 : top, key, rows, state->page);

    if (first < 0)
        return false;
    back = rows - state->page - first;
    state->back = back > 0 ? (size_t)back : 0;
    state->held = back > 0 ? ga_log_lines_total(scene->log) : 0;
    return true;
}

static void log_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                        struct ga_text *out)
{
    size_t below = hidden(state, scene->log);

    if (below > 0)
        ga_text_printf(out, "%zu newer, End shows them", below);
}

const struct ga_panel ga_panel_log = {
    .name = "log",
    .title = "log",
    .min_rows = 1,
    .min_columns = 20,
    .open = log_open,
    .close = log_close,
    .draw = log_draw,
    .key = log_key,
    .caption = log_caption,
};
