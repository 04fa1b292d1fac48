#include "monitor/monitor.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "monitor/monitors.h"

static const struct ga_monitor *const monitors[] = {&ga_monitor_proc, &ga_monitor_nvml};

#define MONITORS (sizeof monitors / sizeof monitors[0])

size_t ga_monitor_count(void)
{
    return MONITORS;
}

const struct ga_monitor *ga_monitor_at(size_t position)
{
    return position < MONITORS ? monitors[position] : NULL;
}

const struct ga_monitor *ga_monitor_named(const char *name)
{
    struct ga_text names = GA_TEXT_INIT;
    char quoted[GA_QUOTE_TEXT];

    for (size_t i = 0; i < MONITORS; i++) {
        if (strcmp(name, monitors[i]->name) == 0) {
            ga_text_free(&names);
            return monitors[i];
        }
        ga_text_printf(&names, "%s%s", i > 0 ? ", " : "", monitors[i]->name);
    }
    ga_fail(GA_EINPUT, "unknown monitor %s, expected one of: %s", ga_quote(quoted, name),
            ga_text_get(&names));
    ga_text_free(&names);
    return NULL;
}
