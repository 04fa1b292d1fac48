/*
 * The table itself, for settings.c. Rows are const. Besides the listed rows there are words with a
 * reading of their own and words that are refused because they mean different things elsewhere.
 */
#ifndef GA_SETTINGS_SETTINGS_TABLE_H
#define GA_SETTINGS_SETTINGS_TABLE_H

#include "settings/settings.h"

extern const struct ga_setting ga_settings_table[];
extern const size_t ga_settings_table_count;

/* replicas_to_aggregate: another way to say backup. Found by name only, never listed. */
extern const struct ga_setting ga_settings_aggregate_row;

struct ga_refused_word {
    const char *word;
    const char *why; /* and what to say instead */
};
extern const struct ga_refused_word ga_settings_refused[];
extern const size_t ga_settings_refused_count;

#endif
