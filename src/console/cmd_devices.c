/* devices: what computes here, how busy it is, and the GPUs there are or why there are none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "console/command.h"
#include "console/describe_device.h"
#include "console/session.h"

/* How long the first answer of a monitor is waited for: keys wait as well, a script has time. */
#define PROMPT_NS INT64_C(200000000)
#define SCRIPT_NS INT64_C(5000000000)

/* Without the domain where that is the usual one. */
static void write_place(const struct ga_pci *pci, char *out, size_t size)
{
    char text[GA_PCI_TEXT];

    ga_pci_write(text, pci);
    snprintf(out, size, "%s", pci->domain == 0 ? strchr(text, ':') + 1 : text);
}

void ga_device_name(const struct ga_picture_device *device, size_t index, char *out, size_t size)
{
    if (device->info.valid & GA_SENSES_PCI)
        write_place(&device->info.pci, out, size);
    else
        snprintf(out, size, "gpu %zu", index);
}

void ga_seat_name(const struct ga_seat *seat, char *out, size_t size)
{
    if (seat->gpu && seat->pci.domain != UINT32_MAX)
        write_place(&seat->pci, out, size);
    else
        snprintf(out, size, seat->gpu ? "gpu" : "cpu");
}

double ga_device_clock(const struct ga_device_sample *sample)
{
    return sample->valid & GA_SENSES_CLOCK ? sample->clock : (double)NAN;
}

void ga_describe_throttle(const struct ga_device_sample *sample, struct ga_text *out)
{
    static const struct {
        unsigned reason;
        const char *word;
    } words[] = {{GA_THROTTLE_POWER, "power"},
                 {GA_THROTTLE_HEAT, "heat"},
                 {GA_THROTTLE_BRAKE, "brake"},
                 {GA_THROTTLE_OTHER, "settings"}};
    const char *before = "clock held: ";

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!(sample->throttle & words[i].reason))
            continue;
        ga_text_printf(out, "%s%s", before, words[i].word);
        before = ", ";
    }
}

static void describe_bytes(double bytes, struct ga_text *out)
{
    char text[GA_NUMBER_TEXT] = "n/a";

    if (!isnan(bytes))
        ga_format_bytes(text, (uint64_t)bytes);
    ga_text_puts(out, text);
}

/* `scale` times the value and a unit, or n/a. */
static void describe_value(const char *before, double value, double scale, const char *unit,
                           struct ga_text *out)
{
    if (isnan(value))
        ga_text_printf(out, "%sn/a", before);
    else
        ga_text_printf(out, "%s%.0f %s", before, value * scale, unit);
}

void ga_describe_sample(const struct ga_device_sample *sample, struct ga_text *out)
{
    const struct ga_readings readings = ga_readings_of(sample);
    const bool fast = sample->valid & GA_SENSES_MEMORY_CLOCK;

    describe_value("util ", readings.utilisation, 100, "%", out);
    ga_text_puts(out, ", memory ");
    describe_bytes(readings.memory_used, out);
    ga_text_puts(out, " of ");
    describe_bytes(readings.memory_total, out);
    describe_value(", temperature ", readings.temperature, 1, "C", out);
    describe_value(", power ", readings.power, 1, "W", out);
    describe_value(", clock ", ga_device_clock(sample), 1e-6, "MHz", out);
    describe_value(", memory clock ", fast ? sample->memory_clock : (double)NAN, 1e-6, "MHz", out);
}

/* What `auto` came to, and why. */
static void describe_choice(struct ga_run *run, struct ga_text *out)
{
    const struct ga_compute *compute = ga_run_compute_of(run);

    if (ga_run_settings(run)->device != GA_DEVICE_AUTO)
        return;
    (void)ga_compute_find("auto", compute->numerics);
    if (compute->memory)
        ga_text_printf(out, "device auto is %s: the driver lists it\n", compute->name);
    else
        ga_text_printf(out, "device auto is %s: %s\n", compute->name, ga_error_text());
}

static int describe_run(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    const struct ga_settings *settings = ga_run_settings(run);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const char *numerics = ga_run_compute_of(run)->numerics;
    ga_text_printf(&report->text, "cpu: %ld core%s, %s kernels\n", cores, cores == 1 ? "" : "s",
                   ga_compute_cpu_kernel());
    ga_run_describe_cards(&report->text);
    ga_text_printf(&report->text, "%zu replica%s on device %s, numerics %s", ga_run_replicas(run),
                   ga_run_replicas(run) == 1 ? "" : "s",
                   ga_choice_word("device", (int)settings->device), numerics);
    if (ga_run_compute_of(run) == &ga_compute_cpu_fast) {
        char library[128];
        ga_compute_fast_library(library, sizeof library);
        ga_text_printf(&report->text, " (%s)", library);
    }
    ga_text_printf(&report->text, "; %s%s\n", ga_run_collective(run),
                   ga_run_overlaps(run) ? ", overlapped" : "");
    describe_choice(run, &report->text);
    return GA_OK;
}

static void describe_process(const struct ga_picture *picture, struct ga_text *out)
{
    struct ga_readings readings = ga_readings_unknown();

    if (picture->devices > 0)
        readings = ga_readings_of(&picture->device[0].sample);
    if (picture->state == GA_PICTURE_FAILED)
        ga_text_printf(out, "this process: %s\n", picture->error.text);
    else {
        describe_value("this process: ", readings.utilisation, 100, "% of all cores", out);
        ga_text_puts(out, ", memory ");
        describe_bytes(readings.memory_used, out);
        ga_text_puts(out, " of ");
        describe_bytes(readings.memory_total, out);
        ga_text_puts(out, "\n");
    }
}

static void describe_gpu(const struct ga_picture_device *device, size_t index, struct ga_text *out)
{
    char name[32];

    ga_device_name(device, index, name, sizeof name);
    ga_text_printf(out, "  %s  %s: ", name, device->info.name[0] ? device->info.name : "GPU");
    if (device->sample.valid || !device->trouble[0])
        ga_describe_sample(&device->sample, out);
    if (device->sample.throttle) {
        ga_text_puts(out, ", ");
        ga_describe_throttle(&device->sample, out);
    }
    if (device->trouble[0])
        ga_text_printf(out, "%s%s", device->sample.valid ? "; " : "", device->trouble);
    ga_text_puts(out, "\n");
}

static void describe_gpus(const struct ga_picture *picture, struct ga_text *out)
{
    if (picture->state == GA_PICTURE_FAILED)
        ga_text_printf(out, "nvml: not available: %s\n", picture->error.text);
    else if (picture->state == GA_PICTURE_OPENING)
        ga_text_puts(out, "nvml: has not answered yet; `devices` asks again\n");
    else
        ga_text_printf(out, "nvml: driver %s, %zu GPU%s\n",
                       picture->driver[0] ? picture->driver : "n/a", picture->devices,
                       picture->devices == 1 ? "" : "s");
    for (size_t i = 0; i < picture->devices; i++)
        describe_gpu(&picture->device[i], i, out);
}

static int64_t deadline_of(const struct ga_console *console)
{
    return ga_now_ns() + (ga_at_prompt(console) ? PROMPT_NS : SCRIPT_NS);
}

/* Shares of time need two samples of a process. */
void ga_devices_await_seats(struct ga_console *console, const struct ga_seat *seat, size_t count)
{
    struct ga_devices *devices = ga_engine_devices(console->engine);
    const int64_t deadline_ns = deadline_of(console);
    bool gpu = false, cpu = false;

    for (size_t i = 0; i < count; i++) {
        gpu |= seat[i].gpu;
        cpu |= !seat[i].gpu;
    }
    if (gpu)
        ga_devices_wait(devices, GA_WATCH_NVML, 1, deadline_ns);
    if (cpu)
        ga_devices_wait(devices, GA_WATCH_PROC, 2, deadline_ns);
}

/* Shares of time need two samples. */
static void describe_monitors(struct ga_console *console, struct ga_picture *picture,
                              struct ga_text *out)
{
    struct ga_devices *devices = ga_engine_devices(console->engine);
    const int64_t deadline_ns = deadline_of(console);

    ga_devices_picture(devices, GA_WATCH_NVML, picture); /* begins while the other is waited for */
    ga_devices_wait(devices, GA_WATCH_PROC, 2, deadline_ns);
    ga_devices_picture(devices, GA_WATCH_PROC, picture);
    describe_process(picture, out);
    ga_devices_wait(devices, GA_WATCH_NVML, 1, deadline_ns);
    ga_devices_picture(devices, GA_WATCH_NVML, picture);
    describe_gpus(picture, out);
}

int ga_exec_devices(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_report report = {.count = count, .word = word, .text = GA_TEXT_INIT};
    struct ga_picture *picture = ga_alloc(1, sizeof *picture);
    int code = picture ? ga_engine_call(console->engine, describe_run, &report) : (int)GA_ENOMEM;

    if (code == GA_OK) {
        describe_monitors(console, picture, &report.text);
        ga_say_text(console, &report.text);
    }
    ga_text_free(&report.text);
    free(picture);
    return code;
}
