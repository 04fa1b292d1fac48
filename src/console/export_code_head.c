/* Pieces of a generated program: what it is, how to start it, how its losses compare. */
#include "console/export_code.h"

const struct ga_code_piece ga_code_head_pieces[] = {
    {GA_CODE_PYTORCH, GA_CODE_LOCAL,
     "#!/usr/bin/env python3\n"
     "\"\"\"Gradient accumulation on $replicas$ replicas, in PyTorch (DistributedDataParallel).\n"
     "\n"},
    {GA_CODE_PYTORCH | GA_CODE_LOCAL, 0,
     "#!/usr/bin/env python3\n"
     "\"\"\"Local SGD on $replicas$ replicas with gradient accumulation, in PyTorch.\n"
     "\n"},
    {GA_CODE_TENSORFLOW, 0,
     "#!/usr/bin/env python3\n"
     "\"\"\"Gradient accumulation on $replicas$ replicas, in TensorFlow 2 (MirroredStrategy).\n"
     "\n"},
    {0, GA_CODE_LOCAL | GA_CODE_SUM,
     "One update uses one window of examples: it is split over P replicas, each share over A\n"
     "micro-batches, and the gradient is that of the mean loss of the window: the sum over ALL "
     "its\n"
     "examples, divided once, by their weight. So a short last window and uneven shares come out "
     "right.\n"
     "\n"},
    {GA_CODE_SUM, GA_CODE_LOCAL,
     "One update uses one window of examples: it is split over P replicas, each share over A\n"
     "micro-batches, and the gradient is the SUM over the window's examples, not divided (`set "
     "reduce\n"
     "sum`): the step grows with the window.\n"
     "\n"},
    {GA_CODE_LOCAL, 0,
     "One update is one round: each replica makes H private steps with an optimizer of its own, "
     "each\n"
     "on its share of one window of examples, taken in A micro-batches; then the weights are "
     "averaged,\n"
     "weighted by the examples that each replica had in the round.\n"},
    {GA_CODE_LOCAL | GA_CODE_OUTER, 0,
     "Old minus average is then the gradient of a second optimizer, the same on all replicas.\n"},
    {GA_CODE_LOCAL, 0, "\n"},
    {GA_CODE_TENSORFLOW, 0,
     "MirroredStrategy has no accumulation of its own, and what one tries first ends in errors:\n"
     "- gradients summed outside strategy.run: there they are PerReplica containers, one value "
     "for\n"
     "  each replica, with no + between them, and apply_gradients does not take them;\n"
     "- apply_gradients in strategy.run, but under a condition on a tensor: \"`merge_call` called "
     "while\n"
     "  defining a new graph or a tf.function\", since all replicas have to meet in it. The "
     "optimizers'\n"
     "  own gradient_accumulation_steps (Keras 3) has such a condition in it.\n"
     "Below is what works: accumulators that each replica keeps for itself, all A micro-batches in "
     "one\n"
     "strategy.run, and one apply_gradients behind them. That SUMS over replicas, it does not "
     "average:\n"},
    {GA_CODE_TENSORFLOW, GA_CODE_SUM,
     "hence each loss is divided by the weight of the whole window, never of a replica's part of "
     "it.\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_SUM, 0,
     "here that is what was asked for, so nothing is divided.\n"},
    {GA_CODE_TENSORFLOW, 0,
     "\n"
     "Start it with `python3 THIS_FILE`. It needs NumPy and TensorFlow$packages$.\n"
     "\n"},
    {GA_CODE_PYTORCH, GA_CODE_LOCAL,
     "backward() under DDP averages the gradients over processes, however many examples they had. "
     "So\n"},
    {GA_CODE_PYTORCH, GA_CODE_LOCAL | GA_CODE_SUM,
     "each loss is a sum times P / (weight of the whole window). The first A - 1 micro-batches "
     "run\n"
     "under no_sync(): they only add to .grad, and the last backward() reduces what was added.\n"
     "\n"},
    {GA_CODE_PYTORCH | GA_CODE_SUM, GA_CODE_LOCAL,
     "each loss is a sum times P. The first A - 1 micro-batches run under no_sync(): they only add "
     "to\n"
     ".grad, and the last backward() reduces what was added.\n"
     "\n"},
    {GA_CODE_PYTORCH, 0,
     "    python3 THIS_FILE                      # starts the processes itself\n"
     "    torchrun --nproc_per_node=$replicas$ THIS_FILE  # has torchrun start them\n"
     "\n"
     "It needs NumPy and PyTorch$packages$.\n"
     "\n"},
    {GA_CODE_SAME, 0,
     "It starts from the run's own weights and takes the examples in the same order, so the losses "
     "are\n"
     "those that gaconsole printed, but for rounding.\n"},
    {0, GA_CODE_SAME,
     "The losses are like those of the run in gaconsole without being equal to them:\n"},
    {0, GA_CODE_SAME | GA_CODE_INLINE | GA_CODE_INIT_FILE,
     "- the weights start from other draws of the same kind: for equal ones, `export weights FILE` "
     "at\n"
     "  update 0, then `init-from FILE`, then `export code` again;\n"},
    {GA_CODE_NOISE, 0, "- the noise on the targets is drawn by NumPy;\n"},
    {GA_CODE_DRAWN, 0, "- the held-out rows are drawn by NumPy;\n"},
    {GA_CODE_SHUFFLE, 0, "- the epochs are shuffled by NumPy;\n"},
    {0, GA_CODE_SAME, "all from seeds, so that two starts of this program print the same.\n"},
    {0, 0, "\"\"\"\n"},
    {0, 0, NULL},
};
