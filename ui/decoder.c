#include "ui/decoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "ui/utf8.h"

#define ESCAPE         '\x1b'
#define SEQUENCE_LIMIT 4096 /* bytes; a longer one is none */
#define PARAMETERS     4

static const char paste_end[] = "\x1b[201~";
#define PASTE_END (sizeof(paste_end) - 1)

struct ga_decoder {
    char *bytes; /* not yet decoded: bytes[start..end) */
    size_t capacity, start, end;
    int64_t fed_ns; /* when the newest byte came */
    bool pasting;
    bool cut;
    bool given; /* `paste` was handed out: forget it at the next call */
    struct ga_text paste;
};

/* What a sequence turned out to be. `length` 0: not complete yet. */
struct found {
    size_t length;
    int key;
    unsigned modifiers;
};

int ga_decoder_open(struct ga_decoder **out)
{
    *out = ga_alloc(1, sizeof(**out));
    return *out ? 0 : GA_ENOMEM;
}

void ga_decoder_close(struct ga_decoder *decoder)
{
    if (!decoder)
        return;
    ga_text_free(&decoder->paste);
    free(decoder->bytes);
    free(decoder);
}

int ga_decoder_feed(struct ga_decoder *decoder, const char *bytes, size_t count, int64_t now_ns)
{
    if (decoder->start > 0) {
        memmove(decoder->bytes, decoder->bytes + decoder->start, decoder->end - decoder->start);
        decoder->end -= decoder->start;
        decoder->start = 0;
    }
    const int code = ga_grow((void **)&decoder->bytes, &decoder->capacity, decoder->end + count, 1);
    if (code < 0)
        return code;
    if (count > 0)
        memcpy(decoder->bytes + decoder->end, bytes, count);
    decoder->end += count;
    decoder->fed_ns = now_ns;
    return 0;
}

static int key_of_letter(char letter)
{
    static const struct {
        char letter;
        int key;
    } keys[] = {{'A', GA_KEY_UP},    {'B', GA_KEY_DOWN},    {'C', GA_KEY_RIGHT},
                {'D', GA_KEY_LEFT},  {'H', GA_KEY_HOME},    {'F', GA_KEY_END},
                {'M', GA_KEY_ENTER}, {'Z', GA_KEY_BACK_TAB}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i].letter == letter)
            return keys[i].key;
    return GA_KEY_NONE;
}

/* ESC [ NUMBER ~ */
static int key_of_number(int number)
{
    static const int keys[] = {
        [1] = GA_KEY_HOME,    [2] = GA_KEY_INSERT,    [3] = GA_KEY_DELETE, [4] = GA_KEY_END,
        [5] = GA_KEY_PAGE_UP, [6] = GA_KEY_PAGE_DOWN, [7] = GA_KEY_HOME,   [8] = GA_KEY_END};
    if (number == 200)
        return GA_KEY_PASTE;
    if (number < 1 || (size_t)number >= sizeof(keys) / sizeof(keys[0]))
        return GA_KEY_NONE;
    return keys[number]; /* cppcheck-suppress arrayIndexOutOfBoundsCond ; 8 is the last */
}

/* Numbers separated by ';', missing ones 0; returns how many. */
static int read_parameters(const char *text, size_t length, int out[PARAMETERS])
{
    int count = 1;
    memset(out, 0, PARAMETERS * sizeof(*out));
    for (size_t i = 0; i < length && count <= PARAMETERS; i++) {
        int *value = &out[count - 1];
        if (text[i] == ';')
            count++;
        else if (text[i] >= '0' && text[i] <= '9' && *value < 100000)
            *value = *value * 10 + (text[i] - '0');
    }
    return count;
}

static void read_sequence(const char *parameters, size_t length, char final, struct found *out)
{
    int value[PARAMETERS];
    read_parameters(parameters, length, value);
    out->key = final == '~' ? key_of_number(value[0]) : key_of_letter(final);
    if (final == 'M') /* a mouse's, when it comes with ESC [ */
        out->key = GA_KEY_NONE;
    if (value[1] > 1 && value[1] <= 16)
        out->modifiers =
            (unsigned)(value[1] - 1) & (GA_MODIFIER_SHIFT | GA_MODIFIER_ALT | GA_MODIFIER_CTRL);
}

/* Behind "ESC [": parameters 0x30..0x3f, intermediates 0x20..0x2f, one final 0x40..0x7e. */
static void find_csi(const char *bytes, size_t count, struct found *out)
{
    size_t at = 2;
    while (at < count && bytes[at] >= 0x20 && bytes[at] <= 0x3f)
        at++;
    if (at >= SEQUENCE_LIMIT)
        out->length = at;
    if (at == count || out->length)
        return;
    const char final = bytes[at];
    if (final < 0x40 || final == 0x7f) {
        out->length = at; /* broken off: what follows counts by itself */
        return;
    }
    /* The Linux console's function keys have one byte more, an old mouse report three. */
    const size_t more = at == 2 && final == '[' ? 1 : at == 2 && final == 'M' ? 3 : 0;
    if (at + more >= count)
        return;
    out->length = at + 1 + more;
    read_sequence(bytes + 2, at - 2, final, out);
}

/* Behind "ESC O": a key of the keypad or an arrow in application mode. */
static void find_ss3(const char *bytes, size_t count, struct found *out)
{
    if (count < 3)
        return;
    const bool fits = bytes[2] >= 0x20 && bytes[2] != 0x7f;
    out->length = fits ? 3 : 2;
    out->key = fits ? key_of_letter(bytes[2]) : GA_KEY_NONE;
}

/* A string for the terminal's own use: up to BEL or ESC \. */
static void find_string(const char *bytes, size_t count, struct found *out)
{
    for (size_t at = 2; at < count && out->length == 0; at++) {
        const bool terminator = bytes[at] == '\\' && bytes[at - 1] == ESCAPE && at > 2;
        if (bytes[at] == '\a' || terminator)
            out->length = at + 1;
        else if (at == SEQUENCE_LIMIT)
            out->length = at;
    }
}

static bool is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

/* A character, or 0x00..0x1f and 0x7f as the keys they are. Malformed bytes are no key. */
static void find_character(const char *bytes, size_t count, struct found *out)
{
    uint32_t character = 0;
    const size_t length = ga_utf8_read(bytes, count, &character);
    if (length == GA_UTF8_PART)
        return;
    out->length = length ? length : 1;
    out->key = character >= 0x80 && is_control(character) ? GA_KEY_NONE : (int)character;
    if (out->key == '\n')
        out->key = GA_KEY_ENTER;
    if (out->key == '\b')
        out->key = GA_KEY_BACKSPACE;
}

static void find_escaped(const char *bytes, size_t count, struct found *out)
{
    if (count < 2)
        return;
    if (bytes[1] == '[') {
        find_csi(bytes, count, out);
    } else if (bytes[1] == 'O') {
        find_ss3(bytes, count, out);
    } else if (strchr("P]X^_", bytes[1]) && bytes[1]) {
        find_string(bytes, count, out);
    } else if (bytes[1] == ESCAPE) {
        *out = (struct found){.length = 1, .key = GA_KEY_ESCAPE};
    } else {
        find_character(bytes + 1, count - 1, out);
        out->length += out->length > 0;
        out->modifiers = GA_MODIFIER_ALT;
    }
}

/* How long an incomplete beginning is waited for. */
static int64_t patience_ns(const char *bytes, size_t count)
{
    const bool begun = count > 2 || (count == 2 && (bytes[1] == '[' || bytes[1] == 'O'));
    return bytes[0] != ESCAPE || begun ? GA_PASTE_NS : GA_ESCAPE_NS;
}

/* Nothing more came: ESC alone is a key, ESC and a letter is Alt, anything longer is nothing. */
static void give_up(const char *bytes, size_t count, struct found *out)
{
    *out = (struct found){.length = count};
    if (bytes[0] != ESCAPE) {
        out->length = 1;
    } else if (count == 1) {
        out->key = GA_KEY_ESCAPE;
    } else if (count == 2 && bytes[1] >= 0x20 && bytes[1] < 0x7f) {
        out->key = (unsigned char)bytes[1];
        out->modifiers = GA_MODIFIER_ALT;
    }
}

/* Moves pasted bytes aside, the first `count` of them. */
static void keep_pasted(struct ga_decoder *decoder, size_t count)
{
    const size_t room = GA_PASTE_LIMIT - decoder->paste.length;
    decoder->cut = decoder->cut || count > room;
    if (count > 0)
        ga_text_append(&decoder->paste, decoder->bytes + decoder->start,
                       count < room ? count : room);
    decoder->start += count;
}

/* True when the paste is over. The last bytes may be the beginning of the end mark. */
static bool collect_paste(struct ga_decoder *decoder, int64_t now_ns)
{
    const char *bytes = decoder->bytes + decoder->start;
    const size_t count = decoder->end - decoder->start;
    const char *end = count ? memmem(bytes, count, paste_end, PASTE_END) : NULL;
    const bool late = now_ns - decoder->fed_ns >= GA_PASTE_NS;
    if (end) {
        keep_pasted(decoder, (size_t)(end - bytes));
        decoder->start += PASTE_END;
        return true;
    }
    if (late)
        keep_pasted(decoder, count);
    else if (count >= PASTE_END)
        keep_pasted(decoder, count - (PASTE_END - 1));
    return late;
}

/* One character of a paste as it may stand in a command line; returns the bytes written. */
static size_t clean(uint32_t character, bool after_return, char out[GA_UTF8_BYTES])
{
    if (character == '\n' && after_return)
        return 0;
    if (character == '\r')
        character = '\n';
    if (character == '\t')
        character = ' ';
    if (is_control(character) && character != '\n')
        return 0;
    return ga_utf8_write(character, out);
}

/* In place: what comes out is never longer than what went in. */
static void clean_paste(struct ga_text *paste)
{
    size_t used = 0;
    uint32_t before = 0;
    for (size_t at = 0; at < paste->length;) {
        uint32_t character = 0;
        const size_t length = ga_utf8_read(paste->data + at, paste->length - at, &character);
        if (length == 0 || length == GA_UTF8_PART) {
            at++;
            continue;
        }
        char bytes[GA_UTF8_BYTES];
        const size_t written = clean(character, before == '\r', bytes);
        memcpy(paste->data + used, bytes, written);
        used += written;
        at += length;
        before = character;
    }
    paste->length = used;
    if (paste->data)
        paste->data[used] = '\0';
}

static bool give_paste(struct ga_decoder *decoder, struct ga_input *out)
{
    decoder->pasting = false;
    decoder->given = true;
    clean_paste(&decoder->paste);
    *out = (struct ga_input){.key = GA_KEY_PASTE,
                             .paste = ga_text_get(&decoder->paste),
                             .paste_bytes = decoder->paste.length,
                             .paste_cut = decoder->cut};
    return true;
}

/* The key at the front; false: more bytes or more time are needed. */
static bool take_key(struct ga_decoder *decoder, int64_t now_ns, struct found *out)
{
    const char *bytes = decoder->bytes + decoder->start;
    const size_t count = decoder->end - decoder->start;
    *out = (struct found){.length = 0};
    if (count == 0)
        return false;
    if (bytes[0] == ESCAPE)
        find_escaped(bytes, count, out);
    else
        find_character(bytes, count, out);
    if (out->length == 0 && now_ns - decoder->fed_ns >= patience_ns(bytes, count))
        give_up(bytes, count, out);
    decoder->start += out->length;
    return out->length > 0;
}

bool ga_decoder_next(struct ga_decoder *decoder, int64_t now_ns, struct ga_input *out)
{
    struct found found;
    *out = (struct ga_input){.key = GA_KEY_NONE};
    if (decoder->given)
        ga_text_clear(&decoder->paste);
    decoder->cut = decoder->cut && !decoder->given;
    decoder->given = false;
    for (;;) {
        if (decoder->pasting)
            return collect_paste(decoder, now_ns) && give_paste(decoder, out);
        if (!take_key(decoder, now_ns, &found))
            return false;
        decoder->pasting = found.key == GA_KEY_PASTE;
        if (found.key == GA_KEY_NONE || decoder->pasting)
            continue;
        out->key = found.key;
        out->modifiers = found.modifiers;
        return true;
    }
}

int64_t ga_decoder_deadline(const struct ga_decoder *decoder)
{
    if (decoder->pasting)
        return decoder->fed_ns + GA_PASTE_NS;
    if (decoder->start == decoder->end)
        return INT64_MAX;
    return decoder->fed_ns +
           patience_ns(decoder->bytes + decoder->start, decoder->end - decoder->start);
}
