/*
 * FNV-1a, 64 bits (Fowler, Noll, Vo). ga_hash_parameters() is the run hash: over the little-endian
 * bytes of float32 parameters in file order, every NaN counted as 0x7fc00000.
 */
#ifndef GA_BASE_HASH_H
#define GA_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define GA_HASH_START UINT64_C(0xcbf29ce484222325)

uint64_t ga_hash_bytes(uint64_t hash, const void *bytes, size_t count_bytes);
uint64_t ga_hash_parameters(const float *values, size_t count);

#define GA_HASH_TEXT 17
void ga_hash_format(char out[GA_HASH_TEXT], uint64_t hash); /* 16 lower-case hex digits */

#endif
