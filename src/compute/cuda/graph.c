#include "compute/cuda/graph.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compute/cuda/device.h"

struct entry {
    struct ga_cuda_graph_key key;
    cudaGraphExec_t graph; /* NULL: seen once */
    size_t used;           /* when it was asked for last; 0: a free place */
};

struct ga_cuda_graphs {
    bool off;
    size_t moment;
    struct entry entry[GA_CUDA_GRAPHS];
};

static struct ga_cuda_graphs *open_graphs(void)
{
    const char *text = getenv("GA_CUDA_GRAPHS");
    struct ga_cuda_graphs *graphs = calloc(1, sizeof *graphs);
    if (graphs)
        graphs->off = text && strcmp(text, "0") == 0;
    return graphs;
}

static void drop(struct entry *entry, size_t place)
{
    if (entry->graph && !ga_cuda_is_lost(place) &&
        ga_cuda_check((int)cudaGraphExecDestroy(entry->graph), place, "giving a graph back") < 0)
        ga_cuda_note();
    memset(entry, 0, sizeof *entry);
}

void ga_cuda_graphs_close(struct ga_cuda_graphs *graphs, size_t place)
{
    for (size_t i = 0; graphs && i < GA_CUDA_GRAPHS; i++)
        drop(&graphs->entry[i], place);
    free(graphs);
}

/* The key's place, else the oldest one, which becomes the key's; *seen says which. */
static struct entry *find(struct ga_cuda_graphs *graphs, const struct ga_cuda_graph_key *key,
                          size_t place, bool *seen)
{
    struct entry *oldest = &graphs->entry[0];
    *seen = false;
    for (size_t i = 0; i < GA_CUDA_GRAPHS && !*seen; i++) {
        struct entry *entry = &graphs->entry[i];
        *seen = entry->used > 0 && memcmp(&entry->key, key, sizeof *key) == 0;
        if (*seen || entry->used < oldest->used)
            oldest = entry;
    }
    if (!*seen)
        drop(oldest, place);
    oldest->key = *key;
    oldest->used = ++graphs->moment;
    return oldest;
}

/* GA_OK with a graph; else why there is none, and the stream is as before. */
static int capture(cudaGraphExec_t *out, struct CUstream_st *stream, size_t place,
                   ga_cuda_work *work, void *self)
{
    cudaGraph_t graph = NULL;
    int code = ga_cuda_check((int)cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                             place, "capturing");
    if (code < 0)
        return code;
    code = work(self);
    const int ended = ga_cuda_check((int)cudaStreamEndCapture(stream, &graph), place, "capturing");
    if (code == GA_OK)
        code = ended;
    if (code == GA_OK)
        code = ga_cuda_check((int)cudaGraphInstantiateWithFlags(out, graph, 0), place,
                             "making a graph");
    if (graph)
        (void)ga_cuda_check((int)cudaGraphDestroy(graph), place, "giving a graph back");
    return code;
}

int ga_cuda_graphs_run(struct ga_cuda_graphs **graphs, const struct ga_cuda_graph_key *key,
                       struct CUstream_st *stream, size_t place, ga_cuda_work *work, void *self)
{
    struct entry *entry = NULL;
    bool seen = false;
    if (!*graphs)
        *graphs = open_graphs();
    if (!*graphs || (*graphs)->off)
        return work(self);
    entry = find(*graphs, key, place, &seen);
    if (!seen)
        return work(self);
    if (!entry->graph && capture(&entry->graph, stream, place, work, self) < 0) {
        entry->graph = NULL;
        (*graphs)->off = true;
        return work(self);
    }
    return ga_cuda_check((int)cudaGraphLaunch(entry->graph, stream), place, "a micro-batch");
}
