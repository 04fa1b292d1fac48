/* What the console asks of the screen: where answers go, waiting, questions, display commands. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "ui/app_parts.h"
#include "ui/dump.h"

static int app_out(void *self, const char *bytes, size_t length)
{
    struct ga_app *app = self;
    if (!app->muted)
        ga_log_lines_add(app->log, GA_LOG_ANSWER, "", bytes, length);
    ga_app_touch(app);
    return 0;
}

/* Once the screen is gone, failures are for standard error. */
static void app_fail(void *self, const char *bytes, size_t length)
{
    struct ga_app *app = self;
    ga_log_lines_add(app->log, GA_LOG_FAILURE, "", bytes, length);
    ga_app_touch(app);
    if (!app->term && write(STDERR_FILENO, bytes, length) < 0)
        return; /* nobody is left to tell */
}

struct ga_sink ga_app_sink(struct ga_app *app)
{
    return (struct ga_sink){app, app_out, app_fail};
}

/* A script waits for a move: the screen lives on. */
static enum ga_wait app_wait(void *self, int bell_fd)
{
    struct ga_app *app = self;
    (void)bell_fd;
    ga_app_turn(app, GA_TURN_BELL);
    return app->interrupted || app->ended ? GA_WAIT_INTERRUPTED : GA_WAIT_ON;
}

/* Turns until the mode is left by its key, or by whatever ends the script. */
static void wait_in(struct ga_app *app, enum ga_app_mode mode)
{
    app->mode = mode;
    ga_app_change(app);
    while (!app->ended && !app->interrupted && !app->pressed)
        ga_app_turn(app, GA_TURN_LISTEN);
    app->pressed = false;
    app->mode = GA_APP_KEYS;
    ga_app_touch(app);
}

/* A question is shown to the end before it is answered. */
static void show_question(struct ga_app *app)
{
    ga_app_draw(app);
    while (ga_lesson_below(&app->lesson) > 0 && !app->back && !app->interrupted && !app->ended)
        wait_in(app, GA_APP_MORE);
}

static char *app_read_line(void *self, const char *prompt)
{
    struct ga_app *app = self;
    show_question(app);
    ga_line_begin(app->line, prompt, GA_LINE_ANSWER);
    if (!app->back)
        wait_in(app, GA_APP_ANSWER);
    app->lesson.read = app->back || app->interrupted; /* else what follows belongs to it */
    ga_lesson_answer(&app->lesson);
    char *answer = app->answer;
    app->answer = NULL;
    return answer;
}

static void app_wait_key(void *self)
{
    struct ga_app *app = self;
    wait_in(app, GA_APP_ANY_KEY);
    app->lesson.read = true;
}

static enum ga_leave app_leaves(void *self)
{
    struct ga_app *app = self;
    const bool back = app->back;
    app->back = false;
    if (app->interrupted || app->ended)
        return GA_LEAVE_SCRIPT;
    return back ? GA_LEAVE_PAGE : GA_LEAVE_NOT;
}

static void app_say(void *self, const char *text)
{
    struct ga_app *app = self;
    ga_lesson_say(&app->lesson, text);
    ga_log_lines_add(app->log, GA_LOG_NOTE, "", text, strlen(text));
    ga_app_touch(app);
}

static int app_view(void *self, size_t count, const char *const *word)
{
    struct ga_app *app = self;
    struct ga_text answer = GA_TEXT_INIT;
    const int code = ga_display_command(&app->display, &app->layout, count, word, &answer);
    if (answer.length > 0)
        ga_log_lines_add(app->log, GA_LOG_ANSWER, "", answer.data, answer.length);
    ga_text_free(&answer);
    ga_app_change(app);
    return code;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* With what happened up to now, and the keys that count once the line at work is done. */
static void draw_picture(struct ga_app *app)
{
    const int busy = app->busy;
    app->busy = 0;
    ga_app_draw(app);
    app->busy = busy;
}

static int app_save_display(void *self, const char *path)
{
    struct ga_app *app = self;
    struct ga_text text = GA_TEXT_INIT;
    struct ga_writer *writer = NULL;
    draw_picture(app);
    if (ends_in(path, ".svg"))
        ga_cells_svg(&app->cells, ga_display_theme(&app->display), &text);
    else
        ga_cells_dump(&app->cells, &text);
    int code = ga_text_failed(&text) ? ga_fail(GA_ENOMEM, "no memory for a picture of the screen")
                                     : ga_writer_open(&writer, path);
    if (code == 0)
        code = ga_writer_write(writer, ga_text_get(&text), text.length);
    if (code == 0)
        code = ga_writer_commit(writer);
    else
        ga_writer_abandon(writer);
    ga_text_free(&text);
    return code;
}

static int app_cast(void *self, const char *path)
{
    struct ga_app *app = self;
    struct ga_recorder *old = app->recorder;
    if (path)
        return ga_recorder_open(&app->recorder, path, &app->cells, app->display.utf8,
                                app->display.colored);
    app->recorder = NULL;
    return ga_recorder_close(old);
}

static const char *app_cast_path(void *self)
{
    const struct ga_app *app = self;
    return app->recorder ? ga_recorder_path(app->recorder) : NULL;
}

struct ga_front ga_app_front(struct ga_app *app)
{
    return (struct ga_front){.self = app,
                             .wait = app_wait,
                             .read_line = app_read_line,
                             .wait_key = app_wait_key,
                             .leaves = app_leaves,
                             .say = app_say,
                             .view = app_view,
                             .save_display = app_save_display,
                             .cast = app_cast,
                             .cast_path = app_cast_path};
}
