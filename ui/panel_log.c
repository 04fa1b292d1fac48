/*
 * The log: the key, the command it ran, and the answer beside it, in as many rows as it
 * takes. The newest stands at the bottom; going up holds the lines seen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/log_lines.h"
#include "ui/panels.h"
#include "ui/paragraph.h"

#define KEY_COLUMNS 6
#define TEXT        2048 /* bytes of a line; more than a log keeps */

struct ga_panel_state {
    uint64_t held; /* lines added when scrolling began; 0: at the newest */
    size_t back;   /* lines below the bottom row, counted at that time */
    int page;      /* lines that are shown to their beginning */
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

static void draw_command(const struct ga_log_line *line, struct ga_cells *cells, struct ga_rect row)
{
    int column = row.column + KEY_COLUMNS, end = row.column + row.columns;
    int after = 0;

    ga_cells_fit(cells, row.row, row.column, KEY_COLUMNS - 1, *line->key ? line->key : ":",
                 *line->key ? GA_ROLE_KEY : GA_ROLE_DIM, *line->key ? GA_ATTR_BOLD : 0);
    after =
        ga_cells_fit(cells, row.row, column, end - column, line->text, GA_ROLE_TITLE, GA_ATTR_BOLD);
    if (line->repeats > 1)
        ga_cells_printf(cells, row.row, after + 1, GA_ROLE_DIM, 0, "\u00d7%u", line->repeats);
}

/* What ends in line `back`: its lines, and the rows they take. */
struct piece {
    struct ga_log_line line, command; /* of an answer the command above it, if `lines` is 2 */
    size_t lines;
    int indent; /* of the text; of an answer on a command's row the column where it begins */
    int rows;
    bool beside; /* the answer stands on the command's row */
};

static int command_end(const struct ga_log_line *command, int columns)
{
    char repeats[16] = "";
    int width = 0;

    if (command->repeats > 1)
        snprintf(repeats, sizeof repeats, " x%u", command->repeats);
    width = ga_text_columns(command->text) + (int)strlen(repeats) + 2;
    width = width > command_columns(columns) ? width : command_columns(columns);
    return KEY_COLUMNS + width;
}

static bool find_piece(const struct ga_log_lines *log, size_t back, int columns, struct piece *out)
{
    int beside = 0;

    *out = (struct piece){.lines = 1, .rows = 1, .indent = KEY_COLUMNS};
    if (!ga_log_lines_get(log, back, &out->line))
        return false;
    if (out->line.kind == GA_LOG_COMMAND)
        return true;
    if (answers(out->line.kind) && ga_log_lines_get(log, back + 1, &out->command) &&
        out->command.kind == GA_LOG_COMMAND) {
        out->lines = 2;
        beside = command_end(&out->command, columns);
        out->beside = columns - beside >= columns / 2;
    }
    if (out->beside)
        out->indent = beside;
    else if (answers(out->line.kind) && columns >= 60)
        out->indent += command_columns(columns);
    out->rows = ga_paragraph_rows(out->line.text, columns - out->indent) +
                (out->lines == 2 && !out->beside);
    return true;
}

/* With the bottom at the bottom of `rect`; of what does not fit the beginning is seen. */
static void draw_piece(const struct piece *piece, struct ga_cells *cells, struct ga_rect rect)
{
    int above = rect.rows - piece->rows;
    struct ga_rect top = {rect.row + (above > 0 ? above : 0), rect.column, 1, rect.columns};
    struct ga_rect text = {top.row, rect.column + piece->indent,
                           above < 0 ? rect.rows : piece->rows, rect.columns - piece->indent};
    char words[TEXT];

    if (piece->line.kind == GA_LOG_COMMAND) {
        draw_command(&piece->line, cells, top);
        return;
    }
    snprintf(words, sizeof words, "%s", piece->line.text);
    if (piece->lines == 2)
        draw_command(&piece->command, cells, top);
    if (piece->lines == 2 && !piece->beside) {
        text.row++;
        text.rows--;
    }
    if (piece->line.kind == GA_LOG_FAILURE && above < 0) {
        ga_paragraph_shorten(words, text.columns, text.rows);
        above = ga_paragraph_rows(words, text.columns) <= text.rows ? 0 : above;
    }
    ga_paragraph_draw_in(words, 0, role_of(piece->line.kind), cells, text);
    if (above < 0)
        ga_cells_put(cells, rect.row + rect.rows - 1, rect.column + rect.columns - 1, 0x2026,
                     GA_ROLE_DIM, 0);
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
    struct ga_rect rect = {inside.row, inside.column + 1, inside.rows, inside.columns - 2};
    struct piece piece;

    state->page = 0;
    if (ga_log_lines_count(scene->log) == 0)
        ga_cells_fit(cells, inside.row, rect.column, rect.columns,
                     "what keys and commands did is written here; ? shows the keys", GA_ROLE_DIM,
                     0);
    while (rect.rows > 0 && find_piece(scene->log, back, rect.columns, &piece)) {
        draw_piece(&piece, cells, rect);
        rect.rows -= piece.rows;
        back += piece.lines;
        state->page += rect.rows >= 0 ? (int)piece.lines : 0;
    }
    state->page = state->page < 1 ? 1 : state->page;
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
