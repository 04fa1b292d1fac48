#include "base/hash.h"

#include <string.h>

#define PRIME UINT64_C(0x100000001b3)

uint64_t ga_hash_bytes(uint64_t hash, const void *bytes, size_t count_bytes)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count_bytes; i++)
        hash = (hash ^ byte[i]) * PRIME;
    return hash;
}

uint64_t ga_hash_parameters(const float *values, size_t count)
{
    uint64_t hash = GA_HASH_START;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = 0;
        memcpy(&bits, &values[i], sizeof bits);
        if ((bits & 0x7fffffff) > 0x7f800000)
            bits = 0x7fc00000;
        for (int shift = 0; shift < 32; shift += 8)
            hash = (hash ^ ((bits >> shift) & 0xff)) * PRIME;
    }
    return hash;
}

void ga_hash_format(char out[GA_HASH_TEXT], uint64_t hash)
{
    for (int i = 0; i < GA_HASH_TEXT - 1; i++)
        out[i] = "0123456789abcdef"[(hash >> (60 - 4 * i)) & 15];
    out[GA_HASH_TEXT - 1] = '\0';
}
