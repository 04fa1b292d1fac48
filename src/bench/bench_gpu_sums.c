#include "bench/bench_gpu.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench/contest.h"
#include "collective/collective.h"
#include "compute/compute.h"

#define ELEMENTS 670000
#define FEW      6700 /* for tests */
#define TURNS    10   /* in a round */
#define MEMBERS  4    /* on one card */
#define RANKS    16   /* at the most */

/* Ranks with a buffer each, and one more for the result. */
struct fleet {
    const struct ga_compute *compute;
    const struct ga_collective *collective;
    struct ga_group *group;
    size_t ranks, count;
    enum ga_type type;
    void *buffer[RANKS], *result;
};

static size_t bytes_of(const struct fleet *f)
{
    return f->count * ga_type_bytes(f->type);
}

/* Small whole numbers: their sum is exact in either type. */
static double value(size_t rank, size_t i)
{
    return (double)((i + rank) % 100);
}

static int fill(struct fleet *f, void *host, size_t rank)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->type == GA_FLOAT64)
            ((double *)host)[i] = value(rank, i);
        else
            ((float *)host)[i] = (float)value(rank, i);
    }
    return ga_buffer_copy_in(f->compute, f->buffer[rank], host, bytes_of(f));
}

static int fleet_open(struct fleet *f, enum ga_type type, size_t ranks, size_t cards)
{
    void *host = ga_alloc(f->count, sizeof(double));
    int code = host ? GA_OK : GA_ENOMEM;

    f->compute = ga_compute_find("cuda", type == GA_FLOAT64 ? "exact" : "fast");
    f->collective = f->compute ? ga_collective_for(f->compute, ranks) : NULL;
    f->ranks = ranks;
    f->type = type;
    if (code == GA_OK && (!f->collective || f->collective->open(&f->group, ranks) < 0))
        code = ga_error_code();
    for (size_t rank = 0; code == GA_OK && rank < ranks; rank++) {
        f->buffer[rank] = ga_buffer_alloc(f->compute, bytes_of(f), rank % cards);
        code = f->buffer[rank] ? fill(f, host, rank) : (int)ga_error_code();
    }
    if (code == GA_OK && !(f->result = ga_buffer_alloc(f->compute, bytes_of(f), 0)))
        code = ga_error_code();
    free(host);
    return code;
}

static void fleet_close(struct fleet *f)
{
    for (size_t rank = 0; rank < f->ranks; rank++)
        if (f->buffer[rank])
            f->compute->free(f->buffer[rank]);
    if (f->result)
        f->compute->free(f->result);
    if (f->group)
        f->collective->close(f->group);
}

static int run_sums(void *self)
{
    struct fleet *f = self;

    for (int turn = 0; turn < TURNS; turn++)
        if (f->collective->reduce(f->group, (const void *const *)f->buffer, f->result, f->count,
                                  f->type) < 0)
            return ga_error_code();
    return GA_OK;
}

static int run_copies(void *self)
{
    struct fleet *f = self;

    for (int turn = 0; turn < TURNS; turn++)
        if (ga_buffer_copy(f->compute, f->result, f->buffer[0], bytes_of(f)) < 0)
            return ga_error_code();
    return GA_OK;
}

static int check(struct fleet *f)
{
    void *host = ga_alloc(f->count, sizeof(double));
    int code = host ? run_sums(f) : (int)GA_ENOMEM;

    if (code == GA_OK)
        code = ga_buffer_copy_out(f->compute, host, f->result, bytes_of(f));
    for (size_t i = 0; code == GA_OK && i < f->count; i++) {
        const double got =
            f->type == GA_FLOAT64 ? ((const double *)host)[i] : (double)((const float *)host)[i];
        double want = 0;

        for (size_t rank = 0; rank < f->ranks; rank++)
            want += value(rank, i);
        if (got != want)
            code = ga_fail(GA_EINTERNAL, "bench gpu: sum %zu is %g, expected %g", i, got, want);
    }
    free(host);
    return code;
}

/* Of a card's memory: the first sum is read and written, each further one is read with what there
 * is so far, which is written. */
static double moved(const struct fleet *f)
{
    return (double)TURNS * (double)bytes_of(f) * (2 + 3 * (double)(f->ranks - 1));
}

enum { COPY, FLOATS, DOUBLES, ACROSS, CONTENDERS };

static void line_up(struct ga_contest *contest, struct fleet *fleet, size_t contenders)
{
    static const struct ga_contender rows[CONTENDERS] = {
        [COPY] = {.key = "copy", .text = "copies on the first card", .run = run_copies},
        [FLOATS] = {.key = "floats", .text = "4 replicas on it, floats", .run = run_sums},
        [DOUBLES] = {.key = "doubles", .text = "4 replicas on it, doubles", .run = run_sums},
        [ACROSS] = {.key = "across", .text = "a replica on each card, floats", .run = run_sums},
    };

    contest->contenders = contenders;
    for (size_t i = 0; i < contenders; i++) {
        contest->contender[i] = rows[i];
        contest->contender[i].self = &fleet[i];
        contest->contender[i].work = moved(&fleet[i]);
    }
    contest->contender[COPY].work = (double)TURNS * 2 * (double)bytes_of(&fleet[COPY]);
    contest->ratios = contenders - 1;
    contest->ratio[0] = (struct ga_ratio){
        .key = "floats_copy", .text = "floats, of the copies", .of = FLOATS, .wanted = ">= 0.8"};
    contest->ratio[1] = (struct ga_ratio){
        .key = "doubles_copy", .text = "doubles, of the copies", .of = DOUBLES, .wanted = ">= 0.8"};
    contest->ratio[2] = (struct ga_ratio){
        .key = "across_copy", .text = "between cards, of the copies", .of = ACROSS, .wanted = ""};
}

int ga_bench_gpu_sums(const struct ga_bench_options *options, size_t cards, struct ga_text *out)
{
    const size_t across = cards < RANKS ? cards : RANKS;
    const size_t contenders = cards > 1 ? CONTENDERS : CONTENDERS - 1;
    struct fleet fleet[CONTENDERS] = {0};
    struct ga_contest contest = {.name = "gpu_sums", .unit = "bytes", .rounds = options->rounds};
    int code = GA_OK;

    for (size_t i = 0; i < CONTENDERS; i++)
        fleet[i].count = options->small ? FEW : ELEMENTS;
    code = fleet_open(&fleet[COPY], GA_FLOAT32, 1, 1);
    if (code == GA_OK)
        code = fleet_open(&fleet[FLOATS], GA_FLOAT32, MEMBERS, 1);
    if (code == GA_OK)
        code = fleet_open(&fleet[DOUBLES], GA_FLOAT64, MEMBERS, 1);
    if (code == GA_OK && cards > 1)
        code = fleet_open(&fleet[ACROSS], GA_FLOAT32, across, cards);
    for (size_t i = FLOATS; code == GA_OK && i < contenders; i++)
        code = check(&fleet[i]);
    line_up(&contest, fleet, contenders);
    code = ga_contest_hold(&contest, code, options->json, out);
    for (size_t i = 0; i < CONTENDERS; i++)
        fleet_close(&fleet[i]);
    return code;
}
