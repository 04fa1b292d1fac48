/* The pages about update modes, for topics.c. */
#ifndef GA_CONSOLE_TOPICS_MODES_H
#define GA_CONSOLE_TOPICS_MODES_H

#include "console/topics.h"

extern const struct ga_topic ga_topics_of_modes[];
extern const size_t ga_topics_of_modes_count;

#endif
