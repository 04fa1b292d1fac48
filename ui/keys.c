#include "ui/keys.h"

#include <inttypes.h>
#include <string.h>

#include "console/command.h"

#define PACE_MOST  1024.0 /* beyond it, as fast as it goes */
#define PACE_LEAST (1.0 / 1024)

static void run_or_pause(const struct ga_view *view, int key, struct ga_text *out)
{
    (void)key;
    ga_text_puts(out, view->running ? "pause" : "run");
}

int64_t ga_ladder(int64_t value, int step, int64_t most)
{
    static const int64_t rungs[] = {1, 2, 5};
    int64_t below = value;
    int64_t scale = 1;
    for (size_t i = 0; scale <= most; scale *= i == 2 ? 10 : 1, i = (i + 1) % 3) {
        const int64_t rung = rungs[i] * scale;
        if (step > 0 && rung > value)
            return rung <= most ? rung : value;
        if (step < 0 && rung < value)
            below = rung;
    }
    return below;
}

static void set_rung(struct ga_text *out, const char *name, int64_t value, int step)
{
    ga_text_printf(out, "set %s %" PRId64, name, ga_ladder(value, step, GA_MAX_WINDOW));
}

static void accum_up(const struct ga_view *view, int key, struct ga_text *out)
{
    set_rung(out, "accum", view->pending.accum, key == 'a' ? 1 : -1);
}

static void batch_up(const struct ga_view *view, int key, struct ga_text *out)
{
    set_rung(out, "batch", view->pending.batch, key == '-' ? -1 : 1);
}

static void next_mode(const struct ga_view *view, int key, struct ga_text *out)
{
    (void)key;
    const int next = ((int)view->pending.mode + 1) % ga_choice_count("mode");
    ga_text_printf(out, "mode %s", ga_choice_word("mode", next));
}

static void other_pace(const struct ga_view *view, int key, struct ga_text *out)
{
    const bool faster = key == '>';
    const bool factor = view->pending.pace.kind == GA_PACE_FACTOR;
    double value = view->pending.pace.value * (faster ? 2 : 0.5);
    if (view->pending.pace.kind == GA_PACE_MAX)
        value = faster ? 2 * PACE_MOST : PACE_MOST;
    ga_text_puts(out, "set pace ");
    if (view->pending.pace.kind != GA_PACE_UPDATES && value > PACE_MOST) {
        ga_text_puts(out, "max");
        return;
    }
    if (factor || view->pending.pace.kind == GA_PACE_MAX)
        ga_text_puts(out, "x");
    ga_text_number(out, value > PACE_LEAST ? value : PACE_LEAST);
}

static void show_panel(const struct ga_view *view, int key, struct ga_text *out)
{
    (void)view;
    ga_text_printf(out, "view panel %c", key);
}

static void fork_run(const struct ga_view *view, int key, struct ga_text *out)
{
    (void)key;
    ga_text_printf(out, "fork at-%" PRIu64, view->counters.updates);
}

/* clang-format off */
static const struct ga_key_row rows[] = {
    {' ', ' ', "space", GA_ACT_COMMAND, "run", run_or_pause, false, 1, "run", NULL,
     "Runs, or pauses what runs."},
    {'m', 'm', "m", GA_ACT_COMMAND, "micro", NULL, false, 1, "micro", NULL,
     "One micro-batch on one replica."},
    {'n', 'n', "n", GA_ACT_COMMAND, "next", NULL, false, 1, "update", NULL,
     "One update, or the rest of the one begun."},
    {'e', 'e', "e", GA_ACT_COMMAND, "event", NULL, false, 0, NULL, NULL,
     "One event: a micro-batch, a push, the reduction, the step."},
    {'b', 'b', "b", GA_ACT_COMMAND, "back", NULL, false, 2, "back", NULL,
     "One update back."},
    {'B', 'B', "B", GA_ACT_COMMAND, "back 100", NULL, false, 0, NULL, NULL,
     "A hundred updates back."},
    {'a', 'a', "a", GA_ACT_COMMAND, "set accum +", accum_up, false, 0, NULL, NULL,
     "More accumulation: the next of 1 2 5 10 20 50 ..."},
    {'A', 'A', "A", GA_ACT_COMMAND, "set accum -", accum_up, false, 2, "accum", "a/A",
     "Less accumulation."},
    {'+', '+', "+", GA_ACT_COMMAND, "set batch +", batch_up, false, 0, NULL, NULL,
     "A larger micro-batch: the next of 1 2 5 10 20 50 ..."},
    {'-', '-', "-", GA_ACT_COMMAND, "set batch -", batch_up, false, 2, "batch", "+/-",
     "A smaller micro-batch."},
    {'t', 't', "t", GA_ACT_COMMAND, "mode NEXT", next_mode, false, 2, "mode", NULL,
     "The next update mode."},
    {'<', '<', "<", GA_ACT_COMMAND, "set pace /2", other_pace, false, 0, NULL, NULL,
     "Half the pace."},
    {'>', '>', ">", GA_ACT_COMMAND, "set pace *2", other_pace, false, 2, "pace", "</>",
     "Twice the pace; beyond x1024 as fast as it goes."},
    {'R', 'R', "R", GA_ACT_CONFIRM, "reset", NULL, false, 0, NULL, NULL,
     "Back to update 0, after a question."},
    {'f', 'f', "f", GA_ACT_COMMAND, "fork NAME", fork_run, false, 0, NULL, NULL,
     "A copy of the run as it is, beside this one."},
    {'c', 'c', "c", GA_ACT_TYPE, "compare ", NULL, false, 2, "compare", NULL,
     "Compares two runs."},
    {'l', 'l', "l", GA_ACT_COMMAND, "view y", NULL, true, 0, NULL, NULL,
     "Logarithmic or linear y axis."},
    {'x', 'x', "x", GA_ACT_COMMAND, "view x", NULL, true, 0, NULL, NULL,
     "The next x axis: updates, examples, virtual time, wall time."},
    {'w', 'w', "w", GA_ACT_COMMAND, "view smoothing more", NULL, true, 0, NULL, NULL,
     "Smoother curves."},
    {'W', 'W', "W", GA_ACT_COMMAND, "view smoothing less", NULL, true, 0, NULL, NULL,
     "Less smooth curves."},
    {GA_KEY_TAB, GA_KEY_TAB, "Tab", GA_ACT_COMMAND, "view panel next", NULL, true, 2, "panel", NULL,
     "The focus to the next panel: its arrow keys scroll and select."},
    {GA_KEY_BACK_TAB, GA_KEY_BACK_TAB, "shift-Tab", GA_ACT_COMMAND, "view panel previous", NULL,
     true, 0, NULL, NULL, "The focus to the panel before."},
    {'z', 'z', "z", GA_ACT_COMMAND, "view zoom", NULL, true, 2, "zoom", NULL,
     "The panel with the focus takes the screen, or gives it back."},
    {'1', '9', "1..9", GA_ACT_COMMAND, "view panel N", show_panel, true, 0, NULL, NULL,
     "Shows a panel and gives it the focus; once more zooms it."},
    {'g', 'g', "g", GA_ACT_COMMAND, "view glyphs", NULL, true, 0, NULL, NULL,
     "The next glyphs for charts: braille, block, ascii."},
    {'T', 'T', "T", GA_ACT_COMMAND, "view theme", NULL, true, 0, NULL, NULL,
     "The next theme: dark, light, contrast, mono."},
    {'/', '/', "/", GA_ACT_PALETTE, "", NULL, true, 0, NULL, NULL,
     "The palette: every command and setting, found by typing."},
    {'?', '?', "?", GA_ACT_HELP, "", NULL, true, 1, "help", NULL,
     "This page."},
    {':', ':', ":", GA_ACT_TYPE, "", NULL, true, 1, "command", NULL,
     "Opens the command line."},
    {GA_KEY_ESCAPE, GA_KEY_ESCAPE, "Esc", GA_ACT_LEAVE, "", NULL, true, 0, NULL, NULL,
     "Leaves the command line, the palette, help, a lesson, zoom."},
    {GA_CTRL('l'), GA_CTRL('l'), "ctrl-L", GA_ACT_REPAINT, "", NULL, true, 0, NULL, NULL,
     "Draws the whole screen anew."},
    {GA_CTRL('z'), GA_CTRL('z'), "ctrl-Z", GA_ACT_SUSPEND, "", NULL, true, 0, NULL, NULL,
     "Back to the shell; fg returns."},
    {GA_CTRL('c'), GA_CTRL('c'), "ctrl-C", GA_ACT_INTERRUPT, "", NULL, true, 0, NULL, NULL,
     "Clears the line, else pauses; twice within a second asks to quit."},
    {'q', 'q', "q", GA_ACT_QUIT, "quit", NULL, false, 2, "quit", NULL,
     "Ends; asks when more than a minute of training is not saved."},
};
/* clang-format on */

#define RANKS 2 /* of hints */
#define ROWS  (sizeof(rows) / sizeof(rows[0]))

size_t ga_key_count(void)
{
    return ROWS;
}

const struct ga_key_row *ga_key_at(size_t position)
{
    return position < ROWS ? &rows[position] : NULL;
}

bool ga_key_bound(const struct ga_key_row *row)
{
    char verb[16];
    const size_t length = strcspn(row->command, " ");
    if (length == 0)
        return true;
    if (length >= sizeof(verb))
        return false;
    memcpy(verb, row->command, length);
    verb[length] = '\0';
    return ga_command_named(verb) != NULL;
}

const struct ga_key_row *ga_key_find(int key)
{
    for (size_t i = 0; i < ROWS; i++)
        if (key >= rows[i].key && key <= rows[i].last)
            return ga_key_bound(&rows[i]) ? &rows[i] : NULL;
    return NULL;
}

void ga_key_command(const struct ga_key_row *row, const struct ga_view *view, int key,
                    struct ga_text *out)
{
    if (row->make)
        row->make(view, key, out);
    else
        ga_text_puts(out, row->command);
}

size_t ga_key_hints(const struct ga_view *view, struct ga_hint *out, size_t most)
{
    size_t count = 0;
    for (size_t n = 0; n < RANKS * ROWS && count < most; n++) {
        const size_t i = n % ROWS;
        if (rows[i].rank != 1 + (int)(n / ROWS) || !ga_key_bound(&rows[i]))
            continue;
        const char *what = rows[i].hint;
        if (rows[i].make == run_or_pause && view->running)
            what = "pause";
        out[count++] = (struct ga_hint){rows[i].hint_key ? rows[i].hint_key : rows[i].name, what};
    }
    return count;
}
