/* The net that settings and data ask for. */
#include "base/error.h"
#include "compute/compute.h"
#include "train/run.h"

/* What the data needs of a model, in words: "1 input and 10 classes". */
static void describe_needs(const struct ga_table *table, struct ga_text *out)
{
    ga_text_printf(out, "%zu input%s and %zu %s", table->input_width,
                   table->input_width == 1 ? "" : "s", table->target_width,
                   table->kind == GA_TARGET_CLASS ? "classes"
                   : table->target_width == 1     ? "output"
                                                  : "outputs");
}

static int check_widths(const struct ga_settings *set, const struct ga_dataset *data)
{
    const struct ga_table *table = ga_dataset_table(data);
    size_t inputs = (size_t)set->model.widths[0];
    size_t outputs = (size_t)set->model.widths[set->model.layers];
    struct ga_text model = GA_TEXT_INIT, needs = GA_TEXT_INIT;

    if (inputs == table->input_width && outputs == table->target_width)
        return GA_OK;
    ga_setting_write(ga_setting_find("model"), set, &model);
    describe_needs(table, &needs);
    ga_fail(GA_EINPUT,
            "model %s does not fit %s: expected a model for %s, for example set model %zu-%d-%zu",
            ga_text_get(&model), ga_dataset_name(data), ga_text_get(&needs), table->input_width,
            set->model.layers > 1 ? set->model.widths[1] : 32, table->target_width);
    ga_text_free(&model);
    ga_text_free(&needs);
    return ga_error_code();
}

static int check_loss(const struct ga_settings *set, const struct ga_dataset *data)
{
    bool classes = ga_dataset_table(data)->kind == GA_TARGET_CLASS;

    if (classes == (set->loss == GA_XENT))
        return GA_OK;
    if (classes)
        return ga_fail(GA_EINPUT, "%s has class targets: expected loss xent (set loss xent)",
                       ga_dataset_name(data));
    return ga_fail(
        GA_EINPUT,
        "loss xent needs class targets and %s has values: expected loss mse, or data with "
        "kind=class",
        ga_dataset_name(data));
}

static void spec_of_mlp(const struct ga_settings *set, struct ga_model_spec *spec)
{
    static const enum ga_net_activation activation_of[] = {
        [GA_TANH] = GA_ACT_TANH,       [GA_RELU] = GA_ACT_RELU,         [GA_GELU] = GA_ACT_GELU,
        [GA_SIGMOID] = GA_ACT_SIGMOID, [GA_IDENTITY] = GA_ACT_IDENTITY,
    };
    static const enum ga_net_loss loss_of[] = {
        [GA_MSE] = GA_LOSS_MSE,
        [GA_XENT] = GA_LOSS_XENT,
    };

    *spec = (struct ga_model_spec){
        .kind = GA_NET_MLP,
        .layers = (size_t)set->model.layers,
        .widths = set->model.widths,
        .activation = activation_of[set->activation],
        .loss = loss_of[set->loss],
        .bias = set->bias,
    };
}

int ga_run_net(const struct ga_settings *settings, const struct ga_dataset *data,
               struct ga_net *out)
{
    const struct ga_table *table = ga_dataset_table(data);
    int32_t coordinates = (int32_t)table->input_width;
    struct ga_model_spec spec = {
        .kind = GA_NET_QUADRATIC, .layers = 1, .widths = &coordinates, .loss = GA_LOSS_MSE};

    if (table->kind != GA_TARGET_QUADRATIC) {
        if (check_widths(settings, data) < 0 || check_loss(settings, data) < 0)
            return ga_error_code();
        spec_of_mlp(settings, &spec);
    }
    return ga_net_build(out, &spec);
}

enum ga_numerics ga_run_numerics(const struct ga_settings *settings, const struct ga_net *net)
{
    if (settings->numerics != GA_NUMERICS_AUTO)
        return settings->numerics;
    return net->parameters <= GA_MAX_EXACT ? GA_NUMERICS_EXACT : GA_NUMERICS_FAST;
}

/* A device that has no fast numerics takes what it has, where the choice was left to us. */
const struct ga_compute *ga_run_compute(const struct ga_settings *settings,
                                        const struct ga_net *net)
{
    const char *device = ga_choice_word("device", (int)settings->device);
    enum ga_numerics numerics = ga_run_numerics(settings, net);
    const struct ga_compute *compute =
        ga_compute_find(device, ga_choice_word("numerics", (int)numerics));

    if (!compute && settings->numerics == GA_NUMERICS_AUTO && numerics == GA_NUMERICS_FAST)
        compute = ga_compute_find(device, ga_choice_word("numerics", GA_NUMERICS_EXACT));
    return compute;
}
