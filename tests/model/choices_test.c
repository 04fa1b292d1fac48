/* compute and model number their choices as settings/choices.def does: a cast is the translation.
 */
#include <string.h>

#include "compute/net.h"
#include "model/model.h"
#include "settings/settings.h"
#include "support/support.h"

#define SAME(here, there) _Static_assert((int)(here) == (int)(there), #here " is " #there)

SAME(GA_ACT_TANH, GA_TANH);
SAME(GA_ACT_RELU, GA_RELU);
SAME(GA_ACT_GELU, GA_GELU);
SAME(GA_ACT_SIGMOID, GA_SIGMOID);
SAME(GA_ACT_IDENTITY, GA_IDENTITY);
SAME(GA_LOSS_MSE, GA_MSE);
SAME(GA_LOSS_XENT, GA_XENT);
SAME(GA_STEP_SGD, GA_SGD);
SAME(GA_STEP_ADAM, GA_ADAM);
SAME(GA_STEP_ADAMW, GA_ADAMW);
SAME(GA_LR_CONSTANT, GA_SCHEDULE_CONSTANT);
SAME(GA_LR_STEP, GA_SCHEDULE_STEP);
SAME(GA_LR_COSINE, GA_SCHEDULE_COSINE);
SAME(GA_MODEL_NORMAL, GA_INIT_NORMAL);
SAME(GA_MODEL_UNIFORM, GA_INIT_UNIFORM);
SAME(GA_MODEL_XAVIER, GA_INIT_XAVIER);
SAME(GA_MODEL_HE, GA_INIT_HE);
SAME(GA_MODEL_ZEROS, GA_INIT_ZEROS);
SAME(GA_NET_LAYERS, GA_MAX_LAYERS);

/* The words name what the numbers mean here. */
static void test_groups_are_complete(void **state)
{
    (void)state;
    static const char *const words[] = {
#define CHOICE(group, name, word, help) #group " " word,
#include "settings/choices.def"
#undef CHOICE
    };
    size_t activations = 0;
    size_t optimizers = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        activations += strncmp(words[i], "activation ", 11) == 0;
        optimizers += strncmp(words[i], "optimizer ", 10) == 0;
    }
    assert_int_equal(activations, GA_ACT_IDENTITY + 1);
    assert_int_equal(optimizers, GA_STEP_ADAMW + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups_are_complete)};
    return ga_test_main(tests);
}
