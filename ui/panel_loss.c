/* The loss: the window's line bold, each replica's dim below it, the smoothed one over the raw. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/big.h"
#include "ui/chart.h"
#include "ui/figure.h"
#include "ui/panels.h"
#include "ui/theme.h"

struct ga_panel_state {
    struct ga_chart chart;
};

static int loss_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void loss_close(struct ga_panel_state *state)
{
    free(state);
}

static size_t add_replicas(const struct ga_scene *scene, enum ga_glyphs glyphs, unsigned attributes,
                           struct ga_curve_look *look)
{
    static const char *const names[GA_WATCH_REPLICAS] = {"r0", "r1", "r2", "r3",
                                                         "r4", "r5", "r6", "r7"};
    size_t replicas = ga_samples_replicas(scene->samples);

    for (uint32_t r = 0; r < replicas; r++)
        look[r] = (struct ga_curve_look){
            scene->samples, GA_SERIES_REPLICA_LOSS + (int)r, ga_replica_role(r),
            attributes,     ga_replica_mark(r, glyphs),      names[r]};
    return replicas;
}

/* Updates are single pushes, or a few: the window is now one replica, now another. */
static bool by_pushes(const struct ga_view *view)
{
    return view->settings.mode == GA_MODE_ASYNC || view->settings.mode == GA_MODE_SSP ||
           view->settings.mode == GA_MODE_BUFFERED || view->settings.mode == GA_MODE_HOGWILD;
}

/*
 * From the lowest to the uppermost: replicas, where there is more than one, the window, the
 * smoothed window. Under pushes the window's line jumps between those of the replicas and would
 * hide them, so it lies below.
 */
static size_t choose_looks(const struct ga_scene *scene, enum ga_glyphs glyphs,
                           struct ga_curve_look look[GA_WATCH_REPLICAS + 2])
{
    bool replicas = ga_samples_replicas(scene->samples) > 1, smooth = scene->smoothing > 0;
    bool below = replicas && by_pushes(scene->view);
    size_t looks = 0;

    if (replicas && !below)
        looks += add_replicas(scene, glyphs, GA_ATTR_DIM, look + looks);
    look[looks++] =
        (struct ga_curve_look){.samples = scene->samples,
                               .series = GA_SERIES_LOSS,
                               .role = smooth || below ? GA_ROLE_DIM : GA_ROLE_WINDOW,
                               .attributes = smooth || below ? GA_ATTR_DIM : GA_ATTR_BOLD,
                               .name = "window"};
    if (below)
        looks += add_replicas(scene, glyphs, 0, look + looks);
    if (smooth)
        look[looks++] = (struct ga_curve_look){.samples = scene->samples,
                                               .series = GA_SERIES_SMOOTH,
                                               .role = GA_ROLE_WINDOW,
                                               .attributes = GA_ATTR_BOLD,
                                               .name = "smooth"};
    return looks;
}

/* On a large panel, as on a projector, the number of updates in large digits. */
static void draw_counter(const struct ga_view *view, struct ga_cells *cells, struct ga_rect inside)
{
    char text[24];
    int column = 0;

    snprintf(text, sizeof text, "%" PRIu64, view->counters.updates);
    column = inside.column + inside.columns - ga_big_columns(text) - 2;
    ga_big_draw(cells, inside.row + 1, column, text, GA_ROLE_TITLE);
    ga_cells_text(cells, inside.row + 4, inside.column + inside.columns - 9, "updates", GA_ROLE_DIM,
                  0);
}

static void loss_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                      struct ga_cells *cells, struct ga_rect inside)
{
    struct ga_curve_look look[GA_WATCH_REPLICAS + 2];
    size_t looks = choose_looks(scene, cells->glyphs, look);

    ga_chart_draw(&state->chart, scene, look, looks, scene->log_y, cells, inside);
    if (inside.rows >= 14 && inside.columns >= 76)
        draw_counter(scene->view, cells, inside);
}

static bool loss_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    return ga_chart_key(&state->chart, scene, key);
}

static void loss_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                         struct ga_text *out)
{
    size_t count = ga_samples_count(scene->samples);
    char figure[GA_FIGURE_TEXT];

    if (scene->log_y)
        ga_text_puts(out, "log");
    if (scene->smoothing > 0)
        ga_text_printf(out, "%ssmooth %.4g", out->length ? ", " : "", scene->smoothing);
    ga_chart_caption(&state->chart, scene, out);
    if (count > 0)
        ga_text_printf(
            out, "%swindow %s", out->length ? "  " : "",
            ga_figure(figure, ga_samples_value(scene->samples, GA_SERIES_LOSS, count - 1), 7, 5));
}

const struct ga_panel ga_panel_loss = {
    .name = "loss",
    .title = "loss",
    .min_rows = 2,
    .min_columns = 16,
    .open = loss_open,
    .close = loss_close,
    .draw = loss_draw,
    .key = loss_key,
    .caption = loss_caption,
};
