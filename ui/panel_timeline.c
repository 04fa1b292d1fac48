/*
 * Who worked when: a row per replica over virtual time. The time shown stands still and the present
 * moves through its right half, then it turns by half a page: a picture that scrolled at each frame
 * could not be read, and would cost the whole panel in bytes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/decoder.h"
#include "ui/panels.h"
#include "ui/plot.h"
#include "ui/theme.h"

#define LABEL 5 /* columns before the rows */

struct ga_panel_state {
    double zoom; /* 1: chosen by itself; 2: half the time */
    int first, page;
};

static int timeline_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    if (!*out)
        return GA_ENOMEM;
    (*out)->zoom = 1;
    return GA_OK;
}

static void timeline_close(struct ga_panel_state *state)
{
    free(state);
}

/* The page: where time goes on the screen. */
struct page {
    double start, end; /* ns */
    int column, columns;
};

static int column_of(const struct page *page, double ns)
{
    double place = (ns - page->start) / (page->end - page->start);

    if (place < 0)
        return -1;
    return place > 1 ? page->columns : (int)floor(place * page->columns);
}

/* The next 1, 2 or 5 times a power of ten. */
static double round_up(double value)
{
    double ten = pow(10, floor(log10(value)));
    double part = value / ten;

    return (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10) * ten;
}

/* Time that shows about one micro-batch in six columns, as the newest of each replica took. */
static double choose_length(const struct ga_closeup *closeup, int columns)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = closeup->spans; i-- > 0 && count < 64;) {
        const struct ga_span *span = &closeup->span[i];

        if (span->kind != GA_SPAN_MICRO || span->end_ns <= span->start_ns)
            continue;
        sum += (double)(span->end_ns - span->start_ns);
        count++;
    }
    if (count == 0)
        return 1e6;
    return round_up(sum / (double)count * columns / 6);
}

static struct page turn_page(const struct ga_panel_state *state, const struct ga_closeup *closeup,
                             struct ga_rect inside)
{
    struct page page = {.column = inside.column + LABEL, .columns = inside.columns - LABEL - 1};
    double length = choose_length(closeup, page.columns) / state->zoom;
    double half = length / 2;

    page.start = (floor((double)closeup->now_ns / half) - 1) * half;
    page.start = page.start < 0 ? 0 : page.start;
    page.end = page.start + length;
    return page;
}

/* A micro-batch: alternating shades, its number inside where there is room. */
static void draw_micro(const struct ga_span *span, struct ga_cells *cells, int row, int from,
                       int to)
{
    unsigned role = ga_replica_role((uint32_t)span->replica);
    bool ascii = cells->glyphs == GA_GLYPHS_ASCII;
    uint32_t fill = span->micro % 2 ? 0x2588 : 0x2593;
    char number[16];
    int width = snprintf(number, sizeof number, "%" PRIu32, span->micro);

    for (int c = from; c <= to; c++)
        ga_cells_put(cells, row, c, ascii ? '=' : fill, role, 0);
    if (ascii)
        ga_cells_put(cells, row, from, '|', role, 0);
    if (to - from >= width + 1 || (!ascii && to - from >= width))
        ga_cells_text(cells, row, from + (to - from + 1 - width + ascii) / 2, number, role,
                      ascii ? 0 : GA_ATTR_REVERSE);
}

static void draw_span(const struct ga_span *span, const struct page *page, struct ga_cells *cells,
                      int row)
{
    static const struct {
        uint32_t character;
        unsigned role;
    } fills[] = {[GA_SPAN_WAIT] = {0x00b7, GA_ROLE_DIM},
                 [GA_SPAN_TALK] = {'~', GA_ROLE_LAW},
                 [GA_SPAN_DROP] = {'x', GA_ROLE_BAD}};
    int from = column_of(page, (double)span->start_ns), to = column_of(page, (double)span->end_ns);
    bool begins = from >= 0;

    if (to < 0 || from >= page->columns)
        return;
    /* An end on a limit belongs to the column before it. */
    to = to > from && column_of(page, (double)span->end_ns - 1) < to ? to - 1 : to;
    from = page->column + (begins ? from : 0);
    to = page->column + (to < page->columns ? to : page->columns - 1);
    if (span->kind == GA_SPAN_MICRO) {
        draw_micro(span, cells, row, from, to);
        return;
    }
    for (int c = from; c <= to && span->kind <= GA_SPAN_DROP; c++)
        ga_cells_put(cells, row, c, fills[span->kind].character, fills[span->kind].role, 0);
}

/* Everything up to now that nothing else is drawn over: waiting, or at work on a micro-batch that
 * is not finished yet. */
static void draw_ground(const struct ga_scene *scene, const struct page *page, int replica,
                        struct ga_cells *cells, int row)
{
    const struct ga_closeup *closeup = scene->closeup;
    enum ga_replica_state state = scene->view->replica[replica].state;
    bool works = state == GA_REPLICA_BUSY || state == GA_REPLICA_LATE;
    int now = column_of(page, (double)closeup->now_ns), done = 0;

    for (size_t i = 0; i < closeup->spans; i++) {
        const struct ga_span *span = &closeup->span[i];
        int end = span->replica == replica ? column_of(page, (double)span->end_ns) : 0;

        done = end > done ? end : done;
    }
    for (int c = 0; c < page->columns && c < now; c++)
        if (works && c >= done)
            ga_cells_put(cells, row, page->column + c,
                         cells->glyphs == GA_GLYPHS_ASCII ? '-' : 0x2591,
                         ga_replica_role((uint32_t)replica), 0);
        else
            ga_cells_put(cells, row, page->column + c, 0x00b7, GA_ROLE_DIM, GA_ATTR_DIM);
}

static void draw_replica(const struct ga_scene *scene, const struct page *page, int replica,
                         struct ga_cells *cells, int row)
{
    const struct ga_closeup *closeup = scene->closeup;

    draw_ground(scene, page, replica, cells, row);
    for (size_t i = 0; i < closeup->spans; i++)
        if (closeup->span[i].replica == replica || closeup->span[i].replica == GA_SPAN_ALL)
            draw_span(&closeup->span[i], page, cells, row);
}

/* Updates below the rows: a tick each, then numbers where no tick is in the way. */
static void draw_updates(const struct ga_closeup *closeup, const struct page *page,
                         struct ga_cells *cells, int row)
{
    int next = page->column + page->columns; /* the tick or end at the right */

    for (size_t i = closeup->spans; i-- > 0;) {
        const struct ga_span *span = &closeup->span[i];
        int column = column_of(page, (double)span->end_ns);
        char number[24];
        int width = snprintf(number, sizeof number, "%" PRIu64, span->update);

        if (span->replica != -1 || column < 0 || column >= page->columns)
            continue;
        column += page->column;
        ga_cells_put(cells, row, column, 0x25b2, GA_ROLE_GOOD, 0);
        if (column + 1 + width >= next)
            continue;
        ga_cells_text(cells, row, column + 1, number, GA_ROLE_DIM, 0);
        next = column;
    }
}

static void draw_label(int replica, struct ga_cells *cells, int row, int left)
{
    ga_cells_put(cells, row, left, ga_replica_mark((uint32_t)replica, cells->glyphs),
                 ga_replica_role((uint32_t)replica), GA_ATTR_BOLD);
    ga_cells_printf(cells, row, left + 1, GA_ROLE_TEXT, 0, "%3d", replica);
}

static const char *unit_of(double length, double *factor)
{
    static const struct {
        double least, factor;
        const char *name;
    } units[] = {{2e9, 1e-9, "s"}, {2e6, 1e-6, "ms"}, {2e3, 1e-3, "us"}, {0, 1, "ns"}};
    size_t i = 0;

    while (length < units[i].least)
        i++;
    *factor = units[i].factor;
    return units[i].name;
}

static void draw_axis(const struct page *page, struct ga_cells *cells, int row)
{
    struct ga_axis_label label[GA_AXIS_LABELS];
    double factor = 1;
    const char *unit = unit_of(page->end - page->start, &factor);
    struct ga_axis axis = {page->start * factor, page->end * factor, false};
    int count = ga_axis_labels(&axis, page->columns / 9, 9, label);
    int end = page->column + page->columns, free_from = page->column - 3;

    ga_cells_text(cells, row, page->column - LABEL, unit, GA_ROLE_DIM, 0);
    for (int i = 0; i < count; i++) {
        int width = ga_text_columns(label[i].text);
        int column = page->column + column_of(page, label[i].value / factor) - width / 2;

        if (column < free_from || column + width > end)
            continue;
        free_from = ga_cells_text(cells, row, column, label[i].text, GA_ROLE_DIM, 0) + 2;
    }
}

static int replica_count(const struct ga_scene *scene)
{
    return scene->view->replicas < GA_VIEW_REPLICAS ? (int)scene->view->replicas : GA_VIEW_REPLICAS;
}

static void timeline_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                          struct ga_cells *cells, struct ga_rect inside)
{
    const struct ga_closeup *closeup = scene->closeup;
    int count = replica_count(scene);
    int below = inside.rows >= 4 && count <= inside.rows - 2 ? 2 : inside.rows >= 3 ? 1 : 0;
    int rows = inside.rows - below, shown = 0, bottom = 0;
    struct page page = turn_page(state, closeup, inside);
    /* With room to spare rows are thicker and stand apart. */
    int step = count < 1 || rows / count < 2 ? 1 : rows / count > 4 ? 4 : rows / count;

    if (page.columns < 4)
        return;
    state->page = rows;
    if (state->first + rows > count)
        state->first = count > rows ? count - rows : 0;
    for (; shown * step < rows && state->first + shown < count; shown++) {
        draw_label(state->first + shown, cells, inside.row + shown * step, inside.column);
        for (int thick = 0; thick == 0 || thick < step - 1; thick++)
            draw_replica(scene, &page, state->first + shown, cells,
                         inside.row + shown * step + thick);
    }
    bottom = inside.row + shown * step;
    if (below == 2)
        draw_updates(closeup, &page, cells, bottom);
    if (below)
        draw_axis(&page, cells, inside.row + inside.rows - 1);
}

static bool timeline_key(struct ga_panel_state *state, const struct ga_scene *scene, int key)
{
    int first = 0;

    if (key == GA_KEY_LEFT || key == GA_KEY_RIGHT) {
        state->zoom *= key == GA_KEY_RIGHT ? 2 : 0.5;
        state->zoom = state->zoom > 1024 ? 1024 : state->zoom < 0x1p-10 ? 0x1p-10 : state->zoom;
        return true;
    }
    first = ga_scroll(state->first, key, replica_count(scene), state->page);
    if (first >= 0)
        state->first = first;
    return first >= 0;
}

static void timeline_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                             struct ga_text *out)
{
    int count = replica_count(scene);

    ga_text_puts(out, "virtual time");
    if (state->page < count)
        ga_text_printf(out, ", %d-%d of %d", state->first, state->first + state->page - 1, count);
}

const struct ga_panel ga_panel_timeline = {
    .name = "timeline",
    .title = "timeline",
    .min_rows = 2,
    .min_columns = 20,
    .look = GA_LOOK_SPANS,
    .open = timeline_open,
    .close = timeline_close,
    .draw = timeline_draw,
    .key = timeline_key,
    .caption = timeline_caption,
};
