#include "ui/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "ui/figure.h"

#define PARTS     24
#define PART_TEXT 192
#define GAP       2 /* blanks between two parts */

/* A piece of the status lines. Those with the lowest weight are left out first. */
struct part {
    char text[PART_TEXT];
    unsigned role, attributes;
    int weight;
    int line;  /* the row it would like */
    bool gone; /* placed */
};

struct parts {
    struct part part[PARTS];
    int count;
    bool narrow; /* no blanks that only keep later parts in their place */
    bool tiny;   /* no panel is shown: the loss stands here alone */
};

static struct part *add(struct parts *parts, int line, int weight, unsigned role,
                        unsigned attributes, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

static struct part *add(struct parts *parts, int line, int weight, unsigned role,
                        unsigned attributes, const char *format, ...)
{
    struct part *part = &parts->part[parts->count < PARTS - 1 ? parts->count++ : PARTS - 1];
    const locale_t old = ga_c_locale_enter();
    va_list args;

    *part = (struct part){.line = line, .weight = weight, .role = role, .attributes = attributes};
    va_start(args, format);
    vsnprintf(part->text, sizeof part->text, format, args);
    va_end(args);
    ga_c_locale_leave(old);
    return part;
}

static const struct ga_setting *row_named(const char *name)
{
    for (size_t i = 0; i < ga_setting_count(); i++)
        if (strcmp(ga_setting_at(i)->name, name) == 0)
            return ga_setting_at(i);
    return NULL;
}

/* The value of a setting as one word; "" when there is no such setting. */
static void value_of(const char *name, const struct ga_settings *settings, char *out, size_t size)
{
    const struct ga_setting *row = row_named(name);
    struct ga_text text = GA_TEXT_INIT;

    if (row)
        ga_setting_write(row, settings, &text);
    snprintf(out, size, "%s", ga_text_get(&text));
    ga_text_free(&text);
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static void write_change(const struct ga_view *view, const struct ga_setting *row,
                         struct ga_text *out)
{
    ga_text_printf(out, "%s%s ", out->length ? ", " : "", row->name);
    ga_setting_write(row, &view->settings, out);
    ga_text_puts(out, " -> ");
    ga_setting_write(row, &view->pending, out);
}

void ga_status_pending(const struct ga_view *view, struct ga_text *out)
{
    static const enum ga_when order[] = {GA_WHEN_NOW, GA_WHEN_WINDOW, GA_WHEN_START};
    struct ga_text group = GA_TEXT_INIT;

    for (int k = 0; k < 3; k++) {
        ga_text_clear(&group);
        for (size_t i = 0; i < ga_setting_count(); i++) {
            const struct ga_setting *row = ga_setting_at(i);

            if (row->when == order[k] && !ga_setting_same(row, &view->settings, &view->pending))
                write_change(view, row, &group);
        }
        if (group.length == 0)
            continue;
        ga_text_printf(out, "%s%s", out->length ? "; " : "", ga_text_get(&group));
        if (order[k] == GA_WHEN_WINDOW)
            ga_text_printf(out, " at update %" PRIu64,
                           view->counters.updates + (view->phase == GA_PHASE_IDLE ? 1 : 2));
        else if (order[k] == GA_WHEN_START)
            ga_text_puts(out, " at reset");
    }
    ga_text_free(&group);
}

static void add_state(struct parts *parts, const struct ga_scene *scene)
{
    bool running = scene->view->running, stopped = *scene->stopped != 0 && !running;
    const char *moves = scene->view->jumping ? "JUMP" : "RUN";
    const char *word = running ? moves : stopped ? "STOPPED" : "PAUSED";
    unsigned role = running ? GA_ROLE_GOOD : stopped ? GA_ROLE_BAD : GA_ROLE_WARN;

    add(parts, 0, 100, role, GA_ATTR_BOLD | GA_ATTR_REVERSE, parts->narrow ? " %s" : " %-7s", word);
    if (stopped)
        add(parts, 1, 97, GA_ROLE_BAD, GA_ATTR_BOLD, "%s", scene->stopped);
    if (*scene->view->misfit) /* what is expected instead stands with the replicas */
        add(parts, 1, 94, GA_ROLE_BAD, GA_ATTR_BOLD, "%.*s", (int)strcspn(scene->view->misfit, ":"),
            scene->view->misfit);
}

/* Micro-batches of the open window: the replica that is furthest. */
static uint32_t micro_now(const struct ga_view *view)
{
    uint32_t most = 0;

    if (view->event.kind == GA_EVENT_MICRO)
        return view->event.micro;
    for (size_t r = 0; r < view->replicas && r < GA_VIEW_REPLICAS; r++)
        most = view->replica[r].micro > most ? view->replica[r].micro : most;
    return most;
}

static void add_place(struct parts *parts, const struct ga_view *view)
{
    int accum = view->settings.accum;
    int width = snprintf(NULL, 0, "%d", accum);

    add(parts, 0, 96, GA_ROLE_TEXT, GA_ATTR_BOLD, "update %-*" PRIu64, parts->narrow ? 1 : 5,
        view->counters.updates);
    if (view->phase == GA_PHASE_IDLE || view->phase == GA_PHASE_MICRO)
        add(parts, 0, 80, GA_ROLE_TEXT, 0, "micro %*u/%d", width,
            view->phase == GA_PHASE_IDLE ? 0 : micro_now(view), accum);
    else
        add(parts, 0, 80, GA_ROLE_TEXT, 0, "at %-*s", 4 + 2 * width, ga_phase_name(view->phase));
    add(parts, 0, 60, GA_ROLE_TEXT, 0, "epoch %" PRIu64, view->record.epoch);
}

/* The mode, and its own settings where they are not as usual. */
static void add_mode(struct parts *parts, const struct ga_view *view)
{
    const char *mode = ga_choice_word("mode", (int)view->settings.mode);
    char text[PART_TEXT] = "", value[64];
    size_t length = 0;

    if (!mode)
        return;
    length = (size_t)snprintf(text, sizeof text, "%s", mode);
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        bool scale = strcmp(row->name, "scale") == 0;

        value_of(row->name, &view->settings, value, sizeof value);
        if ((!scale && (!*row->modes || !has_word(row->modes, mode))) ||
            strcmp(value, row->initial) == 0 || length > sizeof text / 2)
            continue;
        length += (size_t)snprintf(text + length, sizeof text - length, " %s %s", row->name, value);
    }
    add(parts, 0, 85, GA_ROLE_TEXT, GA_ATTR_BOLD, "%s", text);
}

/* Replicas that push for themselves share no window: an update is made of items. */
static bool pushes(enum ga_mode mode)
{
    return mode == GA_MODE_ASYNC || mode == GA_MODE_SSP || mode == GA_MODE_BUFFERED ||
           mode == GA_MODE_HOGWILD;
}

/* What the items under way really hold: ", 6-7 now" where that is not what was asked for. */
static void write_items(const struct ga_view *view, uint64_t asked, char *out, size_t size)
{
    uint32_t least = UINT32_MAX, most = 0;

    *out = '\0';
    for (size_t r = 0; r < view->replicas && r < GA_VIEW_REPLICAS; r++) {
        uint32_t examples = view->replica[r].examples;

        if (examples == 0)
            continue;
        least = examples < least ? examples : least;
        most = examples > most ? examples : most;
    }
    if (most == 0 || (least == most && most == asked))
        return;
    if (least == most)
        snprintf(out, size, ", %" PRIu32 " now", most);
    else
        snprintf(out, size, ", %" PRIu32 "-%" PRIu32 " now", least, most);
}

static void add_items(struct parts *parts, const struct ga_view *view)
{
    const struct ga_settings *s = &view->settings;
    uint64_t product = (uint64_t)s->accum * (uint64_t)s->batch;
    char now[48];

    write_items(view, s->global > 0 ? 0 : product, now, sizeof now);
    if (s->global > 0)
        add(parts, 0, 90, GA_ROLE_TEXT, 0, "P %d, items A %d of B %d%s", s->replicas, s->accum,
            s->global, now);
    else
        add(parts, 0, 90, GA_ROLE_TEXT, 0, "P %d, items A %d \u00d7 b %d = %" PRIu64 "%s",
            s->replicas, s->accum, s->batch, product, now);
}

/* Of a window, or of a round of private steps. */
static uint64_t asked_examples(const struct ga_settings *s)
{
    uint64_t steps = s->mode == GA_MODE_LOCAL && s->period > 1 ? (uint64_t)s->period : 1;

    if (s->global > 0)
        return (uint64_t)s->global * steps;
    return (uint64_t)s->replicas * (uint64_t)s->accum * (uint64_t)s->batch * steps;
}

static void add_window(struct parts *parts, const struct ga_view *view)
{
    const struct ga_settings *s = &view->settings;
    bool rounds = s->mode == GA_MODE_LOCAL && s->period > 1;
    char steps[32] = "";

    if (pushes(s->mode)) {
        add_items(parts, view);
        return;
    }
    if (rounds)
        snprintf(steps, sizeof steps, " \u00d7 %d steps", s->period);
    if (s->global > 0)
        add(parts, 0, 90, GA_ROLE_TEXT, 0, "P %d \u00d7 A %d%s, B %d", s->replicas, s->accum, steps,
            s->global);
    else
        add(parts, 0, 90, GA_ROLE_TEXT, 0, "P %d \u00d7 A %d \u00d7 b %d%s = %" PRIu64, s->replicas,
            s->accum, s->batch, steps, asked_examples(s));
}

static void add_learning(struct parts *parts, const struct ga_view *view)
{
    char lr[64], pace[64], figure[GA_FIGURE_TEXT];
    const char *optimizer = ga_choice_word("optimizer", (int)view->settings.optimizer);

    value_of("lr", &view->settings, lr, sizeof lr);
    value_of("pace", &view->settings, pace, sizeof pace);
    add(parts, 0, 75, GA_ROLE_TEXT, 0, "%s lr %s", optimizer ? optimizer : "?", lr);
    add(parts, 0, 70, GA_ROLE_TEXT, 0, "%s %08" PRIx32, view->numerics,
        (uint32_t)(view->hash >> 32));
    add(parts, 0, 55, GA_ROLE_DIM, 0, "%5s ex/s",
        view->examples_per_second > 0 ? ga_figure_count(figure, view->examples_per_second) : "-");
    if (view->counters.updates > 0)
        add(parts, 1, parts->tiny ? 95 : 65, GA_ROLE_TEXT, 0, "loss %s",
            ga_figure(figure, view->record.loss, 7, 5));
    add(parts, 1, 52, GA_ROLE_TEXT, 0, "pace %s", pace);
    add(parts, 1, 40, GA_ROLE_DIM, 0, "time %s",
        ga_figure_time(figure, (double)view->now_ns * 1e-9));
}

/* What the open window really holds: of weight where it is not what was asked for. */
static void add_held(struct parts *parts, const struct ga_view *view)
{
    const struct ga_settings *s = &view->settings;
    int weight = !pushes(s->mode) && view->window_examples != asked_examples(s) ? 62 : 50;

    if (view->window_examples > 0 && view->phase != GA_PHASE_IDLE) {
        int width = snprintf(NULL, 0, "%zu", view->window_examples);

        add(parts, 1, weight, GA_ROLE_TEXT, 0, "window %zu, %*zu left", view->window_examples,
            width, view->window_left);
    } else if (view->window_examples > 0) {
        add(parts, 1, weight, GA_ROLE_TEXT, 0, "window %zu", view->window_examples);
    }
}

static void add_counts(struct parts *parts, const struct ga_scene *scene)
{
    const struct ga_counters *counters = &scene->view->counters;

    if (counters->skipped > 0)
        add(parts, 1, 58, GA_ROLE_WARN, 0, "%" PRIu64 " skipped", counters->skipped);
    if (counters->items_dropped > 0)
        add(parts, 1, 57, GA_ROLE_WARN, 0, "%" PRIu64 " dropped", counters->items_dropped);
    if (scene->view->running && scene->view->target_updates > 0)
        add(parts, 1, 54, GA_ROLE_DIM, 0, "to update %" PRIu64, scene->view->target_updates);
    if (scene->runs > 1 && scene->run_name)
        add(parts, 1, 56, GA_ROLE_TITLE, 0, "run %s", scene->run_name);
}

static void add_pending(struct parts *parts, const struct ga_view *view)
{
    struct ga_text text = GA_TEXT_INIT;

    ga_status_pending(view, &text);
    if (text.length > 0)
        add(parts, 1, 93, GA_ROLE_WARN, GA_ATTR_BOLD, "pending %s", ga_text_get(&text));
    ga_text_free(&text);
}

/* Columns of the parts chosen for a row, with their gaps. */
static int columns_of(const struct parts *parts, const bool *chosen)
{
    int columns = 0;

    for (int i = 0; i < parts->count; i++)
        if (chosen[i])
            columns += (columns ? GAP : 0) + ga_text_columns(parts->part[i].text);
    return columns;
}

/* A short part may have room where a more important long one had none. */
static void take_back(const struct parts *parts, int line, bool all, int columns, bool *chosen)
{
    for (;;) {
        int best = -1;

        for (int i = 0; i < parts->count; i++) {
            const struct part *part = &parts->part[i];

            if (chosen[i] || part->gone || (!all && part->line > line) ||
                (best >= 0 && part->weight <= parts->part[best].weight))
                continue;
            if (columns_of(parts, chosen) + GAP + ga_text_columns(part->text) <= columns)
                best = i;
        }
        if (best < 0)
            return;
        chosen[best] = true;
    }
}

/* The parts of a row: those that want it or an earlier one, without the least important ones. */
static void choose(const struct parts *parts, int line, bool all, int columns, bool *chosen)
{
    for (int i = 0; i < parts->count; i++)
        chosen[i] = !parts->part[i].gone && (all || parts->part[i].line <= line);
    while (columns_of(parts, chosen) > columns) {
        int least = -1, count = 0;

        for (int i = 0; i < parts->count; i++) {
            count += chosen[i];
            if (chosen[i] && (least < 0 || parts->part[i].weight < parts->part[least].weight))
                least = i;
        }
        if (count <= 1)
            return;
        chosen[least] = false;
    }
    take_back(parts, line, all, columns, chosen);
}

static void draw_row(struct parts *parts, const bool *chosen, struct ga_cells *cells, int row,
                     struct ga_rect rect)
{
    int column = rect.column, end = rect.column + rect.columns;

    for (int i = 0; i < parts->count; i++) {
        struct part *part = &parts->part[i];

        if (!chosen[i])
            continue;
        part->gone = true;
        column = ga_cells_fit(cells, row, column, end - column, part->text, part->role,
                              part->attributes) +
                 GAP;
    }
}

void ga_status_draw(const struct ga_scene *scene, struct ga_cells *cells, struct ga_rect rect)
{
    struct parts parts = {.narrow = rect.columns < 60, .tiny = rect.columns < 32};
    bool chosen[PARTS];

    add_state(&parts, scene);
    add_place(&parts, scene->view);
    add_mode(&parts, scene->view);
    add_window(&parts, scene->view);
    add_pending(&parts, scene->view);
    add_learning(&parts, scene->view);
    add_held(&parts, scene->view);
    add_counts(&parts, scene);
    for (int line = 0; line < rect.rows; line++) {
        /* Below the block of the first row, whose text begins in its second column. */
        struct ga_rect row = {rect.row + line, rect.column + (line > 0), 1,
                              rect.columns - (line > 0)};

        choose(&parts, line, rect.rows == 1, row.columns, chosen);
        draw_row(&parts, chosen, cells, row.row, row);
    }
}

void ga_status_notice(struct ga_cells *cells)
{
    static const char *const texts[] = {"gaconsole: 20x3 at least", "needs 20x3", "20x3", "!"};
    size_t i = 0;

    while (i < 3 && (int)strlen(texts[i]) > cells->columns)
        i++;
    ga_cells_clear(cells);
    ga_cells_text(cells, 0, 0, texts[i], GA_ROLE_WARN, 0);
}

void ga_hint_draw(struct ga_cells *cells, struct ga_rect rect, const struct ga_hint *hint,
                  size_t count)
{
    int column = rect.column + 1, end = rect.column + rect.columns;

    for (size_t i = 0; i < count; i++) {
        int width = ga_text_columns(hint[i].key) + 1 + ga_text_columns(hint[i].what);

        if (column + width > end)
            continue;
        column = ga_cells_text(cells, rect.row, column, hint[i].key, GA_ROLE_KEY, GA_ATTR_BOLD) + 1;
        column = ga_cells_text(cells, rect.row, column, hint[i].what, GA_ROLE_DIM, 0) + GAP;
    }
}
