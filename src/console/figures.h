/* Metrics by name, with an error that helps. */
#ifndef GA_CONSOLE_FIGURES_H
#define GA_CONSOLE_FIGURES_H

#include <stdbool.h>

/* enum ga_metric, or -1 and an error with the nearest name; |g| is grad_norm (norm of a replica).
 */
int ga_figure_find(const char *name, bool of_replica);

#endif
