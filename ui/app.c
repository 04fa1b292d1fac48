#include "ui/app.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/version.h"
#include "console/front.h"
#include "ui/app_parts.h"
#include "ui/keys.h"
#include "ui/trap.h"

#define LOG_LINES 5000

int ga_app_check(void)
{
    return ga_term_check();
}

static enum ga_color_when color_when(const char *word)
{
    static const char *const words[] = {[GA_COLOR_ALWAYS] = "always", [GA_COLOR_NEVER] = "never"};
    for (int i = GA_COLOR_ALWAYS; i <= GA_COLOR_NEVER; i++)
        if (strcmp(words[i], word) == 0)
            return (enum ga_color_when)i;
    return GA_COLOR_AUTO;
}

/* The keys as the palette and the help page list them. */
static int open_palette(struct ga_app *app)
{
    size_t count = 0;
    app->palette_keys = ga_alloc(ga_key_count(), sizeof(*app->palette_keys));
    if (!app->palette_keys)
        return GA_ENOMEM;
    for (size_t i = 0; i < ga_key_count(); i++) {
        const struct ga_key_row *row = ga_key_at(i);
        if (ga_key_bound(row))
            app->palette_keys[count++] =
                (struct ga_palette_key){row->name, row->command, row->help};
    }
    return ga_palette_open(&app->palette, app->palette_keys, count);
}

static int open_console(struct ga_app *app)
{
    const struct ga_console_options options = {.sink = ga_app_sink(app),
                                               .front = ga_app_front(app),
                                               .prompt = true,
                                               .curves = true,
                                               .readonly = app->arguments->readonly};
    const int code = ga_console_open(&app->console, &options);
    if (code < 0)
        return code;
    app->bell.fd = ga_console_bell(app->console);
    return ga_watch_open(&app->watch, ga_console_engine(app->console), &app->bell);
}

/* What needs no terminal. */
static int open_parts(struct ga_app *app)
{
    int code = ga_log_lines_open(&app->log, LOG_LINES);
    if (code == 0)
        code = ga_samples_open(&app->samples, 0);
    if (code == 0)
        code = ga_runs_open(&app->runs);
    if (code == 0)
        code = ga_screen_open(&app->screen);
    if (code == 0)
        code = ga_decoder_open(&app->decoder);
    if (code == 0)
        code = open_palette(app);
    if (code == 0)
        code = ga_cells_open(&app->cells, 1, 1, GA_GLYPHS_ASCII);
    if (code == 0)
        app->closeup = ga_alloc(1, sizeof(*app->closeup));
    return code == 0 && !app->closeup ? GA_ENOMEM : code;
}

static void open_display(struct ga_app *app)
{
    const char *glyphs = app->arguments->glyphs;
    const char *theme = app->arguments->theme;
    ga_display_init(&app->display);
    app->display.utf8 = ga_term_utf8(app->term);
    app->display.colored = ga_term_colored(app->term);
    app->display.glyphs = ga_term_glyphs(app->term);
    if (glyphs && app->display.utf8)
        app->display.glyphs = (enum ga_glyphs)ga_glyphs_find(glyphs);
    if (theme)
        app->display.theme = (enum ga_theme)ga_theme_find(theme);
}

/* readline first: it asks terminfo on its own. Then the terminal, and what falls upon it. */
static int open_terminal(struct ga_app *app)
{
    struct ga_term_rescue rescue;
    int code = ga_line_open(&app->line, app->console, !app->arguments->readonly);
    if (code == 0)
        code = ga_term_open(&app->term, color_when(app->arguments->color));
    if (code < 0)
        return code;
    ga_term_rescue(app->term, &rescue);
    ga_trap_rescue(&rescue, -1, -1);
    code = ga_capture_open(&app->capture);
    if (code < 0)
        return code;
    ga_trap_rescue(&rescue, app->capture.fd, app->capture.err);
    ga_line_resize(app->line, ga_term_rows(app->term), ga_term_columns(app->term));
    open_display(app);
    return 0;
}

static int open_app(struct ga_app *app)
{
    int code = app->signals = ga_trap_open();
    if (code >= 0)
        code = open_parts(app);
    if (code == 0)
        code = open_console(app);
    if (code == 0)
        code = open_terminal(app);
    return code;
}

/* The terminal is put back before anything else may fail or wait. */
static void close_app(struct ga_app *app)
{
    ga_trap_rescue(NULL, -1, -1);
    ga_term_close(app->term);
    app->term = NULL;
    ga_capture_close(&app->capture);
    ga_line_close(app->line);
    if (app->console)
        ga_console_end(app->console);
    ga_watch_close(app->watch);
    ga_console_close(app->console);
    ga_trap_close();
    ga_palette_close(app->palette);
    free(app->palette_keys);
    ga_decoder_close(app->decoder);
    ga_screen_close(app->screen);
    ga_recorder_close(app->recorder);
    ga_runs_close(app->runs);
    ga_samples_close(app->samples);
    ga_log_lines_close(app->log);
    ga_cells_close(&app->cells);
    free(app->closeup);
    free(app->confirm.text);
    free(app->answer);
    ga_lesson_fini(&app->lesson);
}

static void greet(struct ga_app *app)
{
    char text[256];
    const int length =
        snprintf(text, sizeof(text),
                 "gaconsole %s: y = x^2 on 2 replicas x accumulation 5 x batch 5 = 50 examples.\n"
                 "m makes a micro-batch, n an update, space runs; : types a command, ? shows the "
                 "keys.\n",
                 ga_version());
    ga_log_lines_add(app->log, GA_LOG_NOTE, "", text, (size_t)length);
}

/* Eyes can follow 40 updates a second; configuration and scripts may think otherwise. */
static void set_pace(struct ga_app *app)
{
    static const char line[] = "set pace x1";
    app->muted = true;
    ga_console_line(app->console, line, sizeof(line) - 1, NULL);
    app->muted = false;
}

/* A session that is cut off leaves its run behind when --autosave asked for it. */
static void save_cut_off(struct ga_app *app)
{
    struct ga_text line = GA_TEXT_INIT;
    if (app->caught && app->arguments->autosave) {
        ga_console_pause(app->console);
        ga_text_printf(&line, "save \"%s\"", app->arguments->autosave);
        ga_console_line(app->console, ga_text_get(&line), line.length, NULL);
    }
    ga_text_free(&line);
}

static void run_session(struct ga_app *app)
{
    set_pace(app);
    if (app->arguments->sources == 0)
        greet(app);
    ga_app_draw(app);
    app->busy++;
    ga_run_configuration(app->console);
    if (!app->ended)
        ga_run_sources(app->console, app->arguments, false);
    app->busy--;
    app->ended = app->ended || ga_console_quits(app->console);
    ga_app_change(app);
    while (!app->ended)
        ga_app_turn(app, GA_TURN_LISTEN);
    save_cut_off(app);
}

int ga_app_main(const struct ga_arguments *arguments)
{
    struct ga_app *app = ga_alloc(1, sizeof(*app));
    if (!app)
        return GA_ENOMEM;
    setlocale(LC_CTYPE, "");
    app->arguments = arguments;
    app->capture.fd = -1;
    const int code = open_app(app);
    if (code == 0)
        run_session(app);
    const int caught = app->caught;
    struct ga_error error;
    ga_error_take(&error);
    close_app(app);
    free(app);
    if (code < 0)
        return ga_error_put(&error);
    if (caught)
        ga_trap_raise(caught);
    return GA_STATUS_FINE;
}
