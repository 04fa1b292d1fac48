#include "ui/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "console/typing.h"
#include "ui/utf8.h"

#define RING   64 /* bytes; a key has at most eight */
#define ABORT  7  /* ctrl-G, which readline takes for "never mind" */
#define OFFERS 200
#define MARGIN 8 /* columns of text below which the prompt is left out */

struct ga_line {
    FILE *nowhere;
    char *prompt;
    enum ga_line_use use;
    char ring[RING];
    size_t start, end; /* bytes of keys that readline has not read */
    char *done;        /* a finished line */
    bool left;
    char *offer[OFFERS];
    size_t offers;
};

/* The open line; readline's callbacks have no other way to it. */
static struct ga_line *active;

/* readline asks for a byte only while there is one, except where a key wants a second one. */
static int next_byte(FILE *stream)
{
    (void)stream;
    if (active->start == active->end)
        return ABORT;
    return (unsigned char)active->ring[active->start++];
}

static int bytes_wait(void)
{
    return active->start < active->end;
}

/* Drawing is done by ga_line_draw() when the screen is drawn. */
static void draw_nothing(void)
{
}

static void take_line(char *text)
{
    free(active->done);
    active->done = text;
    active->left = text == NULL;
}

static void forget_offers(struct ga_line *line)
{
    for (size_t i = 0; i < line->offers; i++)
        free(line->offer[i]);
    line->offers = 0;
}

/* match[0] is what all have in common; the others follow. */
static void show_offers(char **match, int count, int longest)
{
    (void)longest;
    forget_offers(active);
    for (int i = 1; i <= count && active->offers < OFFERS; i++) {
        char *copy = ga_copy_string(match[i]);
        if (copy)
            active->offer[active->offers++] = copy;
    }
}

/* Before readline looks at the terminal for the first time. */
static void prepare_readline(struct ga_line *line)
{
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_change_environment = 0;
    rl_prep_term_function = NULL;
    rl_deprep_term_function = NULL;
    rl_outstream = line->nowhere;
    rl_getc_function = next_byte;
    rl_input_available_hook = bytes_wait;
    rl_redisplay_function = draw_nothing;
    rl_completion_display_matches_hook = show_offers;
    rl_completion_query_items = 0;
}

int ga_line_open(struct ga_line **out, struct ga_console *console, bool keep_history)
{
    *out = NULL;
    struct ga_line *line = ga_alloc(1, sizeof(*line));
    if (!line)
        return GA_ENOMEM;
    line->nowhere = fopen("/dev/null", "we");
    line->prompt = ga_copy_string("");
    if (!line->nowhere || !line->prompt) {
        ga_line_close(line);
        return ga_fail(GA_EIO, "cannot open /dev/null for the command line");
    }
    active = line;
    prepare_readline(line);
    ga_typing_open(console, keep_history);
    rl_callback_handler_install("", take_line);
    rl_variable_bind("enable-bracketed-paste", "off");
    rl_variable_bind("bell-style", "none");
    rl_variable_bind("show-all-if-ambiguous", "on"); /* the list disturbs nothing here */
    *out = line;
    return 0;
}

void ga_line_close(struct ga_line *line)
{
    if (!line)
        return;
    if (active == line) {
        rl_callback_handler_remove();
        ga_typing_close();
        rl_outstream = stdout;
        active = NULL;
    }
    forget_offers(line);
    if (line->nowhere)
        fclose(line->nowhere);
    free(line->prompt);
    free(line->done);
    free(line);
}

void ga_line_begin(struct ga_line *line, const char *prompt, enum ga_line_use use)
{
    char *copy = ga_copy_string(prompt);
    if (copy) {
        free(line->prompt);
        line->prompt = copy;
    }
    line->use = use;
    line->left = false;
    line->start = line->end = 0;
    free(line->done);
    line->done = NULL;
    forget_offers(line);
    rl_inhibit_completion = use == GA_LINE_ANSWER;
    rl_free_line_state();
    rl_callback_sigcleanup();
    rl_set_prompt(line->prompt);
    rl_replace_line("", 1);
    rl_point = rl_mark = 0;
    using_history();
}

static void push(struct ga_line *line, const char *bytes, size_t count)
{
    if (count > RING - line->end)
        return;
    memcpy(line->ring + line->end, bytes, count);
    line->end += count;
}

/* The bytes that readline's own key table knows; "": not for a command line. */
static const char *sequence_of(int key, bool by_word)
{
    static const struct {
        int key;
        const char *bytes, *by_word;
    } table[] = {
        {GA_KEY_UP, "\x1b[A", "\x1b[A"},
        {GA_KEY_DOWN, "\x1b[B", "\x1b[B"},
        {GA_KEY_RIGHT, "\x1b[C",
         "\x1b"
         "f"},
        {GA_KEY_LEFT, "\x1b[D",
         "\x1b"
         "b"},
        {GA_KEY_HOME, "\x01", "\x01"},
        {GA_KEY_END, "\x05", "\x05"},
        {GA_KEY_DELETE, "\x1b[3~",
         "\x1b"
         "d"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].key == key)
            return by_word ? table[i].by_word : table[i].bytes;
    return "";
}

static bool searching(void)
{
    return RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH) != 0;
}

static void push_key(struct ga_line *line, const struct ga_input *input)
{
    char bytes[1 + GA_UTF8_BYTES] = "\x1b";
    if (input->key > 0x10ffff) {
        const char *sequence = sequence_of(input->key, input->modifiers != 0);
        push(line, sequence, strlen(sequence));
        return;
    }
    if (input->key == GA_KEY_ESCAPE && searching()) {
        push(line, (const char[]){ABORT}, 1);
        return;
    }
    const size_t alt = (input->modifiers & GA_MODIFIER_ALT) ? 1 : 0;
    const size_t length = ga_utf8_write((uint32_t)input->key, bytes + 1);
    push(line, bytes + 1 - alt, length + alt);
}

/* In another locale than a UTF-8 one readline would take a character for several. */
static bool fits(const struct ga_line *line, const struct ga_input *input)
{
    const bool character = input->key >= 0x80 && input->key <= 0x10ffff;
    const bool moves = input->key == GA_KEY_TAB || input->key == GA_KEY_UP ||
                       input->key == GA_KEY_DOWN || input->key == GA_CTRL('r') ||
                       input->key == GA_CTRL('s') || input->key == GA_CTRL('p') ||
                       input->key == GA_CTRL('n');
    if (character && MB_CUR_MAX == 1)
        return false;
    return line->use == GA_LINE_COMMAND || !moves;
}

void ga_line_press(struct ga_line *line, const struct ga_input *input)
{
    forget_offers(line);
    if (!fits(line, input) || line->done)
        return;
    line->start = line->end = 0;
    push_key(line, input);
    while (line->start < line->end && !line->done && !line->left)
        rl_callback_read_char();
}

void ga_line_insert(struct ga_line *line, const char *text)
{
    forget_offers(line);
    rl_insert_text(text);
}

void ga_line_resize(struct ga_line *line, int rows, int columns)
{
    (void)line;
    rl_set_screen_size(rows, columns);
}

bool ga_line_empty(const struct ga_line *line)
{
    (void)line;
    return rl_end == 0;
}

bool ga_line_takes_escape(const struct ga_line *line)
{
    (void)line;
    return searching() || (rl_editing_mode == 0 && rl_get_keymap() == vi_insertion_keymap);
}

enum ga_line_end ga_line_take(struct ga_line *line, char **out)
{
    *out = line->done;
    line->done = NULL;
    if (*out && line->use == GA_LINE_COMMAND)
        ga_typing_remember(*out);
    if (line->left && !*out) {
        line->left = false;
        return GA_LINE_LEFT;
    }
    return *out ? GA_LINE_DONE : GA_LINE_OPEN;
}

size_t ga_line_offers(const struct ga_line *line)
{
    return line->offers;
}

const char *ga_line_offer(const struct ga_line *line, size_t position)
{
    return position < line->offers ? line->offer[position] : NULL;
}

/* What is shown of a byte: control characters, typed with ctrl-V, as '^'. */
static char shown_byte(char byte)
{
    const unsigned char value = (unsigned char)byte;
    return value < 0x20 || value == 0x7f ? '^' : byte;
}

/* Columns of the character of `length` bytes at `at` in readline's buffer. */
static int columns_at(size_t at, size_t length)
{
    char bytes[GA_UTF8_BYTES + 1] = "";
    if (length > GA_UTF8_BYTES)
        return 1;
    for (size_t i = 0; i < length; i++)
        bytes[i] = shown_byte(rl_line_buffer[at + i]);
    return ga_text_columns(bytes);
}

/* The first byte in sight, when fewer than `room` columns may stand before the cursor; and how many
 * do. */
static size_t first_shown(size_t cursor, int room, int *before)
{
    size_t first = cursor;
    *before = 0;
    while (first > 0) {
        size_t previous = first - 1;
        while (previous > 0 && ((unsigned char)rl_line_buffer[previous] & 0xc0) == 0x80)
            previous--;
        const int columns = columns_at(previous, first - previous);
        if (*before + columns >= room)
            break;
        *before += columns;
        first = previous;
    }
    return first;
}

int ga_line_draw(const struct ga_line *line, struct ga_cells *cells, struct ga_rect rect)
{
    (void)line;
    const char *prompt = rl_display_prompt ? rl_display_prompt : "";
    const int wanted = ga_text_columns(prompt);
    const int prompted = wanted + MARGIN < rect.columns ? wanted : 0;
    int before = 0;
    const size_t first = first_shown((size_t)rl_point, rect.columns - prompted, &before);
    struct ga_text text = GA_TEXT_INIT;
    const size_t most = (size_t)rect.columns * GA_UTF8_BYTES;
    for (size_t i = first; i < (size_t)rl_end && i - first < most; i++) {
        const char shown = shown_byte(rl_line_buffer[i]);
        ga_text_append(&text, &shown, 1);
    }
    const struct ga_rect outer = ga_cells_clip(cells, rect);
    if (prompted)
        ga_cells_text(cells, rect.row, rect.column, prompt, GA_ROLE_TITLE, 0);
    ga_cells_text(cells, rect.row, rect.column + prompted, ga_text_get(&text), GA_ROLE_TEXT, 0);
    cells->clip = outer;
    ga_text_free(&text);
    return rect.column + prompted + before;
}
