#include "base/random.h"

#include <Random123/philox.h>

void ga_draw(uint64_t seed, uint64_t index, uint32_t replica, enum ga_purpose purpose,
             uint32_t out[4])
{
    const philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    const philox4x32_ctr_t counter = {
        {(uint32_t)index, (uint32_t)(index >> 32), replica, (uint32_t)purpose}};
    const philox4x32_ctr_t drawn = philox4x32_R(10, counter, key);
    for (int i = 0; i < 4; i++)
        out[i] = drawn.v[i];
}

double ga_uniform(uint32_t u)
{
    return ((double)u + 0.5) * 0x1p-32;
}
