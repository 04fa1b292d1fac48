/*
 * CRC-32C (Castagnoli; reflected polynomial 0x82f63b78), as iSCSI, ext4 and TFRecord files use it.
 * (RFC 3720, appendix B.4.)
 */
#ifndef GA_STORAGE_CRC32C_H
#define GA_STORAGE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t ga_crc32c(const void *bytes, size_t count_bytes);

#endif
