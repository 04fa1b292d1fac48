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
    struct ga_text text; /* as it is drawn */
};

static int explain_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void explain_close(struct ga_panel_state *state)
{
    ga_text_free(&state->text);
    free(state);
}

/* A line about a replica is in its colour, the parameter bold, a word on other tools dim. */
static unsigned role_of(const char *line, unsigned *attributes)
{
    const char *text = line + strspn(line, " ");

    *attributes = 0;
    if (strncmp(text, "replica ", 8) == 0 && isdigit((unsigned char)text[8]))
        return ga_replica_role((uint32_t)strtoul(text + 8, NULL, 10));
    if (strncmp(text, "TensorFlow", 10) == 0)
        return GA_ROLE_DIM;
    if (strncmp(text, "layers.", 7) == 0 || strncmp(text, "weight[", 7) == 0) {
        *attributes = GA_ATTR_BOLD;
        return GA_ROLE_TITLE;
    }
    return GA_ROLE_TEXT;
}

/* A first line with lines enough below it stands in the frame. */
static bool has_heading(const char *text)
{
    const char *second = strchr(text, '\n');

    return second && strchr(second + 1, '\n') && strchr(strchr(second + 1, '\n') + 1, '\n');
}

/*
 * The lines below the heading: without the indent that they share, and
 * with at most two blanks between words, because the text is written for wider places.
 */
static void squeeze(const char *text, struct ga_text *out)
{
    int blanks = 0;

    ga_text_clear(out);
    if (has_heading(text))
        text += strcspn(text, "\n") + 1;
    for (; *text; text++) {
        bool begins = out->length == 0 || out->data[out->length - 1] == '\n';

        if (begins) {
            size_t indent = strspn(text, " ");

            ga_text_append(out, "          ", indent > 2 ? (indent < 12 ? indent - 2 : 10) : 0);
            text += indent;
            blanks = 0;
        }
        if (!*text)
            break;
        blanks = *text == ' ' ? blanks + 1 : 0;
        if (blanks <= 2)
            ga_text_append(out, text, 1);
    }
}

static void explain_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                         struct ga_cells *cells, struct ga_rect inside)
{
    struct ga_rect area = {inside.row, inside.column + 1, inside.rows, inside.columns - 2};
    const char *text = NULL;

    state->page = inside.rows;
    if (!*scene->explain) {
        ga_cells_fit(cells, inside.row, area.column, area.columns,
                     "m steps one micro-batch, and the numbers stand here", GA_ROLE_DIM, 0);
        return;
    }
    squeeze(scene->explain, &state->text);
    text = ga_text_get(&state->text);
    state->rows = ga_paragraph_rows(text, area.columns);
    if (state->first + state->page > state->rows)
        state->first = state->rows > state->page ? state->rows - state->page : 0;
    ga_paragraph_draw(text, state->first, role_of, cells, area);
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
    static const char word[] = "micro-batch ";
    size_t length = strcspn(scene->explain, "\n");
    const char *found = memmem(scene->explain, length, word, sizeof word - 1);

    (void)state;
    if (!has_heading(scene->explain))
        return;
    /* "micro 3/5": captions are short. */
    if (found) {
        ga_text_append(out, scene->explain, (size_t)(found - scene->explain));
        ga_text_puts(out, "micro ");
        found += sizeof word - 1;
        length -= (size_t)(found - scene->explain);
    }
    ga_text_append(out, found ? found : scene->explain, length);
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
