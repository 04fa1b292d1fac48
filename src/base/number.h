/*
 * Strict reading and exact writing of numbers, whatever the locale. Reading takes the whole string
 * or nothing: no leading or trailing blanks, no hexadecimal, no "infinity"; a failure leaves `*out`
 * alone and sets GA_EINPUT (not a number) or GA_ERANGE (the allowed range is named in the text).
 */
#ifndef GA_BASE_NUMBER_H
#define GA_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

int ga_read_int(const char *text, int64_t low, int64_t high, int64_t *out);
int ga_read_uint64(const char *text, uint64_t *out);

/*
 * A finite decimal number, "1e-3" and ".5" included; correctly rounded to nearest. `low` and `high`
 * may be infinite. Below the smallest double it becomes 0.
 */
int ga_read_double(const char *text, double low, double high, double *out);

/* As above for `length` bytes that need no terminator. */
int ga_read_double_n(const char *text, size_t length, double low, double high, double *out);

#define GA_NUMBER_TEXT 32

/*
 * Shortest decimal that reads back to the same value (a power of two may get one digit more than it
 * needs); "nan", "inf", "-inf" otherwise.
 */
void ga_format_double(char out[GA_NUMBER_TEXT], double value);
void ga_format_float(char out[GA_NUMBER_TEXT], float value);

/* `digits` significant digits, like %.*g in the C locale. */
void ga_format_digits(char out[GA_NUMBER_TEXT], double value, int digits);

void ga_format_int(char out[GA_NUMBER_TEXT], int64_t value);

/* "1.5 KiB", "256 MiB": binary units up to EiB, rounded to at most one decimal. */
void ga_format_bytes(char out[GA_NUMBER_TEXT], uint64_t bytes);

/*
 * "1 ms", "2.5 s", "13 us", "7 ns", "0 s": exact, in the largest unit that is not above the value
 * and needs at most 6 decimals.
 */
void ga_format_time(char out[GA_NUMBER_TEXT], int64_t nanoseconds);

/* "1ms", "2.5 s", "10us", "0": a number and a unit (ns us ms s), rounded to the nearest ns, half
 * up. */
int ga_read_time(const char *text, int64_t low_ns, int64_t high_ns, int64_t *out_ns);

/*
 * "256 MiB", "1GiB", "4096": a number and an optional unit, in either case: B, KiB MiB GiB TiB PiB
 * EiB of 1024, KB MB GB TB PB EB of 1000. Rounded to the nearest byte, half up.
 */
int ga_read_bytes(const char *text, uint64_t low, uint64_t high, uint64_t *out);

#endif
