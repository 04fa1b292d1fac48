/* Versions held by many are counted once, against a plain list of counts. */
#include "support/support.h"

#include "base/error.h"
#include "train/holdings.h"
#include "train/support/start.h"

#define VERSIONS 300

static void test_against_a_list(void **state)
{
    struct ga_version *version[VERSIONS];
    size_t count[VERSIONS] = {0}, held = 0;
    struct ga_test_random random = {.seed = 11};
    struct ga_holdings holdings = {0};
    uint64_t bytes = 0;

    (void)state;
    for (size_t k = 0; k < VERSIONS; k++)
        ga_test_ok(ga_version_open(&version[k], 1 + k % 40, k % 2));
    for (int step = 0; step < 20000; step++) {
        size_t k = ga_test_draw(&random, VERSIONS);
        bool hold = ga_test_draw(&random, 4000) > (uint32_t)step % 4000; /* fills, then empties */

        if (hold) {
            ga_test_ok(ga_holdings_room(&holdings, 1));
            ga_holdings_hold(&holdings, version[k]);
            bytes += count[k]++ == 0 ? ga_version_bytes(version[k]) : 0;
        } else if (count[k] > 0) {
            ga_holdings_release(&holdings, version[k]);
            bytes -= --count[k] == 0 ? ga_version_bytes(version[k]) : 0;
        }
        assert_int_equal(holdings.bytes, bytes);
    }
    for (size_t k = 0; k < VERSIONS; k++) {
        held += count[k] > 0;
        ga_version_close(version[k]);
    }
    assert_int_equal(holdings.versions, held);
    ga_holdings_fini(&holdings);
    ga_holdings_fini(&holdings);
}

static void test_no_memory(void **state)
{
    struct ga_holdings holdings = {0};

    (void)state;
    ga_test_ok(ga_holdings_room(&holdings, 20));
    ga_test_allocation_limit(0);
    assert_int_equal(ga_holdings_room(&holdings, 1000), GA_ENOMEM);
    ga_test_allocation_free();
    ga_test_ok(ga_holdings_room(&holdings, 20));
    assert_int_equal(holdings.versions, 0);
    ga_holdings_fini(&holdings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_list),
        cmocka_unit_test(test_no_memory),
    };

    return ga_test_main(tests);
}
