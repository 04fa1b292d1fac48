/* The monitors there are, for the registry and for whoever needs a certain one. */
#ifndef GA_MONITOR_MONITORS_H
#define GA_MONITOR_MONITORS_H

#include "monitor/monitor.h"

extern const struct ga_monitor ga_monitor_nvml, ga_monitor_proc;

#endif
