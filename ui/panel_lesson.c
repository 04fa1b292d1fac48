/* What a script says and asks, in whole sentences, from the row on that is read. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/panels.h"
#include "ui/paragraph.h"

struct ga_panel_state {
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

    state->page = inside.rows;
    state->rows = ga_paragraph_rows(scene->lesson, text.columns);
    if (!*scene->lesson)
        ga_cells_fit(cells, text.row, text.column, text.columns, "no lesson is running",
                     GA_ROLE_DIM, 0);
    ga_paragraph_draw(scene->lesson, scene->lesson_first, NULL, cells, text);
}

/* How much is not seen, where not all of it is. */
static void lesson_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                           struct ga_text *out)
{
    int below = state->rows - state->page - scene->lesson_first;

    if (state->rows <= state->page)
        return;
    if (below > 0)
        ga_text_printf(out, "PgDn: %d more %s", below, below == 1 ? "row" : "rows");
    else
        ga_text_puts(out, "PgUp: back");
}

const struct ga_panel ga_panel_lesson = {
    .name = "lesson",
    .title = "lesson",
    .min_rows = 1,
    .min_columns = 16,
    .open = lesson_open,
    .close = lesson_close,
    .draw = lesson_draw,
    .caption = lesson_caption,
};
