#include "base/error.h"
#include "base/mailbox.h"
#include "base/thread.h"
#include "support/support.h"

#include <pthread.h>
#include <stdlib.h>

struct note {
    struct ga_letter letter;
    int sender;
    uint64_t number;
};

static void test_order_of_posting(void **state)
{
    (void)state;
    struct ga_mailbox *box = NULL;
    struct note notes[5] = {{.number = 0}};
    assert_int_equal(ga_mailbox_open(&box), GA_OK);
    assert_false(ga_mailbox_waiting(box));
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 5; i++) {
            notes[i].number = i;
            ga_mailbox_post(box, &notes[i].letter);
            assert_true(ga_mailbox_waiting(box));
        }
        for (uint64_t i = 0; i < 5; i++) {
            const struct note *note = (struct note *)ga_mailbox_take(box, 0);
            assert_ptr_equal(note, &notes[i]);
        }
        assert_null(ga_mailbox_take(box, 0));
        assert_false(ga_mailbox_waiting(box));
    }
    ga_mailbox_close(box);
    ga_mailbox_close(NULL);
}

static void test_deadline(void **state)
{
    (void)state;
    struct ga_mailbox *box = NULL;
    assert_int_equal(ga_mailbox_open(&box), GA_OK);
    assert_null(ga_mailbox_take(box, INT64_MIN));
    assert_null(ga_mailbox_take(box, ga_now_ns()));
    const int64_t deadline = ga_now_ns() + 2000000;
    assert_null(ga_mailbox_take(box, deadline));
    assert_true(ga_now_ns() >= deadline);
    ga_mailbox_close(box);
}

/* A wake is neither lost to a letter nor counted twice. */
static void test_a_wake_comes_first(void **state)
{
    (void)state;
    struct ga_mailbox *box = NULL;
    struct note note = {.number = 1};
    assert_int_equal(ga_mailbox_open(&box), GA_OK);
    ga_mailbox_wake(box);
    ga_mailbox_post(box, &note.letter);
    ga_mailbox_wake(box);
    assert_null(ga_mailbox_take(box, INT64_MAX));
    assert_true(ga_mailbox_waiting(box));
    assert_ptr_equal(ga_mailbox_take(box, INT64_MAX), &note);
    ga_mailbox_wake(box);
    assert_null(ga_mailbox_take(box, INT64_MAX));
    assert_null(ga_mailbox_take(box, 0));
    ga_mailbox_close(box);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct ga_mailbox *box = NULL;
    ga_test_allocation_limit(0);
    const int answer = ga_mailbox_open(&box);
    ga_test_allocation_free();
    assert_int_equal(answer, GA_ENOMEM);
    assert_null(box);
}

struct sender {
    struct ga_mailbox *box;
    struct note *notes;
    size_t count;
};

static void *send_all(void *argument)
{
    struct sender *sender = argument;
    for (size_t i = 0; i < sender->count; i++)
        ga_mailbox_post(sender->box, &sender->notes[i].letter);
    return NULL;
}

/* Several senders, one owner that waits for ever: each sender's letters arrive complete and in
 * order. */
static void test_many_senders(void **state)
{
    (void)state;
    enum { SENDERS = 4 };
    struct sender senders[SENDERS];
    pthread_t threads[SENDERS];
    uint64_t next[SENDERS] = {0};
    struct ga_mailbox *box = NULL;
    const size_t count = ga_test_count(50000);
    uint64_t wrong = 0;
    assert_int_equal(ga_mailbox_open(&box), GA_OK);
    for (int s = 0; s < SENDERS; s++) {
        senders[s] = (struct sender){box, calloc(count, sizeof(struct note)), count};
        for (size_t i = 0; i < count; i++)
            senders[s].notes[i] = (struct note){{NULL}, s, i};
        assert_int_equal(pthread_create(&threads[s], NULL, send_all, &senders[s]), 0);
    }
    for (size_t i = 0; i < SENDERS * count; i++) {
        const struct note *note = (struct note *)ga_mailbox_take(box, INT64_MAX);
        wrong += note->number != next[note->sender]++;
    }
    for (int s = 0; s < SENDERS; s++) {
        pthread_join(threads[s], NULL);
        free(senders[s].notes);
    }
    assert_int_equal(wrong, 0);
    assert_false(ga_mailbox_waiting(box));
    ga_mailbox_close(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_posting),   cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_a_wake_comes_first), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_many_senders),
    };
    return ga_test_main(tests);
}
