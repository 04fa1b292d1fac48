/*
 * What a script says, as a page that is read row by row: the text since the last stop, and how far
 * down the panel that shows it has come. Text that is added never moves what is being read, but for
 * the reply to an answer, which is shown at once.
 *
 * A value of its owner's, zero at first; one thread, the ui's.
 */
#ifndef GA_UI_LESSON_H
#define GA_UI_LESSON_H

#include <stdbool.h>

#include "base/text.h"

struct ga_lesson {
    struct ga_text text;
    bool read;         /* the next line begins a new page */
    int first;         /* row of the text in the panel's first row */
    int from;          /* row from which on the text replies to an answer; 0: none does */
    int rows, page;    /* of the text and of the panel, as of the last fit; page 0: not shown */
    int most, columns; /* rows that a page has had so far, in as many columns */
};

void ga_lesson_fini(struct ga_lesson *lesson); /* no page is left */

void ga_lesson_say(struct ga_lesson *lesson, const char *text); /* one line */
void ga_lesson_answer(struct ga_lesson *lesson); /* what is said next replies to an answer */

/* Rows that the longest page so far takes in `columns`; 0 without a lesson. */
int ga_lesson_rows(struct ga_lesson *lesson, int columns);

/* To a panel of `page` rows, after ga_lesson_rows(). */
void ga_lesson_fit(struct ga_lesson *lesson, int page);

int ga_lesson_below(const struct ga_lesson *lesson);      /* rows not seen yet */
bool ga_lesson_scroll(struct ga_lesson *lesson, int key); /* false: nothing moved */

#endif
