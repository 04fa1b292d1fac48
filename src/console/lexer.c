#include "console/lexer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

/* Shape of the lead byte, smallest code point that needs so many bytes. */
static size_t lead_length(unsigned char lead, uint32_t *bits, uint32_t *smallest)
{
    static const struct {
        unsigned char mask, value;
        uint32_t smallest;
    } shapes[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t i = 0; i < 4; i++) {
        if ((lead & shapes[i].mask) != shapes[i].value)
            continue;
        *bits = lead & (unsigned char)~shapes[i].mask;
        *smallest = shapes[i].smallest;
        return i + 1;
    }
    return 0;
}

static bool is_control(uint32_t code)
{
    return (code < 0x20 && code != '\t') || (code >= 0x7f && code < 0xa0);
}

size_t ga_character_length(const char *text, size_t length)
{
    uint32_t code = 0;
    uint32_t smallest = 0;
    const size_t count = length ? lead_length((unsigned char)text[0], &code, &smallest) : 0;
    if (count == 0 || count > length)
        return 0;
    for (size_t i = 1; i < count; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (byte & 0x3f);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < smallest || code > 0x10ffff || surrogate || is_control(code) ? 0 : count;
}

/* The state of one line. */
struct scan {
    const char *line;
    size_t length;
    size_t at;
    char *to;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static int check_characters(const struct scan *scan)
{
    for (size_t i = 0; i < scan->length;) {
        const size_t step = ga_character_length(scan->line + i, scan->length - i);
        if (step == 0)
            return ga_fail(GA_EINPUT,
                           "column %zu: byte 0x%02x is no printable UTF-8 text: expected a command",
                           i + 1, (unsigned char)scan->line[i]);
        i += step;
    }
    return 0;
}

static int take_quoted(struct scan *scan)
{
    const size_t open = scan->at;
    const char quote = scan->line[scan->at++];
    while (scan->at < scan->length && scan->line[scan->at] != quote) {
        const char *here = scan->line + scan->at;
        const bool escape = quote == '"' && here[0] == '\\' && scan->at + 1 < scan->length &&
                            (here[1] == '"' || here[1] == '\\');
        scan->at += escape;
        *scan->to++ = scan->line[scan->at++];
    }
    if (scan->at == scan->length)
        return ga_fail(GA_EINPUT, "column %zu: a quote is opened and not closed: expected %c",
                       open + 1, quote);
    scan->at++;
    if (scan->at < scan->length && !is_blank(scan->line[scan->at]))
        return ga_fail(GA_EINPUT, "column %zu: expected a blank behind the closing quote",
                       scan->at + 1);
    return 0;
}

static int take_word(struct scan *scan)
{
    bool may_quote = true;
    bool equals = false;
    while (scan->at < scan->length && !is_blank(scan->line[scan->at])) {
        const char byte = scan->line[scan->at];
        if (may_quote && (byte == '"' || byte == '\'')) {
            const int code = take_quoted(scan);
            if (code < 0)
                return code;
            break;
        }
        *scan->to++ = byte;
        scan->at++;
        may_quote = byte == '=' && !equals;
        equals = equals || byte == '=';
    }
    *scan->to++ = '\0';
    return 0;
}

static int take_words(struct ga_words *words, struct scan *scan)
{
    for (;;) {
        while (scan->at < scan->length && is_blank(scan->line[scan->at]))
            scan->at++;
        if (scan->at == scan->length || scan->line[scan->at] == '#')
            return 0;
        int code = ga_grow((void **)&words->word, &words->word_capacity, words->count + 1,
                           sizeof(*words->word));
        if (code == 0) {
            words->word[words->count++] = scan->to;
            code = take_word(scan);
        }
        if (code < 0)
            return code;
    }
}

int ga_words_read(struct ga_words *words, const char *line, size_t length)
{
    words->count = 0;
    if (length > GA_LINE_LIMIT)
        return ga_fail(GA_ERANGE, "a line of %zu bytes: expected at most %d", length,
                       GA_LINE_LIMIT);
    /* A word takes at most its own bytes and the blank or line end behind it. */
    int code = ga_grow((void **)&words->bytes, &words->byte_capacity, length + 1, 1);
    if (code < 0)
        return code;
    struct scan scan = {line, length, 0, words->bytes};
    code = check_characters(&scan);
    if (code == 0)
        code = take_words(words, &scan);
    if (code < 0)
        words->count = 0;
    return code;
}

void ga_words_fini(struct ga_words *words)
{
    free(words->word);
    free(words->bytes);
    *words = (struct ga_words)GA_WORDS_INIT;
}
