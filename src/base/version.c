#include "base/version.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

const char *ga_version(void)
{
    return GA_VERSION;
}

const char *ga_build(void)
{
    return COMPILER ", " GA_BUILD_TYPE;
}
