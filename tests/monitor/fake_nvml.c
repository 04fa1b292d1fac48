/*
 * A libnvidia-ml.so.1 for tests: as many GPUs as wanted, healthy unless the environment says
 * otherwise. It is read by nvmlInit_v2().
 *
 *   FAKE_NVML_GPUS      bus ids in the order of their indices; default "00000000:3B:00.0"
 *   FAKE_NVML_INIT      the code that nvmlInit_v2() answers
 *   FAKE_NVML_STALL_MS  every call takes so long
 *   FAKE_NVML_NA        fields that the driver does not know: "use memory temperature power clock
 *                       throttle name pci"; "memory_words": it answers, with "not available"
 *   FAKE_NVML_USE       utilisation of all GPUs in percent; default 10 + index
 *   FAKE_NVML_FAIL      "FIELD=CODE": that field's call fails
 *   FAKE_NVML_LOST      "INDEX@N": that GPU is lost after N utilisation calls
 *   FAKE_NVML_TRACE     a file that gets the name of every call, one a line
 */
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GPUS 16

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, DRIVER_GONE = 9, LOST = 15 };

struct nvml_device {
    unsigned index;
    char id[32];
    atomic_uint looks;
};

static struct {
    atomic_bool begun;
    unsigned gpus;
    struct nvml_device gpu[GPUS];
    int init_code, stall_ms, use, fail_code, lost_index;
    unsigned lost_after;
    char na[128], fail_field[32], trace[512];
} fake;

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int code);
int nvmlSystemGetDriverVersion(char *out, unsigned size);
int nvmlDeviceGetCount_v2(unsigned *out);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **out);
int nvmlDeviceGetName(struct nvml_device *device, char *out, unsigned size);
int nvmlDeviceGetPciInfo_v3(struct nvml_device *device, void *out);
int nvmlDeviceGetUtilizationRates(struct nvml_device *device, unsigned *out);
int nvmlDeviceGetMemoryInfo(struct nvml_device *device, unsigned long long *out);
int nvmlDeviceGetTemperature(struct nvml_device *device, int sensor, unsigned *out);
int nvmlDeviceGetPowerUsage(struct nvml_device *device, unsigned *out);
int nvmlDeviceGetClockInfo(struct nvml_device *device, int domain, unsigned *out);
int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvml_device *device, unsigned long long *out);
int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count, void *out);

static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value ? value : otherwise;
}

static void read_gpus(const char *list)
{
    fake.gpus = 0;
    while (*list && fake.gpus < GPUS) {
        const size_t length = strcspn(list, ",");
        struct nvml_device *gpu = &fake.gpu[fake.gpus];
        gpu->index = fake.gpus++;
        atomic_store(&gpu->looks, 0);
        snprintf(gpu->id, sizeof(gpu->id), "%.*s", (int)length, list);
        list += length + (list[length] == ',');
    }
}

static void read_environment(void)
{
    read_gpus(variable("FAKE_NVML_GPUS", "00000000:3B:00.0"));
    fake.init_code = atoi(variable("FAKE_NVML_INIT", "0"));
    fake.stall_ms = atoi(variable("FAKE_NVML_STALL_MS", "0"));
    fake.use = atoi(variable("FAKE_NVML_USE", "-1"));
    fake.lost_index = -1;
    fake.fail_field[0] = '\0';
    sscanf(variable("FAKE_NVML_LOST", ""), "%d@%u", &fake.lost_index, &fake.lost_after);
    sscanf(variable("FAKE_NVML_FAIL", ""), "%31[^=]=%d", fake.fail_field, &fake.fail_code);
    snprintf(fake.na, sizeof(fake.na), " %s ", variable("FAKE_NVML_NA", ""));
    snprintf(fake.trace, sizeof(fake.trace), "%s", variable("FAKE_NVML_TRACE", ""));
}

static void trace(const char *call)
{
    const int fd = fake.trace[0] ? open(fake.trace, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    char line[64];
    if (fd < 0)
        return;
    const int length = snprintf(line, sizeof(line), "%s\n", call);
    if (write(fd, line, (size_t)length) < 0)
        abort();
    close(fd);
}

static int enter(const char *call)
{
    trace(call);
    if (fake.stall_ms > 0)
        poll(NULL, 0, fake.stall_ms);
    return atomic_load(&fake.begun) ? SUCCESS : UNINITIALIZED;
}

/* Whether a field of a GPU has an answer. */
static int ask(const struct nvml_device *device, const char *call, const char *field)
{
    char wanted[40];
    const int code = enter(call);
    if (code != SUCCESS)
        return code;
    if (!device || device->index >= fake.gpus)
        return INVALID;
    if ((int)device->index == fake.lost_index && atomic_load(&device->looks) > fake.lost_after)
        return LOST;
    if (strcmp(field, fake.fail_field) == 0)
        return fake.fail_code;
    snprintf(wanted, sizeof(wanted), " %s ", field);
    return strstr(fake.na, wanted) ? NOT_SUPPORTED : SUCCESS;
}

int nvmlInit_v2(void)
{
    read_environment();
    enter("nvmlInit_v2");
    atomic_store(&fake.begun, fake.init_code == SUCCESS);
    return fake.init_code;
}

int nvmlShutdown(void)
{
    const int code = enter("nvmlShutdown");
    atomic_store(&fake.begun, 0);
    return code;
}

const char *nvmlErrorString(int code)
{
    return code == DRIVER_GONE     ? "Driver Not Loaded"
           : code == LOST          ? "GPU is lost"
           : code == NOT_SUPPORTED ? "Not Supported"
                                   : "Unknown Error";
}

int nvmlSystemGetDriverVersion(char *out, unsigned size)
{
    const int code = enter("nvmlSystemGetDriverVersion");
    snprintf(out, size, "999.11");
    return code;
}

int nvmlDeviceGetCount_v2(unsigned *out)
{
    const int code = enter("nvmlDeviceGetCount_v2");
    *out = fake.gpus;
    return code;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **out)
{
    const int code = enter("nvmlDeviceGetHandleByIndex_v2");
    if (code != SUCCESS)
        return code;
    if (index >= fake.gpus)
        return INVALID;
    *out = &fake.gpu[index];
    return SUCCESS;
}

int nvmlDeviceGetName(struct nvml_device *device, char *out, unsigned size)
{
    const int code = ask(device, "nvmlDeviceGetName", "name");
    if (code == SUCCESS)
        snprintf(out, size, "Fake GPU %u", device->index);
    return code;
}

int nvmlDeviceGetPciInfo_v3(struct nvml_device *device, void *out)
{
    struct {
        char old_id[16];
        unsigned domain, bus, device, vendor_id, subsystem_id;
        char id[32];
    } info = {.old_id = ""};
    const int code = ask(device, "nvmlDeviceGetPciInfo_v3", "pci");
    if (code != SUCCESS)
        return code;
    snprintf(info.id, sizeof(info.id), "%s", device->id);
    sscanf(device->id, "%x:%x:%x", &info.domain, &info.bus, &info.device);
    memcpy(out, &info, sizeof(info));
    return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(struct nvml_device *device, unsigned *out)
{
    if (device)
        atomic_fetch_add(&device->looks, 1);
    const int code = ask(device, "nvmlDeviceGetUtilizationRates", "use");
    if (code == SUCCESS) {
        out[0] = fake.use < 0 ? 10 + device->index : (unsigned)fake.use;
        out[1] = 5;
    }
    return code;
}

int nvmlDeviceGetMemoryInfo(struct nvml_device *device, unsigned long long *out)
{
    const int code = ask(device, "nvmlDeviceGetMemoryInfo", "memory");
    const int words = strstr(fake.na, " memory_words ") != NULL;
    if (code != SUCCESS)
        return code;
    out[0] = words ? ~0ULL : 8ULL << 30;
    out[1] = words ? ~0ULL : 6ULL << 30;
    out[2] = words ? ~0ULL : 2ULL << 30;
    return SUCCESS;
}

int nvmlDeviceGetTemperature(struct nvml_device *device, int sensor, unsigned *out)
{
    const int code = ask(device, "nvmlDeviceGetTemperature", "temperature");
    if (code == SUCCESS && sensor == 0)
        *out = 40 + device->index;
    return code;
}

int nvmlDeviceGetPowerUsage(struct nvml_device *device, unsigned *out)
{
    const int code = ask(device, "nvmlDeviceGetPowerUsage", "power");
    if (code == SUCCESS)
        *out = 120500;
    return code;
}

int nvmlDeviceGetClockInfo(struct nvml_device *device, int domain, unsigned *out)
{
    const int code = ask(device, "nvmlDeviceGetClockInfo", "clock");
    if (code == SUCCESS)
        *out = domain == 1 ? 1980 : 2619;
    return code;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvml_device *device, unsigned long long *out)
{
    const int code = ask(device, "nvmlDeviceGetCurrentClocksThrottleReasons", "throttle");
    if (code == SUCCESS)
        *out = 0x1 | 0x4 | 0x40;
    return code;
}

/* Nobody may ask this: it holds a lock of the whole driver. */
int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count, void *out)
{
    (void)device;
    (void)count;
    (void)out;
    abort();
}
