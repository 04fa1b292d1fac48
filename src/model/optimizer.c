#include <math.h>

#include "model/model.h"

void ga_optimizer_scalars_init(struct ga_optimizer_scalars *scalars)
{
    *scalars = (struct ga_optimizer_scalars){0, 1.0, 1.0};
}

static void fill_sgd(const struct ga_optimizer_spec *spec, double lr, struct ga_step *step)
{
    step->lr = (float)lr;
    step->momentum = (float)spec->momentum;
    step->nesterov = spec->nesterov;
    step->weight_decay = (float)spec->weight_decay;
}

static void fill_adam(const struct ga_optimizer_spec *spec,
                      const struct ga_optimizer_scalars *scalars, double lr, struct ga_step *step)
{
    const bool decoupled = spec->kind == GA_STEP_ADAMW;
    step->weight_decay = decoupled ? 0.0f : (float)spec->weight_decay;
    step->decay_factor = decoupled ? (float)(1.0 - lr * spec->weight_decay) : 1.0f;
    step->beta1 = (float)spec->beta1;
    step->beta2 = (float)spec->beta2;
    step->one_minus_beta1 = (float)(1.0 - spec->beta1);
    step->one_minus_beta2 = (float)(1.0 - spec->beta2);
    step->step_size = (float)(lr / (1.0 - scalars->beta1_power));
    step->root_bias2 = (float)sqrt(1.0 - scalars->beta2_power);
    step->epsilon = (float)spec->epsilon;
}

void ga_optimizer_advance(const struct ga_optimizer_spec *spec,
                          struct ga_optimizer_scalars *scalars, double lr, double clip_scale,
                          struct ga_step *step)
{
    *step = (struct ga_step){.kind = spec->kind};
    scalars->t++;
    step->scaled = clip_scale != 1.0;
    step->gradient_scale = (float)clip_scale;
    if (spec->kind == GA_STEP_SGD) { /* no powers: in a long run they get subnormal, hence slow */
        fill_sgd(spec, lr, step);
        return;
    }
    scalars->beta1_power *= spec->beta1;
    scalars->beta2_power *= spec->beta2;
    fill_adam(spec, scalars, lr, step);
}

double ga_clip_scale(double max_norm, double norm)
{
    const double scale = max_norm / (norm + 1e-6);
    return max_norm > 0.0 && scale < 1.0 ? scale : 1.0;
}
