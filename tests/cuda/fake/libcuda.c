/*
 * A driver without a card, for the question that is put to it before anything else is loaded.
 * GA_FAKE_DRIVER in the environment: "init=N" is what cuInit() returns, "devices=N" how many cards
 * it lists; else as many as GA_FAKE_CUDA says.
 */
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuGetErrorName(int code, const char **text);
int cuGetErrorString(int code, const char **text);

static long word(const char *variable, const char *name, long otherwise)
{
    const char *words = getenv(variable);
    const char *found = words ? strstr(words, name) : NULL;
    return found ? strtol(found + strlen(name), NULL, 10) : otherwise;
}

int cuInit(unsigned flags)
{
    return flags == 0 ? (int)word("GA_FAKE_DRIVER", "init=", 0) : 1;
}

int cuDeviceGetCount(int *count)
{
    *count = (int)word("GA_FAKE_DRIVER", "devices=", word("GA_FAKE_CUDA", "devices=", 1));
    return 0;
}

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver"},
};

int cuGetErrorName(int code, const char **text)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code) {
            *text = errors[i].name;
            return 0;
        }
    return 1;
}

int cuGetErrorString(int code, const char **text)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code) {
            *text = errors[i].text;
            return 0;
        }
    return 1;
}
