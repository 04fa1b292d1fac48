#include "console/wrap.h"

#include <string.h>

void ga_wrap(const char *text, size_t indent, size_t width, struct ga_text *out)
{
    size_t column = 0; /* 0: nothing on this line yet */
    while (*text) {
        const size_t length = strcspn(text, " ");
        if (column > 0 && column + 1 + length > width) {
            ga_text_puts(out, "\n");
            column = 0;
        }
        ga_text_printf(out, "%*s%.*s", column == 0 ? (int)indent : 1, "", (int)length, text);
        column += (column == 0 ? indent : 1) + length;
        text += length;
        text += strspn(text, " ");
    }
    ga_text_puts(out, "\n");
}
