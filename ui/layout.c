#include "ui/layout.h"

#include <string.h>

#include "ui/panel.h"

#define FRAME      2 /* rows or columns of a frame */
#define BANDS      6
#define ACROSS     3 /* panels side by side */
#define LEAST_ROWS 3 /* a frame with one row in it */
#define FOUR       7 /* rows of a table of four replicas */

/* Panels side by side. A fixed band asks for `want` rows, the others share what is left. */
struct band {
    int panel[ACROSS];
    int panels;
    int weight;        /* 0: fixed */
    int want;          /* rows of a fixed one, frame included */
    int least;         /* rows below which it is useless */
    int first_percent; /* columns of the first of two panels; 0: half */
    int drop;          /* the larger, the sooner it is left out; 0: it stays */
    int rows, row;     /* the result */
};

struct plan {
    struct band band[BANDS];
    int bands;
};

void ga_layout_wish_init(struct ga_layout_wish *wish, int rows, int columns)
{
    static const int chosen[GA_SLOTS] = {
        [GA_SLOT_CHART] = GA_PANEL_LOSS,     [GA_SLOT_RIGHT] = GA_PANEL_FIT,
        [GA_SLOT_TABLE] = GA_PANEL_REPLICAS, [GA_SLOT_TIME] = GA_PANEL_TIMELINE,
        [GA_SLOT_DETAIL] = GA_PANEL_EXPLAIN,
    };

    memset(wish, 0, sizeof *wish);
    wish->rows = rows;
    wish->columns = columns;
    memcpy(wish->chosen, chosen, sizeof wish->chosen);
    wish->focus = -1;
    wish->table_rows = 3;
    wish->command_rows = 1;
}

int ga_layout_slot(int panel)
{
    static const int slots[GA_PANELS] = {
        [GA_PANEL_LOSS] = GA_SLOT_CHART,
        [GA_PANEL_FIT] = GA_SLOT_RIGHT,
        [GA_PANEL_REPLICAS] = GA_SLOT_TABLE,
        [GA_PANEL_TIMELINE] = GA_SLOT_TIME,
        [GA_PANEL_EXPLAIN] = GA_SLOT_DETAIL,
        [GA_PANEL_NORMS] = GA_SLOT_CHART,
        [GA_PANEL_STALENESS] = GA_SLOT_RIGHT,
        [GA_PANEL_WEIGHTS] = GA_SLOT_TIME,
        [GA_PANEL_DEVICES] = GA_SLOT_TABLE,
        [GA_PANEL_RUNS] = GA_SLOT_CHART,
        [GA_PANEL_LOG] = -1,
        [GA_PANEL_LESSON] = -1,
    };

    return panel >= 0 && panel < GA_PANELS ? slots[panel] : -1;
}

static struct band *add_band(struct plan *plan, int weight, int want, int drop)
{
    struct band *band = &plan->band[plan->bands++];

    *band = (struct band){.weight = weight, .want = want, .drop = drop};
    return band;
}

static bool planned(const struct plan *plan, int panel)
{
    for (int b = 0; b < plan->bands; b++)
        for (int i = 0; i < plan->band[b].panels; i++)
            if (plan->band[b].panel[i] == panel)
                return true;
    return false;
}

/* Once each: a panel that is there already is not added again. */
static void add_panel(struct plan *plan, struct band *band, int panel)
{
    if (ga_panel_at(panel) && !planned(plan, panel))
        band->panel[band->panels++] = panel;
}

/* A panel beside the chosen ones: the first of those a person would miss most. */
static void add_extra(struct plan *plan, struct band *band, const struct ga_layout_wish *wish)
{
    static const int extras[] = {GA_PANEL_NORMS, GA_PANEL_STALENESS, GA_PANEL_WEIGHTS,
                                 GA_PANEL_LOSS,  GA_PANEL_FIT,       GA_PANEL_TIMELINE};

    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++) {
        bool later = false;

        for (int slot = 0; slot < GA_SLOTS; slot++)
            later = later || wish->chosen[slot] == extras[i];
        if (later || planned(plan, extras[i]))
            continue;
        add_panel(plan, band, extras[i]);
        return;
    }
}

/* About a third of the rows, so that the charts stay readable; four replicas if that can be. */
static int table_rows(const struct ga_layout_wish *wish, int rows)
{
    int want = wish->table_rows + FRAME, most = rows * 11 / 32;

    most = most < FOUR ? FOUR : most;
    most = most > rows * 2 / 5 ? rows * 2 / 5 : most;
    most = most < 4 ? 4 : most;
    return want < 3 ? 3 : want > most ? most : want;
}

/* What a lesson has to say counts more than the panels it is about, up to a limit. */
static int lesson_rows(const struct ga_layout_wish *wish, int rows)
{
    int want = wish->lesson_rows + FRAME, most = rows < 24 ? rows / 2 : rows * 3 / 8;

    return want < LEAST_ROWS || most < LEAST_ROWS ? LEAST_ROWS : want > most ? most : want;
}

/* What the right side of a small screen shows: the focused panel if its slot is not there. */
static int beside(const struct ga_layout_wish *wish)
{
    int slot = ga_layout_slot(wish->focus);

    return slot == GA_SLOT_TIME || slot == GA_SLOT_DETAIL ? wish->focus
                                                          : wish->chosen[GA_SLOT_RIGHT];
}

static void add_time_band(struct plan *plan, const struct ga_layout_wish *wish)
{
    struct band *band = add_band(plan, 9, 0, 2);

    add_panel(plan, band, wish->chosen[GA_SLOT_TIME]);
    add_panel(plan, band, wish->chosen[GA_SLOT_DETAIL]);
    band->first_percent = 45;
}

static void plan_table(struct plan *plan, const struct ga_layout_wish *wish, int rows)
{
    int main =
        wish->focus >= 0 && wish->focus < GA_PANELS ? wish->focus : wish->chosen[GA_SLOT_TABLE];

    if (ga_layout_slot(main) != GA_SLOT_TABLE) {
        add_panel(plan, add_band(plan, 1, 0, 0), main);
        return;
    }
    int want = wish->table_rows + FRAME, left = rows - want;
    if (left >= 5)
        add_panel(plan, add_band(plan, 1, 0, 1), wish->chosen[GA_SLOT_CHART]);
    add_panel(plan, add_band(plan, left >= LEAST_ROWS ? 0 : 1, want, 0), main);
    if (left >= LEAST_ROWS && left < 5)
        add_panel(plan, add_band(plan, 1, 0, 1), GA_PANEL_LOG);
}

static void plan_stack(struct plan *plan, const struct ga_layout_wish *wish, int rows)
{
    struct band *charts = add_band(plan, 11, 0, 0);
    bool tall = rows >= 32;

    add_panel(plan, charts, wish->chosen[GA_SLOT_CHART]);
    add_panel(plan, charts, tall ? wish->chosen[GA_SLOT_RIGHT] : beside(wish));
    add_panel(plan, add_band(plan, 0, table_rows(wish, rows), 1), wish->chosen[GA_SLOT_TABLE]);
    if (tall)
        add_time_band(plan, wish);
    /* Charts of less than eight rows are worth more than a log. */
    if (tall || rows - table_rows(wish, rows) - 4 >= 8)
        add_panel(plan, add_band(plan, 0, tall ? 6 : 4, 3), GA_PANEL_LOG);
}

static void plan_full(struct plan *plan, const struct ga_layout_wish *wish, int rows)
{
    struct band *band = add_band(plan, 11, 0, 0);

    add_panel(plan, band, wish->chosen[GA_SLOT_CHART]);
    add_panel(plan, band, wish->chosen[GA_SLOT_RIGHT]);
    add_panel(plan, add_band(plan, 0, table_rows(wish, rows), 1), wish->chosen[GA_SLOT_TABLE]);
    add_time_band(plan, wish);
    add_panel(plan, add_band(plan, 0, rows >= 40 ? 6 : 4, 3), GA_PANEL_LOG);
}

static void plan_wide(struct plan *plan, const struct ga_layout_wish *wish, int rows)
{
    struct band *band = add_band(plan, 11, 0, 0);

    add_panel(plan, band, wish->chosen[GA_SLOT_CHART]);
    add_panel(plan, band, wish->chosen[GA_SLOT_RIGHT]);
    add_extra(plan, band, wish);
    add_panel(plan, add_band(plan, 0, table_rows(wish, rows), 1), wish->chosen[GA_SLOT_TABLE]);
    add_time_band(plan, wish);
    add_extra(plan, &plan->band[plan->bands - 1], wish);
    band = add_band(plan, 0, 10, 3);
    add_extra(plan, band, wish);
    add_panel(plan, band, GA_PANEL_LOG);
}

static void drop_band(struct plan *plan, int at)
{
    memmove(&plan->band[at], &plan->band[at + 1],
            (size_t)(plan->bands - at - 1) * sizeof plan->band[0]);
    plan->bands--;
}

static bool fits_across(const struct band *band, int columns)
{
    for (int i = 0; i < band->panels; i++)
        if (ga_panel_at(band->panel[i])->min_columns + FRAME >
            columns * (band->first_percent ? 45 : 50) / 50 / band->panels)
            return false;
    return true;
}

/* Leaves out panels that a band has no columns for, the last ones first, and bands left empty. */
static void fit_columns(struct plan *plan, int columns)
{
    for (int b = 0; b < plan->bands; b++) {
        struct band *band = &plan->band[b];

        while (band->panels > 0 && !fits_across(band, columns))
            band->panels--;
        band->least = LEAST_ROWS;
        for (int i = 0; i < band->panels; i++) {
            int least = ga_panel_at(band->panel[i])->min_rows + FRAME;

            band->least = least > band->least ? least : band->least;
        }
        if (band->panels == 0)
            drop_band(plan, b--);
    }
}

static int rows_needed(const struct plan *plan)
{
    int rows = 0;

    for (int b = 0; b < plan->bands; b++) {
        const struct band *band = &plan->band[b];

        rows += band->weight > 0 || band->want < band->least ? band->least : band->want;
    }
    return rows;
}

/* Leaves bands out, and then shrinks the fixed ones, until all have the rows they need. */
static void fit_rows(struct plan *plan, int rows)
{
    while (plan->bands > 0 && rows_needed(plan) > rows) {
        int at = -1;

        for (int b = 0; b < plan->bands; b++)
            if (plan->band[b].drop > 0 && (at < 0 || plan->band[b].drop > plan->band[at].drop))
                at = b;
        if (at >= 0 && plan->bands > 1)
            drop_band(plan, at);
        else if (plan->bands > 1)
            drop_band(plan, plan->bands - 1);
        else if (plan->band[0].want > plan->band[0].least)
            plan->band[0].want = plan->band[0].least;
        else
            plan->bands = 0;
    }
}

/* Rows to bands: the fixed ones what they want, the rest by weight; without any the last takes it.
 */
static void share_rows(struct plan *plan, struct ga_rect area)
{
    int weights = 0, left = area.rows, row = area.row, spare = 0;

    for (int b = 0; b < plan->bands; b++) {
        struct band *band = &plan->band[b];

        weights += band->weight;
        band->rows = band->weight > 0 || band->want < band->least ? band->least : band->want;
        left -= band->rows;
    }
    spare = left;
    for (int b = 0; b < plan->bands && weights > 0; b++) {
        int more = spare * plan->band[b].weight / weights;

        plan->band[b].rows += more;
        left -= more;
    }
    for (int b = 0; b < plan->bands; b++)
        if (plan->band[b].weight > 0 || (weights == 0 && b == plan->bands - 1)) {
            plan->band[b].rows += left;
            break;
        }
    for (int b = 0; b < plan->bands; b++) {
        plan->band[b].row = row;
        row += plan->band[b].rows;
    }
}

static void place(struct ga_layout *out, int panel, struct ga_rect rect)
{
    if (out->places == GA_LAYOUT_PLACES)
        return;
    out->place[out->places].panel = panel;
    out->place[out->places++].rect = rect;
}

static void place_bands(struct ga_layout *out, const struct plan *plan, struct ga_rect area)
{
    for (int b = 0; b < plan->bands; b++) {
        const struct band *band = &plan->band[b];
        int column = area.column;

        for (int i = 0; i < band->panels; i++) {
            int end = area.column + area.columns * (i + 1) / band->panels;

            if (band->first_percent > 0 && band->panels == 2 && i == 0)
                end = area.column + area.columns * band->first_percent / 100;

            place(out, band->panel[i],
                  (struct ga_rect){band->row, column, band->rows, end - column});
            column = end;
        }
    }
}

static enum ga_layout_kind kind_of(int rows, int columns)
{
    static const struct {
        int columns, rows;
        enum ga_layout_kind kind;
    } kinds[] = {{160, 44, GA_LAYOUT_WIDE},
                 {100, 30, GA_LAYOUT_FULL},
                 {60, 16, GA_LAYOUT_STACK},
                 {32, 8, GA_LAYOUT_TABLE},
                 {20, 3, GA_LAYOUT_NUMBERS}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (columns >= kinds[i].columns && rows >= kinds[i].rows)
            return kinds[i].kind;
    return GA_LAYOUT_NOTICE;
}

/* The lines around the panels; returns what is left for these. */
static struct ga_rect place_lines(struct ga_layout *out, const struct ga_layout_wish *wish)
{
    int rows = wish->rows, columns = wish->columns;
    int most = rows / 4 < 1 ? 1 : rows / 4;
    int command = wish->command_rows < 1      ? 1
                  : wish->command_rows > most ? most
                                              : wish->command_rows;
    int hint = rows >= 12 && columns >= 40 ? 1 : 0;
    int status = out->kind == GA_LAYOUT_NUMBERS ? rows - command : rows >= 10 ? 2 : 1;

    out->status = (struct ga_rect){0, 0, status, columns};
    out->command = (struct ga_rect){rows - hint - command, 0, command, columns};
    if (hint)
        out->hint = (struct ga_rect){rows - 1, 0, 1, columns};
    if (out->kind == GA_LAYOUT_NUMBERS)
        return (struct ga_rect){0, 0, 0, 0};
    return (struct ga_rect){status, 0, rows - status - command - hint, columns};
}

static bool zooms(const struct ga_layout_wish *wish, struct ga_rect area)
{
    const struct ga_panel *panel = wish->focus >= 0 ? ga_panel_at(wish->focus) : NULL;

    return wish->zoom && panel && panel->min_rows + FRAME <= area.rows &&
           panel->min_columns + FRAME <= area.columns;
}

/* As on a screen of that many rows less, where a lesson takes some. */
static void plan_panels(struct plan *plan, const struct ga_layout_wish *wish,
                        enum ga_layout_kind kind, int rows)
{
    static void (*const planner[])(struct plan *, const struct ga_layout_wish *, int) = {
        [GA_LAYOUT_TABLE] = plan_table,
        [GA_LAYOUT_STACK] = plan_stack,
        [GA_LAYOUT_FULL] = plan_full,
        [GA_LAYOUT_WIDE] = plan_wide,
    };

    planner[kind > GA_LAYOUT_TABLE ? kind : GA_LAYOUT_TABLE](plan, wish, rows);
}

/* A lesson goes on over a zoomed panel, where both have room. */
static void place_zoomed(struct ga_layout *out, const struct ga_layout_wish *wish,
                         struct ga_rect area)
{
    int rows = lesson_rows(wish, area.rows);

    if (wish->lesson_rows > 0 && wish->focus != GA_PANEL_LESSON &&
        ga_panel_at(GA_PANEL_LESSON)->min_columns + FRAME <= area.columns &&
        ga_panel_at(wish->focus)->min_rows + FRAME <= area.rows - rows) {
        place(out, GA_PANEL_LESSON, (struct ga_rect){area.row, area.column, rows, area.columns});
        area.row += rows;
        area.rows -= rows;
    }
    place(out, wish->focus, area);
}

void ga_layout_make(struct ga_layout *out, const struct ga_layout_wish *wish)
{
    struct plan plan = {.bands = 0};

    memset(out, 0, sizeof *out);
    out->kind = kind_of(wish->rows, wish->columns);
    if (out->kind == GA_LAYOUT_NOTICE)
        return;
    struct ga_rect area = place_lines(out, wish);
    out->panels = area;
    if (out->kind == GA_LAYOUT_NUMBERS)
        return;
    if (zooms(wish, area)) {
        place_zoomed(out, wish, area);
        return;
    }
    int lesson = wish->lesson_rows > 0 ? lesson_rows(wish, area.rows) : 0;
    if (lesson > 0)
        add_panel(&plan, add_band(&plan, 0, lesson, 0), GA_PANEL_LESSON);
    plan_panels(&plan, wish, kind_of(wish->rows - lesson, wish->columns), area.rows - lesson);
    fit_columns(&plan, area.columns);
    fit_rows(&plan, area.rows);
    share_rows(&plan, area);
    place_bands(out, &plan, area);
}

void ga_layout_select(struct ga_layout_wish *wish, int panel)
{
    int slot = ga_layout_slot(panel);

    if (panel < 0 || panel >= GA_PANELS)
        return;
    if (wish->focus == panel)
        wish->zoom = !wish->zoom;
    if (slot >= 0)
        wish->chosen[slot] = panel;
    wish->focus = panel;
}

int ga_layout_next(const struct ga_layout *layout, int focus, int step)
{
    int at = step > 0 ? -1 : layout->places;

    if (layout->places == 0)
        return -1;
    for (int i = 0; i < layout->places; i++)
        if (layout->place[i].panel == focus)
            at = i;
    at = (at + (step > 0 ? 1 : -1) + layout->places) % layout->places;
    return layout->place[at].panel;
}

struct ga_rect ga_layout_rect(const struct ga_layout *layout, int panel)
{
    for (int i = 0; i < layout->places; i++)
        if (layout->place[i].panel == panel)
            return layout->place[i].rect;
    return (struct ga_rect){0, 0, 0, 0};
}
