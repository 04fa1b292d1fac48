/* Reference-counted blocks of a run's state, and the state value itself. */
#include "train/state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/memory.h"

/* Weights and state share the block of the struct, weights on a cache line of their own. */
#define LINE_BYTES  64
#define LINE_FLOATS (LINE_BYTES / sizeof(float))

static size_t padded_floats(size_t parameters)
{
    return (parameters + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS;
}

static size_t block_bytes(size_t parameters, size_t state_blocks)
{
    return sizeof(struct ga_version) + LINE_BYTES - 1 +
           padded_floats(parameters) * (1 + state_blocks) * sizeof(float);
}

static float *first_line(struct ga_version *version)
{
    char *end = (char *)(version + 1);

    return (void *)(end + -(uintptr_t)end % LINE_BYTES);
}

/* Blocks that new pages cost more than a call to the system: every update makes one until the
 * history is full. */
#define LARGE_BYTES ((size_t)1 << 20)
#define PAGE_BYTES  ((size_t)4096)

/* Asks for large pages within the block; where there are none it stays as it is. */
static void prefer_large_pages(struct ga_version *version, size_t bytes)
{
    size_t skip = (PAGE_BYTES - (uintptr_t)version % PAGE_BYTES) % PAGE_BYTES;

    if (bytes >= LARGE_BYTES)
        (void)madvise((char *)version + skip, (bytes - skip) / PAGE_BYTES * PAGE_BYTES,
                      MADV_HUGEPAGE);
}

int ga_version_open(struct ga_version **out, size_t parameters, size_t state_blocks)
{
    if (ga_version_room(out, parameters, state_blocks) < 0)
        return ga_error_code();
    memset((*out)->weights, 0, padded_floats(parameters) * (1 + state_blocks) * sizeof(float));
    return GA_OK;
}

int ga_version_room(struct ga_version **out, size_t parameters, size_t state_blocks)
{
    size_t floats = padded_floats(parameters);
    struct ga_version *version = NULL;

    *out = NULL;
    if (parameters > SIZE_MAX / 16 || state_blocks >= SIZE_MAX / 16 / (floats + 1))
        return ga_fail(GA_ENOMEM, "%zu parameters do not fit into memory", parameters);
    version = malloc(block_bytes(parameters, state_blocks));
    if (!version)
        return ga_fail(GA_ENOMEM, "no memory for the weights of %zu parameters", parameters);
    prefer_large_pages(version, block_bytes(parameters, state_blocks));
    atomic_init(&version->references, 1);
    atomic_init(&version->memory, NULL);
    version->number = 0;
    version->parameters = parameters;
    version->state_blocks = state_blocks;
    version->weights = first_line(version);
    version->state = state_blocks > 0 ? version->weights + floats : NULL;
    version->norm = -1;
    ga_optimizer_scalars_init(&version->scalars);
    *out = version;
    return GA_OK;
}

struct ga_version *ga_version_share(struct ga_version *version)
{
    if (!version)
        return NULL;
    /* Nobody else can share or close what only the caller's reference leads to. */
    if (atomic_load_explicit(&version->references, memory_order_relaxed) == 1)
        atomic_store_explicit(&version->references, 2, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&version->references, 1, memory_order_relaxed);
    return version;
}

int ga_version_hold(struct ga_version *version, const struct ga_compute *compute)
{
    const size_t bytes = version->parameters * sizeof(float);

    if (!compute->memory || atomic_load(&version->memory))
        return GA_OK;
    if (compute->memory->hold(version->weights, bytes) < 0)
        return ga_error_code();
    if (version->state &&
        compute->memory->hold(version->state, version->state_blocks * bytes) < 0) {
        compute->memory->release(version->weights);
        return ga_error_code();
    }
    atomic_store(&version->memory, compute->memory);
    return GA_OK;
}

static const float *fetch(const struct ga_version *version, const float *block)
{
    const struct ga_device_memory *memory = version ? atomic_load(&version->memory) : NULL;

    if (memory && block)
        (void)memory->fetch(block); /* a failure shows in its poll() */
    return block;
}

const float *ga_version_weights(const struct ga_version *version)
{
    return version ? fetch(version, version->weights) : NULL;
}

const float *ga_version_state(const struct ga_version *version)
{
    return version ? fetch(version, version->state) : NULL;
}

void ga_version_fetch(const struct ga_version *version)
{
    (void)ga_version_weights(version);
    (void)ga_version_state(version);
}

bool ga_version_intact(const struct ga_version *version)
{
    const struct ga_device_memory *memory = atomic_load(&version->memory);

    return !memory || (memory->fetch(version->weights) == GA_OK &&
                       (!version->state || memory->fetch(version->state) == GA_OK));
}

static void version_free(struct ga_version *version)
{
    const struct ga_device_memory *memory = atomic_load(&version->memory);

    if (memory) {
        memory->release(version->weights);
        if (version->state)
            memory->release(version->state);
    }
    free(version);
}

void ga_version_close(struct ga_version *version)
{
    if (!version)
        return;
    /* Nobody else can share what only this reference leads to: no need for the dearer way. */
    if (atomic_load_explicit(&version->references, memory_order_acquire) == 1 ||
        atomic_fetch_sub_explicit(&version->references, 1, memory_order_acq_rel) == 1)
        version_free(version);
}

size_t ga_version_bytes(const struct ga_version *version)
{
    return version ? block_bytes(version->parameters, version->state_blocks) : 0;
}

int ga_settings_share_open(struct ga_settings_share **out, const struct ga_settings *value,
                           uint64_t epoch)
{
    struct ga_settings_share *share = ga_alloc(1, sizeof *share);

    *out = share;
    if (!share)
        return ga_error_code();
    atomic_init(&share->references, 1);
    share->epoch = epoch;
    share->value = *value;
    return GA_OK;
}

struct ga_settings_share *ga_settings_share_take(struct ga_settings_share *share)
{
    if (share)
        atomic_fetch_add_explicit(&share->references, 1, memory_order_relaxed);
    return share;
}

void ga_settings_share_close(struct ga_settings_share *share)
{
    if (share && atomic_fetch_sub_explicit(&share->references, 1, memory_order_acq_rel) == 1)
        free(share);
}

static const char *const phase_names[GA_PHASES] = {
    [GA_PHASE_IDLE] = "idle",   [GA_PHASE_MICRO] = "micro", [GA_PHASE_REDUCE] = "reduce",
    [GA_PHASE_CHECK] = "check", [GA_PHASE_CLIP] = "clip",   [GA_PHASE_APPLY] = "apply",
    [GA_PHASE_CLEAR] = "clear",
};

const char *ga_phase_name(enum ga_phase phase)
{
    return (unsigned)phase < GA_PHASES ? phase_names[phase] : "?";
}

void ga_state_init(struct ga_state *state)
{
    memset(state, 0, sizeof *state);
}

int ga_mode_state_open(struct ga_mode_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : ga_error_code();
}

void ga_mode_state_close(struct ga_mode_state *modes)
{
    if (!modes)
        return;
    for (size_t i = 0; modes->version && i < modes->versions; i++)
        ga_version_close(modes->version[i]);
    for (size_t i = 0; modes->item && i < modes->items; i++) {
        free(modes->item[i].change);
        free(modes->item[i].writes);
    }
    free(modes->version);
    free(modes->step_count);
    free(modes->piece);
    free(modes->piece_row);
    free(modes->average);
    free(modes->shared);
    free(modes->shared_writes);
    free(modes->item_of);
    free(modes->item);
    free(modes);
}

void ga_state_fini(struct ga_state *state)
{
    for (size_t i = 0; state->replica && i < state->replicas; i++) {
        ga_version_close(state->replica[i].read);
        ga_version_close(state->replica[i].own);
    }
    ga_mode_state_close(state->modes);
    ga_version_close(state->server);
    ga_settings_share_close(state->settings);
    ga_settings_share_close(state->pending);
    ga_dataset_close(state->data);
    free(state->replica);
    free(state->stream.replica_epoch);
    free(state->stream.replica_offset);
    free(state->row);
    free(state->sums_of);
    free(state->sum);
    free(state->reduced);
    free(state->gradient);
    free(state->race);
    ga_state_init(state);
}

static size_t mode_bytes(const struct ga_mode_state *modes, size_t parameters)
{
    size_t bytes = sizeof *modes + modes->step_counts * sizeof *modes->step_count;

    bytes += modes->pieces * sizeof *modes->piece + modes->piece_rows * sizeof *modes->piece_row;
    bytes += modes->versions * sizeof *modes->version;
    if (modes->average)
        bytes += parameters * sizeof *modes->average;
    if (modes->shared)
        bytes += parameters * (sizeof *modes->shared + sizeof *modes->shared_writes);
    return bytes + modes->items * (sizeof *modes->item + sizeof *modes->item_of +
                                   parameters * (sizeof(float) + sizeof(uint32_t)));
}

void ga_state_versions(const struct ga_state *state,
                       void (*each)(void *self, const struct ga_version *version), void *self)
{
    each(self, state->server);
    for (size_t r = 0; r < state->replicas; r++) {
        if (state->replica[r].read)
            each(self, state->replica[r].read);
        if (state->replica[r].own)
            each(self, state->replica[r].own);
    }
    for (size_t k = 0; state->modes && k < state->modes->versions; k++)
        each(self, state->modes->version[k]);
}

size_t ga_state_bytes(const struct ga_state *state)
{
    size_t sum_bytes = state->sums_elements * ga_type_bytes(state->sums_type);
    size_t bytes = sizeof *state + state->replicas * sizeof *state->replica;

    if (state->modes)
        bytes += mode_bytes(state->modes, state->server->parameters);
    if (state->stream.replica_epoch)
        bytes += 2 * state->replicas * sizeof(uint64_t);
    bytes += state->rows * sizeof *state->row;
    bytes += state->sums * (sizeof *state->sums_of + sum_bytes);
    if (state->reduced)
        bytes += sum_bytes;
    if (state->gradient)
        bytes += state->server->parameters * sizeof(float);
    return bytes + state->races * sizeof *state->race;
}
