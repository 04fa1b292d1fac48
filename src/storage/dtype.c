#include "storage/dtype.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} dtypes[] = {
    [GA_F32] = {"F32", 4}, [GA_F64] = {"F64", 8}, [GA_I32] = {"I32", 4},
    [GA_I64] = {"I64", 8}, [GA_U8] = {"U8", 1},
};

const char *ga_dtype_name(enum ga_dtype dtype)
{
    return dtypes[dtype].name;
}

size_t ga_dtype_bytes(enum ga_dtype dtype)
{
    return dtypes[dtype].bytes;
}

int ga_dtype_find(const char *word)
{
    const int count = (int)(sizeof dtypes / sizeof dtypes[0]);
    for (int i = 0; i < count; i++)
        if (strcmp(word, dtypes[i].name) == 0)
            return i;
    return -1;
}

bool ga_dtype_size(enum ga_dtype dtype, int dimensions, const size_t *shape, size_t *bytes)
{
    size_t product = dtypes[dtype].bytes;
    for (int i = 0; i < dimensions; i++)
        if (__builtin_mul_overflow(product, shape[i], &product))
            return false;
    *bytes = product;
    return true;
}

const char *ga_show_name(char out[GA_SHOWN_NAME], const char *name)
{
    const size_t room = GA_SHOWN_NAME - 4;
    size_t length = 0;
    for (; length < room && name[length]; length++)
        out[length] = name[length] >= ' ' && name[length] <= '~' ? name[length] : '?';
    strcpy(out + length, name[length] ? "..." : "");
    return out;
}

const char *ga_show_shape(char out[GA_SHOWN_SHAPE], enum ga_dtype dtype, int dimensions,
                          const size_t *shape)
{
    int length = snprintf(out, GA_SHOWN_SHAPE, "%s [", dtypes[dtype].name);
    for (int i = 0; i < dimensions; i++)
        length += snprintf(out + length, GA_SHOWN_SHAPE - (size_t)length, "%s%zu", i ? "," : "",
                           shape[i]);
    strcpy(out + length, "]");
    return out;
}
