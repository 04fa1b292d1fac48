#include "storage/log_seats.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"

#define READING_NS INT64_C(100000000)

int ga_log_readings_init(struct ga_log_readings *readings, const struct ga_log_seats *seats)
{
    *readings = (struct ga_log_readings){.seats = *seats};
    if (seats->count == 0)
        return GA_OK;
    readings->readings = ga_alloc(seats->count, sizeof *readings->readings);
    return readings->readings ? GA_OK : GA_ENOMEM;
}

/* Samples come twice a second: more often there is nothing new to read. */
void ga_log_readings_refresh(struct ga_log_readings *readings)
{
    const int64_t now_ns = readings->seats.count > 0 ? ga_now_ns() : 0;
    if (readings->seats.count == 0 ||
        (readings->read_ns > 0 && now_ns - readings->read_ns < READING_NS))
        return;
    readings->seats.read(readings->seats.self, readings->readings);
    readings->read_ns = now_ns;
}

void ga_log_readings_fini(struct ga_log_readings *readings)
{
    free(readings->readings);
}
