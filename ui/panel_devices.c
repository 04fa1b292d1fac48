/* The devices that replicas run on, with what their monitor says; n/a where it says nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "ui/figure.h"
#include "ui/panels.h"
#include "ui/paragraph.h"
#include "ui/table.h"

struct ga_panel_state {
    int first, page;
};

enum { NAME, KIND, REPLICAS, UTILISATION, BAR, USED, TOTAL, TEMPERATURE, POWER, CLOCK, COLUMNS };

static const struct ga_table_column columns[COLUMNS] = {
    [NAME] = {.heading = "device", .width = 8, .left = true, .weight = 100},
    [KIND] = {.heading = "kind", .width = 30, .left = true, .weight = 80},
    [REPLICAS] = {.heading = "replicas", .width = 9, .weight = 90},
    [UTILISATION] = {.heading = "util", .width = 5, .weight = 70},
    [BAR] = {.heading = "", .width = 8, .left = true, .grows = true, .most = 30, .weight = 20},
    [USED] = {.heading = "used", .width = 8, .weight = 60},
    [TOTAL] = {.heading = "of", .width = 8, .weight = 50},
    [TEMPERATURE] = {.heading = "temp", .width = 5, .weight = 40},
    [POWER] = {.heading = "power", .width = 6, .weight = 30},
    [CLOCK] = {.heading = "clock", .width = 8, .weight = 25},
};

static int devices_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void devices_close(struct ga_panel_state *state)
{
    free(state);
}

/* `scale` times the value and its unit, or n/a. */
static const char *figure_of(char out[GA_FIGURE_TEXT], double value, double scale, const char *unit)
{
    if (isnan(value))
        snprintf(out, GA_FIGURE_TEXT, "n/a");
    else
        snprintf(out, GA_FIGURE_TEXT, "%.0f %s", value * scale, unit);
    return out;
}

/* What holds a device back stands behind its kind; what is wrong with it, in place of that. */
static void draw_kind(const struct ga_device_row *device, const struct ga_table_place *place,
                      struct ga_cells *cells, int row)
{
    const bool silent = isnan(device->utilisation) && isnan(device->memory_used);
    char text[sizeof device->kind + sizeof ", " + sizeof device->note];

    if (!device->note[0])
        snprintf(text, sizeof text, "%s", device->kind);
    else if (silent)
        snprintf(text, sizeof text, "%s", device->note);
    else
        snprintf(text, sizeof text, "%s, %s", device->kind, device->note);
    ga_table_text(&columns[KIND], &place[KIND], cells, row, text,
                  device->note[0] == 0 ? GA_ROLE_TEXT
                  : silent             ? GA_ROLE_BAD
                                       : GA_ROLE_WARN,
                  0);
}

static void draw_sensors(const struct ga_device_row *device, const struct ga_table_place *place,
                         struct ga_cells *cells, int row)
{
    char text[GA_FIGURE_TEXT];

    ga_table_text(&columns[UTILISATION], &place[UTILISATION], cells, row,
                  ga_figure_percent(text, device->utilisation), GA_ROLE_TEXT, 0);
    if (place[BAR].width > 0 && !isnan(device->utilisation))
        ga_bar_draw(cells, row, place[BAR].column, place[BAR].width, device->utilisation,
                    GA_ROLE_GOOD);
    ga_table_text(&columns[USED], &place[USED], cells, row,
                  ga_figure_bytes(text, device->memory_used), GA_ROLE_TEXT, 0);
    ga_table_text(&columns[TOTAL], &place[TOTAL], cells, row,
                  ga_figure_bytes(text, device->memory_total), GA_ROLE_DIM, 0);
    ga_table_text(&columns[TEMPERATURE], &place[TEMPERATURE], cells, row,
                  figure_of(text, device->temperature, 1, "C"), GA_ROLE_TEXT, 0);
    ga_table_text(&columns[POWER], &place[POWER], cells, row,
                  figure_of(text, device->power, 1, "W"), GA_ROLE_TEXT, 0);
    ga_table_text(&columns[CLOCK], &place[CLOCK], cells, row,
                  figure_of(text, device->clock, 1e-6, "MHz"), GA_ROLE_DIM, 0);
}

static void draw_device(const struct ga_device_row *device, const struct ga_table_place *place,
                        struct ga_cells *cells, int row)
{
    char text[GA_FIGURE_TEXT];
    int first = device->first_replica, last = first + device->replicas - 1;

    ga_table_text(&columns[NAME], &place[NAME], cells, row, device->name, GA_ROLE_TITLE,
                  GA_ATTR_BOLD);
    draw_kind(device, place, cells, row);
    if (device->replicas > 1 && device->step > 1)
        snprintf(text, sizeof text, "%d,%d..", first, first + device->step);
    else if (device->replicas > 1)
        snprintf(text, sizeof text, "%d..%d", first, last);
    else
        snprintf(text, sizeof text, device->replicas ? "%d" : "-", first);
    ga_table_text(&columns[REPLICAS], &place[REPLICAS], cells, row, text, GA_ROLE_TEXT, 0);
    draw_sensors(device, place, cells, row);
}

static int count_of(const struct ga_closeup *closeup)
{
    return (int)(closeup->devices < GA_DEVICE_ROWS ? closeup->devices : GA_DEVICE_ROWS);
}

/* What one replica holds, part by part, and what the history does; why there are no GPUs. */
static void write_memory(const struct ga_closeup *closeup, struct ga_text *out)
{
    const struct ga_memory *memory = &closeup->memory;
    char part[6][GA_NUMBER_TEXT];
    const uint64_t bytes[6] = {memory->weights,     memory->accumulators, memory->optimizer,
                               memory->activations, memory->total,        closeup->history_bytes};

    for (int i = 0; i < 6; i++)
        ga_format_bytes(part[i], bytes[i]);
    ga_text_printf(out,
                   "a replica holds %s: weights %s, accumulators %s, optimizer %s, activations "
                   "%s; history %s",
                   part[4], part[0], part[1], part[2], part[3], part[5]);
    if (closeup->no_gpu[0])
        ga_text_printf(out, "\n%s", closeup->no_gpu);
}

/* At the bottom, in as many rows as the devices leave; returns how many. */
static int draw_memory(const struct ga_closeup *closeup, struct ga_cells *cells, int most,
                       struct ga_rect inside)
{
    struct ga_rect area = {0, inside.column + 1, 0, inside.columns - 2};
    struct ga_text text = GA_TEXT_INIT;

    if (closeup->memory.total == 0 || most < 1)
        return 0;
    write_memory(closeup, &text);
    area.rows = ga_paragraph_rows(ga_text_get(&text), area.columns);
    area.rows = area.rows < most ? area.rows : most;
    area.row = inside.row + inside.rows - area.rows;
    ga_paragraph_draw(ga_text_get(&text), 0, NULL, cells, area);
    ga_text_free(&text);
    return area.rows;
}

static void devices_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                         struct ga_cells *cells, struct ga_rect inside)
{
    const struct ga_closeup *closeup = scene->closeup;
    struct ga_table_place place[GA_TABLE_COLUMNS];
    int count = count_of(closeup), most = inside.rows - 2 > count ? inside.rows - 1 - count : 0;
    int memory = draw_memory(closeup, cells, most > 0 || inside.rows < 3 ? most : 1, inside);
    int rows = inside.rows - 1 - memory;

    state->page = rows;
    if (state->first + rows > count)
        state->first = count > rows ? count - rows : 0;
    ga_table_place(columns, COLUMNS, inside.column + 1, inside.columns - 2, place);
    ga_table_heading(columns, place, COLUMNS, cells, inside.row);
    for (int i = 0; i < rows && state->first + i < count; i++)
        draw_device(&closeup->device[state->first + i], place, cells, inside.row + 1 + i);
    if (count == 0)
        ga_cells_fit(cells, inside.row + 1, inside.column + 1, inside.columns - 2,
                     "no device is in use", GA_ROLE_DIM, 0);
}

static bool devices_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    int first = ga_scroll(state->first, key, count_of(scene->closeup), state->page);

    if (first >= 0)
        state->first = first;
    return first >= 0;
}

const struct ga_panel ga_panel_devices = {
    .name = "devices",
    .title = "devices",
    .min_rows = 2,
    .min_columns = 20,
    .look = GA_LOOK_SEATS | GA_LOOK_DEVICES,
    .open = devices_open,
    .close = devices_close,
    .draw = devices_draw,
    .key = devices_key,
};
