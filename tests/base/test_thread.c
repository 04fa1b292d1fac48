#include "base/error.h"
#include "base/thread.h"
#include "base/version.h"
#include "support/support.h"

#include <fenv.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static void test_clock_goes_forward(void **state)
{
    (void)state;
    int64_t last = ga_now_ns();
    assert_true(last > 0);
    for (int i = 0; i < 1000; i++) {
        const int64_t now = ga_now_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void test_float_environment(void **state)
{
    (void)state;
    volatile double third = 1.0;
    fesetround(FE_UPWARD);
    ga_float_environment_reset();
    third /= 3.0;
    assert_int_equal(fegetround(), FE_TONEAREST);
    assert_close(third, 0x1.5555555555555p-2, 0.0);
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
    volatile float small = 0x1p-126f;
    small *= 0.5f;
    const bool flushed = small == 0.0f;
    ga_float_environment_reset();
    small = 0x1p-126f;
    small *= 0.5f;
    assert_close((double)small, 0x1p-127, 0.0);
    if (!flushed)
        ga_test_skip("this machine does not flush to zero (valgrind)");
#endif
}

static bool rings(const struct ga_bell *bell)
{
    struct pollfd poll_fd = {bell->fd, POLLIN, 0};
    return poll(&poll_fd, 1, 0) == 1;
}

static void test_rings_coalesce(void **state)
{
    (void)state;
    struct ga_bell bell = {-1};
    ga_bell_close(&bell);
    ga_bell_close(NULL);
    assert_int_equal(ga_bell_open(&bell), GA_OK);
    assert_false(rings(&bell));
    ga_bell_clear(&bell);
    ga_bell_ring(&bell);
    ga_bell_ring(&bell);
    assert_true(rings(&bell));
    ga_bell_clear(&bell);
    assert_false(rings(&bell));
    ga_bell_close(&bell);
    assert_int_equal(bell.fd, -1);
}

static void test_no_descriptor_left(void **state)
{
    (void)state;
    struct rlimit old;
    struct ga_bell bell;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    const struct rlimit none = {0, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int answer = ga_bell_open(&bell);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(answer, GA_EIO);
    assert_int_equal(bell.fd, -1);
}

static void *ring_later(void *argument)
{
    ga_bell_ring(argument);
    return NULL;
}

static void test_bell_wakes_a_poll(void **state)
{
    (void)state;
    struct ga_bell bell;
    pthread_t thread;
    assert_int_equal(ga_bell_open(&bell), GA_OK);
    assert_int_equal(pthread_create(&thread, NULL, ring_later, &bell), 0);
    struct pollfd poll_fd = {bell.fd, POLLIN, 0};
    assert_int_equal(poll(&poll_fd, 1, 60000), 1);
    pthread_join(thread, NULL);
    ga_bell_close(&bell);
}

static void test_triple_gives_the_newest(void **state)
{
    (void)state;
    struct ga_triple triple;
    int slots[3] = {0, 0, 0};
    bool fresh = true;
    ga_triple_init(&triple);
    assert_int_equal(slots[ga_triple_front(&triple, &fresh)], 0);
    assert_false(fresh);
    for (int value = 1; value < 20; value++) {
        slots[ga_triple_back(&triple)] = value;
        ga_triple_publish(&triple);
        if (value % 3 == 0) {
            assert_int_equal(slots[ga_triple_front(&triple, &fresh)], value);
            assert_true(fresh);
            assert_int_equal(slots[ga_triple_front(&triple, &fresh)], value);
            assert_false(fresh);
        }
        assert_int_not_equal(ga_triple_back(&triple), ga_triple_front(&triple, NULL));
    }
}

struct picture {
    uint64_t words[16];
};

struct gallery {
    struct ga_triple triple;
    struct picture slots[3];
    uint64_t count;
};

static void *paint(void *argument)
{
    struct gallery *gallery = argument;
    for (uint64_t number = 1; number <= gallery->count; number++) {
        struct picture *picture = &gallery->slots[ga_triple_back(&gallery->triple)];
        for (size_t i = 0; i < 16; i++)
            picture->words[i] = number;
        ga_triple_publish(&gallery->triple);
    }
    return NULL;
}

/* Every picture seen is whole, no picture is older than the one before, and the last one is seen.
 */
static void test_triple_between_threads(void **state)
{
    (void)state;
    static struct gallery gallery;
    pthread_t thread;
    uint64_t last = 0;
    uint64_t wrong = 0;
    memset(&gallery, 0, sizeof gallery);
    gallery.count = ga_test_count(300000);
    ga_triple_init(&gallery.triple);
    assert_int_equal(pthread_create(&thread, NULL, paint, &gallery), 0);
    while (last < gallery.count) {
        const struct picture *picture = &gallery.slots[ga_triple_front(&gallery.triple, NULL)];
        const uint64_t number = picture->words[0];
        for (size_t i = 1; i < 16; i++)
            wrong += picture->words[i] != number;
        wrong += number < last;
        last = number;
    }
    pthread_join(thread, NULL);
    assert_int_equal(wrong, 0);
}

static void test_version_is_stated(void **state)
{
    (void)state;
    int numbers[3] = {-1, -1, -1};
    char end = '\0';
    const int found =
        sscanf(ga_version(), "%d.%d.%d%c", &numbers[0], &numbers[1], &numbers[2], &end);
    assert_int_equal(found, 3);
    assert_non_null(strchr(ga_build(), ','));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_goes_forward),
        cmocka_unit_test(test_float_environment),
        cmocka_unit_test(test_rings_coalesce),
        cmocka_unit_test(test_no_descriptor_left),
        cmocka_unit_test(test_bell_wakes_a_poll),
        cmocka_unit_test(test_triple_gives_the_newest),
        cmocka_unit_test(test_triple_between_threads),
        cmocka_unit_test(test_version_is_stated),
    };
    return ga_test_main(tests);
}
