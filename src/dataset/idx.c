/*
 * IDX, the format of MNIST: two zero bytes, a type, the number of dimensions, each dimension as a
 * big-endian 32-bit number, then the elements, big-endian too. (Y. LeCun, C. Cortes, C. Burges, The
 * MNIST database of handwritten digits.)
 */
#include <stddef.h>

#include "base/error.h"
#include "dataset/array.h"

static const struct {
    unsigned char code;
    enum ga_element element;
} types[] = {
    {0x08, GA_ELEMENT_U8},  {0x09, GA_ELEMENT_I8},  {0x0b, GA_ELEMENT_I16},
    {0x0c, GA_ELEMENT_I32}, {0x0d, GA_ELEMENT_F32}, {0x0e, GA_ELEMENT_F64},
};
#define TYPES (sizeof types / sizeof types[0])

/* No text begins with a NUL. */
bool ga_idx_is(const unsigned char *head, size_t count)
{
    return count >= 4 && head[0] == 0 && head[1] == 0;
}

static int read_type(struct ga_array *array, unsigned char code)
{
    for (size_t i = 0; i < TYPES; i++) {
        if (types[i].code == code) {
            array->element = types[i].element;
            return 0;
        }
    }
    return ga_fail(GA_EINPUT,
                   "%s: IDX type 0x%02x, expected 0x08 (unsigned bytes), 0x09, 0x0b, 0x0c, 0x0d or "
                   "0x0e",
                   array->bytes->name, code);
}

int ga_idx_header(struct ga_array *array)
{
    unsigned char head[4];
    unsigned char sizes[4 * GA_ARRAY_DIMENSIONS];
    int code = ga_bytes_read_all(array->bytes, head, sizeof head, "the IDX header");
    if (code == 0) {
        code = read_type(array, head[2]);
    }
    if (code != 0) {
        return code;
    }
    array->big_endian = true;
    array->dimensions = head[3];
    if (head[3] == 0 || head[3] > GA_ARRAY_DIMENSIONS) {
        return ga_fail(GA_EINPUT, "%s: IDX with %d dimensions, expected 1 to %d",
                       array->bytes->name, head[3], GA_ARRAY_DIMENSIONS);
    }
    code = ga_bytes_read_all(array->bytes, sizes, 4 * array->dimensions, "the IDX header");
    for (size_t i = 0; code == 0 && i < array->dimensions; i++) {
        const unsigned char *size = sizes + 4 * i;
        array->shape[i] = (uint64_t)size[0] << 24 | (uint64_t)size[1] << 16 |
                          (uint64_t)size[2] << 8 | (uint64_t)size[3];
    }
    return code == 0 ? ga_array_shape(array) : code;
}
