/*
 * NVIDIA's management library by dlopen, with declarations of our own after its reference manual.
 * Only questions that are cheap are asked: never the list of processes, which takes a lock of the
 * whole driver. The library stays loaded when a session ends, since drivers leave threads and exit
 * handlers behind.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "monitor/monitors.h"

#define LIBRARY     "libnvidia-ml.so.1"
#define MOST        256 /* devices */
#define DRIVER_TEXT 80

enum {
    SUCCESS = 0,
    NOT_SUPPORTED = 3,
    LOST = 15,    /* the GPU fell off the bus */
    GIVEN_UP = -1 /* ours: the session is closing */
};

enum { SENSOR_GPU = 0, CLOCK_SM = 1, CLOCK_MEMORY = 2 };

/* The values that a driver without the field fills in. */
#define NO_WORD UINT_MAX
#define NO_LONG ULLONG_MAX

typedef int nvml_code;
typedef struct nvml_device *nvml_handle;

struct nvml_pci {
    char old_id[16];
    unsigned domain, bus, device, vendor_id, subsystem_id;
    char id[32]; /* "00000000:3B:00.0" */
};
struct nvml_use {
    unsigned gpu, memory; /* percent */
};
struct nvml_memory {
    unsigned long long total, available, used; /* bytes */
};

struct nvml {
    nvml_code (*init)(void);
    nvml_code (*shutdown)(void);
    const char *(*error_text)(nvml_code code);
    nvml_code (*driver)(char *out, unsigned size);
    nvml_code (*count)(unsigned *out);
    nvml_code (*handle)(unsigned index, nvml_handle *out);
    nvml_code (*name)(nvml_handle device, char *out, unsigned size);
    nvml_code (*pci)(nvml_handle device, struct nvml_pci *out);
    nvml_code (*use)(nvml_handle device, struct nvml_use *out);
    nvml_code (*memory)(nvml_handle device, struct nvml_memory *out);
    nvml_code (*temperature)(nvml_handle device, int sensor, unsigned *out);
    nvml_code (*power)(nvml_handle device, unsigned *out); /* mW */
    nvml_code (*clock)(nvml_handle device, int domain, unsigned *out);
    nvml_code (*throttle)(nvml_handle device, unsigned long long *out);
};

#define SYMBOL(member, needed, name)                                                               \
    {                                                                                              \
        name, offsetof(struct nvml, member), needed                                                \
    }

/* What an older driver may lack is left out, and its field is then not valid. */
static const struct {
    const char *name;
    size_t offset;
    bool needed;
} symbols[] = {
    SYMBOL(init, true, "nvmlInit_v2"),
    SYMBOL(shutdown, true, "nvmlShutdown"),
    SYMBOL(error_text, false, "nvmlErrorString"),
    SYMBOL(driver, false, "nvmlSystemGetDriverVersion"),
    SYMBOL(count, true, "nvmlDeviceGetCount_v2"),
    SYMBOL(handle, true, "nvmlDeviceGetHandleByIndex_v2"),
    SYMBOL(name, false, "nvmlDeviceGetName"),
    SYMBOL(pci, false, "nvmlDeviceGetPciInfo_v3"),
    SYMBOL(use, false, "nvmlDeviceGetUtilizationRates"),
    SYMBOL(memory, false, "nvmlDeviceGetMemoryInfo"),
    SYMBOL(temperature, false, "nvmlDeviceGetTemperature"),
    SYMBOL(power, false, "nvmlDeviceGetPowerUsage"),
    SYMBOL(clock, false, "nvmlDeviceGetClockInfo"),
    SYMBOL(throttle, false, "nvmlDeviceGetCurrentClocksThrottleReasons"),
};
#define SYMBOLS (sizeof symbols / sizeof symbols[0])

struct ga_session {
    struct nvml nvml;
    const atomic_bool *closing;
    bool begun; /* init succeeded */
    char driver[DRIVER_TEXT];
    size_t devices;
    struct {
        nvml_handle handle;
        nvml_code code; /* why there is no handle */
    } device[MOST];
};

static bool gives_up(const struct ga_session *session)
{
    return session->closing && atomic_load_explicit(session->closing, memory_order_relaxed);
}

/* One question, unless the session is closing or the driver does not know it. */
#define ASK(session, member, ...)                                                                  \
    (!(session)->nvml.member ? (nvml_code)NOT_SUPPORTED                                            \
     : gives_up(session)     ? (nvml_code)GIVEN_UP                                                 \
                             : (session)->nvml.member(__VA_ARGS__))

static int fail(const struct ga_session *session, const char *call, nvml_code code)
{
    const char *text = NULL;

    if (code == GIVEN_UP)
        return ga_fail(GA_ESTATE, "nvml: closing");
    if (session->nvml.error_text)
        text = session->nvml.error_text(code);
    return ga_fail(GA_EIO, "%.200s (code %d), from %s", text ? text : "NVML failed", code, call);
}

static int load(struct nvml *nvml)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *text = library ? NULL : dlerror();

    ga_float_environment_reset();
    if (!library)
        return ga_fail(GA_EUNSUPPORTED, "%.400s", text ? text : LIBRARY ": cannot be loaded");
    for (size_t i = 0; i < SYMBOLS; i++) {
        void *symbol = dlsym(library, symbols[i].name);

        if (!symbol && symbols[i].needed)
            return ga_fail(GA_EUNSUPPORTED, LIBRARY ": has no %s, expected NVML 5 or later",
                           symbols[i].name);
        memcpy((char *)nvml + symbols[i].offset, &symbol, sizeof symbol);
    }
    return GA_OK;
}

static int find_devices(struct ga_session *session)
{
    unsigned count = 0;
    nvml_code code = ASK(session, count, &count);

    if (code != SUCCESS)
        return fail(session, "nvmlDeviceGetCount", code);
    session->devices = count < MOST ? count : MOST;
    for (unsigned i = 0; i < session->devices; i++) {
        session->device[i].handle = NULL;
        session->device[i].code = ASK(session, handle, i, &session->device[i].handle);
        if (session->device[i].code == SUCCESS && !session->device[i].handle)
            session->device[i].code = LOST;
    }
    return GA_OK;
}

static void close_session(struct ga_session *session)
{
    if (session && session->begun)
        session->nvml.shutdown();
    free(session);
}

static int open_session(struct ga_session **out, const struct ga_monitor_options *options)
{
    struct ga_session *session = ga_alloc(1, sizeof *session);
    nvml_code code = SUCCESS;
    int failed = GA_OK;

    *out = NULL;
    if (!session)
        return GA_ENOMEM;
    session->closing = options->closing;
    failed = load(&session->nvml);
    if (failed < 0)
        goto fail;
    code = ASK(session, init);
    session->begun = code == SUCCESS;
    failed = session->begun ? GA_OK : fail(session, "nvmlInit", code);
    if (failed < 0)
        goto fail;
    if (ASK(session, driver, session->driver, DRIVER_TEXT) != SUCCESS)
        session->driver[0] = '\0';
    session->driver[DRIVER_TEXT - 1] = '\0';
    failed = find_devices(session);
    if (failed < 0)
        goto fail;
    *out = session;
    return GA_OK;
fail:
    close_session(session);
    return failed;
}

static const char *driver(const struct ga_session *session)
{
    return session->driver;
}

static size_t count(const struct ga_session *session)
{
    return session->devices;
}

static int check_device(const struct ga_session *session, size_t device)
{
    if (device >= session->devices)
        return ga_fail(GA_ERANGE, "nvml: device %zu, expected one below %zu", device,
                       session->devices);
    if (session->device[device].code != SUCCESS)
        return fail(session, "nvmlDeviceGetHandleByIndex", session->device[device].code);
    return GA_OK;
}

static int info(struct ga_session *session, size_t device, struct ga_device_info *out)
{
    struct nvml_pci pci = {.domain = 0};
    const int failed = check_device(session, device);
    nvml_handle handle = failed < 0 ? NULL : session->device[device].handle;

    memset(out, 0, sizeof *out);
    if (failed < 0)
        return failed;
    if (ASK(session, name, handle, out->name, sizeof out->name) != SUCCESS)
        out->name[0] = '\0';
    out->name[sizeof out->name - 1] = '\0';
    if (ASK(session, pci, handle, &pci) != SUCCESS)
        return GA_OK;
    pci.id[sizeof pci.id - 1] = '\0';
    if (!ga_pci_read(pci.id, &out->pci))
        out->pci = (struct ga_pci){pci.domain, (uint8_t)pci.bus, (uint8_t)pci.device, 0};
    out->valid = GA_SENSES_PCI;
    return GA_OK;
}

/* The fields of one device, one question each; `out` keeps its bit clear when the answer is none.
 */
struct question {
    struct ga_session *session;
    nvml_handle handle;
    struct ga_device_sample *out;
};

/* Some drivers count a little beyond 100 %; what is far beyond is no percentage. */
static nvml_code ask_use(const struct question *ask)
{
    struct nvml_use use = {NO_WORD, NO_WORD};
    const nvml_code code = ASK(ask->session, use, ask->handle, &use);

    if (code != SUCCESS || use.gpu > 1000)
        return code;
    ask->out->utilisation = use.gpu > 100 ? 1.0 : (double)use.gpu / 100;
    ask->out->valid |= GA_SENSES_UTILISATION;
    return code;
}

static nvml_code ask_memory(const struct question *ask)
{
    struct nvml_memory memory = {NO_LONG, NO_LONG, NO_LONG};
    const nvml_code code = ASK(ask->session, memory, ask->handle, &memory);

    if (code != SUCCESS)
        return code;
    if (memory.total != NO_LONG && memory.total > 0) {
        ask->out->memory_total = memory.total;
        ask->out->valid |= GA_SENSES_MEMORY_TOTAL;
    }
    if (memory.used != NO_LONG) {
        ask->out->memory_used = memory.used;
        ask->out->valid |= GA_SENSES_MEMORY_USED;
    }
    return code;
}

static nvml_code ask_temperature(const struct question *ask)
{
    unsigned degrees = NO_WORD;
    const nvml_code code = ASK(ask->session, temperature, ask->handle, SENSOR_GPU, &degrees);

    if (code != SUCCESS || degrees > 1000)
        return code;
    ask->out->temperature = degrees;
    ask->out->valid |= GA_SENSES_TEMPERATURE;
    return code;
}

static nvml_code ask_power(const struct question *ask)
{
    unsigned milliwatts = NO_WORD;
    const nvml_code code = ASK(ask->session, power, ask->handle, &milliwatts);

    if (code != SUCCESS || milliwatts == NO_WORD)
        return code;
    ask->out->power = (double)milliwatts / 1000;
    ask->out->valid |= GA_SENSES_POWER;
    return code;
}

static nvml_code ask_one_clock(const struct question *ask, int domain, double *hertz, unsigned bit)
{
    unsigned megahertz = NO_WORD;
    const nvml_code code = ASK(ask->session, clock, ask->handle, domain, &megahertz);

    if (code != SUCCESS || megahertz == NO_WORD)
        return code;
    *hertz = (double)megahertz * 1e6;
    ask->out->valid |= bit;
    return code;
}

static nvml_code ask_clock(const struct question *ask)
{
    return ask_one_clock(ask, CLOCK_SM, &ask->out->clock, GA_SENSES_CLOCK);
}

static nvml_code ask_memory_clock(const struct question *ask)
{
    return ask_one_clock(ask, CLOCK_MEMORY, &ask->out->memory_clock, GA_SENSES_MEMORY_CLOCK);
}

/* Bit 0 is idleness, which holds nothing down. */
static nvml_code ask_throttle(const struct question *ask)
{
    static const struct {
        unsigned long long bits;
        unsigned reason;
    } reasons[] = {{0x4, GA_THROTTLE_POWER},
                   {0x20 | 0x40, GA_THROTTLE_HEAT},
                   {0x8 | 0x80, GA_THROTTLE_BRAKE},
                   {0x2 | 0x10 | 0x100, GA_THROTTLE_OTHER}};
    unsigned long long bits = NO_LONG;
    const nvml_code code = ASK(ask->session, throttle, ask->handle, &bits);

    if (code != SUCCESS || bits == NO_LONG)
        return code;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (bits & reasons[i].bits)
            ask->out->throttle |= reasons[i].reason;
    ask->out->valid |= GA_SENSES_THROTTLE;
    return code;
}

static const struct {
    const char *call;
    nvml_code (*ask)(const struct question *ask);
} questions[] = {
    {"nvmlDeviceGetUtilizationRates", ask_use},
    {"nvmlDeviceGetMemoryInfo", ask_memory},
    {"nvmlDeviceGetTemperature", ask_temperature},
    {"nvmlDeviceGetPowerUsage", ask_power},
    {"nvmlDeviceGetClockInfo", ask_clock},
    {"nvmlDeviceGetClockInfo", ask_memory_clock},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", ask_throttle},
};
#define QUESTIONS (sizeof questions / sizeof questions[0])

static int sample(struct ga_session *session, size_t device, struct ga_device_sample *out)
{
    int failed = check_device(session, device);
    nvml_code code = SUCCESS;

    memset(out, 0, sizeof *out);
    if (failed < 0)
        return failed;
    const struct question ask = {session, session->device[device].handle, out};
    for (size_t i = 0; i < QUESTIONS && code != LOST && code != GIVEN_UP; i++) {
        code = questions[i].ask(&ask);
        if (code != SUCCESS && code != NOT_SUPPORTED && failed == GA_OK)
            failed = fail(session, questions[i].call, code);
    }
    if (code == LOST)
        memset(out, 0, sizeof *out);
    out->taken_ns = ga_now_ns();
    return failed;
}

const struct ga_monitor ga_monitor_nvml = {.name = "nvml",
                                           .help = "NVIDIA GPUs, by " LIBRARY,
                                           .open = open_session,
                                           .close = close_session,
                                           .driver = driver,
                                           .count = count,
                                           .info = info,
                                           .sample = sample};
