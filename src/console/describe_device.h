/* Devices in words, for the command `devices` and the panel of that name. Any thread. */
#ifndef GA_CONSOLE_DESCRIBE_DEVICE_H
#define GA_CONSOLE_DESCRIBE_DEVICE_H

#include <stddef.h>

#include "base/text.h"
#include "train/devices.h"

/* Its place on the PCI bus, "3b:00.0"; "gpu 0" where it does not say. */
void ga_device_name(const struct ga_picture_device *device, size_t index, char *out, size_t size);

/* Of a replica's: the GPU's place, or "cpu". */
void ga_seat_name(const struct ga_seat *seat, char *out, size_t size);

/* Hz; NaN: not known. */
double ga_device_clock(const struct ga_device_sample *sample);

/* "clock held: power, heat"; nothing when nothing is. */
void ga_describe_throttle(const struct ga_device_sample *sample, struct ga_text *out);

/* "util 12 %, memory 1.2 GiB of 8.0 GiB, 41 C, ..."; what is not known reads n/a. */
void ga_describe_sample(const struct ga_device_sample *sample, struct ga_text *out);

/* Waits a moment until the monitors of these seats have answered once: a script for long, a person
 * at the prompt less. */
struct ga_console;
void ga_devices_await_seats(struct ga_console *console, const struct ga_seat *seat, size_t count);

#endif
