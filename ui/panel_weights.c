/*
 * Weights, and each replica's gradient so far, as strips of shades: the same parameter stands in
 * the same column of each. The sign is in the colour and in the kind of shade.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/figure.h"
#include "ui/panels.h"
#include "ui/theme.h"

#define LABEL   10 /* columns before a strip */
#define LARGEST 10 /* behind it */

struct ga_panel_state {
    int first; /* replica scrolled to */
    int page;
};

static int weights_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void weights_close(struct ga_panel_state *state)
{
    free(state);
}

/* How values become columns: `wide` columns a value, or `group` values a column. */
struct strip {
    size_t values;
    int column, columns, wide;
    size_t group;
};

static struct strip fit_strip(const struct ga_heat *heat, struct ga_rect inside)
{
    struct strip strip = {.values = heat->values, .column = inside.column + LABEL, .wide = 1};

    strip.columns = inside.columns - LABEL - LARGEST;
    strip.group = 1;
    if (strip.columns < 1 || heat->values == 0)
        return strip;
    strip.wide = strip.columns / (int)heat->values;
    strip.wide = strip.wide < 1 ? 1 : strip.wide > 4 ? 4 : strip.wide;
    strip.group = (heat->values + (size_t)strip.columns - 1) / (size_t)strip.columns;
    return strip;
}

/* The value furthest from 0 of a column's group; NaN wins. */
static double value_of(const struct strip *strip, const float *value, size_t group)
{
    double chosen = 0;

    for (size_t i = group * strip->group; i < (group + 1) * strip->group && i < strip->values;
         i++) {
        if (!isfinite(value[i]))
            return (double)NAN;
        if (fabs((double)value[i]) > fabs(chosen))
            chosen = (double)value[i];
    }
    return chosen;
}

static uint32_t shade_of(double share, enum ga_glyphs glyphs)
{
    static const uint32_t shades[2][5] = {{0x00b7, 0x2591, 0x2592, 0x2593, 0x2588},
                                          {0x00b7, 0x2581, 0x2583, 0x2585, 0x2587}};
    static const char letters[2][6] = {".:+*#", ".-=%@"};
    int step = fabs(share) < 0.02 ? 0 : 1 + (int)(fabs(share) * 3.999);
    int sign = share < 0;

    step = step > 4 ? 4 : step;
    return glyphs == GA_GLYPHS_ASCII ? (unsigned char)letters[sign][step] : shades[sign][step];
}

/* A strip of `rows` rows. */
static void draw_strip(const struct strip *strip, const char *name, unsigned role,
                       const float *value, struct ga_cells *cells, int row, int rows)
{
    double largest = 0;
    char figure[GA_FIGURE_TEXT];
    size_t groups = (strip->values + strip->group - 1) / strip->group;

    for (size_t i = 0; i < strip->values; i++)
        largest = isfinite(value[i]) ? fmax(largest, fabs((double)value[i])) : largest;
    ga_cells_fit(cells, row, strip->column - LABEL, LABEL - 1, name, role, GA_ATTR_BOLD);
    for (size_t g = 0; g < groups; g++) {
        double chosen = value_of(strip, value, g);
        double share = largest > 0 ? chosen / largest : 0;
        bool strange = isnan(chosen);

        ga_cells_fill(
            cells, (struct ga_rect){row, strip->column + (int)g * strip->wide, rows, strip->wide},
            strange ? '!' : shade_of(share, cells->glyphs),
            strange              ? GA_ROLE_BAD
            : fabs(share) < 0.02 ? GA_ROLE_BORDER
                                 : ga_replica_role(share < 0 ? 1 : 0),
            0);
    }
    ga_cells_text(cells, row, strip->column + (int)groups * strip->wide + 1,
                  ga_figure(figure, largest, 8, 4), GA_ROLE_DIM, 0);
}

/* Names where the tensors begin, as far as they do not run into the next one. */
static void draw_names(const struct strip *strip, const struct ga_heat *heat,
                       struct ga_cells *cells, int row)
{
    for (size_t t = 0; t < heat->tensors && t < GA_NET_TENSORS; t++) {
        size_t next = t + 1 < heat->tensors ? heat->tensor[t + 1].first : heat->values;
        int from = strip->column + (int)(heat->tensor[t].first / strip->group) * strip->wide;
        int to = strip->column + (int)(next / strip->group) * strip->wide;
        const char *name = heat->tensor[t].name;

        if (strncmp(name, "layers.", 7) == 0)
            name += 7;
        ga_cells_put(cells, row, from, '|', GA_ROLE_BORDER, 0);
        ga_cells_fit(cells, row, from + 1, to - from - 1, name, GA_ROLE_DIM, 0);
    }
}

static void weights_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                         struct ga_cells *cells, struct ga_rect inside)
{
    const struct ga_heat *heat = &scene->closeup->heat;
    struct strip strip = fit_strip(heat, inside);
    int row = inside.row, bottom = inside.row + inside.rows, each = 1, thick = 1;
    int replicas = (int)(heat->replicas < GA_WATCH_REPLICAS ? heat->replicas : GA_WATCH_REPLICAS);

    if (heat->values == 0 || strip.columns < 4) {
        ga_cells_fit(cells, row, inside.column + 1, inside.columns - 1, "no weights yet",
                     GA_ROLE_DIM, 0);
        return;
    }
    if (inside.rows >= 3)
        draw_names(&strip, heat, cells, row++);
    /* With room to spare strips are thicker and stand apart. */
    each = (bottom - row - 1) / (replicas + 1);
    each = each < 2 ? 1 : each > 4 ? 4 : each;
    thick = each > 1 ? each - 1 : 1;
    draw_strip(&strip, "weights", GA_ROLE_TITLE, heat->weight, cells, row, thick);
    row += each;
    state->page = (bottom - row) / each;
    if (state->first + state->page > replicas)
        state->first = replicas > state->page ? replicas - state->page : 0;
    for (int r = state->first; r < replicas && row + thick <= bottom; r++, row += each) {
        char name[24];

        snprintf(name, sizeof name, "grad r%d", r);
        draw_strip(&strip, name, ga_replica_role((uint32_t)r), heat->gradient[r], cells, row,
                   thick);
    }
    if (row < bottom && heat->stride > 0 && scene->parameter / heat->stride < heat->values)
        ga_cells_put(cells, row,
                     strip.column +
                         (int)(scene->parameter / heat->stride / strip.group) * strip.wide,
                     0x25b2, GA_ROLE_FOCUS, GA_ATTR_BOLD);
}

static bool weights_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    int first = ga_scroll(state->first, key, (int)scene->closeup->heat.replicas, state->page);

    if (first >= 0)
        state->first = first;
    return first >= 0;
}

static void weights_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                            struct ga_text *out)
{
    const struct ga_heat *heat = &scene->closeup->heat;

    (void)state;
    if (heat->parameters > 0)
        ga_moment_write(scene, out);
    if (heat->stride > 1)
        ga_text_printf(out, "every %zu. of %zu", heat->stride, heat->parameters);
    else if (heat->parameters > 0)
        ga_text_printf(out, "%zu parameters", heat->parameters);
}

const struct ga_panel ga_panel_weights = {
    .name = "weights",
    .title = "weights and accumulators",
    .min_rows = 2,
    .min_columns = 30,
    .look = GA_LOOK_HEAT,
    .open = weights_open,
    .close = weights_close,
    .draw = weights_draw,
    .key = weights_key,
    .caption = weights_caption,
};
