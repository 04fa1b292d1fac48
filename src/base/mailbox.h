/*
 * Letters from any thread to one owner thread. A letter is a struct that embeds ga_letter first;
 * the mailbox never copies or frees it. Delivery is in posting order.
 *
 * Lock rule: one mutex guards the list; ga_mailbox_waiting() reads an atomic count without it, so
 * the owner can look between two events at no cost.
 */
#ifndef GA_BASE_MAILBOX_H
#define GA_BASE_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

struct ga_letter {
    struct ga_letter *next;
};

struct ga_mailbox;

int ga_mailbox_open(struct ga_mailbox **out);
void ga_mailbox_close(struct ga_mailbox *box); /* letters still inside are not touched */
void ga_mailbox_post(struct ga_mailbox *box, struct ga_letter *letter);
bool ga_mailbox_waiting(const struct ga_mailbox *box);

/*
 * Makes the ga_mailbox_take() that waits now, or else the next one, return without a letter, even
 * where there is one. Any thread.
 */
void ga_mailbox_wake(struct ga_mailbox *box);

/*
 * The oldest letter; waits until `deadline_ns` (ga_now_ns() time; INT64_MAX = for ever), then NULL.
 */
struct ga_letter *ga_mailbox_take(struct ga_mailbox *box, int64_t deadline_ns);

#endif
