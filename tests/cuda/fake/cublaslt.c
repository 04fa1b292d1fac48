/*
 * Products of matrices on the fake: float32, column by column, as cuBLASLt has them, with the
 * epilogues for a bias and for relu, forward and backward. What is asked for is checked as far as a
 * card would suffer from it: shapes, buffers, the stream's device, and addresses less aligned than
 * was promised when a way was chosen.
 */
#include <cublasLt.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

struct matrix {
    uint64_t rows, columns;
    int64_t stride;
};

struct product {
    cublasOperation_t a, b;
    cublasLtEpilogue_t epilogue;
    void *vector; /* bias, or what receives its gradient */
    void *mask;
    int64_t mask_bits; /* of a column */
};

struct preference {
    uint32_t a, b, c, d;
    size_t workspace;
};

/* What the real library keeps in its opaque algorithm: here, what was promised. */
struct way {
    uint64_t known;
    struct preference promised;
};

_Static_assert(sizeof(struct way) <= sizeof(cublasLtMatmulAlgo_t), "a way fits into an algorithm");

#define KNOWN UINT64_C(0x6761666b)

cublasStatus_t cublasLtCreate(cublasLtHandle_t *out)
{
    *out = calloc(1, 1);
    return *out ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    const char *text = "";
    if (status == CUBLAS_STATUS_EXECUTION_FAILED) {
        (void)fake_text(&text);
        return text;
    }
    return status == CUBLAS_STATUS_INVALID_VALUE ? "invalid value" : "cuBLAS says no";
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t stride)
{
    struct matrix *matrix = calloc(1, sizeof *matrix);
    if (!matrix)
        return CUBLAS_STATUS_ALLOC_FAILED;
    *matrix = (struct matrix){rows, columns, stride};
    *out = (cublasLtMatrixLayout_t)(void *)matrix;
    return type == CUDA_R_32F && rows > 0 && columns > 0 && stride >= (int64_t)rows
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    free(layout);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *out, cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    struct product *product = calloc(1, sizeof *product);
    if (!product)
        return CUBLAS_STATUS_ALLOC_FAILED;
    product->a = product->b = CUBLAS_OP_N;
    product->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    *out = (cublasLtMatmulDesc_t)(void *)product;
    return compute == CUBLAS_COMPUTE_32F && scale == CUDA_R_32F ? CUBLAS_STATUS_SUCCESS
                                                                : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product)
{
    free(product);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes)
{
    struct product *product = (struct product *)(void *)description;
    const struct {
        cublasLtMatmulDescAttributes_t attribute;
        void *to;
        size_t bytes;
    } fields[] = {
        {CUBLASLT_MATMUL_DESC_TRANSA, &product->a, sizeof product->a},
        {CUBLASLT_MATMUL_DESC_TRANSB, &product->b, sizeof product->b},
        {CUBLASLT_MATMUL_DESC_EPILOGUE, &product->epilogue, sizeof product->epilogue},
        {CUBLASLT_MATMUL_DESC_BIAS_POINTER, &product->vector, sizeof product->vector},
        {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &product->mask, sizeof product->mask},
        {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &product->mask_bits, sizeof product->mask_bits},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].attribute != attribute || fields[i].bytes != bytes)
            continue;
        memcpy(fields[i].to, value, bytes);
        return CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *out)
{
    struct preference *preference = calloc(1, sizeof *preference);
    if (!preference)
        return CUBLAS_STATUS_ALLOC_FAILED;
    *preference = (struct preference){256, 256, 256, 256, 0};
    *out = (cublasLtMatmulPreference_t)(void *)preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    free(preference);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t wishes,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t bytes)
{
    struct preference *preference = (struct preference *)(void *)wishes;
    const struct {
        cublasLtMatmulPreferenceAttributes_t attribute;
        void *to;
        size_t bytes;
    } fields[] = {
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &preference->workspace, sizeof(size_t)},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &preference->a, sizeof(uint32_t)},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &preference->b, sizeof(uint32_t)},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &preference->c, sizeof(uint32_t)},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &preference->d, sizeof(uint32_t)},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].attribute != attribute || fields[i].bytes != bytes)
            continue;
        memcpy(fields[i].to, value, bytes);
        return CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

static bool has_vector(cublasLtEpilogue_t epilogue)
{
    return epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS ||
           epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD;
}

static bool makes_mask(cublasLtEpilogue_t epilogue)
{
    return epilogue == CUBLASLT_EPILOGUE_RELU_AUX || epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS;
}

static bool takes_mask(cublasLtEpilogue_t epilogue)
{
    return epilogue == CUBLASLT_EPILOGUE_DRELU || epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD;
}

/* What an epilogue needs: others than these are not known here, as a real card knows not all. */
static cublasStatus_t check_epilogue(const struct product *p, const struct matrix *d)
{
    const bool mask = makes_mask(p->epilogue) || takes_mask(p->epilogue);
    if (!mask && !has_vector(p->epilogue) && p->epilogue != CUBLASLT_EPILOGUE_DEFAULT)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (has_vector(p->epilogue) && (!p->vector || (uintptr_t)p->vector % 4 != 0))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (mask && (!p->mask || (uintptr_t)p->mask % 16 != 0 || p->mask_bits % 128 != 0 ||
                 p->mask_bits < (int64_t)d->rows))
        return CUBLAS_STATUS_INVALID_VALUE;
    return mask && fake_unfused() ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

/* The inner length, or 0 where the shapes do not fit. */
static uint64_t inner(const struct product *product, const struct matrix *a, const struct matrix *b,
                      const struct matrix *d)
{
    const bool ta = product->a == CUBLAS_OP_T;
    const bool tb = product->b == CUBLAS_OP_T;
    const uint64_t k = ta ? a->rows : a->columns;
    const bool fits = (ta ? a->columns : a->rows) == d->rows &&
                      (tb ? b->rows : b->columns) == d->columns && (tb ? b->columns : b->rows) == k;
    return fits ? k : 0;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t out[], int *found)
{
    struct way way = {.known = KNOWN};
    const cublasStatus_t status = check_epilogue((const void *)product, (const void *)d);
    (void)handle, (void)c;
    *found = 0;
    if (wanted < 1 ||
        inner((const void *)product, (const void *)a, (const void *)b, (const void *)d) == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    memcpy(&way.promised, preference, sizeof way.promised);
    memset(&out[0], 0, sizeof out[0]);
    memcpy(&out[0].algo, &way, sizeof way);
    out[0].state = CUBLAS_STATUS_SUCCESS;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

/* One operand: checked, and where it really is. */
static float *operand(struct fake *fake, cudaStream_t stream, const void *at, uint64_t count,
                      uint32_t alignment, bool write)
{
    const size_t bytes = count * sizeof(float);
    size_t offset = 0;
    struct fake_block *block = fake_find(fake, at, bytes, &offset);
    if (!block || block->device != stream->device) {
        fake_fault(fake, "cuBLASLt: a matrix of %zu bytes is not on the stream's device", bytes);
        return NULL;
    }
    if ((uintptr_t)at % alignment != 0) {
        fake_fault(fake, "cuBLASLt: a matrix is less aligned than was promised: %u", alignment);
        return NULL;
    }
    if (fake_touch(fake, stream, block, offset, bytes, write, "cuBLASLt") != cudaSuccess)
        return NULL;
    return (float *)(void *)(block->real + offset);
}

/* All that a call was given: it may be noted, and done later. */
struct call {
    struct product product;
    struct matrix la, lb, ld;
    const void *a, *b;
    void *d, *room;
    size_t room_bytes;
    float alpha, beta;
    bool in_place;
    struct way way;
};

struct work {
    const struct product *product;
    const float *a, *b;
    float *vector; /* bias, or its gradient */
    unsigned char *mask;
    float *d;
    const struct matrix *la, *lb, *ld;
    bool ta, tb;
    float beta;
    uint64_t k;
};

static float dot(const struct work *w, uint64_t i, uint64_t j)
{
    float sum = 0.0f;
    for (uint64_t l = 0; l < w->k; l++) {
        const uint64_t at_a =
            w->ta ? i * (uint64_t)w->la->stride + l : l * (uint64_t)w->la->stride + i;
        const uint64_t at_b =
            w->tb ? l * (uint64_t)w->lb->stride + j : j * (uint64_t)w->lb->stride + l;
        sum += w->a[at_a] * w->b[at_b];
    }
    return sum;
}

/* Relu is max(x, 0), which drops NaN; the documentation does not say that it would not. */
static float finish(const struct work *w, uint64_t i, uint64_t j, float x)
{
    const cublasLtEpilogue_t epilogue = w->product->epilogue;
    const uint64_t bit = j * (uint64_t)w->product->mask_bits + i;
    const unsigned char one = (unsigned char)(1u << bit % 8);
    if (has_vector(epilogue) && !takes_mask(epilogue))
        x += w->vector[i];
    if (makes_mask(epilogue)) {
        const bool positive = x > 0.0f;
        w->mask[bit / 8] = (unsigned char)(positive ? w->mask[bit / 8] | one
                                                    : w->mask[bit / 8] & (unsigned char)~one);
        return positive ? x : 0.0f;
    }
    if (takes_mask(epilogue) && !(w->mask[bit / 8] & one))
        x = 0.0f;
    if (takes_mask(epilogue) && has_vector(epilogue))
        w->vector[i] = (j == 0 ? 0.0f : w->vector[i]) + x;
    return x;
}

static void multiply(const struct work *w)
{
    for (uint64_t j = 0; j < w->ld->columns; j++)
        for (uint64_t i = 0; i < w->ld->rows; i++) {
            float *out = w->d + j * (uint64_t)w->ld->stride + i;
            const float old = w->beta != 0.0f ? w->beta * *out : 0.0f;
            *out = finish(w, i, j, dot(w, i, j) + old);
        }
}

static uint64_t extent(const struct matrix *matrix)
{
    return (matrix->columns - 1) * (uint64_t)matrix->stride + matrix->rows;
}

static bool open_operands(struct fake *fake, struct work *w, const void *a, const void *b, void *d,
                          const struct way *way, cudaStream_t stream)
{
    const struct product *p = w->product;
    const bool vector = has_vector(p->epilogue);
    const bool mask = makes_mask(p->epilogue) || takes_mask(p->epilogue);
    const uint64_t words = ((w->ld->columns - 1) * (uint64_t)p->mask_bits + w->ld->rows + 31) / 32;
    w->a = operand(fake, stream, a, extent(w->la), way->promised.a, false);
    w->b = operand(fake, stream, b, extent(w->lb), way->promised.b, false);
    w->d = operand(fake, stream, d, extent(w->ld), way->promised.d, true);
    if (vector)
        w->vector = operand(fake, stream, p->vector, w->ld->rows, 4, takes_mask(p->epilogue));
    if (mask)
        w->mask = (void *)operand(fake, stream, p->mask, words, 16, makes_mask(p->epilogue));
    return w->a && w->b && w->d && (w->vector || !vector) && (w->mask || !mask);
}

static cublasStatus_t check_room(struct fake *fake, void *workspace, size_t bytes,
                                 const struct way *way, cudaStream_t stream)
{
    size_t offset = 0;
    const struct fake_block *block = fake_find(fake, workspace, bytes, &offset);
    if (way->known != KNOWN || bytes < way->promised.workspace)
        fake_fault(fake, "cuBLASLt: no way was chosen, or its room is too small");
    else if (!block || block->device != stream->device)
        fake_fault(fake, "cuBLASLt: the room is not on the stream's device");
    else
        return CUBLAS_STATUS_SUCCESS;
    return CUBLAS_STATUS_EXECUTION_FAILED;
}

static cublasStatus_t do_call(struct fake *fake, const struct call *call, cudaStream_t stream)
{
    const struct product *product = &call->product;
    cublasStatus_t status = CUBLAS_STATUS_EXECUTION_FAILED;
    struct work w = {.product = product,
                     .la = &call->la,
                     .lb = &call->lb,
                     .ld = &call->ld,
                     .ta = product->a == CUBLAS_OP_T,
                     .tb = product->b == CUBLAS_OP_T,
                     .beta = call->beta};
    w.k = inner(product, w.la, w.lb, w.ld);
    if (w.k == 0 || !call->in_place || call->alpha != 1.0f ||
        check_epilogue(product, w.ld) != CUBLAS_STATUS_SUCCESS)
        fake_fault(fake, "cuBLASLt: a product that does not fit its matrices");
    else if (fake_begin(fake, stream) == cudaSuccess)
        status = check_room(fake, call->room, call->room_bytes, &call->way, stream);
    if (status == CUBLAS_STATUS_SUCCESS) {
        if (open_operands(fake, &w, call->a, call->b, call->d, &call->way, stream))
            multiply(&w);
        else
            status = CUBLAS_STATUS_EXECUTION_FAILED;
    }
    return status;
}

static cudaError_t call_again(struct fake *fake, const void *data, cudaStream_t stream)
{
    return do_call(fake, data, stream) == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorAssert;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void *alpha, const void *a, cublasLtMatrixLayout_t layout_a,
                              const void *b, cublasLtMatrixLayout_t layout_b, const void *beta,
                              const void *c, cublasLtMatrixLayout_t layout_c, void *d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t *algo,
                              void *workspace, size_t bytes, cudaStream_t stream)
{
    struct fake *fake = fake_enter();
    struct call call = {.product = *(const struct product *)(const void *)description,
                        .la = *(const struct matrix *)(const void *)layout_a,
                        .lb = *(const struct matrix *)(const void *)layout_b,
                        .ld = *(const struct matrix *)(const void *)layout_d,
                        .a = a,
                        .b = b,
                        .d = d,
                        .room = workspace,
                        .room_bytes = bytes,
                        .alpha = *(const float *)alpha,
                        .beta = *(const float *)beta,
                        .in_place = c == d};
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    cudaError_t code = cudaSuccess;
    (void)handle, (void)layout_c;
    memcpy(&call.way, algo, sizeof call.way);
    if (fake_note(stream, call_again, &call, sizeof call, &code))
        status = code == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
    else
        status = do_call(fake, &call, stream);
    fake_leave(fake, cudaSuccess);
    return status;
}
