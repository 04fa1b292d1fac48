/* A frame: what the engine published and the samples since the last one, drawn into cells. */
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "ui/app_parts.h"
#include "ui/keys.h"

#define HINTS       40
#define LESSON_EDGE 4 /* columns of the lesson panel without text: its frame, and a blank each */
#define OFFER_ROWS  4 /* of completions, over the command line */

const struct ga_view *ga_app_view(struct ga_app *app)
{
    return ga_engine_view(ga_console_engine(app->console));
}

static struct ga_engine *engine_of(const struct ga_app *app)
{
    return ga_console_engine(app->console);
}

/* Windows that closed, and the place where the run stands among them. */
static void take_samples(struct ga_app *app)
{
    struct ga_sample sample;
    while (ga_watch_take(app->watch, &sample))
        ga_runs_take(app->samples, engine_of(app), &sample);
    ga_samples_smooth(app->samples, app->display.smoothing);
}

/* The other runs, where they are compared. */
static void take_runs(struct ga_app *app, const struct ga_view *view)
{
    const struct ga_rect rect = ga_layout_rect(&app->layout, ga_panel_find("runs"));
    if (view->runs > 1 && rect.rows > 0)
        ga_runs_update(app->runs, engine_of(app));
}

/*
 * Again when there is news, not too often while it trains; at once when a panel shows what was not
 * looked at. A close-up that cannot be had (no run can be formed yet) leaves the old one.
 */
static void take_closeup(struct ga_app *app, int64_t now_ns)
{
    const bool running = ga_app_view(app)->running;
    unsigned parts = ga_screen_look(&app->layout);
    const bool missing = (parts & ~app->looked_parts) != 0;
    if (!missing && (app->looked || (running && now_ns - app->looked_ns < GA_LOOK_NS)))
        return;
    app->looked_parts = parts;
    if (running && !missing && now_ns - app->read_ns < GA_READ_NS)
        parts &= ~(unsigned)GA_LOOK_EXPLAIN;
    if (parts & GA_LOOK_EXPLAIN)
        app->read_ns = now_ns;
    app->looked = true;
    app->looked_ns = now_ns;
    ga_watch_look(app->watch, parts, ga_screen_parameter(app->screen), app->closeup);
}

/* How long training went on that is in no file. */
static void count_time(struct ga_app *app, const struct ga_view *view, int64_t now_ns)
{
    if (ga_console_saved(app->console, view->hash))
        app->moving_ns = 0;
    else if (view->running && app->drawn_ns > 0)
        app->moving_ns += now_ns - app->drawn_ns;
}

static void make_scene(struct ga_app *app, const struct ga_view *view, int64_t now_ns)
{
    const struct ga_scene_run *run = NULL;
    const size_t runs = ga_runs_list(app->runs, &run);
    app->scene = (struct ga_scene){.view = view,
                                   .samples = app->samples,
                                   .log = app->log,
                                   .closeup = app->closeup,
                                   .explain = app->closeup->explain,
                                   .lesson = ga_text_get(&app->lesson.text),
                                   .lesson_first = app->lesson.first,
                                   .stopped = ga_console_stopped(app->console),
                                   .run_name = view->name,
                                   .runs = view->runs > 1 ? runs : 0,
                                   .run = run,
                                   .wall_ns = now_ns,
                                   .log_y = app->display.log_y,
                                   .x_axis = app->display.x_axis,
                                   .smoothing = app->display.smoothing,
                                   .parameter = ga_screen_parameter(app->screen)};
}

/* Rows of completions, when each has the width of the longest and two blanks. */
static int offer_width(const struct ga_app *app)
{
    int width = 1;
    for (size_t i = 0; i < ga_line_offers(app->line); i++) {
        const int columns = ga_text_columns(ga_line_offer(app->line, i));
        width = columns > width ? columns : width;
    }
    return width + 2;
}

static int offer_rows(const struct ga_app *app, int columns)
{
    const int across = columns / offer_width(app) > 0 ? columns / offer_width(app) : 1;
    const int rows = ((int)ga_line_offers(app->line) + across - 1) / across;
    return rows < OFFER_ROWS ? rows : OFFER_ROWS;
}

static void draw_offers(struct ga_app *app, struct ga_rect rect)
{
    const int width = offer_width(app);
    const int across = rect.columns / width > 0 ? rect.columns / width : 1;
    const size_t count = ga_line_offers(app->line);
    const size_t room = (size_t)(across * rect.rows);
    for (size_t i = 0; i < count && i < room; i++) {
        const int row = rect.row + (int)i / across;
        const int column = rect.column + (int)i % across * width;
        if (i + 1 == room && count > room)
            ga_cells_printf(&app->cells, row, column, GA_ROLE_DIM, 0, "+%zu", count - i);
        else
            ga_cells_text(&app->cells, row, column, ga_line_offer(app->line, i), GA_ROLE_DIM, 0);
    }
}

/* The keys that count in a mode, beside the table's own. */
static size_t mode_hints(const struct ga_app *app, struct ga_hint *out)
{
    static const struct {
        enum ga_app_mode mode;
        struct ga_hint hint;
    } hints[] = {
        {GA_APP_COMMAND, {"Enter", "run"}},
        {GA_APP_COMMAND, {"Tab", "complete"}},
        {GA_APP_COMMAND, {"Up", "history"}},
        {GA_APP_COMMAND, {"ctrl-R", "search"}},
        {GA_APP_COMMAND, {"Esc", "leave"}},
        {GA_APP_ANSWER, {"Enter", "answer (empty: shows it)"}},
        {GA_APP_ANSWER, {"Backspace", "page before"}},
        {GA_APP_ANSWER, {"Esc", "leave the lesson"}},
        {GA_APP_MORE, {"any key", "the rest"}},
        {GA_APP_MORE, {"b", "back"}},
        {GA_APP_MORE, {"Esc", "leave the lesson"}},
        {GA_APP_ANY_KEY, {"any key", "goes on"}},
        {GA_APP_ANY_KEY, {"b", "page before"}},
        {GA_APP_ANY_KEY, {"Tab", "panel"}},
        {GA_APP_ANY_KEY, {"z", "zoom"}},
        {GA_APP_ANY_KEY, {"Esc", "leave the lesson"}},
        {GA_APP_CONFIRM, {"y", "yes"}},
        {GA_APP_CONFIRM, {"n", "no"}},
        {GA_APP_PALETTE, {"Enter", "take"}},
        {GA_APP_PALETTE, {"Up", ""}},
        {GA_APP_PALETTE, {"Down", "select"}},
        {GA_APP_PALETTE, {"Esc", "leave"}},
        {GA_APP_HELP, {"PgUp", ""}},
        {GA_APP_HELP, {"PgDn", "scroll"}},
        {GA_APP_HELP, {"Esc", "leave"}},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]) && count < HINTS; i++)
        if (hints[i].mode == app->mode)
            out[count++] = hints[i].hint;
    return count;
}

static size_t make_hints(const struct ga_app *app, struct ga_hint *out)
{
    if (app->mode != GA_APP_KEYS)
        return mode_hints(app, out);
    if (app->busy > 0) {
        out[0] = (struct ga_hint){"Esc", "ends the script"};
        return 1;
    }
    return ga_key_hints(app->scene.view, out, HINTS);
}

/* What lies over the panels; each draws its own frame. */
static void draw_over(struct ga_app *app)
{
    const struct ga_rect rect = app->layout.panels;
    if (app->mode == GA_APP_HELP)
        ga_help_draw(app->palette, &app->cells, rect, app->help_row);
    else if (app->mode == GA_APP_PALETTE)
        ga_palette_draw(app->palette, &app->cells, rect);
}

struct cursor {
    int row, column; /* row -1: hidden */
};

/* The command line's row: a question, a note, or the line itself with the cursor. */
static struct cursor draw_command(struct ga_app *app)
{
    struct ga_rect rect = app->layout.command;
    if (rect.rows <= 0 || rect.columns <= 0)
        return (struct cursor){-1, 0};
    if (rect.rows > 1) {
        const struct ga_rect offers = {rect.row, rect.column, rect.rows - 1, rect.columns};
        draw_offers(app, offers);
        rect = (struct ga_rect){rect.row + rect.rows - 1, rect.column, 1, rect.columns};
    }
    if (app->mode == GA_APP_COMMAND || app->mode == GA_APP_ANSWER)
        return (struct cursor){rect.row, ga_line_draw(app->line, &app->cells, rect)};
    if (app->mode == GA_APP_CONFIRM)
        ga_cells_printf(&app->cells, rect.row, rect.column, GA_ROLE_WARN, GA_ATTR_BOLD, "%s  y / n",
                        app->confirm.question);
    else if (app->note[0])
        ga_cells_text(&app->cells, rect.row, rect.column, app->note, GA_ROLE_WARN, 0);
    else
        ga_cells_text(&app->cells, rect.row, rect.column, "(gaconsole)", GA_ROLE_DIM, 0);
    return (struct cursor){-1, 0};
}

static bool fit_cells(struct ga_app *app)
{
    const int rows = ga_term_rows(app->term);
    const int columns = ga_term_columns(app->term);
    app->cells.glyphs = app->display.glyphs;
    if (app->cells.rows == rows && app->cells.columns == columns)
        return true;
    return ga_cells_resize(&app->cells, rows, columns) == 0;
}

static void make_layout(struct ga_app *app, const struct ga_view *view)
{
    struct ga_layout_wish *wish = &app->display.wish;
    wish->rows = app->cells.rows;
    wish->columns = app->cells.columns;
    wish->table_rows = (int)view->replicas + 1;
    wish->command_rows = 1 + offer_rows(app, app->cells.columns);
    wish->lesson_rows = ga_lesson_rows(&app->lesson, app->cells.columns - LESSON_EDGE);
    ga_layout_make(&app->layout, wish);
    ga_lesson_fit(&app->lesson, ga_layout_rect(&app->layout, GA_PANEL_LESSON).rows - 2);
}

/* A recording that fails is told of once, and ended. */
static void record(struct ga_app *app, struct cursor cursor)
{
    const char *text = NULL;
    if (ga_recorder_show(app->recorder, &app->cells, ga_display_theme(&app->display), cursor.row,
                         cursor.column) == 0)
        return;
    text = ga_error_text();
    ga_log_lines_add(app->log, GA_LOG_FAILURE, "", text, strlen(text));
    ga_recorder_close(app->recorder);
    app->recorder = NULL;
}

void ga_app_draw(struct ga_app *app)
{
    struct ga_hint hint[HINTS];
    const int64_t now_ns = ga_now_ns();
    app->wanted = false;
    if (!fit_cells(app))
        return;
    make_layout(app, ga_app_view(app));
    take_closeup(app, now_ns); /* before the view, which is then not older */
    take_samples(app);
    const struct ga_view *view = ga_app_view(app);
    take_runs(app, view);
    count_time(app, view, now_ns);
    make_scene(app, view, now_ns);
    const size_t hints = make_hints(app, hint);
    ga_screen_draw(app->screen, &app->scene, &app->layout, app->display.wish.focus, hint, hints,
                   &app->cells);
    draw_over(app);
    const struct cursor cursor = draw_command(app);
    ga_term_show(app->term, &app->cells, ga_display_theme(&app->display), cursor.row,
                 cursor.column);
    if (app->recorder)
        record(app, cursor);
    app->drawn_ns = now_ns;
    app->fast = view->running && view->counters.updates > app->drawn_updates + GA_FAST_UPDATES;
    app->drawn_updates = view->counters.updates;
}
