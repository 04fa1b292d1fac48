#include "ui/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/decoder.h"

struct ga_screen {
    struct ga_panel_state *state[GA_PANELS];
    size_t parameter;
    struct ga_text caption;
};

int ga_screen_open(struct ga_screen **out)
{
    struct ga_screen *screen = ga_alloc(1, sizeof *screen);

    *out = NULL;
    for (int i = 0; screen && i < GA_PANELS; i++)
        if (ga_panel_at(i)->open(&screen->state[i]) < 0) {
            ga_screen_close(screen);
            return ga_error_code();
        }
    *out = screen;
    return screen ? GA_OK : GA_ENOMEM;
}

void ga_screen_close(struct ga_screen *screen)
{
    if (!screen)
        return;
    for (int i = 0; i < GA_PANELS; i++)
        if (screen->state[i])
            ga_panel_at(i)->close(screen->state[i]);
    ga_text_free(&screen->caption);
    free(screen);
}

/* The name in the upper edge: its number key, then the title. */
static void write_title(int position, char *out, size_t size)
{
    if (position < 9)
        snprintf(out, size, "%d %s", position + 1, ga_panel_at(position)->title);
    else
        snprintf(out, size, "%s", ga_panel_at(position)->title);
}

/* Cuts at the end of the last clause that fits, if at least half of the room is used then. */
static void cut_at_clause(struct ga_text *caption, const char *text, int columns)
{
    size_t start = (size_t)(text - ga_text_get(caption)), cut = 0;

    for (size_t i = start; i + 1 < caption->length; i++) {
        char *at = &caption->data[i], kept = *at;

        if ((kept != ',' && kept != ':') || at[1] != ' ')
            continue;
        *at = '\0';
        cut = ga_text_columns(text) <= columns ? i : cut;
        *at = kept;
    }
    if (cut > start && (int)(cut - start) >= columns / 2)
        caption->data[cut] = '\0';
}

/* At the right of the upper edge, where the title leaves room. */
static void draw_caption(struct ga_screen *screen, const struct ga_scene *scene, int position,
                         const char *title, struct ga_cells *cells, struct ga_rect rect)
{
    const struct ga_panel *panel = ga_panel_at(position);
    int left = rect.column + 3 + ga_text_columns(title) + 2;
    int right = rect.column + rect.columns - 3, width = 0;
    const char *text = NULL;

    if (!panel->caption || right - left < 6)
        return;
    ga_text_clear(&screen->caption);
    panel->caption(screen->state[position], scene, &screen->caption);
    text = ga_text_get(&screen->caption);
    /* The last part, behind two blanks, is the value: the parts before it go first. */
    while (ga_text_columns(text) > right - left - 1 && strstr(text, "  "))
        text = strstr(text, "  ") + 2;
    if (ga_text_columns(text) > right - left - 1)
        cut_at_clause(&screen->caption, text, right - left - 1);
    width = ga_text_columns(text);
    if (width == 0)
        return;
    width = width > right - left - 1 ? right - left - 1 : width;
    ga_cells_put(cells, rect.row, right - width - 1, ' ', GA_ROLE_BORDER, 0);
    ga_cells_put(cells, rect.row, right, ' ', GA_ROLE_BORDER, 0);
    ga_cells_fit(cells, rect.row, right - width, width, text, GA_ROLE_TEXT, 0);
}

static void draw_panel(struct ga_screen *screen, const struct ga_scene *scene, int position,
                       bool focused, struct ga_cells *cells, struct ga_rect rect)
{
    char title[64];
    struct ga_rect old = ga_cells_clip(cells, rect), inside = {0, 0, 0, 0};

    write_title(position, title, sizeof title);
    inside = ga_cells_frame(cells, rect, title, focused);
    ga_cells_clip(cells, inside);
    if (inside.rows > 0 && inside.columns > 0)
        ga_panel_at(position)->draw(screen->state[position], scene, cells, inside);
    cells->clip = old;
    ga_cells_clip(cells, rect);
    draw_caption(screen, scene, position, title, cells, rect);
    cells->clip = old;
}

void ga_screen_draw(struct ga_screen *screen, const struct ga_scene *scene,
                    const struct ga_layout *layout, int focus, const struct ga_hint *hint,
                    size_t hints, struct ga_cells *cells)
{
    ga_cells_clear(cells);
    if (layout->kind == GA_LAYOUT_NOTICE) {
        ga_status_notice(cells);
        return;
    }
    ga_status_draw(scene, cells, layout->status);
    for (int i = 0; i < layout->places; i++)
        draw_panel(screen, scene, layout->place[i].panel, layout->place[i].panel == focus, cells,
                   layout->place[i].rect);
    if (layout->hint.rows > 0)
        ga_hint_draw(cells, layout->hint, hint, hints);
}

/* Left and right of explain and weights choose the parameter. */
static bool choose_parameter(struct ga_screen *screen, const struct ga_scene *scene, int focus,
                             int key)
{
    size_t last = scene->closeup->parameters > 0 ? scene->closeup->parameters - 1 : 0;

    if (focus != GA_PANEL_EXPLAIN && focus != GA_PANEL_WEIGHTS)
        return false;
    if (key == GA_KEY_LEFT)
        screen->parameter = screen->parameter > 0 ? screen->parameter - 1 : last;
    else if (key == GA_KEY_RIGHT)
        screen->parameter = screen->parameter < last ? screen->parameter + 1 : 0;
    else
        return false;
    return true;
}

bool ga_screen_key(struct ga_screen *screen, const struct ga_scene *scene, int focus, int key)
{
    const struct ga_panel *panel = ga_panel_at(focus);

    if (!panel)
        return false;
    if (choose_parameter(screen, scene, focus, key))
        return true;
    return panel->key && panel->key(screen->state[focus], scene, key);
}

unsigned ga_screen_look(const struct ga_layout *layout)
{
    unsigned look = 0;

    for (int i = 0; i < layout->places; i++)
        look |= ga_panel_at(layout->place[i].panel)->look;
    return look;
}

size_t ga_screen_parameter(const struct ga_screen *screen)
{
    return screen->parameter;
}

void ga_screen_set_parameter(struct ga_screen *screen, size_t position)
{
    screen->parameter = position;
}
