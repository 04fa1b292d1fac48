/* Runs the program itself and keeps what it writes. */
#ifndef GA_TESTS_PROGRAM_H
#define GA_TESTS_PROGRAM_H

#include "base/text.h"

struct outcome {
    int status; /* exit status; 128 + number when a signal ended it */
    struct ga_text out;
    struct ga_text fail;
};

/* argv[0] is ignored unless it is a path to another program. `folder` is the working directory,
 * NULL: this one. stdin is empty. */
void program_run(const char *const *argv, const char *folder, struct outcome *outcome);
void outcome_fini(struct outcome *outcome);

#endif
