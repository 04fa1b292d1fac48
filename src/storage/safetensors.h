/*
 * The safetensors format: 8 bytes little-endian header length, a JSON header, raw tensors. Written
 * so that PyTorch's loader opens it; read strictly: header length beyond the file, overlapping or
 * out-of-range offsets, wrong sizes, unknown dtypes, duplicate names, bad JSON and 2^63 lengths are
 * refused by name. Integers are little-endian whatever the host.
 */
#ifndef GA_STORAGE_SAFETENSORS_H
#define GA_STORAGE_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

enum ga_dtype { GA_F32, GA_F64, GA_I32, GA_I64, GA_U8 };

const char *ga_dtype_name(enum ga_dtype dtype); /* "F32" */
size_t ga_dtype_bytes(enum ga_dtype dtype);

#define GA_TENSOR_DIMENSIONS 4

/* A tensor to write (data borrowed), or one that was read (data inside the file object). */
struct ga_file_tensor {
    const char *name;
    enum ga_dtype dtype;
    int dimensions;
    size_t shape[GA_TENSOR_DIMENSIONS];
    const void *data; /* little-endian elements; may be unaligned when read */
    size_t bytes;
};

/* One string pair of the header's __metadata__. */
struct ga_file_note {
    const char *key;
    const char *value;
};

/*
 * Writes atomically: until it succeeds an existing file keeps its content. Tensors are laid out by
 * falling element size, so that every one is aligned. GA_EINTERNAL when a tensor contradicts itself
 * (bytes against shape), a name is used twice or is not UTF-8.
 */
int ga_safetensors_write(const char *path, const struct ga_file_tensor *tensor, size_t tensors,
                         const struct ga_file_note *note, size_t notes);

struct ga_safetensors;

int ga_safetensors_open(struct ga_safetensors **out, const char *path);
/* The same from memory, which is copied; `name` is used in errors. For tests and fuzzing. */
int ga_safetensors_parse(struct ga_safetensors **out, const char *name, const void *bytes,
                         size_t length);
void ga_safetensors_close(struct ga_safetensors *file);

size_t ga_safetensors_count(const struct ga_safetensors *file);
const struct ga_file_tensor *ga_safetensors_at(const struct ga_safetensors *file, size_t position);
const struct ga_file_tensor *ga_safetensors_find(const struct ga_safetensors *file,
                                                 const char *name);
const char *ga_safetensors_note(const struct ga_safetensors *file, const char *key); /* or NULL */

/*
 * Copies a tensor out, checking name, dtype and shape; the error says what was found and what was
 * expected, and nothing was copied. F64 is rounded to float32 by read_float (reference files are
 * float64); a finite value that float32 cannot hold is refused.
 */
int ga_safetensors_read_float(const struct ga_safetensors *file, const char *name, int dimensions,
                              const size_t *shape, float *out);
int ga_safetensors_read(const struct ga_safetensors *file, const char *name, enum ga_dtype dtype,
                        int dimensions, const size_t *shape, void *out);

#endif
