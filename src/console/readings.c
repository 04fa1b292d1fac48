/* How busy devices are: pictures of the monitors as rows of a close-up. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "console/describe_device.h"
#include "console/watch_inside.h"

static void take_readings(struct ga_device_row *row, const struct ga_device_sample *sample)
{
    const struct ga_readings readings = ga_readings_of(sample);

    row->utilisation = readings.utilisation;
    row->temperature = readings.temperature;
    row->memory_used = readings.memory_used;
    row->memory_total = readings.memory_total;
    row->power = readings.power;
}

/* What computes here: the first row, whose name and kind stand already. */
static void take_process(struct ga_watch *watch, struct ga_closeup *out)
{
    ga_devices_picture(ga_engine_devices(watch->engine), GA_WATCH_PROC, &watch->picture);
    if (watch->picture.devices > 0)
        take_readings(&out->device[0], &watch->picture.device[0].sample);
}

static void take_gpu(const struct ga_picture_device *device, size_t index,
                     struct ga_device_row *row)
{
    struct ga_text note = GA_TEXT_INIT;

    memset(row, 0, sizeof *row);
    take_readings(row, &device->sample);
    row->clock = ga_device_clock(&device->sample);
    ga_device_name(device, index, row->name, sizeof row->name);
    snprintf(row->kind, sizeof row->kind, "%.47s", device->info.name);
    if (device->trouble[0])
        ga_text_puts(&note, device->trouble);
    else
        ga_describe_throttle(&device->sample, &note);
    snprintf(row->note, sizeof row->note, "%.95s", ga_text_get(&note));
    ga_text_free(&note);
}

/* Which replicas have their seat there: they take turns on cards. */
static void count_seats(const struct ga_closeup *closeup, const struct ga_picture_device *device,
                        struct ga_device_row *row)
{
    for (size_t r = 0; r < closeup->replicas && r < GA_VIEW_REPLICAS; r++) {
        const struct ga_seat *seat = &closeup->seat[r];

        if (!seat->gpu || !(device->info.valid & GA_SENSES_PCI) ||
            !ga_pci_same(&seat->pci, &device->info.pci))
            continue;
        if (row->replicas == 0)
            row->first_replica = (int32_t)r;
        else if (row->replicas == 1)
            row->step = (int32_t)r - row->first_replica;
        row->replicas++;
    }
}

static void take_gpus(struct ga_watch *watch, struct ga_closeup *out)
{
    const struct ga_picture *picture = &watch->picture;

    ga_devices_picture(ga_engine_devices(watch->engine), GA_WATCH_NVML, &watch->picture);
    out->no_gpu[0] = '\0';
    if (picture->state == GA_PICTURE_FAILED)
        snprintf(out->no_gpu, sizeof out->no_gpu, "no GPUs: %.180s", picture->error.text);
    else if (picture->state == GA_PICTURE_OPENING)
        snprintf(out->no_gpu, sizeof out->no_gpu, "GPUs: NVML has not answered yet");
    else if (picture->devices == 0)
        snprintf(out->no_gpu, sizeof out->no_gpu, "no GPUs: NVML lists none");
    for (size_t i = 0; i < picture->devices && out->devices < GA_DEVICE_ROWS; i++) {
        struct ga_device_row *row = &out->device[out->devices++];

        take_gpu(&picture->device[i], i, row);
        count_seats(out, &picture->device[i], row);
    }
}

void ga_readings_make(struct ga_watch *watch, unsigned parts, struct ga_closeup *out)
{
    struct ga_devices *devices = ga_engine_devices(watch->engine);

    out->seats = 0;
    if (parts & (GA_LOOK_SEATS | GA_LOOK_DEVICES))
        take_process(watch, out);
    if (parts & GA_LOOK_DEVICES)
        take_gpus(watch, out);
    if (parts & GA_LOOK_SEATS) {
        out->seats = out->replicas < GA_VIEW_REPLICAS ? out->replicas : GA_VIEW_REPLICAS;
        ga_devices_read_seats(devices, out->seat, out->seats, out->readings);
    }
    watch->rings = (parts & GA_LOOK_DEVICES) != 0;
    ga_devices_ring(devices, watch->rings ? watch->bell : NULL);
}

void ga_readings_end(struct ga_watch *watch)
{
    if (watch->rings)
        ga_devices_ring(ga_engine_devices(watch->engine), NULL);
}
