/* Runs beside each other: their losses in one chart, their names and last values in rows below. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/chart.h"
#include "ui/figure.h"
#include "ui/panels.h"
#include "ui/theme.h"

#define MOST_RUNS 8

struct ga_panel_state {
    struct ga_chart chart;
};

static int runs_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void runs_close(struct ga_panel_state *state)
{
    free(state);
}

/* All runs, or the only one under its own name. */
static size_t list_runs(const struct ga_scene *scene, struct ga_scene_run run[MOST_RUNS])
{
    size_t count = scene->runs < MOST_RUNS ? scene->runs : MOST_RUNS;

    for (size_t i = 0; i < count; i++)
        run[i] = scene->run[i];
    if (count > 0)
        return count;
    run[0] =
        (struct ga_scene_run){scene->run_name ? scene->run_name : "main", scene->samples, true};
    return 1;
}

static void draw_row(const struct ga_scene_run *run, unsigned number, struct ga_cells *cells,
                     struct ga_rect row)
{
    size_t count = ga_samples_count(run->samples);
    char figure[GA_FIGURE_TEXT];
    int end = row.column + row.columns;
    unsigned bold = run->current ? GA_ATTR_BOLD : 0;

    ga_cells_put(cells, row.row, row.column, ga_replica_mark(number, cells->glyphs),
                 ga_replica_role(number), bold);
    ga_cells_fit(cells, row.row, row.column + 2, 14, run->name, ga_replica_role(number), bold);
    if (count == 0)
        return;
    ga_cells_printf(
        cells, row.row, row.column + 17, GA_ROLE_TEXT, bold, "update %-8.0f loss %s",
        ga_samples_x(run->samples, GA_X_UPDATES, count - 1),
        ga_figure(figure, ga_samples_value(run->samples, GA_SERIES_LOSS, count - 1), 7, 5));
    if (end - row.column >= 62)
        ga_cells_printf(cells, row.row, row.column + 46, GA_ROLE_DIM, 0, "%s",
                        ga_figure_time(figure, ga_samples_x(run->samples, GA_X_TIME, count - 1)));
}

static void runs_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                      struct ga_cells *cells, struct ga_rect inside)
{
    struct ga_scene_run run[MOST_RUNS];
    struct ga_curve_look look[MOST_RUNS];
    size_t count = list_runs(scene, run);
    struct ga_rect chart = inside;
    int rows = (int)count < inside.rows / 2 ? (int)count : inside.rows / 2;

    chart.rows -= rows;
    for (size_t i = 0; i < count; i++)
        look[i] = (struct ga_curve_look){run[i].samples,
                                         GA_SERIES_LOSS,
                                         ga_replica_role((uint32_t)i),
                                         run[i].current ? GA_ATTR_BOLD : 0,
                                         ga_replica_mark((uint32_t)i, cells->glyphs),
                                         run[i].name};
    ga_chart_draw(&state->chart, scene, look, count, scene->log_y, cells, chart);
    for (int i = 0; i < rows; i++)
        draw_row(&run[i], (unsigned)i, cells,
                 (struct ga_rect){chart.row + chart.rows + i, inside.column, 1, inside.columns});
}

static bool runs_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    return ga_chart_key(&state->chart, scene, key);
}

static void runs_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                         struct ga_text *out)
{
    if (scene->log_y)
        ga_text_puts(out, "log");
    ga_chart_caption(&state->chart, scene, out);
}

const struct ga_panel ga_panel_runs = {
    .name = "runs",
    .title = "runs",
    .min_rows = 3,
    .min_columns = 20,
    .open = runs_open,
    .close = runs_close,
    .draw = runs_draw,
    .key = runs_key,
    .caption = runs_caption,
};
