/* NVML that is not there, or is something else: each is said in the loader's own words. */
#include <dlfcn.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "monitor/monitors.h"
#include "monitor/sampler.h"
#include "support/support.h"

#define PATIENT INT64_C(60000000000)

static void without_the_library_there_is_a_reason(void **unused)
{
    (void)unused;
    const struct ga_monitor_options options = {NULL};
    struct ga_session *session = NULL;
    void *real = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (real)
        ga_test_skip("this machine has a libnvidia-ml.so.1");
    assert_int_equal(ga_monitor_nvml.open(&session, &options), GA_EUNSUPPORTED);
    assert_null(session);
    assert_non_null(strstr(ga_error_text(), "libnvidia-ml.so.1: cannot open shared object file"));
}

static void a_sampler_keeps_the_reason(void **unused)
{
    (void)unused;
    static struct ga_picture picture;
    const struct ga_sampler_options options = {.monitor = &ga_monitor_nvml};
    struct ga_sampler *sampler = NULL;
    void *real = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (real)
        ga_test_skip("this machine has a libnvidia-ml.so.1");
    assert_int_equal(ga_sampler_open(&sampler, &options), GA_OK);
    assert_true(ga_sampler_wait(sampler, 1, ga_now_ns() + PATIENT));
    ga_sampler_read(sampler, &picture);
    assert_int_equal(picture.state, GA_PICTURE_FAILED);
    assert_non_null(strstr(picture.error.text, "cannot open shared object file"));
    assert_int_equal(picture.devices, 0);
    ga_sampler_close(sampler);
}

/* The loader takes a library of that soname that is loaded already. */
static void a_library_without_the_calls_is_refused(void **unused)
{
    (void)unused;
    const struct ga_monitor_options options = {NULL};
    struct ga_session *session = NULL;
    void *empty = dlopen(GA_EMPTY_NVML, RTLD_NOW | RTLD_LOCAL);
    if (!empty)
        fail_msg("%s", dlerror());
    assert_int_equal(ga_monitor_nvml.open(&session, &options), GA_EUNSUPPORTED);
    assert_string_equal(ga_error_text(),
                        "libnvidia-ml.so.1: has no nvmlInit_v2, expected NVML 5 or later");
    dlclose(empty);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(without_the_library_there_is_a_reason),
    cmocka_unit_test(a_sampler_keeps_the_reason),
    cmocka_unit_test(a_library_without_the_calls_is_refused),
};

int main(void)
{
    return ga_test_main(tests);
}
