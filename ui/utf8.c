#include "ui/utf8.h"

/* The length that a first byte announces, its own bits, and the least value of that length. */
static size_t announced(unsigned char first, uint32_t *bits, uint32_t *least)
{
    static const struct {
        unsigned char mask, value;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if ((first & forms[i].mask) != forms[i].value)
            continue;
        *bits = (uint32_t)(first & (unsigned char)~forms[i].mask);
        *least = forms[i].least;
        return i + 1;
    }
    return 0;
}

size_t ga_utf8_read(const char *bytes, size_t count, uint32_t *out)
{
    uint32_t value = 0;
    uint32_t least = 0;
    *out = 0;
    if (count == 0)
        return GA_UTF8_PART;
    const size_t length = announced((unsigned char)bytes[0], &value, &least);
    for (size_t i = 1; i < length; i++) {
        if (i == count)
            return GA_UTF8_PART;
        const unsigned char next = (unsigned char)bytes[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (next & 0x3f);
    }
    if (length == 0 || value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *out = value;
    return length;
}

size_t ga_utf8_write(uint32_t character, char out[GA_UTF8_BYTES])
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    const size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    const unsigned char lead = (unsigned char)(0xf00 >> length);
    for (size_t i = length; i-- > 1; character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3f));
    out[0] = (char)(lead | character);
    return length;
}
