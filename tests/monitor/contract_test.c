/* What every monitor of the registry promises, NVML's on the fake library. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "fake.h"
#include "monitor/monitors.h"
#include "support/support.h"

static struct ga_session *open_session(const struct ga_monitor *monitor)
{
    static const struct ga_monitor_options options = {NULL};
    struct ga_session *session = NULL;
    if (monitor->open(&session, &options) < 0)
        fail_msg("%s: %s", monitor->name, ga_error_text());
    assert_non_null(session);
    return session;
}

static void the_registry_is_complete(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ga_monitor_count(); i++) {
        const struct ga_monitor *monitor = ga_monitor_at(i);
        assert_true(monitor->name && monitor->help && monitor->open && monitor->close &&
                    monitor->driver && monitor->count && monitor->info && monitor->sample);
        assert_ptr_equal(ga_monitor_named(monitor->name), monitor);
        monitor->close(NULL);
    }
    assert_true(ga_monitor_count() >= 2);
    assert_null(ga_monitor_at(ga_monitor_count()));
    assert_null(ga_monitor_named("rocm"));
    assert_string_equal(ga_error_text(), "unknown monitor \"rocm\", expected one of: proc, nvml");
}

static void assert_sample(const struct ga_device_sample *sample)
{
    const unsigned valid = sample->valid;
    assert_true(sample->taken_ns > 0 && sample->taken_ns <= ga_now_ns());
    assert_true(sample->utilisation >= 0 && sample->utilisation <= 1);
    assert_true(isfinite(sample->temperature) && isfinite(sample->power));
    if ((valid & GA_SENSES_MEMORY_TOTAL) && (valid & GA_SENSES_MEMORY_USED))
        assert_true(sample->memory_used <= sample->memory_total && sample->memory_used > 0);
    if (!(valid & GA_SENSES_UTILISATION))
        assert_true(sample->utilisation == 0);
    if (!(valid & GA_SENSES_TEMPERATURE))
        assert_true(sample->temperature == 0);
    if (!(valid & GA_SENSES_THROTTLE))
        assert_int_equal(sample->throttle, 0);
}

static void devices_have_names_and_samples_their_bits(void **unused)
{
    (void)unused;
    fake_set((const char *const[]){"GPUS=0000:3B:00.0,0000:5E:00.0", NULL});
    for (size_t i = 0; i < ga_monitor_count(); i++) {
        const struct ga_monitor *monitor = ga_monitor_at(i);
        struct ga_session *session = open_session(monitor);
        assert_non_null(monitor->driver(session));
        assert_true(monitor->count(session) > 0);
        for (size_t d = 0; d < monitor->count(session); d++) {
            struct ga_device_info info;
            struct ga_device_sample sample;
            assert_int_equal(monitor->info(session, d, &info), GA_OK);
            assert_true(info.name[0]);
            for (int round = 0; round < 3; round++) {
                assert_int_equal(monitor->sample(session, d, &sample), GA_OK);
                assert_sample(&sample);
            }
        }
        monitor->close(session);
    }
}

static void a_device_that_is_not_there_is_refused(void **unused)
{
    (void)unused;
    fake_set(NULL);
    for (size_t i = 0; i < ga_monitor_count(); i++) {
        const struct ga_monitor *monitor = ga_monitor_at(i);
        struct ga_session *session = open_session(monitor);
        struct ga_device_info info;
        struct ga_device_sample sample;
        const size_t beyond[] = {monitor->count(session), SIZE_MAX};
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(monitor->info(session, beyond[k], &info), GA_ERANGE);
            assert_int_equal(monitor->sample(session, beyond[k], &sample), GA_ERANGE);
            assert_int_equal(sample.valid, 0);
        }
        monitor->close(session);
    }
}

static void without_memory_it_says_so(void **unused)
{
    (void)unused;
    static const struct ga_monitor_options options = {NULL};
    for (size_t i = 0; i < ga_monitor_count(); i++) {
        struct ga_session *session = NULL;
        ga_test_allocation_limit(0);
        const int code = ga_monitor_at(i)->open(&session, &options);
        ga_test_allocation_free();
        assert_int_equal(code, GA_ENOMEM);
        assert_null(session);
    }
}

/* A thread that works is seen to work. */
static void proc_sees_this_thread_work(void **unused)
{
    (void)unused;
    struct ga_session *session = open_session(&ga_monitor_proc);
    struct ga_thread_load load[64];
    struct ga_device_sample sample;
    assert_true(ga_monitor_proc.threads(session, load, 64) >= 1);
    assert_true(isnan(load[0].share));
    assert_int_equal(ga_monitor_proc.sample(session, 0, &sample), GA_OK);
    assert_int_equal(sample.valid & GA_SENSES_UTILISATION, 0);
    for (const int64_t end = ga_now_ns() + 30000000; ga_now_ns() < end;)
        continue;
    assert_true(ga_monitor_proc.threads(session, load, 64) >= 1);
    assert_true(load[0].share > 0 && load[0].share <= 1);
    assert_int_equal(ga_monitor_proc.sample(session, 0, &sample), GA_OK);
    assert_true(sample.valid & GA_SENSES_UTILISATION);
    assert_true(sample.utilisation > 0);
    assert_true(ga_monitor_proc.threads(session, load, 0) == 0);
    ga_monitor_proc.close(session);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_registry_is_complete),
    cmocka_unit_test(devices_have_names_and_samples_their_bits),
    cmocka_unit_test(a_device_that_is_not_there_is_refused),
    cmocka_unit_test(without_memory_it_says_so),
    cmocka_unit_test(proc_sees_this_thread_work),
};

int main(void)
{
    return ga_test_main(tests);
}
