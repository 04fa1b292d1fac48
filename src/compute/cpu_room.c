#include "compute/cpu_room.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

int ga_cpu_room_grow(struct ga_cpu_room *room, size_t examples, size_t floats, size_t count)
{
    if (examples <= room->examples || floats == 0)
        return 0;
    float *block = ga_alloc_aligned(examples, floats * sizeof *block);
    if (!block)
        return ga_fail_within("room for a micro-batch of %zu examples", count);
    free(room->floats);
    room->floats = block;
    room->examples = examples;
    return 1;
}

float *ga_cpu_room_cut(float **next, size_t width, size_t examples)
{
    float *rows = *next;
    *next += width * examples;
    return rows;
}

size_t ga_cpu_room_bytes(size_t fixed, size_t examples, size_t floats)
{
    const size_t each = floats * sizeof(float);
    if (each > 0 && examples > (SIZE_MAX - fixed) / each)
        return SIZE_MAX;
    return fixed + examples * each;
}

bool ga_cpu_has_slopes(const struct ga_net *net)
{
    return net->activation == GA_ACT_GELU;
}

int ga_cpu_check_batch(const struct ga_net *net, const struct ga_batch *batch, bool compared)
{
    const bool xent = net->kind == GA_NET_MLP && net->loss == GA_LOSS_XENT;
    if (!batch->inputs)
        return ga_fail(GA_EINTERNAL, "a batch without inputs: expected a table of them");
    if (!batch->index && (batch->first > UINT32_MAX || batch->count > UINT32_MAX - batch->first))
        return ga_fail(GA_EINTERNAL, "a batch beyond row %u of its table", UINT32_MAX);
    if (compared && xent && !batch->labels)
        return ga_fail(GA_EINTERNAL, "a batch without labels: xent expects class numbers");
    if (compared && !xent && !batch->targets)
        return ga_fail(GA_EINTERNAL, "a batch without targets: expected a table of them");
    return GA_OK;
}

void *ga_cpu_alloc(size_t bytes)
{
    return ga_alloc_aligned(bytes ? bytes : 1, 1);
}
