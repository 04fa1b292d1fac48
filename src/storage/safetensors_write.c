/* Writing. The header is made whole before the file is opened: what cannot be described is not
 * begun. */
#include "storage/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "storage/dtype.h"

/* Falling element sizes keep each tensor aligned to its elements, as memory-mapping loaders want.
 */
static const size_t element_sizes[] = {8, 4, 1};
#define ELEMENT_SIZES (sizeof element_sizes / sizeof element_sizes[0])

static int check_tensor(const struct ga_file_tensor *tensor)
{
    char shown[GA_SHOWN_NAME], shape[GA_SHOWN_SHAPE];
    size_t bytes = 0;
    if (tensor->dimensions < 0 || tensor->dimensions > GA_TENSOR_DIMENSIONS)
        return ga_fail(GA_EINTERNAL, "tensor \"%s\": %d dimensions, expected 0 to %d",
                       ga_show_name(shown, tensor->name), tensor->dimensions, GA_TENSOR_DIMENSIONS);
    if (!ga_dtype_size(tensor->dtype, tensor->dimensions, tensor->shape, &bytes) ||
        bytes != tensor->bytes)
        return ga_fail(GA_EINTERNAL, "tensor \"%s\": %zu bytes do not make %s",
                       ga_show_name(shown, tensor->name), tensor->bytes,
                       ga_show_shape(shape, tensor->dtype, tensor->dimensions, tensor->shape));
    return GA_OK;
}

/* Adds a new key; `value` is taken. */
static int add_new(json_t *object, const char *key, json_t *value)
{
    char shown[GA_SHOWN_NAME];
    if (json_object_get(object, key)) {
        json_decref(value);
        return ga_fail(GA_EINTERNAL, "the name \"%s\" is used twice", ga_show_name(shown, key));
    }
    if (json_object_set_new(object, key, value))
        return ga_fail(GA_EINTERNAL, "\"%s\" is not UTF-8 in name or value, or there is no memory",
                       ga_show_name(shown, key));
    return GA_OK;
}

static json_t *describe(const struct ga_file_tensor *tensor, size_t begin)
{
    json_t *shape = json_array();
    for (int i = 0; i < tensor->dimensions; i++)
        if (json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i]))) {
            json_decref(shape);
            return NULL;
        }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", ga_dtype_name(tensor->dtype), "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)(begin + tensor->bytes));
}

static int add_tensors(json_t *header, const struct ga_file_tensor *tensor, size_t tensors)
{
    size_t begin = 0;
    for (size_t pass = 0; pass < ELEMENT_SIZES; pass++)
        for (size_t i = 0; i < tensors; i++) {
            if (ga_dtype_bytes(tensor[i].dtype) != element_sizes[pass])
                continue;
            int code = check_tensor(&tensor[i]);
            if (!code)
                code = add_new(header, tensor[i].name, describe(&tensor[i], begin));
            if (code)
                return code;
            begin += tensor[i].bytes;
        }
    return GA_OK;
}

/* The metadata goes first; it also keeps a tensor from taking its name. */
static int add_notes(json_t *header, const struct ga_file_note *note, size_t notes)
{
    json_t *metadata = json_object();
    const int code = add_new(header, GA_SAFETENSORS_METADATA, metadata);
    if (code)
        return code;
    for (size_t i = 0; i < notes; i++) {
        const int added = add_new(metadata, note[i].key, json_string(note[i].value));
        if (added)
            return added;
    }
    return GA_OK;
}

static int dump_header(char **out, const json_t *header)
{
    char *text = json_dumps(header, JSON_COMPACT);
    const size_t length = text ? strlen(text) : 0;
    if (!text)
        return ga_fail(GA_ENOMEM, "no memory for the header");
    if (length > GA_SAFETENSORS_HEADER - GA_SAFETENSORS_PREFIX) {
        free(text);
        return ga_fail(GA_ERANGE, "a header of %zu bytes, expected at most %llu", length,
                       (unsigned long long)GA_SAFETENSORS_HEADER);
    }
    *out = text;
    return GA_OK;
}

static int make_header(char **out, const struct ga_file_tensor *tensor, size_t tensors,
                       const struct ga_file_note *note, size_t notes)
{
    json_t *header = json_object();
    int code = GA_OK;
    if (!header)
        return ga_fail(GA_ENOMEM, "no memory for the header");
    code = add_notes(header, note, notes);
    if (!code)
        code = add_tensors(header, tensor, tensors);
    if (!code)
        code = dump_header(out, header);
    json_decref(header);
    return code;
}

static int write_header(struct ga_writer *writer, const char *header)
{
    static const char blanks[GA_SAFETENSORS_PREFIX] = "        ";
    unsigned char prefix[GA_SAFETENSORS_PREFIX];
    const size_t length = strlen(header);
    const size_t padding = (size_t)-length % GA_SAFETENSORS_PREFIX;
    for (int i = 0; i < GA_SAFETENSORS_PREFIX; i++)
        prefix[i] = (unsigned char)((uint64_t)(length + padding) >> (8 * i));
    int code = ga_writer_write(writer, prefix, sizeof prefix);
    if (!code)
        code = ga_writer_write(writer, header, length);
    return code ? code : ga_writer_write(writer, blanks, padding);
}

static int write_tensors(struct ga_writer *writer, const struct ga_file_tensor *tensor,
                         size_t tensors)
{
    for (size_t pass = 0; pass < ELEMENT_SIZES; pass++)
        for (size_t i = 0; i < tensors; i++) {
            if (ga_dtype_bytes(tensor[i].dtype) != element_sizes[pass] || tensor[i].bytes == 0)
                continue;
            const int code = ga_writer_write(writer, tensor[i].data, tensor[i].bytes);
            if (code)
                return code;
        }
    return GA_OK;
}

static int write_file(const char *path, const char *header, const struct ga_file_tensor *tensor,
                      size_t tensors)
{
    struct ga_writer *writer = NULL;
    int code = ga_writer_open(&writer, path);
    if (code)
        return code;
    code = write_header(writer, header);
    if (!code)
        code = write_tensors(writer, tensor, tensors);
    if (!code)
        return ga_writer_commit(writer);
    ga_writer_abandon(writer);
    return code;
}

int ga_safetensors_write(const char *path, const struct ga_file_tensor *tensor, size_t tensors,
                         const struct ga_file_note *note, size_t notes)
{
    char *header = NULL;
    if (make_header(&header, tensor, tensors, note, notes) || !header)
        return ga_fail_within("%s", path);
    const int code = write_file(path, header, tensor, tensors);
    free(header);
    return code;
}
