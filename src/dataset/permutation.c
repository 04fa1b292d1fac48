#include "dataset/permutation.h"

void ga_permutation_identity(uint32_t *out, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        out[i] = (uint32_t)i;
    }
}

void ga_permutation_shuffle(uint32_t *out, size_t rows, uint64_t seed, uint64_t epoch,
                            enum ga_purpose purpose)
{
    uint32_t words[4];
    uint64_t drawn = UINT64_MAX;
    ga_permutation_identity(out, rows);
    for (size_t i = rows - 1; rows > 0 && i > 0; i--) {
        if (i / 4 != drawn) {
            drawn = i / 4;
            ga_draw(seed, drawn | epoch << 32, (uint32_t)(epoch >> 32), purpose, words);
        }
        size_t j = (size_t)(((uint64_t)words[i % 4] * (i + 1)) >> 32);
        uint32_t kept = out[i];
        out[i] = out[j];
        out[j] = kept;
    }
}
