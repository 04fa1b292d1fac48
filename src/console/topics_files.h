/* The pages about files: what `data` reads and what `log` and `export` write; for topics.c. */
#ifndef GA_CONSOLE_TOPICS_FILES_H
#define GA_CONSOLE_TOPICS_FILES_H

#include "console/topics.h"

extern const struct ga_topic ga_topics_of_files[];
extern const size_t ga_topics_of_files_count;

#endif
