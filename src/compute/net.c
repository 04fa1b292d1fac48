#include "compute/net.h"

#include <string.h>

const struct ga_tensor *ga_net_tensor_at(const struct ga_net *net, size_t position)
{
    for (size_t i = 0; i < net->tensors; i++) {
        const struct ga_tensor *tensor = &net->tensor[i];
        if (position >= tensor->offset &&
            position - tensor->offset < tensor->rows * tensor->columns)
            return tensor;
    }
    return NULL;
}

const struct ga_tensor *ga_net_tensor(const struct ga_net *net, const char *name)
{
    for (size_t i = 0; i < net->tensors; i++) {
        if (strcmp(net->tensor[i].name, name) == 0)
            return &net->tensor[i];
    }
    return NULL;
}
