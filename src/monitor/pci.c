#include "monitor/pci.h"

#include <stddef.h>
#include <stdio.h>

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* 1 to `most` hexadecimal digits; moves `*text` behind them. */
static bool read_hex(const char **text, int most, uint32_t *out)
{
    int digits = 0;

    *out = 0;
    for (; digits < most && digit_of(**text) >= 0; digits++, (*text)++)
        *out = *out << 4 | (uint32_t)digit_of(**text);
    return digits > 0 && digit_of(**text) < 0;
}

bool ga_pci_read(const char *text, struct ga_pci *out)
{
    uint32_t part[3] = {0}, function = 0;
    int parts = 0;

    do {
        if (parts == 3 || !read_hex(&text, 8, &part[parts++]))
            return false;
    } while (*text == ':' && text++);
    if (*text == '.' && (text++, !read_hex(&text, 1, &function)))
        return false;
    if (*text != '\0' || parts < 2 || part[parts - 2] > 0xff || part[parts - 1] > 0x1f ||
        function > 7)
        return false;
    *out = (struct ga_pci){.domain = parts == 3 ? part[0] : 0,
                           .bus = (uint8_t)part[parts - 2],
                           .device = (uint8_t)part[parts - 1],
                           .function = (uint8_t)function};
    return true;
}

const char *ga_pci_write(char out[GA_PCI_TEXT], const struct ga_pci *pci)
{
    snprintf(out, GA_PCI_TEXT, "%04x:%02x:%02x.%x", (unsigned)pci->domain, (unsigned)pci->bus,
             (unsigned)pci->device, (unsigned)pci->function);
    return out;
}

bool ga_pci_same(const struct ga_pci *a, const struct ga_pci *b)
{
    return a->domain == b->domain && a->bus == b->bus && a->device == b->device &&
           a->function == b->function;
}
