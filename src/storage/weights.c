#include "storage/weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/checkpoint_format.h"
#include "storage/dtype.h"

int ga_weights_save(const char *path, const struct ga_net *net, const float *weights)
{
    static const struct ga_file_note note = {"format", "pt"};
    struct ga_file_tensor tensor[GA_NET_TENSORS];
    for (size_t i = 0; i < net->tensors; i++) {
        const struct ga_tensor *from = &net->tensor[i];
        tensor[i] = (struct ga_file_tensor){.name = from->name,
                                            .dtype = GA_F32,
                                            .dimensions = from->dimensions,
                                            .shape = {from->rows, from->columns},
                                            .data = weights + from->offset,
                                            .bytes = from->rows * from->columns * sizeof *weights};
    }
    return ga_safetensors_write(path, tensor, net->tensors, &note, 1);
}

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* A file of a larger model must not pass for one of this. */
static int check_strangers(const struct ga_safetensors *file, const struct ga_net *net,
                           const char *path)
{
    char shown[GA_SHOWN_NAME];
    for (size_t i = 0; i < ga_safetensors_count(file); i++) {
        const char *name = ga_safetensors_at(file, i)->name;
        if (ga_net_tensor(net, name) || begins(name, GA_CHECKPOINT_OPTIMIZER) ||
            begins(name, GA_CHECKPOINT_OWN))
            continue;
        return ga_fail(GA_EINPUT, "%s: tensor \"%s\" is not one of the model's %zu", path,
                       ga_show_name(shown, name), net->tensors);
    }
    return GA_OK;
}

static int read_tensors(const struct ga_safetensors *file, const struct ga_net *net, float *weights)
{
    for (size_t i = 0; i < net->tensors; i++) {
        const struct ga_tensor *tensor = &net->tensor[i];
        const size_t shape[] = {tensor->rows, tensor->columns};
        const int code = ga_safetensors_read_float(file, tensor->name, tensor->dimensions, shape,
                                                   weights + tensor->offset);
        if (code)
            return code;
    }
    return GA_OK;
}

/* All or nothing: a block that is complete is copied at once. */
static int read_all(const struct ga_safetensors *file, const struct ga_net *net, float *weights)
{
    float *fresh = ga_alloc(net->parameters + 1, sizeof *fresh);
    if (!fresh)
        return ga_error_code();
    const int code = read_tensors(file, net, fresh);
    if (!code)
        memcpy(weights, fresh, net->parameters * sizeof *fresh);
    free(fresh);
    return code;
}

int ga_weights_load(const char *path, const struct ga_net *net, float *weights)
{
    struct ga_safetensors *file = NULL;
    int code = ga_safetensors_open(&file, path);
    if (!code)
        code = check_strangers(file, net, path);
    if (!code)
        code = read_all(file, net, weights);
    ga_safetensors_close(file);
    return code;
}
