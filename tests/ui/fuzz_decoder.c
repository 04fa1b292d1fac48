/*
 * The input decoder on arbitrary bytes in arbitrary pieces. The first byte of each piece says how
 * long it is and how much time passes before it; the keys must keep every promise of decoder.h and
 * be the same as for the same bytes fed one by one at the same times.
 */
#include "support/replay.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ui/decoder.h"
#include "ui/utf8.h"

#define MOST_KEYS 65536

static void must(bool promise)
{
    if (!promise)
        abort();
}

static bool is_modified(unsigned modifiers)
{
    return modifiers <= (GA_MODIFIER_SHIFT | GA_MODIFIER_ALT | GA_MODIFIER_CTRL);
}

static void check_paste(const struct ga_input *input)
{
    must(input->paste_bytes <= GA_PASTE_LIMIT && strlen(input->paste) == input->paste_bytes);
    for (size_t at = 0; at < input->paste_bytes;) {
        uint32_t character = 0;
        const size_t length = ga_utf8_read(input->paste + at, input->paste_bytes - at, &character);
        must(length > 0 && length != GA_UTF8_PART);
        must(character == '\n' || (character >= 0x20 && (character < 0x7f || character >= 0xa0)));
        at += length;
    }
}

static void check_key(const struct ga_input *input)
{
    const bool named = input->key >= GA_KEY_UP && input->key <= GA_KEY_PASTE;
    const bool character = input->key > 0 && input->key <= 0x10ffff;
    must((named || character) && is_modified(input->modifiers));
    must(input->key != '\n' && input->key != '\b');
    must(!(input->key >= 0x80 && input->key < 0xa0));
    must((input->key == GA_KEY_PASTE) == (input->paste != NULL));
    if (input->paste)
        check_paste(input);
}

struct keys {
    size_t count;
    uint64_t hash;
};

static void note(struct keys *keys, const struct ga_input *input)
{
    keys->count++;
    keys->hash = keys->hash * 1099511628211u + (uint64_t)input->key * 8 + input->modifiers;
    for (size_t i = 0; i < input->paste_bytes; i++)
        keys->hash = keys->hash * 1099511628211u + (unsigned char)input->paste[i];
}

static void take_keys(struct ga_decoder *decoder, int64_t now_ns, struct keys *keys)
{
    struct ga_input input;
    while (ga_decoder_next(decoder, now_ns, &input)) {
        check_key(&input);
        note(keys, &input);
        must(keys->count < MOST_KEYS);
    }
    const int64_t deadline_ns = ga_decoder_deadline(decoder);
    must(deadline_ns > now_ns);
}

/* Feeds all pieces; each as one, or byte by byte at the same time. */
static struct keys decode(const uint8_t *bytes, size_t size, bool whole)
{
    struct ga_decoder *decoder = NULL;
    struct keys keys = {0, 14695981039346656037u};
    int64_t now_ns = 0;
    must(ga_decoder_open(&decoder) == 0);
    for (size_t at = 0; at < size;) {
        const size_t wanted = 1 + bytes[at] % 16;
        now_ns += (int64_t)(bytes[at] / 16) * (bytes[at] / 16) * 5000000; /* 0 .. 1.1 s */
        take_keys(decoder, now_ns, &keys);
        at++;
        const size_t length = wanted < size - at ? wanted : size - at;
        for (size_t i = 0; i < length; i += whole ? length : 1) {
            must(ga_decoder_feed(decoder, (const char *)bytes + at + i, whole ? length : 1,
                                 now_ns) == 0);
            take_keys(decoder, now_ns, &keys);
        }
        at += length;
    }
    take_keys(decoder, now_ns + 2 * GA_PASTE_NS, &keys);
    must(ga_decoder_deadline(decoder) == INT64_MAX);
    ga_decoder_close(decoder);
    return keys;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct keys whole = decode(bytes, size, true);
    const struct keys pieces = decode(bytes, size, false);
    must(whole.count == pieces.count && whole.hash == pieces.hash);
    return 0;
}
