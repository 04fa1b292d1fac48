#include "ui/display.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "settings/words.h"
#include "ui/panel.h"
#include "ui/samples.h"

static const char *const glyph_names[] = {
    [GA_GLYPHS_BRAILLE] = "braille", [GA_GLYPHS_BLOCK] = "block", [GA_GLYPHS_ASCII] = "ascii"};
static const char *const axis_names[GA_X_AXES] = {[GA_X_UPDATES] = "updates",
                                                  [GA_X_EXAMPLES] = "examples",
                                                  [GA_X_TIME] = "time",
                                                  [GA_X_WALL] = "wall"};
static const double smoothings[] = {0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995};

#define GLYPHS     ((int)(sizeof(glyph_names) / sizeof(glyph_names[0])))
#define SMOOTHINGS ((int)(sizeof(smoothings) / sizeof(smoothings[0])))

/* A terminal that says that its paper is bright gets the theme for it. */
static enum ga_theme usual_theme(void)
{
    const char *colors = getenv("COLORFGBG"); /* "foreground;background", as rxvt began it */
    const char *last = colors ? strrchr(colors, ';') : NULL;
    const bool bright = last && (strcmp(last, ";7") == 0 || strcmp(last, ";15") == 0);
    return bright ? GA_THEME_LIGHT : GA_THEME_DARK;
}

void ga_display_init(struct ga_display *display)
{
    *display = (struct ga_display){.theme = usual_theme(),
                                   .glyphs = GA_GLYPHS_BRAILLE,
                                   .utf8 = true,
                                   .colored = true,
                                   .log_y = true,
                                   .x_axis = GA_X_UPDATES};
    ga_layout_wish_init(&display->wish, 24, 80);
}

enum ga_theme ga_display_theme(const struct ga_display *display)
{
    return display->colored ? display->theme : GA_THEME_MONO;
}

static int find_name(const char *const *names, int count, const char *what, const char *word)
{
    struct ga_text list = GA_TEXT_INIT;
    for (int i = 0; i < count; i++) {
        if (ga_word_same(names[i], word)) {
            ga_text_free(&list);
            return i;
        }
        ga_text_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    ga_fail(GA_EINPUT, "%s %s: expected one of %s", what, word, ga_text_get(&list));
    ga_text_free(&list);
    return -1;
}

int ga_glyphs_find(const char *name)
{
    return find_name(glyph_names, GLYPHS, "glyphs", name);
}

struct request {
    struct ga_display *display;
    const struct ga_layout *layout;
    const char *value; /* NULL: the next one */
};

static int view_zoom(const struct request *request)
{
    bool *zoom = &request->display->wish.zoom;
    if (!request->value)
        *zoom = !*zoom;
    else if (ga_word_same(request->value, "on") || ga_word_same(request->value, "off"))
        *zoom = ga_word_same(request->value, "on");
    else
        return ga_fail(GA_EINPUT, "zoom %s: expected on or off", request->value);
    return 0;
}

static int view_y(const struct request *request)
{
    bool *log_y = &request->display->log_y;
    if (!request->value)
        *log_y = !*log_y;
    else if (ga_word_same(request->value, "log") || ga_word_same(request->value, "linear"))
        *log_y = ga_word_same(request->value, "log");
    else
        return ga_fail(GA_EINPUT, "y %s: expected log or linear", request->value);
    return 0;
}

static int view_x(const struct request *request)
{
    int axis = (request->display->x_axis + 1) % GA_X_AXES;
    if (request->value)
        axis = find_name(axis_names, GA_X_AXES, "x", request->value);
    if (axis < 0)
        return ga_error_code();
    request->display->x_axis = axis;
    return 0;
}

static void step_smoothing(double *smoothing, int step)
{
    int at = 0;
    while (at + 1 < SMOOTHINGS && smoothings[at + 1] <= *smoothing)
        at++;
    at += step;
    if (at >= 0 && at < SMOOTHINGS)
        *smoothing = smoothings[at];
}

static int view_smoothing(const struct request *request)
{
    double *smoothing = &request->display->smoothing;
    const char *value = request->value ? request->value : "more";
    if (ga_word_same(value, "more"))
        step_smoothing(smoothing, 1);
    else if (ga_word_same(value, "less"))
        step_smoothing(smoothing, -1);
    else if (ga_read_double(value, 0, 0.9999, smoothing) < 0)
        return ga_fail_within("smoothing");
    return 0;
}

static int view_glyphs(const struct request *request)
{
    struct ga_display *display = request->display;
    int glyphs = ((int)display->glyphs + 1) % GLYPHS;
    if (request->value)
        glyphs = ga_glyphs_find(request->value);
    if (glyphs < 0)
        return ga_error_code();
    if (!display->utf8 && glyphs != GA_GLYPHS_ASCII)
        return ga_fail(GA_EUNSUPPORTED,
                       "glyphs %s: the locale has no UTF-8; expected ascii, or LC_ALL=C.UTF-8 when "
                       "gaconsole is started",
                       glyph_names[glyphs]);
    display->glyphs = (enum ga_glyphs)glyphs;
    return 0;
}

static int view_theme(const struct request *request)
{
    int theme = ((int)request->display->theme + 1) % GA_THEMES;
    if (request->value)
        theme = ga_theme_find(request->value);
    if (theme < 0)
        return ga_error_code();
    request->display->theme = (enum ga_theme)theme;
    return 0;
}

/* A panel by name or number; -1 and an error naming them. */
static int find_panel(const char *word)
{
    struct ga_text names = GA_TEXT_INIT;
    int64_t number = 0;
    int found = ga_panel_find(word);
    if (found < 0 && ga_read_int(word, 1, 99, &number) == 0 && ga_panel_at((int)number - 1))
        found = (int)number - 1;
    for (int i = 0; found < 0 && ga_panel_at(i); i++)
        ga_text_printf(&names, "%s, ", ga_panel_at(i)->name);
    if (found < 0)
        ga_fail(GA_EINPUT, "panel %s: expected one of %snext or previous", word,
                ga_text_get(&names));
    ga_text_free(&names);
    return found;
}

/* A number is what its key does, so it also zooms; a name only shows. */
static int view_panel(const struct request *request)
{
    struct ga_layout_wish *wish = &request->display->wish;
    const char *value = request->value ? request->value : "next";
    const bool previous = ga_word_same(value, "previous");
    if (previous || ga_word_same(value, "next")) {
        wish->focus = ga_layout_next(request->layout, wish->focus, previous ? -1 : 1);
        return 0;
    }
    const int panel = find_panel(value);
    if (panel < 0)
        return ga_error_code();
    if (panel != wish->focus || ga_panel_find(value) < 0)
        ga_layout_select(wish, panel);
    return 0;
}

static const struct {
    const char *word;
    int (*view)(const struct request *request);
} rows[] = {
    {"panel", view_panel},         {"zoom", view_zoom},     {"y", view_y},         {"x", view_x},
    {"smoothing", view_smoothing}, {"glyphs", view_glyphs}, {"theme", view_theme},
};

static void describe(const struct ga_display *display, struct ga_text *out)
{
    const struct ga_panel *focus = ga_panel_at(display->wish.focus);
    if (focus)
        ga_text_printf(out, "view panel %s\n", focus->name);
    ga_text_printf(out, "view zoom %s\nview y %s\nview x %s\nview smoothing ",
                   display->wish.zoom ? "on" : "off", display->log_y ? "log" : "linear",
                   axis_names[display->x_axis]);
    ga_text_number(out, display->smoothing);
    ga_text_printf(out, "\nview glyphs %s\nview theme %s\n", glyph_names[display->glyphs],
                   ga_theme_name(display->theme));
}

int ga_display_command(struct ga_display *display, const struct ga_layout *layout, size_t count,
                       const char *const *word, struct ga_text *answer)
{
    const struct request request = {display, layout, count > 1 ? word[1] : NULL};
    if (count == 0) {
        describe(display, answer);
        return 0;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (ga_word_same(rows[i].word, word[0]))
            return rows[i].view(&request) < 0 ? ga_fail_within("view") : 0;
    return ga_fail(GA_EINPUT,
                   "view %s: expected one of panel, zoom, y, x, smoothing, glyphs, theme", word[0]);
}
