/* How stale gradients were when they were applied: measured in bars, the law as marks beside them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/figure.h"
#include "ui/panels.h"
#include "ui/samples.h"
#include "ui/table.h"

struct ga_panel_state {
    int first, bins, page;
    bool scrolled; /* by hand: else the most frequent bin is among those shown */
};

static int staleness_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void staleness_close(struct ga_panel_state *state)
{
    free(state);
}

static double share(const struct ga_staleness *seen, int bin)
{
    return seen->pushes ? (double)seen->count[bin] / (double)seen->pushes : 0;
}

/* The largest share of any bin, measured or predicted: the length of a full bar. */
static double full_bar(const struct ga_staleness *seen, const struct ga_law *law)
{
    double most = 1e-9;

    for (int bin = 0; bin < GA_TAU_BINS; bin++) {
        most = fmax(most, share(seen, bin));
        most = law->has_shape ? fmax(most, law->shape[bin]) : most;
    }
    return most;
}

/* Bins worth a row, ascending: where anything is or should be. Returns how many. */
static int find_bins(const struct ga_staleness *seen, const struct ga_law *law,
                     int bin[GA_TAU_BINS])
{
    int count = 0;

    for (int i = 0; i < GA_TAU_BINS; i++)
        if (seen->count[i] > 0 || (law->has_shape && law->shape[i] >= 0.005))
            bin[count++] = i;
    return count;
}

/* Position of the bin with the largest share, of what should be where nothing is yet. */
static int most_frequent(const struct ga_staleness *seen, const struct ga_law *law, const int *bin,
                         int bins)
{
    int best = 0;

    for (int i = 1; i < bins; i++) {
        double one = seen->pushes ? share(seen, bin[i]) : law->shape[bin[i]];
        double other = seen->pushes ? share(seen, bin[best]) : law->shape[bin[best]];

        best = one > other ? i : best;
    }
    return best;
}

static void draw_mean(const struct ga_staleness *seen, const struct ga_law *law,
                      struct ga_cells *cells, struct ga_rect row)
{
    char figure[GA_FIGURE_TEXT];
    int column = ga_cells_text(cells, row.row, row.column, "mean ", GA_ROLE_DIM, 0);

    column = ga_cells_text(cells, row.row, column,
                           seen->pushes ? ga_figure(figure, seen->mean, 6, 4) : "     -",
                           GA_ROLE_TEXT, GA_ATTR_BOLD);
    if (law->has_mean) {
        column = ga_cells_text(cells, row.row, column, "  law ", GA_ROLE_DIM, 0);
        column = ga_cells_text(cells, row.row, column, ga_figure(figure, law->mean, 6, 4),
                               GA_ROLE_LAW, GA_ATTR_BOLD);
    }
    column = ga_cells_printf(cells, row.row, column, GA_ROLE_DIM, 0, "  largest %u", seen->most);
    if (column + 2 + ga_text_columns(law->text) <= row.column + row.columns)
        ga_cells_text(cells, row.row, column + 2, law->text, GA_ROLE_DIM, 0);
}

static void draw_bin(const struct ga_staleness *seen, const struct ga_law *law, int bin,
                     double full, struct ga_cells *cells, struct ga_rect row)
{
    int bar = row.columns - 12 - (law->has_shape ? 12 : 0);
    int column = row.column + 5, end = 0;
    char text[GA_FIGURE_TEXT];

    ga_cells_printf(cells, row.row, row.column, GA_ROLE_TITLE, 0, "%3d%s", bin,
                    bin == GA_TAU_BINS - 1 ? "+" : "");
    if (bar > 0)
        ga_bar_draw(cells, row.row, column, bar, share(seen, bin) / full, GA_ROLE_GOOD);
    end = ga_cells_text(cells, row.row, column + bar + 1, ga_figure_percent(text, share(seen, bin)),
                        GA_ROLE_TEXT, 0);
    if (!law->has_shape)
        return;
    if (bar > 0)
        ga_cells_put(cells, row.row, column + (int)lround(law->shape[bin] / full * (bar - 1)),
                     cells->glyphs == GA_GLYPHS_ASCII ? '|' : 0x25c6, GA_ROLE_LAW, GA_ATTR_BOLD);
    ga_cells_printf(cells, row.row, end + 2, GA_ROLE_LAW, 0, "law %s",
                    ga_figure_percent(text, law->shape[bin]));
}

/* How far the rate is from the largest one that is stable at this staleness. */
static void draw_gauge(const struct ga_law *law, struct ga_cells *cells, struct ga_rect row)
{
    double ratio = law->gauge;
    unsigned role = ratio > 1 ? GA_ROLE_BAD : ratio > 0.7 ? GA_ROLE_WARN : GA_ROLE_GOOD;
    char figure[GA_FIGURE_TEXT];
    int column = ga_cells_text(cells, row.row, row.column, "stability ", GA_ROLE_DIM, 0);
    int bar = row.columns - 40;

    column =
        ga_cells_text(cells, row.row, column, ga_figure(figure, ratio, 5, 3), role, GA_ATTR_BOLD);
    column =
        ga_cells_text(cells, row.row, column, ratio > 1 ? " unstable " : " of 1     ", role, 0);
    if (bar >= 8) {
        ga_bar_draw(cells, row.row, column, bar, ratio / 2, role);
        ga_cells_put(cells, row.row, column + bar / 2, '|', GA_ROLE_LAW, GA_ATTR_BOLD);
        column += bar + 1;
    }
    ga_cells_printf(cells, row.row, column, GA_ROLE_DIM, 0, "limit %s",
                    ga_figure(figure, law->limit, 7, 4));
}

static void staleness_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                           struct ga_cells *cells, struct ga_rect inside)
{
    const struct ga_law *law = &scene->closeup->law;
    struct ga_staleness seen;
    struct ga_rect row = {inside.row, inside.column + 1, 1, inside.columns - 2};
    bool gauge = law->gauge >= 0 && inside.rows >= 4;
    double full = 0;
    int bin[GA_TAU_BINS];

    ga_samples_staleness(scene->samples, &seen);
    full = full_bar(&seen, law);
    state->bins = find_bins(&seen, law, bin);
    state->page = inside.rows - 1 - gauge;
    if (!state->scrolled)
        state->first = most_frequent(&seen, law, bin, state->bins) - state->page / 2;
    state->first = state->first < 0 ? 0 : state->first;
    if (state->first + state->page > state->bins)
        state->first = state->bins > state->page ? state->bins - state->page : 0;
    draw_mean(&seen, law, cells, row);
    for (int i = 0; i < state->page && state->first + i < state->bins; i++) {
        row.row = inside.row + 1 + i;
        draw_bin(&seen, law, bin[state->first + i], full, cells, row);
    }
    row.row = inside.row + inside.rows - 1;
    if (gauge)
        draw_gauge(law, cells, row);
}

static bool staleness_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    int first = ga_scroll(state->first, key, state->bins, state->page);

    (void)scene;
    if (first >= 0)
        state->first = first;
    state->scrolled = state->scrolled || first >= 0;
    return first >= 0;
}

static void staleness_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                              struct ga_text *out)
{
    struct ga_staleness seen;

    (void)state;
    ga_samples_staleness(scene->samples, &seen);
    if (seen.pushes > 0)
        ga_text_printf(out, "%llu pushes", (unsigned long long)seen.pushes);
}

const struct ga_panel ga_panel_staleness = {
    .name = "staleness",
    .title = "staleness",
    .min_rows = 2,
    .min_columns = 24,
    .look = GA_LOOK_LAW,
    .open = staleness_open,
    .close = staleness_close,
    .draw = staleness_draw,
    .key = staleness_key,
    .caption = staleness_caption,
};
