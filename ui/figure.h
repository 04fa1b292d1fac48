/*
 * Numbers for the screen: the same width whatever the value, so that nothing jumps while a run goes
 * on. A figure that is NaN reads "nan", one that does not exist is left to the caller. Pure.
 */
#ifndef GA_UI_FIGURE_H
#define GA_UI_FIGURE_H

#include <stdint.h>

#define GA_FIGURE_TEXT 32

/*
 * `value` in exactly `width` columns (5 .. 16), right-aligned: as many decimals as fit, at most
 * `digits` significant ones, trailing zeros kept; "1.2e-9" where a fixed point would lose it.
 */
const char *ga_figure(char out[GA_FIGURE_TEXT], double value, int width, int digits);

/* A count in at most 5 columns, not padded: "999", "12.3k", "4.56M", "1e15". */
const char *ga_figure_count(char out[GA_FIGURE_TEXT], double value);

/* A share of 1 as "  0 %" .. "100 %": 5 columns; "  n/a" for NaN. */
const char *ga_figure_percent(char out[GA_FIGURE_TEXT], double share);

/* Time with 4 significant digits: "0 s", "12.50 ms", "1.250 s". */
const char *ga_figure_time(char out[GA_FIGURE_TEXT], double seconds);

/* Bytes with binary units, right-aligned in 8 columns: " 1.4 KiB"; "     n/a" for NaN. */
const char *ga_figure_bytes(char out[GA_FIGURE_TEXT], double bytes);

#endif
