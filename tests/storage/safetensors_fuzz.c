/* Any bytes either give a file whose every tensor lies inside it, or an error with a text. */
#include "support/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "storage/safetensors.h"

static void touch(const struct ga_safetensors *file, const struct ga_file_tensor *tensor)
{
    const size_t elements = tensor->bytes / ga_dtype_bytes(tensor->dtype);
    void *copy = malloc(tensor->bytes > 0 ? tensor->bytes : 1);
    float *floats = malloc((elements > 0 ? elements : 1) * sizeof *floats);
    if (!copy || !floats)
        abort();
    if (ga_safetensors_read(file, tensor->name, tensor->dtype, tensor->dimensions, tensor->shape,
                            copy) ||
        (tensor->bytes > 0 && memcmp(copy, tensor->data, tensor->bytes) != 0))
        abort();
    ga_safetensors_read_float(file, tensor->name, tensor->dimensions, tensor->shape, floats);
    free(copy);
    free(floats);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ga_safetensors *file = NULL;
    if (ga_safetensors_parse(&file, "input", bytes, size)) {
        if (file || ga_error_text()[0] == '\0')
            abort();
        return 0;
    }
    for (size_t i = 0; i < ga_safetensors_count(file); i++)
        touch(file, ga_safetensors_at(file, i));
    ga_safetensors_note(file, "format");
    ga_safetensors_close(file);
    return 0;
}
