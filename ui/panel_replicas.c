/* The replicas: what each one is doing and how full its accumulator is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "console/describe_device.h"
#include "ui/figure.h"
#include "ui/panels.h"
#include "ui/table.h"
#include "ui/theme.h"

struct ga_panel_state {
    int first; /* replica scrolled to */
    int page;  /* rows drawn last */
};

enum {
    NUMBER,
    STATE,
    MICRO,
    LOSS,
    NORM,
    COSINE,
    STALENESS,
    BAR,
    WEIGHT,
    IDLE,
    BUSY,
    UTILISATION,
    MEMORY,
    TEMPERATURE,
    DEVICE,
    COLUMNS
};

static const struct ga_table_column columns[COLUMNS] = {
    [NUMBER] = {.heading = "#", .width = 3, .left = true, .weight = 100},
    [STATE] = {.heading = "state", .width = 7, .left = true, .weight = 80},
    [MICRO] = {.heading = "micro", .width = 5, .weight = 85},
    [LOSS] = {.heading = "loss", .width = 7, .weight = 90},
    [NORM] = {.heading = "|g|", .width = 7, .weight = 70},
    [COSINE] = {.heading = "cos", .width = 6, .weight = 45},
    [STALENESS] = {.heading = "\u03c4", .width = 3, .weight = 60},
    [BAR] = {.heading = "accumulator",
             .width = 11,
             .left = true,
             .grows = true,
             .most = 40,
             .weight = 55},
    [WEIGHT] = {.heading = "weight", .width = 9, .weight = 50},
    [IDLE] = {.heading = "idle", .width = 5, .weight = 65},
    [BUSY] = {.heading = "busy", .width = 5, .weight = 35},
    [UTILISATION] = {.heading = "util", .width = 5, .weight = 25},
    [MEMORY] = {.heading = "memory", .width = 8, .weight = 30},
    [TEMPERATURE] = {.heading = "temp", .width = 5, .weight = 20},
    [DEVICE] = {.heading = "device", .width = 8, .left = true, .weight = 40},
};

static int replicas_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void replicas_close(struct ga_panel_state *state)
{
    free(state);
}

/* Replicas that the view lists. */
static int listed(const struct ga_view *view)
{
    return (int)(view->replicas < GA_VIEW_REPLICAS ? view->replicas : GA_VIEW_REPLICAS);
}

/* Whether any device says how hot it is: else a column of n/a says nothing. */
static bool has_temperature(const struct ga_closeup *closeup)
{
    for (size_t i = 0; i < closeup->devices && i < GA_DEVICE_ROWS; i++)
        if (!isnan(closeup->device[i].temperature))
            return true;
    for (size_t r = 0; r < closeup->seats && r < GA_VIEW_REPLICAS; r++)
        if (!isnan(closeup->readings[r].temperature))
            return true;
    return false;
}

/* One row under way. */
struct line {
    const struct ga_table_column *column;
    const struct ga_table_place *place;
    struct ga_cells *cells;
    int row, left;
};

static void cell(const struct line *line, int column, const char *text, unsigned role,
                 unsigned attributes)
{
    ga_table_text(&line->column[column], &line->place[column], line->cells, line->row, text, role,
                  attributes);
}

static void draw_name(const struct line *line, int replica)
{
    char text[16];

    snprintf(text, sizeof text, "  %d", replica);
    cell(line, NUMBER, text, GA_ROLE_TEXT, GA_ATTR_BOLD);
    ga_cells_put(line->cells, line->row, line->left,
                 ga_replica_mark((uint32_t)replica, line->cells->glyphs),
                 ga_replica_role((uint32_t)replica), GA_ATTR_BOLD);
}

static void draw_state(const struct line *line, const struct ga_view_replica *replica)
{
    static const struct {
        const char *word;
        unsigned role;
    } states[] = {[GA_REPLICA_READY] = {"wait", GA_ROLE_DIM},
                  [GA_REPLICA_BUSY] = {"compute", GA_ROLE_GOOD},
                  [GA_REPLICA_DONE] = {"done", GA_ROLE_TEXT},
                  [GA_REPLICA_LATE] = {"late", GA_ROLE_WARN}};
    char text[32];

    if ((unsigned)replica->state < sizeof states / sizeof *states)
        cell(line, STATE, states[replica->state].word, states[replica->state].role, 0);
    snprintf(text, sizeof text, "%u/%u", replica->micro, replica->micros);
    cell(line, MICRO, replica->micros ? text : "-", GA_ROLE_TEXT, 0);
}

/* Figures of the last finished item. Before the first one there is none, not even a staleness. */
static void draw_figures(const struct line *line, const struct ga_view_replica *replica)
{
    bool has = !isnan(replica->staleness) || !isnan(replica->loss);
    char text[GA_FIGURE_TEXT];

    cell(line, LOSS, has ? ga_figure(text, replica->loss, 7, 5) : "-",
         has && !isfinite(replica->loss) ? GA_ROLE_BAD : GA_ROLE_TEXT, 0);
    cell(line, NORM, has ? ga_figure(text, replica->norm, 7, 5) : "-",
         has && !isfinite(replica->norm) ? GA_ROLE_BAD : GA_ROLE_TEXT, 0);
    snprintf(text, sizeof text, "%.3f", replica->cosine);
    cell(line, COSINE, isnan(replica->cosine) ? "-" : text,
         replica->cosine < 0 ? GA_ROLE_WARN : GA_ROLE_TEXT, 0);
    snprintf(text, sizeof text, "%.0f", replica->staleness);
    cell(line, STALENESS, isnan(replica->staleness) ? "-" : text,
         replica->staleness > 0 ? GA_ROLE_WARN : GA_ROLE_DIM, 0);
}

static void draw_accumulator(const struct line *line, const struct ga_view_replica *replica,
                             int number)
{
    char text[48], weight[GA_NUMBER_TEXT];
    double share = replica->micros > 0 ? (double)replica->micro / replica->micros : 0;

    if (line->place[BAR].width > 0)
        ga_bar_draw(line->cells, line->row, line->place[BAR].column, line->place[BAR].width, share,
                    ga_replica_role((uint32_t)number));
    ga_format_digits(weight, replica->weight, 4);
    snprintf(text, sizeof text, "%s/%u", weight, replica->examples);
    cell(line, WEIGHT, replica->examples ? text : "-", GA_ROLE_TEXT, 0);
}

/* How busy its thread or GPU is, while there is something to do. */
static void draw_seat(const struct line *line, const struct ga_scene *scene, int number)
{
    const struct ga_closeup *closeup = scene->closeup;
    const bool known = (size_t)number < closeup->seats;
    const double share = known ? closeup->readings[number].utilisation : (double)NAN;
    const double celsius = known ? closeup->readings[number].temperature : (double)NAN;
    char text[GA_FIGURE_TEXT];

    cell(line, UTILISATION, scene->view->running ? ga_figure_percent(text, share) : "-",
         GA_ROLE_DIM, 0);
    snprintf(text, sizeof text, "%.0f C", celsius);
    cell(line, TEMPERATURE, isnan(celsius) ? "n/a" : text, GA_ROLE_DIM, 0);
}

static void draw_machine(const struct line *line, const struct ga_scene *scene, int number)
{
    char text[GA_FIGURE_TEXT];
    uint64_t bytes = scene->closeup->memory.total;

    cell(line, IDLE, ga_figure_percent(text, scene->view->replica[number].idle), GA_ROLE_TEXT, 0);
    cell(line, BUSY, ga_figure_percent(text, scene->closeup->busy[number]), GA_ROLE_TEXT, 0);
    cell(line, MEMORY, bytes ? ga_figure_bytes(text, (double)bytes) : "n/a", GA_ROLE_DIM, 0);
    draw_seat(line, scene, number);
    if ((size_t)number < scene->closeup->replicas)
        ga_seat_name(&scene->closeup->seat[number], text, sizeof text);
    else
        text[0] = '\0';
    cell(line, DEVICE, text, GA_ROLE_DIM, 0);
}

static void draw_replica(const struct line *line, const struct ga_scene *scene, int number)
{
    const struct ga_view_replica *replica = &scene->view->replica[number];

    draw_name(line, number);
    draw_state(line, replica);
    draw_figures(line, replica);
    draw_accumulator(line, replica, number);
    draw_machine(line, scene, number);
}

static void replicas_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                          struct ga_cells *cells, struct ga_rect inside)
{
    struct ga_table_column column[COLUMNS];
    struct ga_table_place place[GA_TABLE_COLUMNS];
    int rows = inside.rows - 1, count = listed(scene->view);
    struct line line = {column, place, cells, inside.row, inside.column + 1};

    state->page = rows;
    if (state->first > count - rows)
        state->first = count > rows ? count - rows : 0;
    memcpy(column, columns, sizeof column);
    column[NUMBER].width = count > 10 ? 4 : 3;
    if (!has_temperature(scene->closeup))
        column[TEMPERATURE].weight = 0;
    ga_table_place(column, COLUMNS, line.left, inside.columns - 2, place);
    ga_table_heading(column, place, COLUMNS, cells, inside.row);
    for (int i = 0; i < rows && state->first + i < count; i++) {
        line.row = inside.row + 1 + i;
        draw_replica(&line, scene, state->first + i);
    }
    if (count == 0 && *scene->view->misfit)
        ga_cells_fit(cells, inside.row + 1, line.left, inside.columns - 2, scene->view->misfit,
                     GA_ROLE_BAD, 0);
    else if (count == 0)
        ga_cells_fit(cells, inside.row + 1, line.left, inside.columns - 2,
                     "no run yet: any moving command opens one", GA_ROLE_DIM, 0);
}

static bool replicas_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    int first = ga_scroll(state->first, key, listed(scene->view), state->page);

    if (first < 0)
        return false;
    state->first = first;
    return true;
}

static void replicas_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                             struct ga_text *out)
{
    int count = listed(scene->view), last = state->first + state->page;

    if (state->page < count || (size_t)count < scene->view->replicas)
        ga_text_printf(out, "%d-%d of %zu", state->first, (last < count ? last : count) - 1,
                       scene->view->replicas);
}

const struct ga_panel ga_panel_replicas = {
    .name = "replicas",
    .title = "replicas",
    .min_rows = 2,
    .min_columns = 20,
    .look = GA_LOOK_SEATS,
    .open = replicas_open,
    .close = replicas_close,
    .draw = replicas_draw,
    .key = replicas_key,
    .caption = replicas_caption,
};
