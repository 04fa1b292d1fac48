/* How many columns a character takes on a terminal, whatever the locale. Pure, any thread. */
#ifndef GA_UI_WIDTH_H
#define GA_UI_WIDTH_H

#include <stdint.h>

/* 1 or 2; 0 for combining and invisible characters; -1 for control characters and no characters. */
int ga_character_columns(uint32_t character);

#endif
