/*
 * What a log knows of the seats of replicas (ga_log_options.seats), read now and then on the log's
 * thread. Private to storage.
 */
#ifndef GA_STORAGE_LOG_SEATS_H
#define GA_STORAGE_LOG_SEATS_H

#include "storage/log.h"

struct ga_log_readings {
    struct ga_log_seats seats;
    struct ga_readings *readings; /* (seats.count) */
    int64_t read_ns;              /* when they were read last */
};

int ga_log_readings_init(struct ga_log_readings *readings, const struct ga_log_seats *seats);
void ga_log_readings_refresh(struct ga_log_readings *readings);
void ga_log_readings_fini(struct ga_log_readings *readings);

#endif
