/* The panels, one record each; panel.c lists them. For panels and their tests. */
#ifndef GA_UI_PANELS_H
#define GA_UI_PANELS_H

#include "ui/panel.h"

extern const struct ga_panel ga_panel_loss, ga_panel_fit, ga_panel_replicas, ga_panel_timeline,
    ga_panel_explain, ga_panel_norms, ga_panel_staleness, ga_panel_weights, ga_panel_devices,
    ga_panel_runs, ga_panel_log, ga_panel_lesson;

/* A row of `rows` with rows above or below it out of sight: how far one may scroll. */
int ga_scroll(int first, int key, int rows, int page); /* the new first row; -1: not a scroll key */

/*
 * While it trains a close-up is older than the numbers beside it: "at update 12  " for a caption of
 * what was drawn from it, nothing where it is of the same moment.
 */
void ga_moment_write(const struct ga_scene *scene, struct ga_text *out);

#endif
