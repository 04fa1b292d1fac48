/* Characters as UTF-8: strict, so overlong forms, surrogates and values beyond U+10FFFF are none.
 */
#ifndef GA_UI_UTF8_H
#define GA_UI_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define GA_UTF8_BYTES 4
#define GA_UTF8_PART  ((size_t)-1)

/* The character at `bytes`: its length; 0: malformed; GA_UTF8_PART: the beginning of one. */
size_t ga_utf8_read(const char *bytes, size_t count, uint32_t *out);

/* Writes a scalar value; returns how many bytes that took. */
size_t ga_utf8_write(uint32_t character, char out[GA_UTF8_BYTES]);

#endif
