#include "compute/compute.h"

void ga_tally_clear(struct ga_tally *tally)
{
    *tally = (struct ga_tally){0};
}

void ga_tally_add(struct ga_tally *to, const struct ga_tally *from)
{
    for (int i = 0; i < 3; i++)
        to->loss[i] += from->loss[i];
    for (int i = 0; i < 2; i++)
        to->weight[i] += from->weight[i];
    to->weight_square += from->weight_square;
    to->examples += from->examples;
    to->correct += from->correct;
    to->flags |= from->flags;
}

double ga_tally_loss_sum(const struct ga_tally *tally)
{
    return (tally->loss[0] + tally->loss[1]) + tally->loss[2];
}

double ga_tally_weight_sum(const struct ga_tally *tally)
{
    return tally->weight[0] + tally->weight[1];
}
