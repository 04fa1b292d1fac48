/*
 * From the bytes that a terminal sends to keys: whole UTF-8 characters, escape sequences, pastes.
 *
 * Pure: the caller brings bytes and the time. An escape byte with nothing behind it for
 * GA_ESCAPE_NS is the Esc key; followed by a character it is that character with Alt. Sequences
 * that are not known are dropped whole, malformed UTF-8 byte by byte, so nothing that a terminal
 * answers ends up in the command line. A bracketed paste (200~ .. 201~) comes out as one text.
 */
#ifndef GA_UI_DECODER_H
#define GA_UI_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A key is a Unicode scalar value (control keys as the terminal sends them) or one of these. */
enum ga_key {
    GA_KEY_NONE = 0,
    GA_KEY_TAB = 9,
    GA_KEY_ENTER = 13,
    GA_KEY_ESCAPE = 27,
    GA_KEY_BACKSPACE = 127,
    GA_KEY_UP = 0x110000,
    GA_KEY_DOWN,
    GA_KEY_RIGHT,
    GA_KEY_LEFT,
    GA_KEY_HOME,
    GA_KEY_END,
    GA_KEY_INSERT,
    GA_KEY_DELETE,
    GA_KEY_PAGE_UP,
    GA_KEY_PAGE_DOWN,
    GA_KEY_BACK_TAB,
    GA_KEY_PASTE
};

#define GA_CTRL(letter) ((letter)&0x1f) /* GA_CTRL('c') */

enum { GA_MODIFIER_SHIFT = 1, GA_MODIFIER_ALT = 2, GA_MODIFIER_CTRL = 4 };

#define GA_ESCAPE_NS   INT64_C(25000000)
#define GA_PASTE_NS    INT64_C(1000000000) /* a paste whose end has not come by then is over */
#define GA_PASTE_LIMIT ((size_t)1 << 20)   /* bytes; what is beyond them is left out */

struct ga_input {
    int key;            /* enum ga_key, or a character */
    unsigned modifiers; /* of the keys above 0x10ffff, and Alt with a character */
    /* PASTE: valid UTF-8 whose only control characters are newlines; until the next call. */
    const char *paste;
    size_t paste_bytes;
    bool paste_cut; /* it was longer than the limit */
};

struct ga_decoder;

int ga_decoder_open(struct ga_decoder **out);
void ga_decoder_close(struct ga_decoder *decoder);

/* Takes all bytes; 0 or GA_ENOMEM, and then they are lost. */
int ga_decoder_feed(struct ga_decoder *decoder, const char *bytes, size_t count, int64_t now_ns);

/* The next key; false when there is none yet. */
bool ga_decoder_next(struct ga_decoder *decoder, int64_t now_ns, struct ga_input *out);

/* When ga_decoder_next() has something to say without further bytes; INT64_MAX: never. */
int64_t ga_decoder_deadline(const struct ga_decoder *decoder);

#endif
