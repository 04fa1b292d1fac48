/*
 * `export svg FILE`: charts of a run by updates, from its update records: loss, norms, and what
 * else moved: staleness, rate, noise scale. Atomic, as all exports.
 */
#ifndef GA_STORAGE_EXPORT_SVG_H
#define GA_STORAGE_EXPORT_SVG_H

#include "train/metrics.h"

struct ga_export_svg;

int ga_export_svg_open(struct ga_export_svg **out);

/* Shaped for ga_engine_records(); `export` is the struct ga_export_svg. */
int ga_export_svg_record(const struct ga_update_record *record, void *export);

/* Draws what came and writes it. GA_ESTATE when nothing did. */
int ga_export_svg_write(const struct ga_export_svg *export, const char *path, const char *title,
                        const char *subtitle);

void ga_export_svg_close(struct ga_export_svg *export); /* NULL is fine */

#endif
