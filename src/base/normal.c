#include <math.h>

#include "base/exact_double.h"
#include "base/random.h"

double ga_normal(uint64_t seed, uint64_t index, uint32_t replica, enum ga_purpose purpose)
{
    uint32_t words[4];
    ga_draw(seed, index, replica, purpose, words);
    double radius = sqrt(-2.0 * ga_exact_log(ga_uniform(words[0])));
    return radius * ga_exact_cos(0x1.921fb54442d18p+2 * ga_uniform(words[1]));
}
