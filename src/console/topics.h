/* Pages of `help` about ideas rather than commands. */
#ifndef GA_CONSOLE_TOPICS_H
#define GA_CONSOLE_TOPICS_H

#include <stddef.h>

struct ga_topic {
    const char *name;
    const char *aliases; /* blank-separated */
    const char *title;
    const char *text; /* lines of at most 80 columns */
};

size_t ga_topic_count(void);
const struct ga_topic *ga_topic_at(size_t position); /* NULL beyond the last */

/* By name or alias, letters of either case; NULL when there is none. */
const struct ga_topic *ga_topic_named(const char *word);

#endif
