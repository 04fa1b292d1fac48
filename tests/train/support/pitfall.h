/*
 * Data for the pitfall tests: cases where trainers went wrong, each with the right number and, in
 * the test, the wrong ones that were seen. Row numbers follow the table they came from.
 */
#ifndef GA_TESTS_TRAIN_PITFALL_H
#define GA_TESTS_TRAIN_PITFALL_H

/* R1: y = w x, target 2x, x = 1..8, w = 0, mean squared error: gradient -102, one step of 0.02
 * gives w = 2.04. */
#define PITFALL_R1          "x,y\n1,2\n2,4\n3,6\n4,8\n5,10\n6,12\n7,14\n8,16\n"
#define PITFALL_R1_SETTINGS "model 1-1 bias off init zeros lr 0.02 "

/* A quadratic starts at w = 1: a row "lambda,c" has gradient lambda * (1 - c), loss half of it
 * times (1 - c). */
#define PITFALL_QUADRATIC "kind=quadratic"

/* A row whose gradient and loss overflow float32. */
#define PITFALL_BAD_ROW "3e38,-1\n"

#endif
