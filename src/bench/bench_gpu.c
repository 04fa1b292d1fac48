/*
 * gpu: the demo, a net of real size and the reduction between replicas on the cards of this
 * machine, in both numerics, beside the CPU. Without a card the error is the runtime's own reason.
 * The figures say what the cards are, so that a stand-in for them shows as that.
 */
#include "bench/bench_gpu.h"

#include <math.h>

#include "base/error.h"
#include "base/number.h"
#include "bench/contest.h"
#include "bench/demo.h"
#include "bench/mlp.h"
#include "compute/compute.h"
#include "compute/cuda_load.h"

/* --updates counts those of the demo, which are that much smaller. */
#define DEMO_UPDATES 50
/* Float32 sums in another order may end at a loss that differs by so much of it. */
#define LOSS_TOLERANCE 1e-3

/* What is compared in the demo and in the net: the CPU and a card, in both numerics. */
enum { CPU_EXACT, CPU_FAST, GPU_EXACT, GPU_FAST, SEATS };

static const struct ga_demo_form forms[SEATS] = {
    [CPU_EXACT] =
        {"cpu_exact", "CPU, exact", 1, 1, 50, GA_NUMERICS_EXACT, GA_DEVICE_CPU, {NULL}, 1},
    [CPU_FAST] = {"cpu_fast", "CPU, fast", 1, 1, 50, GA_NUMERICS_FAST, GA_DEVICE_CPU, {NULL}, 1},
    [GPU_EXACT] =
        {"gpu_exact", "card, exact", 1, 1, 50, GA_NUMERICS_EXACT, GA_DEVICE_CUDA, {NULL}, 1},
    [GPU_FAST] = {"gpu_fast", "card, fast", 1, 1, 50, GA_NUMERICS_FAST, GA_DEVICE_CUDA, {NULL}, 1},
};

struct demo_seat {
    struct ga_demo_contest contest;
    int64_t updates;
};

static int run_demo(void *self)
{
    struct demo_seat *seat = self;

    return ga_demo_train(&seat->contest, seat->updates);
}

static void line_up(struct ga_contest *contest, int (*run)(void *self), double work)
{
    for (size_t i = 0; i < SEATS; i++)
        contest->contender[i] = (struct ga_contender){
            .key = forms[i].key, .text = forms[i].text, .run = run, .work = work};
    contest->contenders = SEATS;
    contest->ratios = 2;
    contest->ratio[0] = (struct ga_ratio){.key = "exact",
                                          .text = "exact, card to CPU",
                                          .of = GPU_EXACT,
                                          .to = CPU_EXACT,
                                          .wanted = ""};
    contest->ratio[1] = (struct ga_ratio){
        .key = "fast", .text = "fast, card to CPU", .of = GPU_FAST, .to = CPU_FAST, .wanted = ""};
}

static int check_loss(double card, double cpu, const char *what)
{
    if (fabs(card - cpu) <= LOSS_TOLERANCE * fabs(cpu))
        return GA_OK;
    return ga_fail(GA_EINTERNAL,
                   "bench gpu: %s on the card ends at loss %.9g, on the CPU at %.9g: expected the "
                   "same within %g",
                   what, card, cpu, LOSS_TOLERANCE);
}

static int check_demo(struct demo_seat *seat)
{
    for (size_t i = 0; i < SEATS; i++)
        if (ga_demo_outcome(&seat[i].contest) < 0)
            return ga_error_code();
    if (seat[GPU_EXACT].contest.hash != seat[CPU_EXACT].contest.hash)
        return ga_fail(GA_EINTERNAL, "bench gpu: numerics exact gives other weights on the card "
                                     "than on the CPU: expected the same bits");
    return check_loss(seat[GPU_FAST].contest.loss, seat[CPU_FAST].contest.loss, "the demo");
}

static int measure_demo(const struct ga_bench_options *options, struct ga_text *out)
{
    static const char *const words[] = {"parabola"};
    struct demo_seat seat[SEATS] = {0};
    struct ga_demo demo = {.data = NULL};
    struct ga_contest contest = {.name = "gpu_demo", .unit = "updates", .rounds = options->rounds};
    int code = ga_dataset_open(&demo.data, 1, words, "");

    line_up(&contest, run_demo, (double)options->updates);
    for (size_t i = 0; i < SEATS; i++) {
        seat[i].contest.form = &forms[i];
        seat[i].updates = options->updates;
        contest.contender[i].self = &seat[i];
        if (code == GA_OK)
            code = ga_demo_open(&demo, &seat[i].contest);
    }
    if (code == GA_OK)
        code = ga_contest_run(&contest);
    if (code == GA_OK)
        code = check_demo(seat);
    if (code == GA_OK)
        ga_contest_report(&contest, options->json, out);
    ga_contest_fini(&contest);
    for (size_t i = 0; i < SEATS; i++)
        ga_engine_close(seat[i].contest.engine);
    ga_dataset_close(demo.data);
    return code;
}

static int check_mlp(struct ga_mlp *mlp)
{
    double loss[SEATS];

    for (size_t i = 0; i < SEATS; i++)
        if (ga_mlp_loss(&mlp[i], &loss[i]) < 0)
            return ga_error_code();
    if (loss[GPU_EXACT] != loss[CPU_EXACT])
        return ga_fail(GA_EINTERNAL,
                       "bench gpu: the net ends at loss %.9g on the card and %.9g on the CPU in "
                       "numerics exact: expected the same bits",
                       loss[GPU_EXACT], loss[CPU_EXACT]);
    return check_loss(loss[GPU_FAST], loss[CPU_FAST], "the net");
}

/* One micro-batch an update, a fiftieth of the demo's updates. */
static int measure_mlp(const struct ga_bench_options *options, struct ga_text *out)
{
    const int64_t updates = options->updates > DEMO_UPDATES ? options->updates / DEMO_UPDATES : 1;
    struct ga_mlp mlp[SEATS] = {0};
    struct ga_dataset *data = NULL;
    struct ga_contest contest = {.name = "gpu_mlp", .unit = "samples", .rounds = options->rounds};
    int code = ga_mlp_data(&data);

    line_up(&contest, ga_mlp_train, (double)updates * GA_MLP_BATCH);
    for (size_t i = 0; i < SEATS; i++) {
        const struct ga_mlp_form form = {
            1, 1, 1, updates, forms[i].device, forms[i].numerics, options->small};

        contest.contender[i].self = &mlp[i];
        if (code == GA_OK)
            code = ga_mlp_open_as(&mlp[i], data, &form);
    }
    if (code == GA_OK)
        code = ga_contest_run(&contest);
    if (code == GA_OK)
        code = check_mlp(mlp);
    if (code == GA_OK)
        ga_contest_report(&contest, options->json, out);
    ga_contest_fini(&contest);
    for (size_t i = 0; i < SEATS; i++)
        ga_mlp_close(&mlp[i]);
    ga_dataset_close(data);
    return code;
}

/* How many cards there are, and what the first one is called. */
static int find_cards(size_t *count, struct ga_cuda_card *first)
{
    const struct ga_compute *compute = ga_compute_find("cuda", "exact");
    const struct ga_cuda_module *module = compute ? ga_cuda_load() : NULL;

    if (!module || ga_buffer_places(compute, count) < 0)
        return ga_error_code();
    return module->card(0, first);
}

static int measure_parts(const struct ga_bench_options *options, size_t cards, struct ga_text *out)
{
    const char *between = options->json ? "," : "\n";
    int code = measure_demo(options, out);

    ga_text_puts(out, between);
    if (code == GA_OK)
        code = measure_mlp(options, out);
    ga_text_puts(out, between);
    return code == GA_OK ? ga_bench_gpu_sums(options, cards, out) : code;
}

/* In double quotes; a name has no use for control characters. */
static void write_name(struct ga_text *out, const char *name)
{
    ga_text_puts(out, "\"");
    for (; *name; name++)
        ga_text_printf(out, *name == '"' || *name == '\\' ? "\\%c" : "%c",
                       (unsigned char)*name < ' ' ? ' ' : *name);
    ga_text_puts(out, "\"");
}

static int measure(const struct ga_bench_options *options, struct ga_text *out)
{
    struct ga_cuda_card card;
    size_t cards = 0;
    int code = find_cards(&cards, &card);

    if (code < 0)
        return code;
    if (options->json) {
        ga_text_printf(out, "{\"benchmark\":\"gpu\",\"cards\":%zu,\"card\":", cards);
        write_name(out, card.name);
        ga_text_puts(out, ",\"parts\":[\n");
    } else {
        ga_text_printf(out, "%zu card%s; the first is %s, compute %d.%d\n\n", cards,
                       cards == 1 ? "" : "s", card.name, card.major, card.minor);
    }
    code = measure_parts(options, cards, out);
    if (options->json)
        ga_text_puts(out, "]}\n");
    return code;
}

const struct ga_benchmark ga_benchmark_gpu = {
    .name = "gpu",
    .help = "demo, net and sums between replicas on the GPUs, both numerics, beside the CPU",
    .run = measure,
};
