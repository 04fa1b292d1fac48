#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

void fake_set(const char *const *settings)
{
    static const char *const names[] = {"GPUS", "INIT", "STALL_MS", "NA",
                                        "USE",  "FAIL", "LOST",     "TRACE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char name[64];
        const size_t length = strlen(names[i]);
        snprintf(name, sizeof(name), "FAKE_NVML_%s", names[i]);
        unsetenv(name);
        for (const char *const *at = settings; at && *at; at++)
            if (strncmp(*at, names[i], length) == 0 && (*at)[length] == '=')
                assert_int_equal(setenv(name, *at + length + 1, 1), 0);
    }
}
