/* In the place of tests that need a terminal which is not there. */
#include "support/support.h"

static void needs_libvterm(void **state)
{
    (void)state;
    ga_test_skip("libvterm (Debian: libvterm-dev) is not installed");
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(needs_libvterm)};

int main(void)
{
    return ga_test_main(tests);
}
