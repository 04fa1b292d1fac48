/* The last event in numbers, for one parameter: the text of the run, its lines broken to fit. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/panels.h"
#include "ui/paragraph.h"
#include "ui/theme.h"

struct ga_panel_state {
    int first, rows, page;
};

static int explain_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void explain_close(struct ga_panel_state *state)
{
    free(state);
}

/* A line about a replica is in its colour, a heading bold, a warning of other tools dim. */
static unsigned role_of(const char *line, unsigned *attributes)
{
    const char *text = line + strspn(line, " ");

    *attributes = text == line ? GA_ATTR_BOLD : 0;
    if (strncmp(text, "replica ", 8) == 0 && isdigit((unsigned char)text[8]) && text != line)
        return ga_replica_role((uint32_t)strtoul(text + 8, NULL, 10));
    if (strncmp(text, "TensorFlow", 10) == 0)
        return GA_ROLE_DIM;
    if (strncmp(text, "layers.", 7) == 0 || strncmp(text, "weight", 6) == 0)
        return GA_ROLE_TITLE;
    return GA_ROLE_TEXT;
}

static void explain_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                         struct ga_cells *cells, struct ga_rect inside)
{
    struct ga_rect text = {inside.row, inside.column + 1, inside.rows, inside.columns - 2};

    state->page = inside.rows;
    if (!*scene->explain) {
        ga_cells_fit(cells, inside.row, text.column, text.columns,
                     "m steps one micro-batch, and the numbers stand here", GA_ROLE_DIM, 0);
        return;
    }
    state->rows = ga_paragraph_rows(scene->explain, text.columns);
    if (state->first + state->page > state->rows)
        state->first = state->rows > state->page ? state->rows - state->page : 0;
    ga_paragraph_draw(scene->explain, state->first, role_of, cells, text);
}

static bool explain_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    int first = ga_scroll(state->first, key, state->rows, state->page);

    (void)scene;
    if (first >= 0)
        state->first = first;
    return first >= 0;
}

static void explain_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                            struct ga_text *out)
{
    const struct ga_closeup *closeup = scene->closeup;

    (void)state;
    if (closeup->parameters > 0)
        ga_text_printf(out, "%s  %zu of %zu", closeup->parameter, scene->parameter + 1,
                       closeup->parameters);
}

const struct ga_panel ga_panel_explain = {
    .name = "explain",
    .title = "explain",
    .min_rows = 2,
    .min_columns = 20,
    .look = GA_LOOK_EXPLAIN,
    .open = explain_open,
    .close = explain_close,
    .draw = explain_draw,
    .key = explain_key,
    .caption = explain_caption,
};
