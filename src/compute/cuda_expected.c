/*
 * Asking the driver, with declarations of our own after its reference manual. The library stays
 * loaded, since drivers leave threads and exit handlers behind.
 */
#include <dlfcn.h>
#include <fenv.h>
#include <stddef.h>

#include "base/error.h"
#include "compute/cuda_load.h"

#define LIBRARY "libcuda.so.1"

typedef int init_function(unsigned flags);
typedef int count_function(int *count);
typedef int text_function(int code, const char **text);

struct driver {
    void *library;
    init_function *init;
    count_function *count;
    text_function *name, *text; /* NULL in old drivers */
};

static void *symbol(const struct driver *driver, const char *name)
{
    return dlsym(driver->library, name);
}

static bool load(struct driver *out)
{
    union {
        void *object;
        init_function *init;
        count_function *count;
        text_function *text;
    } found;
    const char *why = NULL;

    *out = (struct driver){.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    why = out->library ? NULL : dlerror();
    fesetenv(FE_DFL_ENV); /* a library's start may set flush-to-zero */
    if (!out->library) {
        ga_fail(GA_EUNSUPPORTED, "no driver: %.400s", why ? why : LIBRARY " cannot be loaded");
        return false;
    }
    found.object = symbol(out, "cuInit");
    out->init = found.init;
    found.object = symbol(out, "cuDeviceGetCount");
    out->count = found.count;
    found.object = symbol(out, "cuGetErrorName");
    out->name = found.text;
    found.object = symbol(out, "cuGetErrorString");
    out->text = found.text;
    if (!out->init || !out->count)
        ga_fail(GA_EUNSUPPORTED, LIBRARY " has no cuInit and cuDeviceGetCount: expected a driver");
    return out->init && out->count;
}

static const char *words(text_function *function, int code)
{
    const char *text = NULL;

    return function && function(code, &text) == 0 && text ? text : "no text for it";
}

bool ga_cuda_expected(void)
{
    struct driver driver;
    int count = 0;
    int code = 0;

    if (!load(&driver))
        return false;
    code = driver.init(0);
    if (code == 0)
        code = driver.count(&count);
    if (code == 0 && count > 0)
        return true;
    if (code == 0)
        ga_fail(GA_EUNSUPPORTED, "the driver lists no GPU");
    else
        ga_fail(GA_EUNSUPPORTED, "the driver refuses: %s (%s, code %d)", words(driver.text, code),
                words(driver.name, code), code);
    return false;
}
