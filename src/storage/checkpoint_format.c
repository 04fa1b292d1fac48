#include "storage/checkpoint_format.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

const char *ga_checkpoint_block_name(const struct ga_settings *settings, size_t block)
{
    static const char *const outer[] = {"outer_momentum_buffer", NULL};
    static const char *const names[][2] = {
        [GA_SGD] = {"momentum_buffer", NULL},
        [GA_ADAM] = {"exp_avg", "exp_avg_sq"},
        [GA_ADAMW] = {"exp_avg", "exp_avg_sq"},
    };
    const char *const *of = settings->mode == GA_MODE_LOCAL ? outer : names[settings->optimizer];
    return block < 2 ? of[block] : NULL;
}

void ga_checkpoint_name_block(char out[GA_CHECKPOINT_NAME], const char *block, const char *tensor)
{
    snprintf(out, GA_CHECKPOINT_NAME, GA_CHECKPOINT_OPTIMIZER "%s.%s", block, tensor);
}

void ga_checkpoint_name_version(char out[GA_CHECKPOINT_NAME], size_t version, const char *part)
{
    snprintf(out, GA_CHECKPOINT_NAME, GA_CHECKPOINT_OWN "version.%zu.%s", version, part);
}

void ga_checkpoint_name_item(char out[GA_CHECKPOINT_NAME], size_t replica, const char *part)
{
    snprintf(out, GA_CHECKPOINT_NAME, GA_CHECKPOINT_OWN "item.%zu.%s", replica, part);
}

enum ga_dtype ga_checkpoint_sums_dtype(enum ga_type type)
{
    return type == GA_FLOAT64 ? GA_F64 : GA_F32;
}

uint64_t ga_checkpoint_sum_note(const char *note)
{
    return ga_hash_bytes(GA_HASH_START, note, strlen(note));
}

uint64_t ga_checkpoint_sum_tensor(const struct ga_file_tensor *tensor)
{
    const char *dtype = ga_dtype_name(tensor->dtype);
    uint64_t hash = ga_hash_bytes(GA_HASH_START, tensor->name, strlen(tensor->name) + 1);
    hash = ga_hash_bytes(hash, dtype, strlen(dtype) + 1);
    for (int i = 0; i < tensor->dimensions; i++) {
        const uint64_t size = tensor->shape[i];
        hash = ga_hash_bytes(hash, &size, sizeof size);
    }
    return tensor->bytes > 0 ? ga_hash_bytes(hash, tensor->data, tensor->bytes) : hash;
}
