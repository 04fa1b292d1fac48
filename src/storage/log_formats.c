#include "storage/log_formats.h"

#include <string.h>

#include "base/text.h"

static const struct ga_log_format *const formats[] = {&ga_log_jsonl, &ga_log_csv,
                                                      &ga_log_tensorboard};
#define FORMATS (sizeof formats / sizeof formats[0])

size_t ga_log_format_count(void)
{
    return FORMATS;
}

const struct ga_log_format *ga_log_format_at(size_t position)
{
    return position < FORMATS ? formats[position] : NULL;
}

const struct ga_log_format *ga_log_format_find(const char *name)
{
    struct ga_text names = GA_TEXT_INIT;
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(name, formats[i]->name) == 0) {
            ga_text_free(&names);
            return formats[i];
        }
        ga_text_printf(&names, "%s%s", i ? ", " : "", formats[i]->name);
    }
    ga_fail(GA_EINPUT, "unknown log format \"%s\", expected one of: %s", name, ga_text_get(&names));
    ga_text_free(&names);
    return NULL;
}
