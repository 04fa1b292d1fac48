/* Drivers as they are found: old, failing, with fields that are not there, with a GPU that is lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fake.h"
#include "monitor/monitors.h"
#include "monitor/sampler.h"
#include "support/support.h"

static struct ga_session *open_fake(const char *const *settings)
{
    static const struct ga_monitor_options options = {NULL};
    struct ga_session *session = NULL;
    fake_set(settings);
    if (ga_monitor_nvml.open(&session, &options) < 0)
        fail_msg("%s", ga_error_text());
    return session;
}

static void a_healthy_gpu_has_every_field(void **unused)
{
    (void)unused;
    struct ga_session *session = open_fake(NULL);
    struct ga_device_info info;
    struct ga_device_sample sample;
    char pci[GA_PCI_TEXT];
    assert_string_equal(ga_monitor_nvml.driver(session), "999.11");
    assert_int_equal(ga_monitor_nvml.count(session), 1);
    assert_int_equal(ga_monitor_nvml.info(session, 0, &info), GA_OK);
    assert_string_equal(info.name, "Fake GPU 0");
    assert_int_equal(info.valid, GA_SENSES_PCI);
    assert_string_equal(ga_pci_write(pci, &info.pci), "0000:3b:00.0");
    assert_int_equal(ga_monitor_nvml.sample(session, 0, &sample), GA_OK);
    assert_int_equal(sample.valid, 511 - GA_SENSES_PCI);
    assert_close(sample.utilisation, 0.1, 1e-12);
    assert_true(sample.memory_used == 2ULL << 30 && sample.memory_total == 8ULL << 30);
    assert_close(sample.temperature, 40, 0);
    assert_close(sample.power, 120.5, 1e-12);
    assert_close(sample.clock, 1.98e9, 1e-12);
    assert_close(sample.memory_clock, 2.619e9, 1e-12);
    assert_int_equal(sample.throttle, GA_THROTTLE_POWER | GA_THROTTLE_HEAT);
    ga_monitor_nvml.close(session);
}

static void init_that_fails_says_text_and_code(void **unused)
{
    (void)unused;
    static const struct ga_monitor_options options = {NULL};
    struct ga_session *session = NULL;
    fake_set((const char *const[]){"INIT=9", NULL});
    assert_int_equal(ga_monitor_nvml.open(&session, &options), GA_EIO);
    assert_string_equal(ga_error_text(), "Driver Not Loaded (code 9), from nvmlInit");
    assert_null(session);
}

static void no_gpu_at_all_is_no_failure(void **unused)
{
    (void)unused;
    struct ga_session *session = open_fake((const char *const[]){"GPUS=", NULL});
    assert_int_equal(ga_monitor_nvml.count(session), 0);
    ga_monitor_nvml.close(session);
}

static void a_field_that_is_not_there_has_no_bit(void **unused)
{
    (void)unused;
    static const struct {
        const char *field;
        unsigned bits;
    } cases[] = {{"NA=use", GA_SENSES_UTILISATION},
                 {"NA=memory", GA_SENSES_MEMORY_USED | GA_SENSES_MEMORY_TOTAL},
                 {"NA=memory_words", GA_SENSES_MEMORY_USED | GA_SENSES_MEMORY_TOTAL},
                 {"NA=temperature", GA_SENSES_TEMPERATURE},
                 {"NA=power", GA_SENSES_POWER},
                 {"NA=clock", GA_SENSES_CLOCK | GA_SENSES_MEMORY_CLOCK},
                 {"NA=throttle", GA_SENSES_THROTTLE},
                 {"NA=use memory temperature power clock throttle", 511 - GA_SENSES_PCI}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const settings[] = {cases[i].field, NULL};
        struct ga_session *session = open_fake(settings);
        struct ga_device_sample sample;
        assert_int_equal(ga_monitor_nvml.sample(session, 0, &sample), GA_OK);
        assert_int_equal(sample.valid, (511 - GA_SENSES_PCI) & ~cases[i].bits);
        ga_monitor_nvml.close(session);
    }
}

static void a_call_that_fails_is_named_and_the_rest_is_there(void **unused)
{
    (void)unused;
    struct ga_session *session = open_fake((const char *const[]){"FAIL=temperature=10", NULL});
    struct ga_device_sample sample;
    assert_int_equal(ga_monitor_nvml.sample(session, 0, &sample), GA_EIO);
    assert_string_equal(ga_error_text(), "Unknown Error (code 10), from nvmlDeviceGetTemperature");
    assert_int_equal(sample.valid, (511 - GA_SENSES_PCI) & ~GA_SENSES_TEMPERATURE);
    ga_monitor_nvml.close(session);
}

static void percentages_end_at_a_hundred(void **unused)
{
    (void)unused;
    static const struct {
        const char *use;
        bool valid;
        double want;
    } cases[] = {{"USE=0", true, 0},          {"USE=99", true, 0.99}, {"USE=100", true, 1},
                 {"USE=101", true, 1},        {"USE=1000", true, 1},  {"USE=1001", false, 0},
                 {"USE=2147483647", false, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const settings[] = {cases[i].use, NULL};
        struct ga_session *session = open_fake(settings);
        struct ga_device_sample sample;
        assert_int_equal(ga_monitor_nvml.sample(session, 0, &sample), GA_OK);
        assert_int_equal((sample.valid & GA_SENSES_UTILISATION) != 0, cases[i].valid);
        assert_close(sample.utilisation, cases[i].want, 1e-12);
        ga_monitor_nvml.close(session);
    }
}

static void a_lost_gpu_has_no_figures_and_the_other_goes_on(void **unused)
{
    (void)unused;
    struct ga_session *session =
        open_fake((const char *const[]){"GPUS=0000:3B:00.0,0000:5E:00.0", "LOST=0@1", NULL});
    struct ga_device_sample sample;
    assert_int_equal(ga_monitor_nvml.sample(session, 0, &sample), GA_OK);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(ga_monitor_nvml.sample(session, 0, &sample), GA_EIO);
        assert_string_equal(ga_error_text(),
                            "GPU is lost (code 15), from nvmlDeviceGetUtilizationRates");
        assert_int_equal(sample.valid, 0);
        assert_int_equal(ga_monitor_nvml.sample(session, 1, &sample), GA_OK);
        assert_close(sample.utilisation, 0.11, 1e-12);
    }
    ga_monitor_nvml.close(session);
}

/* CUDA's order is another one, or some devices are hidden from it. */
static void devices_are_found_by_their_place_on_the_bus(void **unused)
{
    (void)unused;
    static struct ga_picture picture;
    struct ga_session *session = open_fake((const char *const[]){
        "GPUS=00000000:DA:00.0,00000000:3B:00.0,00000001:3B:00.0,00000000:5E:00.1", NULL});
    picture.devices = ga_monitor_nvml.count(session);
    for (size_t i = 0; i < picture.devices; i++)
        assert_int_equal(ga_monitor_nvml.info(session, i, &picture.device[i].info), GA_OK);
    assert_ptr_equal(ga_picture_at_pci_text(&picture, "0000:3B:00.0"), &picture.device[1]);
    assert_ptr_equal(ga_picture_at_pci_text(&picture, "0001:3b:00.0"), &picture.device[2]);
    assert_ptr_equal(ga_picture_at_pci_text(&picture, "0000:5e:00.1"), &picture.device[3]);
    assert_ptr_equal(ga_picture_at_pci_text(&picture, "0000:da:00.0"), &picture.device[0]);
    assert_null(ga_picture_at_pci_text(&picture, "0000:5e:00.0"));
    assert_null(ga_picture_at_pci_text(&picture, "nonsense"));
    ga_monitor_nvml.close(session);
    session = open_fake((const char *const[]){"NA=pci", NULL});
    assert_int_equal(ga_monitor_nvml.info(session, 0, &picture.device[0].info), GA_OK);
    picture.devices = 1;
    assert_null(ga_picture_at_pci_text(&picture, "0000:00:00.0"));
    ga_monitor_nvml.close(session);
}

static void only_cheap_questions_are_asked(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "calls");
    char setting[600];
    size_t length = 0;
    struct ga_device_sample sample;
    snprintf(setting, sizeof(setting), "TRACE=%s", path);
    struct ga_session *session = open_fake((const char *const[]){setting, NULL});
    assert_int_equal(ga_monitor_nvml.sample(session, 0, &sample), GA_OK);
    ga_monitor_nvml.close(session);
    char *calls = ga_test_read_file(path, &length);
    assert_non_null(strstr(calls, "nvmlDeviceGetUtilizationRates\n"));
    assert_non_null(strstr(calls, "nvmlShutdown\n"));
    assert_null(strstr(calls, "Process"));
    free(calls);
    free(path);
    ga_test_folder_remove(folder);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_healthy_gpu_has_every_field),
    cmocka_unit_test(init_that_fails_says_text_and_code),
    cmocka_unit_test(no_gpu_at_all_is_no_failure),
    cmocka_unit_test(a_field_that_is_not_there_has_no_bit),
    cmocka_unit_test(a_call_that_fails_is_named_and_the_rest_is_there),
    cmocka_unit_test(percentages_end_at_a_hundred),
    cmocka_unit_test(a_lost_gpu_has_no_figures_and_the_other_goes_on),
    cmocka_unit_test(devices_are_found_by_their_place_on_the_bus),
    cmocka_unit_test(only_cheap_questions_are_asked),
};

int main(void)
{
    return ga_test_main(tests);
}
