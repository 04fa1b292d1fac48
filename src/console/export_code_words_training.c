/* Words of a generated program that speak of its training: window, weights, net, optimizer. */
#include <inttypes.h>

#include "base/number.h"
#include "console/export_code.h"
#include "console/wrap.h"
#include "train/plan.h"

enum { TENSORFLOW, PYTORCH, FRAMEWORKS };

static int framework(const struct ga_program *program)
{
    return program->facts & GA_CODE_TENSORFLOW ? TENSORFLOW : PYTORCH;
}

static void write_window(const struct ga_program *program, struct ga_text *out)
{
    ga_text_printf(out, "%" PRIu64, ga_plan_window(program->settings));
}

static void write_window_rule(const struct ga_program *program, struct ga_text *out)
{
    if (program->settings->global > 0)
        ga_text_puts(out, ", whatever P and A are");
    else
        ga_text_printf(out, ": P * A * %d", (int)program->settings->batch);
}

static void write_updates(const struct ga_program *program, struct ga_text *out)
{
    ga_text_printf(out, "%" PRIu64, program->updates);
}

static void write_widths(const struct ga_program *program, struct ga_text *out)
{
    for (size_t i = 0; i <= program->net->layers; i++)
        ga_text_printf(out, "%s%zu", i > 0 ? ", " : "", program->net->width[i]);
}

static void write_packages(const struct ga_program *program, struct ga_text *out)
{
    if (program->facts & GA_CODE_INIT_FILE)
        ga_text_puts(out, " and safetensors");
}

static void put_row(const float *values, size_t count, struct ga_text *out)
{
    char number[GA_NUMBER_TEXT];
    ga_text_puts(out, "[");
    for (size_t i = 0; i < count; i++) {
        ga_format_float(number, values[i]);
        ga_text_printf(out, "%s%s", i > 0 ? ", " : "", number);
    }
    ga_text_puts(out, "]");
}

static void put_matrix(const struct ga_tensor *tensor, const float *values, struct ga_text *out)
{
    ga_text_puts(out, "[");
    for (size_t row = 0; row < tensor->rows; row++) {
        ga_text_puts(out, row > 0 ? ", " : "");
        put_row(values + row * tensor->columns, tensor->columns, out);
    }
    ga_text_puts(out, "]");
}

static void write_start(const struct ga_program *program, struct ga_text *out)
{
    struct ga_text text = GA_TEXT_INIT;
    for (size_t i = 0; i < program->net->tensors; i++) {
        const struct ga_tensor *tensor = &program->net->tensor[i];
        const float *values = program->start + tensor->offset;
        ga_text_clear(&text);
        if (tensor->dimensions == 1)
            put_row(values, tensor->rows, &text);
        else
            put_matrix(tensor, values, &text);
        ga_text_puts(&text, ",");
        ga_text_printf(out, "    \"%s\":\n", tensor->name);
        ga_wrap(ga_text_get(&text), 8, 98, out);
    }
    out->failed = out->failed || text.failed;
    ga_text_free(&text);
}

/* By kind of initial values: weights, biases. */
static const char *const draws[][2] = {
    [GA_INIT_NORMAL] = {"rng.standard_normal((fan_out, fan_in))", "rng.standard_normal(fan_out)"},
    [GA_INIT_UNIFORM] = {"rng.uniform(-1, 1, (fan_out, fan_in)) / fan_in**0.5",
                         "rng.uniform(-1, 1, fan_out) / fan_in**0.5"},
    [GA_INIT_XAVIER] = {"rng.uniform(-1, 1, (fan_out, fan_in)) * (6 / (fan_in + fan_out)) ** 0.5",
                        "np.zeros(fan_out)"},
    [GA_INIT_HE] = {"rng.standard_normal((fan_out, fan_in)) * (2 / fan_in) ** 0.5",
                    "np.zeros(fan_out)"},
    [GA_INIT_ZEROS] = {"np.zeros((fan_out, fan_in))", "np.zeros(fan_out)"},
};

static void write_draw_weight(const struct ga_program *program, struct ga_text *out)
{
    ga_text_puts(out, draws[program->settings->init][0]);
}

static void write_draw_bias(const struct ga_program *program, struct ga_text *out)
{
    ga_text_puts(out, draws[program->settings->init][1]);
}

static void write_bias(const struct ga_program *program, struct ga_text *out)
{
    ga_text_puts(out, program->settings->bias ? "True" : "False");
}

static const char *const activations[FRAMEWORKS][5] = {
    [TENSORFLOW] = {[GA_TANH] = "\"tanh\"",
                    [GA_RELU] = "\"relu\"",
                    [GA_GELU] = "\"gelu\"",
                    [GA_SIGMOID] = "\"sigmoid\"",
                    [GA_IDENTITY] = "None"},
    [PYTORCH] = {[GA_TANH] = "torch.tanh(layer(x))",
                 [GA_RELU] = "torch.relu(layer(x))",
                 [GA_GELU] = "torch.nn.functional.gelu(layer(x))",
                 [GA_SIGMOID] = "torch.sigmoid(layer(x))",
                 [GA_IDENTITY] = "layer(x)"},
};

static void write_activation(const struct ga_program *program, struct ga_text *out)
{
    ga_text_puts(out, activations[framework(program)][program->settings->activation]);
}

static const char *const losses[FRAMEWORKS][2] = {
    [TENSORFLOW] = {[GA_MSE] = "tf.reduce_sum(tf.square(outputs - targets), axis=1)",
                    [GA_XENT] = "tf.nn.sparse_softmax_cross_entropy_with_logits("
                                "labels=targets, logits=outputs)"},
    [PYTORCH] = {[GA_MSE] = "((outputs - targets) ** 2).sum(dim=1)",
                 [GA_XENT] = "torch.nn.functional.cross_entropy("
                             "outputs, targets, reduction=\"none\")"},
};

static void write_losses(const struct ga_program *program, struct ga_text *out)
{
    ga_text_puts(out, losses[framework(program)][program->settings->loss]);
}

/* Keras has no coupled weight decay: there it is a piece of its own. */
static const char *const optimizers[FRAMEWORKS][3] = {
    [TENSORFLOW] = {[GA_SGD] = "tf.keras.optimizers.SGD($lr$$momentum-terms$)",
                    [GA_ADAM] = "tf.keras.optimizers.Adam($lr$, $beta1$, $beta2$, $epsilon$)",
                    [GA_ADAMW] = "tf.keras.optimizers.AdamW($lr$, $weight-decay$, $beta1$, "
                                 "$beta2$, $epsilon$)"},
    [PYTORCH] = {[GA_SGD] = "torch.optim.SGD(model.parameters(), "
                            "lr=$lr$$momentum-terms$$decay-term$)",
                 [GA_ADAM] = "torch.optim.Adam(\n        model.parameters(), lr=$lr$, "
                             "betas=($beta1$, $beta2$), eps=$epsilon$$decay-term$\n    )",
                 [GA_ADAMW] = "torch.optim.AdamW(\n        model.parameters(), lr=$lr$, "
                              "betas=($beta1$, $beta2$), eps=$epsilon$, "
                              "weight_decay=$weight-decay$\n    )"},
};

static void write_optimizer(const struct ga_program *program, struct ga_text *out)
{
    ga_code_expand(program, optimizers[framework(program)][program->settings->optimizer], out);
}

static void write_momentum_terms(const struct ga_program *program, struct ga_text *out)
{
    if (!(program->facts & GA_CODE_MOMENTUM))
        return;
    ga_text_puts(out, ", momentum=");
    ga_text_number(out, program->settings->momentum);
    if (program->settings->nesterov)
        ga_text_puts(out, ", nesterov=True");
}

static void write_decay_term(const struct ga_program *program, struct ga_text *out)
{
    if (!(program->facts & GA_CODE_COUPLED))
        return;
    ga_text_puts(out, ",\n        weight_decay=");
    ga_text_number(out, program->settings->weight_decay);
}

static void write_schedule_every(const struct ga_program *program, struct ga_text *out)
{
    ga_text_printf(out, "%" PRId64, program->settings->schedule.every);
}

static void write_schedule_value(const struct ga_program *program, struct ga_text *out)
{
    ga_text_number(out, program->settings->schedule.value);
}

static void write_outer_lr(const struct ga_program *program, struct ga_text *out)
{
    ga_text_number(out, program->settings->outer.lr);
}

/* PyTorch refuses to look ahead without momentum. */
static void write_outer_terms(const struct ga_program *program, struct ga_text *out)
{
    if (!(program->settings->outer.momentum > 0))
        return;
    ga_text_puts(out, ", momentum=");
    ga_text_number(out, program->settings->outer.momentum);
    if (program->settings->outer.kind == GA_OUTER_NESTEROV)
        ga_text_puts(out, ", nesterov=True");
}

const struct ga_code_word ga_code_training_words[] = {
    {"window", write_window},
    {"window-rule", write_window_rule},
    {"updates", write_updates},
    {"widths", write_widths},
    {"packages", write_packages},
    {"start", write_start},
    {"draw-weight", write_draw_weight},
    {"draw-bias", write_draw_bias},
    {"with-bias", write_bias},
    {"activated", write_activation},
    {"losses", write_losses},
    {"new-optimizer", write_optimizer},
    {"momentum-terms", write_momentum_terms},
    {"decay-term", write_decay_term},
    {"schedule-every", write_schedule_every},
    {"schedule-value", write_schedule_value},
    {"outer-lr", write_outer_lr},
    {"outer-terms", write_outer_terms},
    {NULL, NULL},
};
