/* What a script says and asks, in whole sentences. The end of a long text is shown first. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/panels.h"
#include "ui/paragraph.h"

struct ga_panel_state {
    int back; /* rows below the bottom */
    int rows, page;
};

static int lesson_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void lesson_close(struct ga_panel_state *state)
{
    free(state);
}

static void lesson_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                        struct ga_cells *cells, struct ga_rect inside)
{
    struct ga_rect text = {inside.row, inside.column + 1, inside.rows, inside.columns - 2};
    int hidden = 0;

    state->page = inside.rows;
    state->rows = ga_paragraph_rows(scene->lesson, text.columns);
    hidden = state->rows > state->page ? state->rows - state->page : 0;
    state->back = state->back > hidden ? hidden : state->back;
    if (!*scene->lesson)
        ga_cells_fit(cells, text.row, text.column, text.columns, "no lesson is running",
                     GA_ROLE_DIM, 0);
    ga_paragraph_draw(scene->lesson, hidden - state->back, NULL, cells, text);
}

static bool lesson_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    int hidden = state->rows > state->page ? state->rows - state->page : 0;
    int first = ga_scroll(hidden - state->back, key, state->rows, state->page);

    (void)scene;
    if (first >= 0)
        state->back = hidden - first;
    return first >= 0;
}

const struct ga_panel ga_panel_lesson = {
    .name = "lesson",
    .title = "lesson",
    .min_rows = 1,
    .min_columns = 16,
    .open = lesson_open,
    .close = lesson_close,
    .draw = lesson_draw,
    .key = lesson_key,
};
