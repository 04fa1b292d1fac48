#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

static size_t skipped;

void ga_test_skip_at(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("skipped: ", stdout);
    vprintf(format, args);
    fputc('\n', stdout);
    fflush(stdout);
    va_end(args);
    skipped++;
    _skip(file, line);
}

int ga_test_run(const char *group, const struct CMUnitTest *tests, size_t count)
{
    skipped = 0;
    const int failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    if (failed != 0)
        return 1;
    return skipped == count ? 77 : 0;
}

/* In (0, 1]. */
static double test_scale(void)
{
    const char *text = getenv("GA_TEST_SCALE");
    const double scale = text ? atof(text) : 1.0;
    return scale > 0.0 && scale < 1.0 ? scale : 1.0;
}

size_t ga_test_count(size_t full)
{
    const size_t scaled = (size_t)((double)full * test_scale());
    return scaled > 0 ? scaled : 1;
}

size_t ga_test_stride(void)
{
    const double stride = 1.0 / test_scale();
    return stride < 1e6 ? (size_t)stride : 1000000;
}
