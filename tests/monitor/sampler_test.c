/* A monitor on its own thread: nobody waits for a driver that stalls. */
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "fake.h"
#include "monitor/monitors.h"
#include "monitor/sampler.h"
#include "support/support.h"

#define PATIENT INT64_C(60000000000)
#define QUICK   1000000 /* ns between two samples */

static struct ga_picture picture; /* the main thread's */

static struct ga_sampler *open_sampler(const struct ga_monitor *monitor, int64_t period_ns)
{
    const struct ga_sampler_options options = {.monitor = monitor, .period_ns = period_ns};
    struct ga_sampler *sampler = NULL;
    if (ga_sampler_open(&sampler, &options) < 0)
        fail_msg("%s", ga_error_text());
    return sampler;
}

static void await(struct ga_sampler *sampler, uint64_t rounds)
{
    if (!ga_sampler_wait(sampler, rounds, ga_now_ns() + PATIENT))
        fail_msg("no picture came");
    ga_sampler_read(sampler, &picture);
}

static void pictures_follow_each_other(void **unused)
{
    (void)unused;
    fake_set((const char *const[]){"GPUS=0000:3B:00.0,0000:5E:00.0", NULL});
    struct ga_sampler *sampler = open_sampler(&ga_monitor_nvml, QUICK);
    for (uint64_t round = 1; round <= 5; round++) {
        await(sampler, round);
        assert_int_equal(picture.state, GA_PICTURE_OPEN);
        assert_int_equal(picture.devices, 2);
        assert_string_equal(picture.driver, "999.11");
        assert_true(picture.rounds >= round);
        assert_close(picture.device[1].sample.utilisation, 0.11, 1e-12);
        assert_string_equal(picture.device[1].trouble, "");
    }
    ga_sampler_close(sampler);
}

static void a_failure_is_kept_with_text_and_code(void **unused)
{
    (void)unused;
    fake_set((const char *const[]){"INIT=9", NULL});
    struct ga_sampler *sampler = open_sampler(&ga_monitor_nvml, QUICK);
    await(sampler, 1);
    assert_int_equal(picture.state, GA_PICTURE_FAILED);
    assert_string_equal(picture.error.text, "Driver Not Loaded (code 9), from nvmlInit");
    ga_sampler_close(sampler);
}

static void a_gpu_that_gets_lost_becomes_trouble(void **unused)
{
    (void)unused;
    fake_set((const char *const[]){"GPUS=0000:3B:00.0,0000:5E:00.0", "LOST=1@1", NULL});
    struct ga_sampler *sampler = open_sampler(&ga_monitor_nvml, QUICK);
    await(sampler, 3);
    assert_int_equal(picture.device[1].sample.valid, 0);
    assert_string_equal(picture.device[1].trouble,
                        "GPU is lost (code 15), from nvmlDeviceGetUtilizationRates");
    assert_string_equal(picture.device[1].info.name, "Fake GPU 1");
    assert_true(picture.device[0].sample.valid & GA_SENSES_UTILISATION);
    assert_string_equal(picture.device[0].trouble, "");
    ga_sampler_close(sampler);
}

/* A monitor that stays inside a call until it is let go. */
static struct {
    atomic_bool inside, release, closed;
} stuck;

static int stuck_open(struct ga_session **out, const struct ga_monitor_options *options)
{
    (void)options;
    *out = NULL;
    return GA_OK;
}

static void stuck_close(struct ga_session *session)
{
    (void)session;
    atomic_store(&stuck.closed, true);
}

static const char *stuck_driver(const struct ga_session *session)
{
    (void)session;
    return "stuck";
}

static size_t stuck_count(const struct ga_session *session)
{
    (void)session;
    return 1;
}

static int stuck_info(struct ga_session *session, size_t device, struct ga_device_info *out)
{
    (void)session;
    (void)device;
    memset(out, 0, sizeof(*out));
    return GA_OK;
}

static int stuck_sample(struct ga_session *session, size_t device, struct ga_device_sample *out)
{
    (void)session;
    (void)device;
    memset(out, 0, sizeof(*out));
    atomic_store(&stuck.inside, true);
    while (!atomic_load(&stuck.release))
        usleep(1000);
    return GA_OK;
}

static const struct ga_monitor stuck_monitor = {.name = "stuck",
                                                .help = "",
                                                .open = stuck_open,
                                                .close = stuck_close,
                                                .driver = stuck_driver,
                                                .count = stuck_count,
                                                .info = stuck_info,
                                                .sample = stuck_sample};

static void await_flag(const atomic_bool *flag)
{
    const int64_t deadline = ga_now_ns() + PATIENT;
    while (!atomic_load(flag) && ga_now_ns() < deadline)
        usleep(1000);
    assert_true(atomic_load(flag));
}

/* Reading and closing go on though the monitor never answers; its thread cleans up behind itself.
 */
static void nobody_waits_for_a_stuck_monitor(void **unused)
{
    (void)unused;
    const struct ga_sampler_options options = {
        .monitor = &stuck_monitor, .period_ns = QUICK, .patience_ns = QUICK};
    struct ga_sampler *sampler = NULL;
    assert_int_equal(ga_sampler_open(&sampler, &options), GA_OK);
    await_flag(&stuck.inside);
    for (int i = 0; i < 1000; i++)
        ga_sampler_read(sampler, &picture);
    assert_int_equal(picture.state, GA_PICTURE_OPEN);
    assert_int_equal(picture.rounds, 0);
    assert_false(ga_sampler_wait(sampler, 1, ga_now_ns() + QUICK));
    ga_sampler_close(sampler);
    assert_false(atomic_load(&stuck.closed));
    atomic_store(&stuck.release, true);
    await_flag(&stuck.closed);
}

/* Between two questions a session that closes asks no more. */
static void closing_leaves_a_slow_driver_early(void **unused)
{
    (void)unused;
    const struct ga_sampler_options options = {
        .monitor = &ga_monitor_nvml, .period_ns = QUICK, .patience_ns = PATIENT};
    struct ga_sampler *sampler = NULL;
    fake_set((const char *const[]){"STALL_MS=20", "GPUS=0000:3B:00.0,0000:5E:00.0", NULL});
    assert_int_equal(ga_sampler_open(&sampler, &options), GA_OK);
    await(sampler, 1);
    ga_sampler_close(sampler);
    assert_int_equal(ga_sampler_open(&sampler, &options), GA_OK);
    ga_sampler_close(sampler);
}

/* Each reading is worth one more round; without one nothing happens, and no one is woken. */
static void it_sleeps_while_nobody_reads(void **unused)
{
    (void)unused;
    struct ga_sampler *sampler = open_sampler(&ga_monitor_proc, QUICK);
    struct ga_bell bell;
    struct pollfd rung = {.events = POLLIN};
    assert_int_equal(ga_bell_open(&bell), GA_OK);
    rung.fd = bell.fd;
    assert_true(ga_sampler_wait(sampler, 1, ga_now_ns() + PATIENT));
    ga_sampler_ring(sampler, &bell);
    for (int i = 0; i < 3; i++) {
        ga_sampler_read(sampler, &picture);
        assert_int_equal(poll(&rung, 1, 60000), 1);
        ga_bell_clear(&bell);
    }
    assert_int_equal(poll(&rung, 1, 20), 0);
    ga_sampler_ring(sampler, NULL);
    ga_sampler_close(sampler);
    ga_bell_close(&bell);
}

static void proc_knows_its_threads(void **unused)
{
    (void)unused;
    struct ga_sampler *sampler = open_sampler(&ga_monitor_proc, QUICK);
    await(sampler, 3);
    assert_int_equal(picture.state, GA_PICTURE_OPEN);
    assert_int_equal(picture.devices, 1);
    assert_true(picture.threads >= 2);
    const double share = ga_picture_thread(&picture, (int32_t)gettid());
    assert_true(share >= 0 && share <= 1);
    assert_true(isnan(ga_picture_thread(&picture, 0)));
    assert_true(picture.device[0].sample.valid & GA_SENSES_MEMORY_USED);
    ga_sampler_close(sampler);
}

struct readers {
    struct ga_sampler *sampler;
    atomic_bool end;
};

static void *read_on(void *arg)
{
    struct readers *readers = arg;
    struct ga_picture *own = malloc(sizeof(*own));
    while (own && !atomic_load(&readers->end))
        ga_sampler_read(readers->sampler, own);
    free(own);
    return NULL;
}

static void many_may_read(void **unused)
{
    (void)unused;
    struct readers readers = {.sampler = open_sampler(&ga_monitor_proc, QUICK)};
    pthread_t thread[3];
    atomic_init(&readers.end, false);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_on, &readers), 0);
    await(readers.sampler, 10);
    atomic_store(&readers.end, true);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    ga_sampler_close(readers.sampler);
}

static void without_memory_there_is_no_sampler(void **unused)
{
    (void)unused;
    const struct ga_sampler_options options = {.monitor = &ga_monitor_proc};
    struct ga_sampler *sampler = NULL;
    ga_test_allocation_limit(0);
    const int code = ga_sampler_open(&sampler, &options);
    ga_test_allocation_free();
    assert_int_equal(code, GA_ENOMEM);
    assert_null(sampler);
    ga_sampler_close(NULL);
    ga_sampler_stop(NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pictures_follow_each_other),
    cmocka_unit_test(a_failure_is_kept_with_text_and_code),
    cmocka_unit_test(a_gpu_that_gets_lost_becomes_trouble),
    cmocka_unit_test(nobody_waits_for_a_stuck_monitor),
    cmocka_unit_test(closing_leaves_a_slow_driver_early),
    cmocka_unit_test(it_sleeps_while_nobody_reads),
    cmocka_unit_test(proc_knows_its_threads),
    cmocka_unit_test(many_may_read),
    cmocka_unit_test(without_memory_there_is_no_sampler),
};

int main(void)
{
    return ga_test_main(tests);
}
