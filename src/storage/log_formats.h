/* The formats that the registry of logs lists. Private to storage. */
#ifndef GA_STORAGE_LOG_FORMATS_H
#define GA_STORAGE_LOG_FORMATS_H

#include "storage/log.h"

extern const struct ga_log_format ga_log_jsonl, ga_log_csv, ga_log_tensorboard;

#endif
