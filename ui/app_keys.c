/* What a key means, by who gets it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "console/lexer.h"
#include "ui/app_parts.h"
#include "ui/keys.h"
#include "ui/panels.h"
#include "ui/trap.h"

#define PROMPT     "(gaconsole) "
#define DOUBLE_NS  INT64_C(1000000000) /* two ctrl-C within it ask to quit */
#define UNSAVED_NS INT64_C(60000000000)

static void note(struct ga_app *app, const char *text)
{
    snprintf(app->note, sizeof(app->note), "%s", text);
    ga_app_touch(app);
}

/* Runs a line that is typed, or one of a paste. */
static int run_line(struct ga_app *app, const char *line, size_t length,
                    const struct ga_origin *origin)
{
    if (app->busy == 0)
        app->interrupted = false;
    app->busy++;
    const int code = ga_console_line(app->console, line, length, origin);
    app->busy--;
    app->ended = app->ended || ga_console_quits(app->console);
    ga_app_change(app);
    return code;
}

/* The log goes back to its newest lines: what is run now is answered there, and what happened
 * before is told before. */
void ga_app_run(struct ga_app *app, const char *key, const char *text)
{
    if (app->busy == 0)
        ga_console_pump(app->console);
    ga_screen_key(app->screen, &app->scene, ga_panel_find("log"), GA_KEY_END);
    ga_log_lines_add(app->log, GA_LOG_COMMAND, key, text, strlen(text));
    run_line(app, text, strlen(text), NULL);
}

static void ask(struct ga_app *app, void (*yes)(struct ga_app *app, const char *text),
                const char *text, const char *question)
{
    char *copy = ga_copy_string(text);
    if (!copy)
        return;
    free(app->confirm.text);
    app->confirm.text = copy;
    app->confirm.yes = yes;
    app->confirm.instead = app->mode == GA_APP_CONFIRM ? app->confirm.instead : app->mode;
    snprintf(app->confirm.question, sizeof(app->confirm.question), "%s", question);
    app->mode = GA_APP_CONFIRM;
    ga_app_touch(app);
}

static void run_confirmed(struct ga_app *app, const char *text)
{
    ga_app_run(app, "", text);
}

/* Each line as in a script, up to the first failure. */
static void run_pasted(struct ga_app *app, const char *text)
{
    struct ga_origin origin = {"pasted", 0};
    int code = 0;
    while (code == 0 && *text && !app->ended && !app->interrupted) {
        const size_t length = strcspn(text, "\n");
        origin.line++;
        ga_log_lines_add(app->log, GA_LOG_COMMAND, "", text, length);
        code = run_line(app, text, length, &origin);
        text += length + (text[length] == '\n');
    }
}

static void open_line(struct ga_app *app, const char *text)
{
    ga_line_begin(app->line, PROMPT, GA_LINE_COMMAND);
    ga_line_insert(app->line, text);
    app->mode = GA_APP_COMMAND;
    ga_app_touch(app);
}

static void take_paste(struct ga_app *app, const struct ga_input *input)
{
    char question[160];
    char *text = ga_copy_string(input->paste);
    if (!text)
        return;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    size_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    snprintf(question, sizeof(question), "run %zu pasted lines one by one?", lines);
    app->interrupted = false;
    if (input->paste_cut || (lines == 1 && length > GA_LINE_LIMIT))
        note(app, "what was pasted is too long for commands: nothing of it was taken");
    else if (lines > 1 && app->busy > 0)
        note(app, "a script runs: lines cannot be pasted into it");
    else if (lines > 1)
        ask(app, run_pasted, text, question);
    else if (app->mode == GA_APP_COMMAND || app->mode == GA_APP_ANSWER)
        ga_line_insert(app->line, text);
    else
        open_line(app, text);
    free(text);
}

static bool unsaved(struct ga_app *app)
{
    return app->moving_ns > UNSAVED_NS && !ga_console_saved(app->console, ga_app_view(app)->hash);
}

void ga_app_interrupt(struct ga_app *app)
{
    const int64_t now_ns = ga_now_ns();
    const bool again = now_ns - app->break_ns < DOUBLE_NS && app->break_ns > 0;
    app->break_ns = now_ns;
    if (app->busy > 0)
        app->interrupted = true;
    else if (again)
        ask(app, run_confirmed, "quit", "quit?");
    else if (ga_console_moving(app->console))
        ga_app_run(app, "^C", "pause");
    else
        note(app, "ctrl-C once more asks to quit; : types a command, ? shows the keys");
}

void ga_app_suspend(struct ga_app *app)
{
    ga_trap_rescue(NULL, -1, -1);
    ga_term_leave(app->term);
    app->away = true;
    ga_trap_stop();
    ga_app_resume(app);
}

/* After a stop, whoever ordered it: the terminal's modes may be anything. */
void ga_app_resume(struct ga_app *app)
{
    struct ga_term_rescue rescue;
    app->away = !ga_term_foreground(app->term);
    if (app->away)
        return;
    ga_term_leave(app->term);
    ga_term_enter(app->term);
    ga_term_rescue(app->term, &rescue);
    ga_trap_rescue(&rescue, app->capture.fd, app->capture.err);
    ga_line_resize(app->line, ga_term_rows(app->term), ga_term_columns(app->term));
    ga_app_touch(app);
}

static bool press_panel(struct ga_app *app, int panel, int key)
{
    if (!ga_screen_key(app->screen, &app->scene, panel, key))
        return false;
    ga_app_change(app);
    return true;
}

/* What a lesson has to say comes before other panels. False: there is no more of it there. */
static bool scroll_lesson(struct ga_app *app, int key)
{
    const bool moved = ga_lesson_scroll(&app->lesson, key);
    if (moved)
        ga_app_touch(app);
    return moved;
}

/* One function an act of the key table. */

static void act_command(struct ga_app *app, const struct ga_key_row *row, int key)
{
    struct ga_text text = GA_TEXT_INIT;
    char name[8];
    ga_key_command(row, ga_app_view(app), key, &text);
    snprintf(name, sizeof(name), "%.7s", row->name);
    if (row->quiet)
        run_line(app, ga_text_get(&text), text.length, NULL);
    else if (app->busy > 0)
        note(app, "a script runs: Esc ends it");
    else
        ga_app_run(app, name, ga_text_get(&text));
    ga_text_free(&text);
}

static void act_confirm(struct ga_app *app, const struct ga_key_row *row, int key)
{
    char question[64];
    (void)key;
    snprintf(question, sizeof(question), "%s?", row->command);
    if (app->busy == 0)
        ask(app, run_confirmed, row->command, question);
}

static void act_type(struct ga_app *app, const struct ga_key_row *row, int key)
{
    (void)key;
    if (app->busy > 0)
        note(app, "a script runs: Esc ends it");
    else
        open_line(app, row->command);
}

static void act_palette(struct ga_app *app, const struct ga_key_row *row, int key)
{
    (void)row;
    (void)key;
    if (app->busy > 0)
        return;
    ga_palette_reset(app->palette);
    app->mode = GA_APP_PALETTE;
}

static void act_help(struct ga_app *app, const struct ga_key_row *row, int key)
{
    (void)row;
    (void)key;
    app->help_row = 0;
    app->mode = GA_APP_HELP;
}

static void act_leave(struct ga_app *app, const struct ga_key_row *row, int key)
{
    (void)row;
    (void)key;
    if (app->busy > 0)
        app->interrupted = true;
    else if (app->lesson.text.length > 0)
        ga_lesson_fini(&app->lesson);
    else
        app->display.wish.zoom = false;
}

static void act_interrupt(struct ga_app *app, const struct ga_key_row *row, int key)
{
    (void)row;
    (void)key;
    ga_app_interrupt(app);
}

static void act_quit(struct ga_app *app, const struct ga_key_row *row, int key)
{
    (void)key;
    if (app->busy > 0)
        note(app, "a script runs: Esc ends it");
    else if (unsaved(app))
        ask(app, run_confirmed, "quit", "quit without `save FILE`?");
    else
        ga_app_run(app, row->name, row->command);
}

static void act_nothing(struct ga_app *app, const struct ga_key_row *row, int key)
{
    (void)app;
    (void)row;
    (void)key;
}

static void (*const acts[])(struct ga_app *app, const struct ga_key_row *row, int key) = {
    [GA_ACT_COMMAND] = act_command, [GA_ACT_CONFIRM] = act_confirm,     [GA_ACT_TYPE] = act_type,
    [GA_ACT_PALETTE] = act_palette, [GA_ACT_HELP] = act_help,           [GA_ACT_LEAVE] = act_leave,
    [GA_ACT_REPAINT] = act_nothing, /* every mode has these two: ga_app_press() */
    [GA_ACT_SUSPEND] = act_nothing, [GA_ACT_INTERRUPT] = act_interrupt, [GA_ACT_QUIT] = act_quit,
};

/* One function a mode. */

static void press_keys(struct ga_app *app, const struct ga_input *input)
{
    const struct ga_key_row *row = input->modifiers ? NULL : ga_key_find(input->key);
    const bool special = input->key > 0x10ffff || input->key == GA_KEY_ENTER;
    const bool pages = app->display.wish.focus == GA_PANEL_LESSON || input->key == GA_KEY_PAGE_UP ||
                       input->key == GA_KEY_PAGE_DOWN;
    if (input->key == GA_KEY_PASTE && app->busy == 0)
        take_paste(app, input);
    else if ((pages && scroll_lesson(app, input->key)) ||
             ((!row || special) && press_panel(app, app->display.wish.focus, input->key)))
        return;
    else if (row)
        acts[row->act](app, row, input->key);
    else if (!special || !press_panel(app, ga_panel_find("log"), input->key))
        note(app, "press : to type a command, ? for the keys");
}

static void press_line(struct ga_app *app, const struct ga_input *input)
{
    const bool pages = input->key == GA_KEY_PAGE_UP || input->key == GA_KEY_PAGE_DOWN;
    if (pages && !scroll_lesson(app, input->key))
        press_panel(app, ga_panel_find("log"), input->key);
    else if (pages)
        return;
    else if (input->key == GA_KEY_PASTE)
        take_paste(app, input);
    else
        ga_line_press(app->line, input);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t")] == '\0';
}

static void press_command(struct ga_app *app, const struct ga_input *input)
{
    char *text = NULL;
    const bool escape = input->key == GA_KEY_ESCAPE && !ga_line_takes_escape(app->line);
    if (escape || (input->key == GA_CTRL('c') && ga_line_empty(app->line))) {
        app->mode = GA_APP_KEYS;
        if (!escape)
            ga_app_interrupt(app);
        return;
    }
    if (input->key == GA_CTRL('c')) {
        open_line(app, "");
        return;
    }
    press_line(app, input);
    if (app->mode != GA_APP_COMMAND || ga_line_take(app->line, &text) == GA_LINE_OPEN)
        return;
    app->mode = GA_APP_KEYS;
    if (text && !is_blank(text))
        ga_app_run(app, "", text);
    free(text);
}

static void press_answer(struct ga_app *app, const struct ga_input *input)
{
    if (input->key == GA_KEY_ESCAPE || input->key == GA_CTRL('c')) {
        app->interrupted = true;
        return;
    }
    if (input->key == GA_KEY_BACKSPACE && ga_line_empty(app->line)) {
        app->back = app->pressed = true;
        return;
    }
    press_line(app, input);
    char *text = NULL;
    if (app->mode != GA_APP_ANSWER || ga_line_take(app->line, &text) == GA_LINE_OPEN)
        return;
    free(app->answer);
    app->answer = text;
    app->pressed = true;
}

/* Keys that only look do so; any other goes on, a page at a time. */
static void press_any_key(struct ga_app *app, const struct ga_input *input)
{
    const struct ga_key_row *row = input->modifiers ? NULL : ga_key_find(input->key);
    const bool looks = row && row->quiet && row->act == GA_ACT_COMMAND;
    const bool back = input->key == GA_KEY_BACKSPACE || input->key == 'b';
    if (input->key == GA_KEY_ESCAPE || input->key == GA_CTRL('c'))
        app->interrupted = true;
    else if (looks)
        acts[row->act](app, row, input->key);
    else if (input->key > 0x10ffff && scroll_lesson(app, input->key))
        return;
    else if (input->key > 0x10ffff)
        press_panel(app, app->display.wish.focus, input->key);
    else if (!scroll_lesson(app, back ? GA_KEY_PAGE_UP : GA_KEY_PAGE_DOWN)) {
        app->back = back;
        app->pressed = true;
    }
}

static void press_more(struct ga_app *app, const struct ga_input *input)
{
    press_any_key(app, input);
    app->pressed = app->pressed || ga_lesson_below(&app->lesson) == 0;
}

static void press_confirm(struct ga_app *app, const struct ga_input *input)
{
    const bool yes = input->key == 'y' || input->key == 'Y';
    const bool no = input->key == 'n' || input->key == 'N' || input->key == 'q' ||
                    input->key == GA_KEY_ESCAPE || input->key == GA_CTRL('c');
    if (!yes && !no)
        return;
    char *text = app->confirm.text;
    app->confirm.text = NULL;
    app->mode = yes ? GA_APP_KEYS : app->confirm.instead;
    if (yes)
        app->confirm.yes(app, text);
    free(text);
}

static void press_palette(struct ga_app *app, const struct ga_input *input)
{
    if (input->key == GA_CTRL('c')) {
        app->mode = GA_APP_KEYS;
        return;
    }
    const enum ga_palette_answer answer = ga_palette_press(app->palette, input->key);
    if (answer == GA_PALETTE_CHOSEN)
        open_line(app, ga_palette_choice(app->palette));
    else if (answer == GA_PALETTE_LEFT)
        app->mode = GA_APP_KEYS;
}

static void press_help(struct ga_app *app, const struct ga_input *input)
{
    const struct ga_rect *panels = &app->layout.panels;
    const int rows = ga_help_rows(app->palette, panels->columns - 2);
    const int row = ga_scroll(app->help_row, input->key, rows, panels->rows - 2);
    if (row >= 0)
        app->help_row = row;
    else
        app->mode = GA_APP_KEYS;
}

static void (*const modes[])(struct ga_app *app, const struct ga_input *input) = {
    [GA_APP_KEYS] = press_keys,       [GA_APP_COMMAND] = press_command,
    [GA_APP_ANSWER] = press_answer,   [GA_APP_ANY_KEY] = press_any_key,
    [GA_APP_MORE] = press_more,       [GA_APP_CONFIRM] = press_confirm,
    [GA_APP_PALETTE] = press_palette, [GA_APP_HELP] = press_help,
};

/* Esc and a key that came in one packet look like Alt, which only the command line knows. */
static void press_apart(struct ga_app *app, const struct ga_input *input)
{
    const struct ga_input escape = {.key = GA_KEY_ESCAPE};
    const struct ga_input key = {.key = input->key};
    modes[app->mode](app, &escape);
    modes[app->mode](app, &key);
}

void ga_app_press(struct ga_app *app, const struct ga_input *input)
{
    const bool typing = app->mode == GA_APP_COMMAND || app->mode == GA_APP_ANSWER;
    const bool alt = input->key <= 0x10ffff && (input->modifiers & GA_MODIFIER_ALT);
    app->note[0] = '\0';
    ga_app_touch(app);
    if (input->key == GA_CTRL('l'))
        ga_term_forget(app->term);
    else if (input->key == GA_CTRL('z'))
        ga_app_suspend(app);
    else if (alt && !typing)
        press_apart(app, input);
    else
        modes[app->mode](app, input);
}
