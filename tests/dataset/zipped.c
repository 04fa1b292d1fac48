#include "dataset/zipped.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* what it packs it does not write to */
#include <zlib.h>

#include "support/support.h"

/* An entry as it lies in the archive. */
struct packed {
    unsigned char *bytes;
    uint32_t count, size, crc;
    uint32_t place; /* of the local header */
};

static void put(struct ga_text *out, uint64_t value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char byte = (char)(value >> (8 * i));
        ga_text_append(out, &byte, 1);
    }
}

static void deflate_raw(const struct ga_zipped *entry, struct packed *out)
{
    const size_t room = entry->count + entry->count / 100 + 100;
    z_stream stream = {.next_in = entry->bytes, .avail_in = (uInt)entry->count};
    out->bytes = malloc(room);
    assert_non_null(out->bytes);
    stream.next_out = out->bytes;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out->count = (uint32_t)stream.total_out;
    assert_int_equal(deflateEnd(&stream), Z_OK);
}

static struct packed pack(const struct ga_zipped *entry)
{
    struct packed out = {.count = (uint32_t)entry->count, .size = (uint32_t)entry->count};
    out.crc = (uint32_t)crc32(0, entry->bytes, (uInt)entry->count);
    if (entry->deflated) {
        deflate_raw(entry, &out);
    } else {
        out.bytes = malloc(entry->count + 1);
        assert_non_null(out.bytes);
        memcpy(out.bytes, entry->bytes, entry->count);
    }
    if (entry->promised > 0) {
        out.size = entry->promised;
    }
    return out;
}

/* What the local header and the directory have in common: version to extra field's length. */
static void put_about(struct ga_text *out, const struct ga_zipped *entry,
                      const struct packed *packed)
{
    const uint16_t method = entry->deflated ? 8 : 0;
    put(out, entry->zip64 ? 45 : 20, 2);
    put(out, entry->flags, 2);
    put(out, entry->method > 0 ? entry->method : method, 2);
    put(out, 0x00210000, 4); /* the first day that fits */
    put(out, packed->crc, 4);
    put(out, entry->zip64 ? UINT32_MAX : packed->count, 4);
    put(out, entry->zip64 ? UINT32_MAX : packed->size, 4);
    put(out, strlen(entry->name), 2);
    put(out, entry->zip64 ? 20 : 0, 2);
}

static void put_extra(struct ga_text *out, const struct ga_zipped *entry,
                      const struct packed *packed)
{
    if (entry->zip64) {
        put(out, 1, 2);
        put(out, 16, 2);
        put(out, packed->size, 8);
        put(out, packed->count, 8);
    }
}

static void put_local(struct ga_text *out, const struct ga_zipped *entry, struct packed *packed)
{
    packed->place = (uint32_t)out->length;
    put(out, 0x04034b50, 4);
    put_about(out, entry, packed);
    ga_text_puts(out, entry->name);
    put_extra(out, entry, packed);
    ga_text_append(out, (const char *)packed->bytes, packed->count);
}

static void put_directory(struct ga_text *out, const struct ga_zipped *entry,
                          const struct packed *packed)
{
    put(out, 0x02014b50, 4);
    put(out, 20, 2);
    put_about(out, entry, packed);
    put(out, 0, 6); /* comment, disk, attributes inside */
    put(out, 0, 4); /* attributes outside */
    put(out, packed->place, 4);
    ga_text_puts(out, entry->name);
    put_extra(out, entry, packed);
}

void ga_zipped_write(struct ga_text *out, const struct ga_zipped *entry, size_t entries)
{
    struct packed packed[8];
    assert_true(entries <= sizeof packed / sizeof packed[0]);
    for (size_t i = 0; i < entries; i++) {
        packed[i] = pack(&entry[i]);
        put_local(out, &entry[i], &packed[i]);
    }
    const size_t first = out->length;
    for (size_t i = 0; i < entries; i++) {
        put_directory(out, &entry[i], &packed[i]);
        free(packed[i].bytes);
    }
    const size_t size = out->length - first;
    put(out, 0x06054b50, 4);
    put(out, 0, 4); /* disks */
    put(out, entries, 2);
    put(out, entries, 2);
    put(out, size, 4);
    put(out, first, 4);
    put(out, 0, 2); /* comment */
}
