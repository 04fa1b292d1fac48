/* Paragraphs of help, broken at blanks. */
#ifndef GA_CONSOLE_WRAP_H
#define GA_CONSOLE_WRAP_H

#include <stddef.h>

#include "base/text.h"

/* Lines of at most `width` columns, each behind `indent` blanks and ended by a newline. */
void ga_wrap(const char *text, size_t indent, size_t width, struct ga_text *out);

#endif
