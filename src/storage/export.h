/*
 * `export history FILE`: update records into a file, csv for a name that ends in ".csv", else jsonl
 * (storage/record_text.h has the columns). Atomic: until ga_export_commit() succeeds an existing
 * file keeps its content.
 */
#ifndef GA_STORAGE_EXPORT_H
#define GA_STORAGE_EXPORT_H

#include "train/metrics.h"

struct ga_export;

int ga_export_open(struct ga_export **out, const char *path);

/* Shaped for ga_engine_records(); `export` is the struct ga_export. One thread at a time. */
int ga_export_record(const struct ga_update_record *record, void *export);

int ga_export_commit(struct ga_export *export);   /* frees it, whatever the answer */
void ga_export_abandon(struct ga_export *export); /* NULL is fine */

#endif
