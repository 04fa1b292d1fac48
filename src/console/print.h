/* What `print` can name beside metrics and settings; completion and help read the table. */
#ifndef GA_CONSOLE_PRINT_H
#define GA_CONSOLE_PRINT_H

#include <stddef.h>

#include "console/session.h"

struct ga_subject {
    const char *name;
    const char *usage; /* behind the name */
    const char *help;
    size_t least, most;                             /* words behind the name */
    int (*print)(struct ga_run *run, void *report); /* struct ga_report, words behind the name */
};

size_t ga_subject_count(void);
const struct ga_subject *ga_subject_at(size_t position); /* NULL beyond the last */
const struct ga_subject *ga_subject_named(const char *word);

#endif
