#include "ui/palette.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "console/command.h"
#include "settings/settings.h"
#include "ui/decoder.h"
#include "ui/paragraph.h"
#include "ui/utf8.h"

#define QUERY       64
#define HELP_COLUMN 11 /* where the command stands beside its key */

struct entry {
    char *label, *choice; /* owned */
    const char *help;     /* of a table */
    const char *aliases;
    const char *key; /* "" or the key that runs it */
};

struct ga_palette {
    const struct ga_palette_key *key;
    size_t keys;
    struct entry *entry;
    size_t count, capacity;
    size_t *found; /* entries that match, the best first */
    size_t finds, selected;
    char query[QUERY];
    size_t query_bytes;
};

/* The key that runs exactly this command. */
static const char *key_of(const struct ga_palette *palette, const char *command)
{
    for (size_t i = 0; i < palette->keys; i++)
        if (strcmp(palette->key[i].command, command) == 0)
            return palette->key[i].key;
    return "";
}

static int add_entry(struct ga_palette *palette, const char *label, const char *choice,
                     const char *help, const char *aliases, const char *key)
{
    void *entries = palette->entry;
    struct entry *entry = NULL;

    if (ga_grow(&entries, &palette->capacity, palette->count + 1, sizeof *entry) < 0)
        return GA_ENOMEM;
    palette->entry = entries;
    entry = &palette->entry[palette->count];
    *entry = (struct entry){.label = ga_copy_string(label),
                            .choice = ga_copy_string(choice),
                            .help = help,
                            .aliases = aliases,
                            .key = key};
    palette->count++;
    return entry->label && entry->choice ? GA_OK : GA_ENOMEM;
}

static int add_command(struct ga_palette *palette, const struct ga_command *command)
{
    char label[160], choice[64];

    snprintf(label, sizeof label, "%s %s", command->name, command->usage);
    snprintf(choice, sizeof choice, "%s%s", command->name, *command->usage ? " " : "");
    return add_entry(palette, label, choice, command->help, command->alias,
                     key_of(palette, command->name));
}

static int add_setting(struct ga_palette *palette, const struct ga_setting *row)
{
    char label[200], choice[64];

    snprintf(label, sizeof label, "set %s %s", row->name, row->values);
    snprintf(choice, sizeof choice, "set %s ", row->name);
    return add_entry(palette, label, choice, row->help, row->aliases, "");
}

int ga_palette_open(struct ga_palette **out, const struct ga_palette_key *key, size_t keys)
{
    struct ga_palette *palette = ga_alloc(1, sizeof *palette);
    int code = palette ? GA_OK : GA_ENOMEM;

    *out = NULL;
    if (!palette)
        return code;
    palette->key = key;
    palette->keys = keys;
    for (size_t i = 0; code == GA_OK && i < ga_command_count(); i++)
        code = add_command(palette, ga_command_at(i));
    for (size_t i = 0; code == GA_OK && i < ga_setting_count(); i++)
        code = add_setting(palette, ga_setting_at(i));
    if (code == GA_OK) {
        palette->found = ga_alloc(palette->count + 1, sizeof *palette->found);
        code = palette->found ? GA_OK : GA_ENOMEM;
    }
    if (code < 0) {
        ga_palette_close(palette);
        return code;
    }
    ga_palette_reset(palette);
    *out = palette;
    return GA_OK;
}

void ga_palette_close(struct ga_palette *palette)
{
    if (!palette)
        return;
    for (size_t i = 0; i < palette->count; i++) {
        free(palette->entry[i].label);
        free(palette->entry[i].choice);
    }
    free(palette->entry);
    free(palette->found);
    free(palette);
}

static char folded(char c)
{
    return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

static const char *find(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t i = 0;

        while (word[i] && folded(text[i]) == folded(word[i]))
            i++;
        if (!word[i])
            return text;
    }
    return *word ? NULL : text;
}

static bool in_order(const char *text, const char *word)
{
    for (; *word; word++, text++) {
        while (*text && folded(*text) != folded(*word))
            text++;
        if (!*text)
            return false;
    }
    return true;
}

#define RANKS 6

/* How well an entry fits what was typed: 0 best, RANKS: not at all. */
static int rank(const struct entry *entry, const char *query)
{
    const char *name = strncmp(entry->choice, "set ", 4) == 0 ? entry->choice + 4 : entry->choice;

    if (find(name, query) == name || find(entry->choice, query) == entry->choice)
        return 0;
    if (find(entry->aliases, query) == entry->aliases)
        return 1;
    if (find(entry->choice, query) || find(entry->aliases, query))
        return 2;
    if (find(entry->label, query))
        return 3;
    if (find(entry->help, query))
        return 4;
    return strlen(query) >= 2 && in_order(entry->choice, query) ? 5 : RANKS;
}

static void search(struct ga_palette *palette)
{
    palette->finds = palette->selected = 0;
    for (int wanted = 0; wanted < RANKS; wanted++)
        for (size_t i = 0; i < palette->count; i++)
            if (rank(&palette->entry[i], palette->query) == wanted)
                palette->found[palette->finds++] = i;
}

void ga_palette_reset(struct ga_palette *palette)
{
    palette->query[0] = '\0';
    palette->query_bytes = 0;
    search(palette);
}

static void type(struct ga_palette *palette, uint32_t character)
{
    char bytes[GA_UTF8_BYTES];
    size_t length = ga_utf8_write(character, bytes);

    if (palette->query_bytes + length >= QUERY)
        return;
    memcpy(palette->query + palette->query_bytes, bytes, length);
    palette->query_bytes += length;
    palette->query[palette->query_bytes] = '\0';
    search(palette);
}

static void rub_out(struct ga_palette *palette)
{
    while (palette->query_bytes > 0) {
        unsigned char last = (unsigned char)palette->query[--palette->query_bytes];

        if ((last & 0xc0) != 0x80)
            break;
    }
    palette->query[palette->query_bytes] = '\0';
    search(palette);
}

static void move(struct ga_palette *palette, int step)
{
    size_t last = palette->finds > 0 ? palette->finds - 1 : 0;

    if (step < 0)
        palette->selected -= (size_t)-step < palette->selected ? (size_t)-step : palette->selected;
    else
        palette->selected =
            palette->selected + (size_t)step < last ? palette->selected + (size_t)step : last;
}

enum ga_palette_answer ga_palette_press(struct ga_palette *palette, int key)
{
    static const struct {
        int key, step;
    } steps[] = {{GA_KEY_UP, -1},       {GA_KEY_DOWN, 1},      {GA_KEY_BACK_TAB, -1},
                 {GA_KEY_TAB, 1},       {GA_KEY_PAGE_UP, -10}, {GA_KEY_PAGE_DOWN, 10},
                 {GA_KEY_HOME, -10000}, {GA_KEY_END, 10000}};

    if (key == GA_KEY_ESCAPE)
        return GA_PALETTE_LEFT;
    if (key == GA_KEY_ENTER)
        return palette->finds > 0 ? GA_PALETTE_CHOSEN : GA_PALETTE_OPEN;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].key == key)
            move(palette, steps[i].step);
    if (key == GA_KEY_BACKSPACE || key == GA_CTRL('h'))
        rub_out(palette);
    else if (key == GA_CTRL('u'))
        ga_palette_reset(palette);
    else if (key >= ' ' && key < GA_KEY_UP && key != GA_KEY_BACKSPACE)
        type(palette, (uint32_t)key);
    return GA_PALETTE_OPEN;
}

const char *ga_palette_choice(const struct ga_palette *palette)
{
    if (palette->finds == 0)
        return "";
    return palette->entry[palette->found[palette->selected]].choice;
}

static void draw_entry(const struct entry *entry, bool selected, struct ga_cells *cells,
                       struct ga_rect row)
{
    int end = row.column + row.columns, key = ga_text_columns(entry->key);
    int label = row.columns >= 90 ? 44 : row.columns / 2;
    unsigned attributes = selected ? GA_ATTR_REVERSE : 0;

    if (selected)
        ga_cells_fill(cells, row, ' ', GA_ROLE_TEXT, GA_ATTR_REVERSE);
    ga_cells_fit(cells, row.row, row.column + 1, label - 2, entry->label,
                 selected ? GA_ROLE_TEXT : GA_ROLE_TITLE, attributes | GA_ATTR_BOLD);
    ga_cells_fit(cells, row.row, row.column + label, row.columns - label - key - 3, entry->help,
                 selected ? GA_ROLE_TEXT : GA_ROLE_DIM, attributes);
    ga_cells_text(cells, row.row, end - key - 1, entry->key, selected ? GA_ROLE_TEXT : GA_ROLE_KEY,
                  attributes | GA_ATTR_BOLD);
}

void ga_palette_draw(const struct ga_palette *palette, struct ga_cells *cells, struct ga_rect rect)
{
    struct ga_rect inside = {0, 0, 0, 0};
    struct ga_rect old = ga_cells_clip(cells, rect);
    size_t rows = 0, first = 0;
    int end = 0;

    ga_cells_fill(cells, rect, ' ', GA_ROLE_TEXT, 0);
    inside =
        ga_cells_frame(cells, rect, "commands and settings: type to find, Enter takes it", true);
    if (inside.rows < 1) {
        cells->clip = old;
        return;
    }
    ga_cells_put(cells, inside.row, inside.column + 1, '/', GA_ROLE_KEY, GA_ATTR_BOLD);
    end = ga_cells_fit(cells, inside.row, inside.column + 3, inside.columns - 18, palette->query,
                       GA_ROLE_TEXT, GA_ATTR_BOLD);
    ga_cells_put(cells, inside.row, end, '_', GA_ROLE_FOCUS, GA_ATTR_BOLD);
    if (inside.columns > 30)
        ga_cells_printf(cells, inside.row, inside.column + inside.columns - 12, GA_ROLE_DIM, 0,
                        "%4zu of %zu", palette->finds, palette->count);
    rows = (size_t)(inside.rows - 1);
    first = palette->selected >= rows ? palette->selected - rows + 1 : 0;
    for (size_t i = 0; i < rows && first + i < palette->finds; i++)
        draw_entry(&palette->entry[palette->found[first + i]], first + i == palette->selected,
                   cells,
                   (struct ga_rect){inside.row + 1 + (int)i, inside.column, 1, inside.columns});
    if (palette->finds == 0)
        ga_cells_fit(cells, inside.row + 1, inside.column + 1, inside.columns - 2,
                     "nothing has these letters: backspace takes one back", GA_ROLE_DIM, 0);
    cells->clip = old;
}

/* Keys stand in two halves where a screen is wide enough for both. */
static int halves(int columns)
{
    return columns >= 150 ? 2 : 1;
}

static int command_columns(int columns)
{
    return columns >= 60 ? 21 : 0;
}

/* Rows of a key, whose help goes on in the next one. */
static int key_rows(const struct ga_palette_key *key, int columns)
{
    return ga_paragraph_rows(key->help, columns - HELP_COLUMN - command_columns(columns));
}

/* Keys that stand in a half, from `first` on. */
static size_t half_keys(const struct ga_palette *palette, int across, int half, size_t *first)
{
    size_t each = (palette->keys + (size_t)across - 1) / (size_t)across;

    *first = (size_t)half * each;
    return *first + each < palette->keys ? each : palette->keys - *first;
}

int ga_help_rows(const struct ga_palette *palette, int columns)
{
    int across = halves(columns), most = 0;

    for (int half = 0; half < across; half++) {
        size_t first = 0, count = half_keys(palette, across, half, &first);
        int rows = 0;

        for (size_t k = 0; k < count; k++)
            rows += key_rows(&palette->key[first + k], columns / across - 1);
        most = rows > most ? rows : most;
    }
    return most;
}

static void draw_key(const struct ga_palette_key *key, struct ga_cells *cells, struct ga_rect rect)
{
    int command = command_columns(rect.columns), left = HELP_COLUMN + command;

    ga_cells_fit(cells, rect.row, rect.column + 1, 9, key->key, GA_ROLE_KEY, GA_ATTR_BOLD);
    if (command)
        ga_cells_fit(cells, rect.row, rect.column + HELP_COLUMN, command - 2, key->command,
                     GA_ROLE_TITLE, 0);
    ga_paragraph_draw(
        key->help, 0, NULL, cells,
        (struct ga_rect){rect.row, rect.column + left, rect.rows, rect.columns - left});
}

/* The keys of a half whose rows are shown; the clip cuts those that begin above. */
static void draw_half(const struct ga_palette *palette, int half, int first, struct ga_cells *cells,
                      struct ga_rect inside)
{
    int across = halves(inside.columns), width = inside.columns / across, row = -first;
    size_t begin = 0, count = half_keys(palette, across, half, &begin);

    for (size_t k = 0; k < count && row < inside.rows; k++) {
        const struct ga_palette_key *key = &palette->key[begin + k];
        int rows = key_rows(key, width - 1);

        draw_key(key, cells,
                 (struct ga_rect){inside.row + row, inside.column + half * width, rows, width - 1});
        row += rows;
    }
}

void ga_help_draw(const struct ga_palette *palette, struct ga_cells *cells, struct ga_rect rect,
                  int first)
{
    int across = halves(rect.columns - 2), rows = ga_help_rows(palette, rect.columns - 2);
    struct ga_rect inside = {0, 0, 0, 0}, old = ga_cells_clip(cells, rect);

    ga_cells_fill(cells, rect, ' ', GA_ROLE_TEXT, 0);
    inside = ga_cells_frame(
        cells, rect,
        rect.columns < 70 ? "keys"
                          : "keys: each runs the command beside it, and `help VERB` says more",
        true);
    ga_cells_clip(cells, inside);
    for (int half = 0; half < across; half++)
        draw_half(palette, half, first, cells, inside);
    cells->clip = old;
    ga_cells_clip(cells, rect);
    if (first + inside.rows < rows && inside.rows > 0)
        ga_cells_printf(cells, rect.row + rect.rows - 1, rect.column + 3, GA_ROLE_FOCUS, 0,
                        " %d more below ", rows - first - inside.rows);
    cells->clip = old;
}
