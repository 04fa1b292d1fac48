#include "compute/cuda/gemm.h"

#include <cublasLt.h>
#include <stdlib.h>
#include <string.h>

#include "compute/cuda/device.h"

#define PLANS 128 /* shapes kept; more push out the oldest */

/* What a plan depends on; members of one type, so that all of it can be compared at once. */
struct shape {
    size_t m, n, k;
    size_t align_a, align_b, align_out;
    size_t transpose_a, transpose_b, epilogue, vector, add;
};

struct plan {
    bool made;
    bool unknown; /* cuBLASLt has no way for it */
    struct shape shape;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, out;
    cublasLtMatmulAlgo_t how;
};

struct ga_cuda_gemm {
    size_t place;
    cublasLtHandle_t handle;
    void *room;
    size_t next; /* plan to give up for a new one */
    struct plan plan[PLANS];
};

static int check(const struct ga_cuda_gemm *gemm, cublasStatus_t status, const char *what)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return GA_OK;
    return ga_cuda_host()->fail(status == CUBLAS_STATUS_ALLOC_FAILED ? GA_ENOMEM : GA_EIO,
                                "cuda:%zu: cuBLASLt: %s: %s (code %d)", gemm->place, what,
                                cublasLtGetStatusString(status), (int)status);
}

int ga_cuda_gemm_open(struct ga_cuda_gemm **out, size_t place)
{
    struct ga_cuda_gemm *gemm = calloc(1, sizeof *gemm);
    *out = NULL;
    if (!gemm)
        return ga_cuda_host()->fail(GA_ENOMEM, "no memory for products on cuda:%zu", place);
    gemm->place = place;
    gemm->room = ga_cuda_take(GA_CUDA_GEMM_BYTES, place, GA_USE_PRODUCTS);
    if (!gemm->room || check(gemm, cublasLtCreate(&gemm->handle), "opening") < 0) {
        const int code = ga_cuda_host()->error_code();
        ga_cuda_gemm_close(gemm);
        return code;
    }
    *out = gemm;
    return GA_OK;
}

static void plan_fini(struct plan *plan)
{
    if (plan->product)
        (void)cublasLtMatmulDescDestroy(plan->product);
    if (plan->a)
        (void)cublasLtMatrixLayoutDestroy(plan->a);
    if (plan->b)
        (void)cublasLtMatrixLayoutDestroy(plan->b);
    if (plan->out)
        (void)cublasLtMatrixLayoutDestroy(plan->out);
    memset(plan, 0, sizeof *plan);
}

void ga_cuda_gemm_close(struct ga_cuda_gemm *gemm)
{
    if (!gemm)
        return;
    for (size_t i = 0; i < PLANS; i++)
        plan_fini(&gemm->plan[i]);
    if (gemm->handle && check(gemm, cublasLtDestroy(gemm->handle), "closing") < 0)
        ga_cuda_note();
    ga_cuda_free(gemm->room);
    free(gemm);
}

/* The largest power of two up to 256 that an address is a multiple of. */
static size_t alignment(const void *at)
{
    size_t most = 256;
    while (most > 4 && (uintptr_t)at % most != 0)
        most /= 2;
    return most;
}

static struct shape shape_of(const struct ga_cuda_product *p)
{
    return (struct shape){
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .align_a = alignment(p->a),
        .align_b = alignment(p->b),
        .align_out = alignment(p->out),
        .transpose_a = p->transpose_a,
        .transpose_b = p->transpose_b,
        .epilogue = (size_t)p->epilogue,
        .vector = p->bias || p->row_sums,
        .add = p->add,
    };
}

static int set(const struct ga_cuda_gemm *gemm, struct plan *plan,
               cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes)
{
    return check(gemm, cublasLtMatmulDescSetAttribute(plan->product, attribute, value, bytes),
                 "describing a product");
}

static cublasLtEpilogue_t epilogue_of(const struct ga_cuda_product *p)
{
    if (p->epilogue == GA_CUDA_RELU)
        return p->bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX;
    if (p->epilogue == GA_CUDA_UNRELU)
        return p->row_sums ? CUBLASLT_EPILOGUE_DRELU_BGRAD : CUBLASLT_EPILOGUE_DRELU;
    return p->epilogue == GA_CUDA_BIAS ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

/* The pointers of an epilogue are part of the description, and change from call to call. */
static int point(const struct ga_cuda_gemm *gemm, struct plan *plan,
                 const struct ga_cuda_product *p)
{
    const void *vector = p->row_sums ? p->row_sums : p->bias;
    int code = GA_OK;
    if (vector)
        code = set(gemm, plan, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector, sizeof vector);
    if (code == GA_OK && p->mask)
        code = set(gemm, plan, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &p->mask, sizeof p->mask);
    return code;
}

static int describe(const struct ga_cuda_gemm *gemm, struct plan *plan,
                    const struct ga_cuda_product *p)
{
    const cublasOperation_t a = p->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t b = p->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasLtEpilogue_t epilogue = epilogue_of(p);
    const int64_t bits = (int64_t)ga_cuda_mask_bits(p->m);
    int code = check(gemm, cublasLtMatmulDescCreate(&plan->product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                     "describing a product");
    if (code == GA_OK)
        code = set(gemm, plan, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a);
    if (code == GA_OK)
        code = set(gemm, plan, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b);
    if (code == GA_OK)
        code = set(gemm, plan, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    if (code == GA_OK && p->mask)
        code = set(gemm, plan, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &bits, sizeof bits);
    return code == GA_OK ? point(gemm, plan, p) : code;
}

static int lay_out(const struct ga_cuda_gemm *gemm, cublasLtMatrixLayout_t *out, size_t rows,
                   size_t columns)
{
    return check(gemm, cublasLtMatrixLayoutCreate(out, CUDA_R_32F, rows, columns, (int64_t)rows),
                 "describing a matrix");
}

static int lay_out_all(const struct ga_cuda_gemm *gemm, struct plan *plan,
                       const struct ga_cuda_product *p)
{
    int code = lay_out(gemm, &plan->a, p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k);
    if (code == GA_OK)
        code = lay_out(gemm, &plan->b, p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n);
    return code == GA_OK ? lay_out(gemm, &plan->out, p->m, p->n) : code;
}

/* What may be used: the room, and only what can live with these addresses. */
static int prefer(const struct ga_cuda_gemm *gemm, cublasLtMatmulPreference_t preference,
                  const struct shape *shape)
{
    const size_t room = GA_CUDA_GEMM_BYTES;
    const uint32_t a = (uint32_t)shape->align_a;
    const uint32_t b = (uint32_t)shape->align_b;
    const uint32_t out = (uint32_t)shape->align_out;
    const struct {
        cublasLtMatmulPreferenceAttributes_t attribute;
        const void *value;
        size_t bytes;
    } wishes[] = {
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &a, sizeof a},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &b, sizeof b},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &out, sizeof out},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &out, sizeof out},
    };
    int code = GA_OK;
    for (size_t i = 0; code == GA_OK && i < sizeof wishes / sizeof wishes[0]; i++)
        code = check(gemm,
                     cublasLtMatmulPreferenceSetAttribute(preference, wishes[i].attribute,
                                                          wishes[i].value, wishes[i].bytes),
                     "choosing how to do a product");
    return code;
}

static int choose(const struct ga_cuda_gemm *gemm, struct plan *plan)
{
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t found;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    int count = 0;
    int code =
        check(gemm, cublasLtMatmulPreferenceCreate(&preference), "choosing how to do a product");
    if (code == GA_OK)
        code = prefer(gemm, preference, &plan->shape);
    if (code == GA_OK)
        status =
            cublasLtMatmulAlgoGetHeuristic(gemm->handle, plan->product, plan->a, plan->b, plan->out,
                                           plan->out, preference, 1, &found, &count);
    if (code == GA_OK && status != CUBLAS_STATUS_NOT_SUPPORTED)
        code = check(gemm, status, "choosing how to do a product");
    if (preference)
        (void)cublasLtMatmulPreferenceDestroy(preference);
    plan->unknown =
        status == CUBLAS_STATUS_NOT_SUPPORTED || count < 1 || found.state != CUBLAS_STATUS_SUCCESS;
    if (code == GA_OK && !plan->unknown)
        plan->how = found.algo;
    return code;
}

static int make_plan(struct ga_cuda_gemm *gemm, const struct ga_cuda_product *p, struct plan **out)
{
    struct plan *plan = &gemm->plan[gemm->next];
    int code = GA_OK;
    plan_fini(plan);
    plan->shape = shape_of(p);
    code = describe(gemm, plan, p);
    if (code == GA_OK)
        code = lay_out_all(gemm, plan, p);
    if (code == GA_OK)
        code = choose(gemm, plan);
    if (code < 0) {
        plan_fini(plan);
        return code;
    }
    plan->made = true;
    gemm->next = (gemm->next + 1) % PLANS;
    *out = plan;
    return GA_OK;
}

static int find_plan(struct ga_cuda_gemm *gemm, const struct ga_cuda_product *p, struct plan **out)
{
    const struct shape shape = shape_of(p);
    for (size_t i = 0; i < PLANS; i++) {
        *out = &gemm->plan[i];
        if ((*out)->made && memcmp(&(*out)->shape, &shape, sizeof shape) == 0)
            return GA_OK;
    }
    return make_plan(gemm, p, out);
}

bool ga_cuda_gemm_knows(struct ga_cuda_gemm *gemm, const struct ga_cuda_product *product)
{
    struct plan *plan = NULL;
    return find_plan(gemm, product, &plan) == GA_OK && !plan->unknown;
}

int ga_cuda_gemm_run(struct ga_cuda_gemm *gemm, const struct ga_cuda_product *product,
                     struct CUstream_st *stream)
{
    const float one = 1.0f;
    const float beta = product->add ? 1.0f : 0.0f;
    struct plan *plan = NULL;
    int code = find_plan(gemm, product, &plan);
    if (code == GA_OK && plan->unknown)
        code = ga_cuda_host()->fail(GA_EUNSUPPORTED,
                                    "cuda:%zu: cuBLASLt knows no way for a product of %zu x %zu x "
                                    "%zu",
                                    gemm->place, plan->shape.m, plan->shape.k, plan->shape.n);
    if (code == GA_OK)
        code = point(gemm, plan, product);
    if (code < 0)
        return code;
    return check(gemm,
                 cublasLtMatmul(gemm->handle, plan->product, &one, product->a, plan->a, product->b,
                                plan->b, &beta, product->out, plan->out, product->out, plan->out,
                                &plan->how, gemm->room, GA_CUDA_GEMM_BYTES, stream),
                 "a product");
}
