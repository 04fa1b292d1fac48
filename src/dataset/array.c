#include "dataset/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define SWAP_8(x)  (x)
#define SWAP_16(x) __builtin_bswap16(x)
#define SWAP_32(x) __builtin_bswap32(x)
#define SWAP_64(x) __builtin_bswap64(x)

/* Elements as doubles, `swap` when their bytes stand the other way round than this machine's. */
#define CONVERTER(name, type, bits)                                                                \
    static void name(const unsigned char *from, size_t count, bool swap, double *out)              \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            uint##bits##_t raw;                                                                    \
            type value;                                                                            \
            memcpy(&raw, from + i * sizeof raw, sizeof raw);                                       \
            raw = swap ? SWAP_##bits(raw) : raw;                                                   \
            memcpy(&value, &raw, sizeof value);                                                    \
            out[i] = (double)value;                                                                \
        }                                                                                          \
    }

CONVERTER(from_u8, uint8_t, 8)
CONVERTER(from_i8, int8_t, 8)
CONVERTER(from_u16, uint16_t, 16)
CONVERTER(from_i16, int16_t, 16)
CONVERTER(from_u32, uint32_t, 32)
CONVERTER(from_i32, int32_t, 32)
CONVERTER(from_u64, uint64_t, 64)
CONVERTER(from_i64, int64_t, 64)
CONVERTER(from_f32, float, 32)
CONVERTER(from_f64, double, 64)

static const struct {
    size_t size_bytes;
    bool whole;
    void (*convert)(const unsigned char *from, size_t count, bool swap, double *out);
} elements[GA_ELEMENTS] = {
    [GA_ELEMENT_U8] = {1, true, from_u8},    [GA_ELEMENT_I8] = {1, true, from_i8},
    [GA_ELEMENT_U16] = {2, true, from_u16},  [GA_ELEMENT_I16] = {2, true, from_i16},
    [GA_ELEMENT_U32] = {4, true, from_u32},  [GA_ELEMENT_I32] = {4, true, from_i32},
    [GA_ELEMENT_U64] = {8, true, from_u64},  [GA_ELEMENT_I64] = {8, true, from_i64},
    [GA_ELEMENT_F32] = {4, false, from_f32}, [GA_ELEMENT_F64] = {8, false, from_f64},
};

size_t ga_element_bytes(enum ga_element element)
{
    return elements[element].size_bytes;
}

bool ga_element_is_whole(enum ga_element element)
{
    return elements[element].whole;
}

const char *ga_array_text(char out[GA_ARRAY_TEXT], const struct ga_array *array)
{
    int used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < array->dimensions; i++) {
        used += snprintf(out + used, GA_ARRAY_TEXT - (size_t)used, "%s%" PRIu64, i ? " x " : "",
                         array->shape[i]);
    }
    return out;
}

int ga_array_shape(struct ga_array *array)
{
    char text[GA_ARRAY_TEXT];
    uint64_t width = 1;
    uint64_t total_bytes = 0;
    bool over = array->shape[0] > UINT32_MAX;
    bool empty = array->shape[0] == 0;
    for (size_t i = 1; i < array->dimensions; i++) {
        over |= __builtin_mul_overflow(width, array->shape[i], &width);
        empty |= array->shape[i] == 0;
    }
    over |= __builtin_mul_overflow(width, array->shape[0], &total_bytes);
    over |= __builtin_mul_overflow(total_bytes, elements[array->element].size_bytes, &total_bytes);
    if (empty) {
        return ga_fail(GA_EINPUT, "%s: %s elements, expected at least one row of numbers",
                       array->bytes->name, ga_array_text(text, array));
    }
    if (over || total_bytes > array->bytes->most) {
        return ga_fail(GA_EINPUT,
                       "%s: the header promises %s elements of %zu bytes, more than the file can "
                       "hold",
                       array->bytes->name, ga_array_text(text, array),
                       elements[array->element].size_bytes);
    }
    array->rows = (size_t)array->shape[0];
    array->width = (size_t)width;
    return 0;
}

int ga_array_read(struct ga_array *array, double *out, size_t count)
{
    unsigned char block[32768];
    const bool swap = array->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    const size_t size = elements[array->element].size_bytes;
    while (count > 0) {
        const size_t part = count < sizeof block / size ? count : sizeof block / size;
        size_t got = 0;
        int code = ga_bytes_read(array->bytes, block, part * size, &got);
        if (code != 0) {
            return code;
        }
        if (got < part * size) {
            return ga_fail(GA_EINPUT, "%s: the file ends in row %zu, expected %zu rows",
                           array->bytes->name, (array->at + got / size) / array->width + 1,
                           array->rows);
        }
        elements[array->element].convert(block, part, swap, out);
        array->at += part;
        out += part;
        count -= part;
    }
    return 0;
}

static int read_header(struct ga_array *array, const unsigned char *head, size_t count)
{
    if (ga_idx_is(head, count)) {
        return ga_idx_header(array);
    }
    if (ga_npy_is(head, count)) {
        return ga_npy_header(array);
    }
    return ga_fail(GA_EINPUT, "%s is no array, expected an IDX or NPY file", array->bytes->name);
}

int ga_array_open(struct ga_array *array, const char *path)
{
    unsigned char head[GA_BYTES_HEAD];
    size_t count = 0;
    *array = (struct ga_array){0};
    int code = ga_bytes_peek(path, head, &count);
    if (code == 0) {
        code = ga_bytes_open(&array->bytes, path);
    }
    if (code == 0) {
        code = ga_bytes_ahead(&array->bytes, array->bytes);
    }
    if (code == 0) {
        code = read_header(array, head, count);
    }
    if (code != 0) {
        ga_array_fini(array);
    }
    return code;
}

int ga_array_end(struct ga_array *array)
{
    return ga_bytes_end(array->bytes, "the last row");
}

void ga_array_fini(struct ga_array *array)
{
    ga_bytes_close(array->bytes);
    *array = (struct ga_array){0};
}
