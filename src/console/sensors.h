/*
 * What monitors know of the device that a replica computes on, by name, for `print`. They are no
 * metrics: they differ from one run of a script to the next, so conditions and columns refuse them.
 */
#ifndef GA_CONSOLE_SENSORS_H
#define GA_CONSOLE_SENSORS_H

#include "console/session.h"

struct ga_sensor {
    const char *name; /* "util" */
    const char *help;
    size_t offset;                                    /* in struct ga_readings */
    void (*write)(double value, struct ga_text *out); /* a value that is known */
};

size_t ga_sensor_count(void);
const struct ga_sensor *ga_sensor_at(size_t position);     /* NULL beyond the last */
const struct ga_sensor *ga_sensor_named(const char *word); /* NULL: none; no error */

/* Of one replica, or of all for -1, a line each; "n/a" where it is not known. Waits a moment for
 * the monitors' first answers. */
int ga_sensor_print(struct ga_console *console, const struct ga_sensor *sensor, int64_t replica);

#endif
