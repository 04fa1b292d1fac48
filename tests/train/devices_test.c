/* Seats of replicas and what the monitors say of them, with NVML's order another than the cards'.
 */
#include <math.h>
#include <unistd.h>

#include "base/thread.h"
#include "monitor/fake.h"
#include "support/support.h"
#include "train/devices.h"

#define PATIENT INT64_C(60000000000)

static void seats_read_their_own_device(void **unused)
{
    (void)unused;
    const struct ga_seat seat[] = {{.thread = 0},
                                   {.gpu = true, .pci = {0, 0x3b, 0, 0}},
                                   {.gpu = true, .pci = {0, 0xda, 0, 0}},
                                   {.gpu = true, .pci = {1, 0x3b, 0, 0}},
                                   {.thread = -1}};
    struct ga_readings readings[5];
    struct ga_devices *devices = NULL;
    fake_set((const char *const[]){"GPUS=00000000:DA:00.0,00000000:3B:00.0", NULL});
    assert_int_equal(ga_devices_open(&devices), 0);
    ga_devices_set_engine(devices, (int32_t)gettid());
    assert_true(ga_devices_wait(devices, GA_WATCH_PROC, 2, ga_now_ns() + PATIENT));
    assert_true(ga_devices_wait(devices, GA_WATCH_NVML, 1, ga_now_ns() + PATIENT));
    ga_devices_read_seats(devices, seat, 5, readings);
    assert_true(readings[0].utilisation >= 0 && readings[0].utilisation <= 1);
    assert_true(readings[0].memory_used > 0 && isnan(readings[0].temperature));
    assert_close(readings[1].utilisation, 0.11, 1e-12);
    assert_close(readings[1].temperature, 41, 0);
    assert_close(readings[2].utilisation, 0.10, 1e-12);
    assert_close(readings[2].power, 120.5, 1e-12);
    assert_true(isnan(readings[3].utilisation) && isnan(readings[3].memory_used));
    assert_true(isnan(readings[4].utilisation));
    ga_devices_close(devices);
    ga_devices_close(NULL);
}

static void what_is_old_or_has_no_bit_is_not_known(void **unused)
{
    (void)unused;
    struct ga_device_sample sample = {.valid = GA_SENSES_UTILISATION | GA_SENSES_POWER,
                                      .taken_ns = ga_now_ns(),
                                      .utilisation = 0.5,
                                      .temperature = 33,
                                      .power = 70};
    struct ga_readings readings = ga_readings_of(&sample);
    assert_close(readings.utilisation, 0.5, 0);
    assert_close(readings.power, 70, 0);
    assert_true(isnan(readings.temperature) && isnan(readings.memory_used));
    sample.taken_ns -= INT64_C(3600000000000);
    readings = ga_readings_of(&sample);
    assert_true(isnan(readings.utilisation) && isnan(readings.power));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(seats_read_their_own_device),
    cmocka_unit_test(what_is_old_or_has_no_bit_is_not_known),
};

int main(void)
{
    return ga_test_main(tests);
}
