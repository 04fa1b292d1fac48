/* Norms of the gradient, and below them the noise scale: how much an average over more would help.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/chart.h"
#include "ui/figure.h"
#include "ui/panels.h"
#include "ui/theme.h"

struct ga_panel_state {
    struct ga_chart chart, noise;
};

static int norms_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void norms_close(struct ga_panel_state *state)
{
    free(state);
}

static size_t choose_looks(const struct ga_scene *scene, enum ga_glyphs glyphs,
                           struct ga_curve_look look[GA_WATCH_REPLICAS + 1])
{
    static const char *const names[GA_WATCH_REPLICAS] = {"r0", "r1", "r2", "r3",
                                                         "r4", "r5", "r6", "r7"};
    size_t replicas = ga_samples_replicas(scene->samples), looks = 0;

    for (uint32_t r = 0; replicas > 1 && r < replicas; r++)
        look[looks++] = (struct ga_curve_look){
            scene->samples, GA_SERIES_REPLICA_NORM + (int)r, ga_replica_role(r),
            GA_ATTR_DIM,    ga_replica_mark(r, glyphs),      names[r]};
    look[looks++] = (struct ga_curve_look){.samples = scene->samples,
                                           .series = GA_SERIES_GRAD_NORM,
                                           .role = GA_ROLE_WINDOW,
                                           .attributes = GA_ATTR_BOLD,
                                           .name = "|g|"};
    return looks;
}

static double noise_scale(const struct ga_view *view)
{
    return view->counters.updates > 0 ? view->record.noise_trace / view->record.noise_signal
                                      : (double)NAN;
}

/* The last row: the noise scale beside the window that is averaged over. */
static void draw_noise_line(const struct ga_scene *scene, struct ga_cells *cells,
                            struct ga_rect row)
{
    double scale = noise_scale(scene->view), window = scene->view->record.window_examples;
    char figure[GA_FIGURE_TEXT], ratio[GA_FIGURE_TEXT];
    int end = row.column + row.columns;
    int column = ga_cells_text(cells, row.row, row.column, "noise scale ", GA_ROLE_DIM, 0);

    if (!isfinite(scale) || scale < 0) {
        ga_cells_fit(cells, row.row, column, end - column,
                     scale < 0 ? "not told: an estimate in it is below 0"
                               : "not known: needs two gradients averaged",
                     GA_ROLE_DIM, 0);
        return;
    }
    column = ga_cells_text(cells, row.row, column, ga_figure(figure, scale, 7, 4), GA_ROLE_LAW,
                           GA_ATTR_BOLD);
    column = ga_cells_text(cells, row.row, column, " examples, window ", GA_ROLE_DIM, 0);
    column = ga_cells_printf(cells, row.row, column, GA_ROLE_TEXT, 0, "%.0f", window);
    if (scale > 0 && window > 0 && end - column > 10)
        ga_cells_printf(cells, row.row, column, GA_ROLE_DIM, 0, " =%s\u00d7",
                        ga_figure(ratio, window / scale, 5, 3));
}

static void norms_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                       struct ga_cells *cells, struct ga_rect inside)
{
    struct ga_curve_look look[GA_WATCH_REPLICAS + 1];
    size_t looks = choose_looks(scene, cells->glyphs, look);
    struct ga_rect upper = inside, lower = inside;
    bool line = inside.rows >= 5, second = inside.rows >= 15;

    upper.rows = second ? (inside.rows - 1) * 3 / 5 : inside.rows - line;
    ga_chart_draw(&state->chart, scene, look, looks, scene->log_y, cells, upper);
    if (line)
        draw_noise_line(scene, cells,
                        (struct ga_rect){upper.row + upper.rows, inside.column, 1, inside.columns});
    if (!second)
        return;
    lower.row = upper.row + upper.rows + 1;
    lower.rows = inside.rows - upper.rows - 1;
    look[0] = (struct ga_curve_look){.samples = scene->samples,
                                     .series = GA_SERIES_NOISE_SCALE,
                                     .role = GA_ROLE_LAW,
                                     .name = "noise"};
    ga_chart_draw(&state->noise, scene, look, 1, true, cells, lower);
}

static bool norms_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    bool used = ga_chart_key(&state->chart, scene, key);

    ga_chart_key(&state->noise, scene, key);
    return used;
}

static void norms_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                          struct ga_text *out)
{
    size_t count = ga_samples_count(scene->samples);
    char figure[GA_FIGURE_TEXT];

    if (scene->log_y)
        ga_text_puts(out, "log");
    ga_chart_caption(&state->chart, scene, out);
    if (count > 0)
        ga_text_printf(out, "%s|g| %s", out->length ? "  " : "",
                       ga_figure(figure,
                                 ga_samples_value(scene->samples, GA_SERIES_GRAD_NORM, count - 1),
                                 7, 5));
}

const struct ga_panel ga_panel_norms = {
    .name = "norms",
    .title = "gradient norms",
    .min_rows = 2,
    .min_columns = 16,
    .open = norms_open,
    .close = norms_close,
    .draw = norms_draw,
    .key = norms_key,
    .caption = norms_caption,
};
