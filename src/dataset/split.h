/*
 * Which rows of a table train and which are held out (train=, test=, shuffle=; the rules stand in
 * dataset.h). Rows that are neither leave the arrays.
 */
#ifndef GA_DATASET_SPLIT_H
#define GA_DATASET_SPLIT_H

#include "dataset/kind.h"

/* Sets table.train and table.test; the arrays hold `rows` rows, of the widths in the table. */
int ga_dataset_split(struct ga_dataset *dataset, size_t rows, const struct ga_options *options);

/* The arrays hold `train` rows and then `held_out` rows that come from elsewhere: train= and test=
 * take the first ones of each part, shuffle= is refused. */
int ga_dataset_split_parts(struct ga_dataset *dataset, size_t train, size_t held_out,
                           const struct ga_options *options);

#endif
