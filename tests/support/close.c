#include "support/support.h"

#include <math.h>
#include <stdio.h>

bool ga_test_close(double got, double want, double rel)
{
    if (isnan(got) || isnan(want) || isnan(rel))
        return false;
    return got == want || (isfinite(got) && isfinite(want) && fabs(got - want) <= rel * fabs(want));
}

void ga_test_assert_close(double got, double want, double rel, const char *what, const char *file,
                          int line)
{
    if (ga_test_close(got, want, rel))
        return;
    print_error("%s is %.17g, expected %.17g within %g relative (off by %g)\n", what, got, want,
                rel, fabs(got - want) / fabs(want));
    _fail(file, line);
}
