/* Bursts of the fast device with nothing around them: what recording a run costs shows beside it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench/demo.h"
#include "compute/compute.h"

struct ga_demo_bare {
    struct ga_context *context;
    size_t parameters;
    struct ga_step step;
    struct ga_burst burst;
    float *weights[2]; /* before and after a burst */
    struct ga_burst_row row[GA_BURST_MOST];
    double loss;
};

int ga_demo_bare_open(struct ga_demo_bare **out, const struct ga_net *net,
                      const struct ga_table *table, float lr)
{
    struct ga_demo_bare *bare = ga_alloc(1, sizeof *bare);

    *out = bare;
    if (!bare)
        return ga_error_code();
    bare->parameters = net->parameters;
    bare->step = (struct ga_step){.kind = GA_STEP_SGD, .gradient_scale = 1, .lr = lr};
    bare->burst = (struct ga_burst){
        .batch = {.inputs = table->inputs, .targets = table->targets, .count = table->train},
        .step = &bare->step,
        .steps = 1,
        .row = bare->row,
    };
    for (size_t k = 0; k < 2; k++) {
        bare->weights[k] = ga_alloc_aligned(net->parameters, sizeof **bare->weights);
        if (!bare->weights[k])
            return ga_error_code();
    }
    return ga_compute_cpu_fast.open(&bare->context, net, table->train);
}

void ga_demo_bare_close(struct ga_demo_bare *bare)
{
    if (!bare)
        return;
    if (bare->context)
        ga_compute_cpu_fast.close(bare->context);
    free(bare->weights[0]);
    free(bare->weights[1]);
    free(bare);
}

void ga_demo_bare_rewind(struct ga_demo_bare *bare, const float *weights)
{
    memcpy(bare->weights[0], weights, bare->parameters * sizeof *weights);
}

int ga_demo_bare_train(struct ga_demo_bare *bare, int64_t updates)
{
    struct ga_burst *burst = &bare->burst;

    for (int64_t done = 0; done < updates; done += (int64_t)burst->count) {
        int64_t left = updates - done;
        float *before = bare->weights[0];

        burst->count = left < (int64_t)GA_BURST_MOST ? (size_t)left : GA_BURST_MOST;
        burst->weights = before;
        burst->new_weights = bare->weights[1];
        if (ga_compute_cpu_fast.burst(bare->context, burst) < burst->count)
            return ga_fail(GA_EINTERNAL, "bench demo: the device ended a burst early");
        bare->weights[0] = bare->weights[1];
        bare->weights[1] = before;
        bare->loss = bare->row[burst->count - 1].loss;
    }
    return GA_OK;
}

double ga_demo_bare_loss(const struct ga_demo_bare *bare)
{
    return bare->loss;
}
