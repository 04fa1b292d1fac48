#include "base/error.h"
#include "base/ring.h"
#include "support/support.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

struct record {
    uint64_t number;
    uint64_t check;
    unsigned char tail[5];
};

static struct record make_record(uint64_t number)
{
    struct record record;
    memset(&record, 0, sizeof record);
    record.number = number;
    record.check = ~number;
    memset(record.tail, (int)(number & 0xff), sizeof record.tail);
    return record;
}

static void test_first_in_first_out(void **state)
{
    (void)state;
    struct ga_ring *ring = NULL;
    struct record record;
    uint64_t pushed = 0;
    uint64_t popped = 0;
    assert_int_equal(ga_ring_open(&ring, 5, sizeof record), GA_OK);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < round % 9; i++) {
            record = make_record(pushed);
            const bool room = pushed - popped < 8;
            assert_int_equal(ga_ring_push(ring, &record), room);
            pushed += room;
            assert_int_equal(ga_ring_count(ring), pushed - popped);
        }
        for (int i = 0; i < round % 7; i++) {
            const bool any = pushed > popped;
            assert_int_equal(ga_ring_pop(ring, &record), any);
            if (any)
                assert_int_equal(record.number, popped);
            popped += any;
        }
    }
    assert_true(popped > 100);
    ga_ring_close(ring);
}

static void test_open_refuses(void **state)
{
    (void)state;
    struct ga_ring *ring = NULL;
    assert_int_equal(ga_ring_open(&ring, 0, 8), GA_EINPUT);
    assert_int_equal(ga_ring_open(&ring, 8, 0), GA_EINPUT);
    assert_int_equal(ga_ring_open(&ring, SIZE_MAX, 1), GA_ENOMEM);
    assert_int_equal(ga_ring_open(&ring, (size_t)1 << 62, 1 << 10), GA_ENOMEM);
    for (int limit = 0; limit < 2; limit++) {
        ga_test_allocation_limit(limit);
        const int answer = ga_ring_open(&ring, 8, 8);
        ga_test_allocation_free();
        assert_int_equal(answer, GA_ENOMEM);
        assert_null(ring);
    }
    ga_ring_close(NULL);
}

struct transfer {
    struct ga_ring *ring;
    uint64_t count;
};

static void *produce(void *argument)
{
    struct transfer *transfer = argument;
    for (uint64_t i = 0; i < transfer->count; i++) {
        const struct record record = make_record(i);
        while (!ga_ring_push(transfer->ring, &record))
            sched_yield();
    }
    return NULL;
}

/* Small rings, so that both ends keep meeting. */
static void test_two_threads(void **state)
{
    (void)state;
    for (size_t capacity = 1; capacity <= 64; capacity *= 8) {
        struct transfer transfer = {NULL, ga_test_count(60000)};
        pthread_t thread;
        uint64_t wrong = 0;
        assert_int_equal(ga_ring_open(&transfer.ring, capacity, sizeof(struct record)), GA_OK);
        assert_int_equal(pthread_create(&thread, NULL, produce, &transfer), 0);
        for (uint64_t i = 0; i < transfer.count; i++) {
            struct record record;
            const struct record want = make_record(i);
            while (!ga_ring_pop(transfer.ring, &record))
                sched_yield();
            wrong += memcmp(&record, &want, sizeof record) != 0;
            wrong += ga_ring_count(transfer.ring) > capacity;
        }
        pthread_join(thread, NULL);
        assert_int_equal(wrong, 0);
        assert_int_equal(ga_ring_count(transfer.ring), 0);
        ga_ring_close(transfer.ring);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_in_first_out),
        cmocka_unit_test(test_open_refuses),
        cmocka_unit_test(test_two_threads),
    };
    return ga_test_main(tests);
}
