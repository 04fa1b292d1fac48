/*
 * Readers and writers of the setting types, for the rows of settings_table.c. Each reader takes the
 * whole text or fails with GA_EINPUT or GA_ERANGE and leaves the draft alone; the texts repeat what
 * the row accepts. Each writer appends one word that its reader accepts.
 */
#ifndef GA_SETTINGS_VALUES_H
#define GA_SETTINGS_VALUES_H

#include "settings/settings.h"

typedef int ga_value_reader(const struct ga_setting *row, struct ga_settings *draft,
                            const char *text);
typedef void ga_value_writer(const struct ga_setting *row, const struct ga_settings *from,
                             struct ga_text *to);

ga_value_reader ga_value_read_int32, ga_value_read_int64, ga_value_read_seed, ga_value_read_real;
ga_value_writer ga_value_write_int32, ga_value_write_int64, ga_value_write_seed,
    ga_value_write_real;

/* -1 stands for none, 0 for P. */
ga_value_reader ga_value_read_bound, ga_value_read_buffer;
ga_value_writer ga_value_write_bound, ga_value_write_buffer;

/* 0 stands for off. */
ga_value_reader ga_value_read_int32_or_off, ga_value_read_real_or_off, ga_value_read_bytes_or_off;
ga_value_writer ga_value_write_int32_or_off, ga_value_write_real_or_off,
    ga_value_write_bytes_or_off;

ga_value_reader ga_value_read_switch, ga_value_read_choice;
ga_value_writer ga_value_write_switch, ga_value_write_choice;

ga_value_reader ga_value_read_time, ga_value_read_bytes, ga_value_read_bandwidth;
ga_value_writer ga_value_write_time, ga_value_write_bytes, ga_value_write_bandwidth;

/* forms.c: values with arguments. */
ga_value_reader ga_value_read_schedule, ga_value_read_jitter, ga_value_read_pace,
    ga_value_read_model, ga_value_read_outer, ga_value_read_devices;
ga_value_writer ga_value_write_schedule, ga_value_write_jitter, ga_value_write_pace,
    ga_value_write_model, ga_value_write_outer, ga_value_write_devices;

/* Setting one of batch and global clears the other's rule; replicas_to_aggregate N is backup P - N.
 */
ga_value_reader ga_value_read_window_batch, ga_value_read_aggregate;

/* "jitter x: expected ..." with this thread's present code, or GA_EINPUT. */
int ga_value_refuse(const struct ga_setting *row, const char *text);

/* Whether the arguments of a jitter make one, mean 1 where the form demands it. */
int ga_value_check_jitter(const struct ga_settings *settings);

#endif
