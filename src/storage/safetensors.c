/*
 * Reading. The whole file is one block; tensors point into it, names and notes are the JSON
 * header's. Nothing of the header is believed before it was held against the length of the file.
 */
#include "storage/safetensors.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "storage/dtype.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are copied as they lie in the file");

struct ga_safetensors {
    char *name;
    char *bytes;
    const char *data; /* first byte behind the header */
    size_t data_bytes;
    json_t *header;
    json_t *metadata;              /* inside the header, or NULL */
    struct ga_file_tensor *tensor; /* in order of their data */
    const struct ga_file_tensor **by_name;
    size_t count;
};

static int refuse(const char *tensor, const char *what)
{
    char shown[GA_SHOWN_NAME];
    return ga_fail(GA_EINPUT, "tensor \"%s\": %s", ga_show_name(shown, tensor), what);
}

static int parse_header(struct ga_safetensors *file, const char *text, size_t length)
{
    json_error_t error;
    file->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!file->header && json_error_code(&error) == json_error_out_of_memory)
        return ga_fail(GA_ENOMEM, "no memory for a header of %zu bytes", length);
    if (!file->header) {
        char shown[GA_SHOWN_NAME];
        return ga_fail(GA_EINPUT, "the header is not valid JSON at its byte %d: %s", error.position,
                       ga_show_name(shown, error.text));
    }
    if (!json_is_object(file->header) || text[0] != '{')
        return ga_fail(GA_EINPUT, "the header starts with something else, expected a JSON object");
    return GA_OK;
}

static int read_prefix(struct ga_safetensors *file, size_t length_bytes)
{
    const unsigned char *prefix = (const unsigned char *)file->bytes;
    uint64_t length = 0;
    if (length_bytes < GA_SAFETENSORS_PREFIX)
        return ga_fail(GA_EINPUT, "%zu bytes, expected a safetensors file of at least 8",
                       length_bytes);
    for (int i = 0; i < GA_SAFETENSORS_PREFIX; i++)
        length |= (uint64_t)prefix[i] << (8 * i);
    const size_t rest = length_bytes - GA_SAFETENSORS_PREFIX;
    if (length > rest && length > GA_SAFETENSORS_HEADER)
        return ga_fail(GA_EINPUT,
                       "not a safetensors file (its header would be %llu bytes long): expected one "
                       "that `save` or `export` wrote, or another program in this format",
                       (unsigned long long)length);
    if (length > rest)
        return ga_fail(GA_EINPUT,
                       "cut short, or not a safetensors file: its header would be %llu bytes long, "
                       "and %zu bytes follow",
                       (unsigned long long)length, rest);
    if (length > GA_SAFETENSORS_HEADER)
        return ga_fail(GA_ERANGE, "the header is %llu bytes long, expected at most %llu",
                       (unsigned long long)length, (unsigned long long)GA_SAFETENSORS_HEADER);
    const char *text = file->bytes + GA_SAFETENSORS_PREFIX;
    file->data = text + length;
    file->data_bytes = rest - (size_t)length;
    return parse_header(file, text, (size_t)length);
}

static bool read_count(const json_t *value, size_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (size_t)json_integer_value(value);
    return true;
}

static int read_shape(struct ga_file_tensor *tensor, const json_t *shape)
{
    if (!json_is_array(shape))
        return refuse(tensor->name, "no \"shape\", expected a list of sizes");
    const size_t dimensions = json_array_size(shape);
    if (dimensions > GA_TENSOR_DIMENSIONS)
        return refuse(tensor->name, "more than 4 dimensions, expected 0 to 4");
    for (size_t i = 0; i < dimensions; i++)
        if (!read_count(json_array_get(shape, i), &tensor->shape[i]))
            return refuse(tensor->name, "a size in its shape is not a whole number >= 0");
    tensor->dimensions = (int)dimensions;
    return GA_OK;
}

static int read_offsets(const struct ga_safetensors *file, struct ga_file_tensor *tensor,
                        const json_t *offsets)
{
    size_t begin = 0, end = 0, bytes = 0;
    char shown[GA_SHOWN_NAME];
    if (json_array_size(offsets) != 2 || !read_count(json_array_get(offsets, 0), &begin) ||
        !read_count(json_array_get(offsets, 1), &end))
        return refuse(tensor->name, "no \"data_offsets\", expected [begin, end] in bytes");
    if (begin > end || end > file->data_bytes)
        return ga_fail(
            GA_EINPUT,
            "tensor \"%s\": data offsets %zu to %zu, expected rising ones within the %zu "
            "bytes of data",
            ga_show_name(shown, tensor->name), begin, end, file->data_bytes);
    if (!ga_dtype_size(tensor->dtype, tensor->dimensions, tensor->shape, &bytes))
        return refuse(tensor->name, "the product of its shape overflows");
    if (bytes != end - begin)
        return ga_fail(GA_EINPUT,
                       "tensor \"%s\": %zu bytes of data, expected %zu by dtype and shape",
                       ga_show_name(shown, tensor->name), end - begin, bytes);
    tensor->data = file->data + begin;
    tensor->bytes = bytes;
    return GA_OK;
}

static int read_entry(const struct ga_safetensors *file, struct ga_file_tensor *tensor,
                      const json_t *entry)
{
    const char *word = json_string_value(json_object_get(entry, "dtype"));
    char shown[GA_SHOWN_NAME], dtype[GA_SHOWN_NAME];
    if (!json_is_object(entry))
        return refuse(tensor->name,
                      "its entry is not an object, expected dtype, shape, data_offsets");
    if (!word)
        return refuse(tensor->name, "no \"dtype\", expected F32, F64, I32, I64 or U8");
    const int found = ga_dtype_find(word);
    if (found < 0)
        return ga_fail(GA_EINPUT, "tensor \"%s\": dtype \"%s\", expected F32, F64, I32, I64 or U8",
                       ga_show_name(shown, tensor->name), ga_show_name(dtype, word));
    tensor->dtype = (enum ga_dtype)found;
    int code = read_shape(tensor, json_object_get(entry, "shape"));
    if (!code)
        code = read_offsets(file, tensor, json_object_get(entry, "data_offsets"));
    if (!code && json_object_size(entry) != 3)
        code = refuse(tensor->name, "unknown fields, expected only dtype, shape, data_offsets");
    return code;
}

static int read_metadata(struct ga_safetensors *file, json_t *metadata)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(metadata))
        return ga_fail(GA_EINPUT, "the metadata is not an object of strings");
    json_object_foreach(metadata, key, value)
    {
        char shown[GA_SHOWN_NAME];
        if (!json_is_string(value))
            return ga_fail(GA_EINPUT, "metadata \"%s\" is not a string", ga_show_name(shown, key));
    }
    file->metadata = metadata;
    return GA_OK;
}

static int read_header(struct ga_safetensors *file)
{
    const char *key = NULL;
    json_t *entry = NULL;
    file->tensor = ga_alloc(json_object_size(file->header) + 1, sizeof *file->tensor);
    if (!file->tensor)
        return ga_error_code();
    json_object_foreach(file->header, key, entry)
    {
        int code = GA_OK;
        if (strcmp(key, GA_SAFETENSORS_METADATA) == 0) {
            code = read_metadata(file, entry);
        } else {
            file->tensor[file->count].name = key;
            code = read_entry(file, &file->tensor[file->count++], entry);
        }
        if (code)
            return code;
    }
    return GA_OK;
}

/* An empty tensor lies before the one that starts at the same byte. */
static int compare_place(const void *a, const void *b)
{
    const struct ga_file_tensor *x = a, *y = b;
    const char *left = x->data, *right = y->data;
    if (left != right)
        return left < right ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The tensors, sorted by place, must cover the data without hole or overlap. */
static int check_cover(const struct ga_safetensors *file)
{
    const char *expected = file->data;
    char shown[GA_SHOWN_NAME];
    for (size_t i = 0; i < file->count; i++) {
        const struct ga_file_tensor *tensor = &file->tensor[i];
        const char *start = tensor->data;
        if (start != expected)
            return ga_fail(GA_EINPUT,
                           "tensor \"%s\": starts at byte %zu of the data (%s), expected %zu",
                           ga_show_name(shown, tensor->name), (size_t)(start - file->data),
                           start < expected ? "overlapping another" : "after a hole",
                           (size_t)(expected - file->data));
        expected = start + tensor->bytes;
    }
    const size_t covered = (size_t)(expected - file->data);
    if (covered != file->data_bytes)
        return ga_fail(GA_EINPUT, "%zu bytes of data, expected the %zu that its tensors take",
                       file->data_bytes, covered);
    return GA_OK;
}

static int compare_name(const void *a, const void *b)
{
    const struct ga_file_tensor *const *one = a, *const *other = b;
    return strcmp((*one)->name, (*other)->name);
}

static int sort_names(struct ga_safetensors *file)
{
    file->by_name = ga_alloc(file->count + 1, sizeof(struct ga_file_tensor *));
    if (!file->by_name)
        return ga_error_code();
    for (size_t i = 0; i < file->count; i++)
        file->by_name[i] = &file->tensor[i];
    qsort(file->by_name, file->count, sizeof *file->by_name, compare_name);
    return GA_OK;
}

static int read_all(struct ga_safetensors *file, const char *name, size_t length)
{
    file->name = ga_copy_string(name);
    if (!file->name)
        return ga_error_code();
    int code = read_prefix(file, length);
    if (!code)
        code = read_header(file);
    if (code)
        return code;
    qsort(file->tensor, file->count, sizeof *file->tensor, compare_place);
    return sort_names(file) ? ga_error_code() : check_cover(file);
}

/* Takes `bytes`, whatever the answer. */
static int take(struct ga_safetensors **out, const char *name, char *bytes, size_t length)
{
    struct ga_safetensors *file = ga_alloc(1, sizeof *file);
    if (!file) {
        free(bytes);
        return ga_fail_within("%s", name);
    }
    file->bytes = bytes;
    if (read_all(file, name, length)) {
        ga_safetensors_close(file);
        return ga_fail_within("%s", name);
    }
    *out = file;
    return GA_OK;
}

int ga_safetensors_open(struct ga_safetensors **out, const char *path)
{
    char *bytes = NULL;
    size_t length = 0;
    const int code = ga_file_read(path, GA_SAFETENSORS_FILE, &bytes, &length);
    return code ? code : take(out, path, bytes, length);
}

int ga_safetensors_parse(struct ga_safetensors **out, const char *name, const void *bytes,
                         size_t length)
{
    char *copy = ga_alloc(length > 0 ? length : 1, 1);
    if (!copy)
        return ga_fail_within("%s", name);
    if (length > 0)
        memcpy(copy, bytes, length);
    return take(out, name, copy, length);
}

void ga_safetensors_close(struct ga_safetensors *file)
{
    if (!file)
        return;
    json_decref(file->header);
    free(file->by_name);
    free(file->tensor);
    free(file->bytes);
    free(file->name);
    free(file);
}

size_t ga_safetensors_count(const struct ga_safetensors *file)
{
    return file->count;
}

const struct ga_file_tensor *ga_safetensors_at(const struct ga_safetensors *file, size_t position)
{
    return position < file->count ? &file->tensor[position] : NULL;
}

const struct ga_file_tensor *ga_safetensors_find(const struct ga_safetensors *file,
                                                 const char *name)
{
    const struct ga_file_tensor wanted = {.name = name}, *key = &wanted;
    const struct ga_file_tensor **found =
        bsearch(&key, file->by_name, file->count, sizeof *file->by_name, compare_name);
    return found ? *found : NULL;
}

const char *ga_safetensors_note(const struct ga_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(file->metadata, key));
}

/* The tensor when name and shape fit; NULL and an error otherwise. `dtype` is for the error text.
 */
static const struct ga_file_tensor *expect(const struct ga_safetensors *file, const char *name,
                                           bool dtype_fits(enum ga_dtype, enum ga_dtype),
                                           enum ga_dtype dtype, int dimensions, const size_t *shape)
{
    char shown[GA_SHOWN_NAME], got[GA_SHOWN_SHAPE], want[GA_SHOWN_SHAPE];
    const struct ga_file_tensor *tensor = ga_safetensors_find(file, name);
    ga_show_shape(want, dtype, dimensions, shape);
    if (!tensor) {
        ga_fail(GA_EINPUT, "%s: no tensor \"%s\" among its %zu, expected one of %s", file->name,
                ga_show_name(shown, name), file->count, want);
        return NULL;
    }
    bool same = dtype_fits(tensor->dtype, dtype) && tensor->dimensions == dimensions;
    for (int i = 0; same && i < dimensions; i++)
        same = tensor->shape[i] == shape[i];
    if (same)
        return tensor;
    ga_show_shape(got, tensor->dtype, tensor->dimensions, tensor->shape);
    ga_fail(GA_EINPUT, "%s: tensor \"%s\" is %s, expected %s", file->name,
            ga_show_name(shown, name), got, want);
    return NULL;
}

static bool same_dtype(enum ga_dtype got, enum ga_dtype want)
{
    return got == want;
}

static bool float_dtype(enum ga_dtype got, enum ga_dtype want)
{
    (void)want;
    return got == GA_F32 || got == GA_F64;
}

int ga_safetensors_read(const struct ga_safetensors *file, const char *name, enum ga_dtype dtype,
                        int dimensions, const size_t *shape, void *out)
{
    const struct ga_file_tensor *tensor = expect(file, name, same_dtype, dtype, dimensions, shape);
    if (!tensor)
        return ga_error_code();
    if (tensor->bytes > 0)
        memcpy(out, tensor->data, tensor->bytes);
    return GA_OK;
}

static double element(const struct ga_file_tensor *tensor, size_t position)
{
    double value = 0;
    memcpy(&value, (const char *)tensor->data + position * sizeof value, sizeof value);
    return value;
}

static int check_float_range(const struct ga_safetensors *file, const struct ga_file_tensor *tensor)
{
    char shown[GA_SHOWN_NAME];
    for (size_t i = 0; i < tensor->bytes / sizeof(double); i++) {
        const double value = element(tensor, i);
        if (isfinite(value) && !isfinite((float)value))
            return ga_fail(GA_ERANGE,
                           "%s: tensor \"%s\": element %zu is %g, expected the range of float32",
                           file->name, ga_show_name(shown, tensor->name), i, value);
    }
    return GA_OK;
}

int ga_safetensors_read_float(const struct ga_safetensors *file, const char *name, int dimensions,
                              const size_t *shape, float *out)
{
    const struct ga_file_tensor *tensor =
        expect(file, name, float_dtype, GA_F32, dimensions, shape);
    if (!tensor)
        return ga_error_code();
    if (tensor->dtype == GA_F32) {
        if (tensor->bytes > 0)
            memcpy(out, tensor->data, tensor->bytes);
        return GA_OK;
    }
    const int code = check_float_range(file, tensor);
    for (size_t i = 0; !code && i < tensor->bytes / sizeof(double); i++)
        out[i] = (float)element(tensor, i);
    return code;
}
