#include "console/topics.h"

#include <string.h>
#include <strings.h>

#include "console/topics_files.h"
#include "console/topics_modes.h"

static const struct ga_topic topics[] = {
    {"window", "update micro-batch item", "The window: what one update is made of",
     "One update uses one window of examples. P replicas each work on A micro-batches\n"
     "of b examples, so a window has B = P x A x b of them, or the number that\n"
     "`global` fixes. With example weights w_i (1 unless the data has a weight column)\n"
     "\n"
     "    g = sum_i w_i grad(loss_i) / sum_i w_i     over ALL examples of the window\n"
     "\n"
     "Accumulators hold the sum and the weight; both are added over replicas, and the\n"
     "division happens once, after that. Never a mean of means, never a division by\n"
     "the nominal P x A x b: a short last window, uneven replicas and uneven\n"
     "micro-batches all come out exact.\n"
     "The order of an update: micro-batches, reduce, check, clip, apply, clear. Rate\n"
     "schedule, Adam's t, decay and clip advance once per update, never per\n"
     "micro-batch. `micro` and `event` step through it, `explain` prints the numbers.\n"
     "See also: accumulation, reduce, tail.\n"},

    {"accumulation", "accumulate gradient-accumulation",
     "Gradient accumulation: a large batch in small pieces",
     "When a batch does not fit in memory, take A micro-batches, add their gradients\n"
     "and update once. The result is that of the large batch if, and only if, the sum\n"
     "is divided by the number of examples it really has.\n"
     "What goes wrong elsewhere:\n"
     "  - the sum is not divided: the step is A times too long;\n"
     "  - each micro-batch's mean is divided by A: wrong as soon as they differ in\n"
     "    size, as at the end of an epoch (mean of means);\n"
     "  - the rest of an epoch that does not fill A is lost, or leaks into the next;\n"
     "  - clip, schedule or Adam's t run per micro-batch;\n"
     "  - changing A in mid-window mixes two divisors.\n"
     "PyTorch: backward() adds to .grad; divide the loss, call step() and zero_grad()\n"
     "every A-th time. Keras 3: gradient_accumulation_steps of an optimizer (under a\n"
     "strategy see `help mirrored`).\n"
     "Lightning: accumulate_grad_batches. Here: `set accum 4`. The weight that an\n"
     "accumulator holds is counted, not assumed; a change takes effect at the next\n"
     "window. Memory does not depend on A (`print memory`).\n"
     "What it cannot do: layers that see statistics of their batch (batch norm) see\n"
     "those of a micro-batch.\n"},

    {"mirrored", "MirroredStrategy multi_worker_mirrored tensorflow tf.distribute strategy",
     "tf.distribute.MirroredStrategy, and accumulation under it",
     "MirroredStrategy keeps a copy of every variable on each device. strategy.run(f)\n"
     "calls f once per replica; inside f the optimizer's apply_gradients() adds the\n"
     "gradients of all replicas (it SUMS) and every replica makes the same step. So\n"
     "the loss must be divided by the GLOBAL batch, for example with\n"
     "tf.nn.compute_average_loss(losses, global_batch_size=B); with a plain\n"
     "reduce_mean per replica the step is P times too long (`set reduce sum` shows\n"
     "it).\n"
     "Accumulation is not part of it, and the obvious ways are refused:\n"
     "  - apply_gradients() outside strategy.run, in cross-replica context, raises:\n"
     "    it must be called in replica context, since it needs all replicas to meet\n"
     "    (a merge call) itself;\n"
     "  - apply_gradients() inside a condition on a tensor (tf.cond, or `if` on a\n"
     "    step variable in a tf.function) raises wherever the optimizer makes a merge\n"
     "    call: that may not sit in a branch which replicas might not all take;\n"
     "  - assign_add on an ordinary mirrored variable in replica context: older\n"
     "    releases raise and ask for an aggregation, since the copies would drift\n"
     "    apart; 2.21 lets them drift without a word;\n"
     "  - Keras 3's gradient_accumulation_steps works in eager steps; in a\n"
     "    tf.function it raises (seen in 2.21): again a merge call in a branch.\n"
     "What works: accumulator variables made under the strategy with\n"
     "synchronization=ON_READ and aggregation=SUM or NONE, so that each replica adds\n"
     "to its own; strategy.run(micro_step) A times from a Python loop; then one\n"
     "strategy.run(apply_step) that applies the accumulators and zeroes them, with the\n"
     "loss divided by the whole window, P x A x b.\n"
     "Here: `set replicas 2 accum 5`; mode sync is what the strategy does, and\n"
     "`explain` shows where TensorFlow would sum over replicas.\n"
     "See also: PerReplica, all-reduce, reduce.\n"},

    {"PerReplica", "per_replica", "PerReplica: one value for each replica",
     "strategy.run(f) with more than one replica returns tf.distribute's PerReplica\n"
     "containers: one value per replica, not a tensor, and code that expects a tensor\n"
     "refuses them outside strategy.run.\n"
     "  strategy.experimental_local_results(v)    the values as a tuple\n"
     "  strategy.reduce(SUM or MEAN, v, axis=None) one tensor for all\n"
     "MEAN over replicas of per-replica means is only right when all replicas had\n"
     "equally many examples: for the loss, sum the losses and the counts and divide\n"
     "once. Gradients need no reduce call: apply_gradients() sums them.\n"
     "Here: `print replica 1 loss` is replica 1's own, `print loss` the weighted mean\n"
     "over the window, `print accum 1` what replica 1 has added up so far.\n"},

    {"no_sync", "ddp DistributedDataParallel", "DistributedDataParallel and no_sync()",
     "DDP gives each process a copy of the model. backward() averages the gradients\n"
     "over processes (all-reduce, then divided by their number) while it runs. With\n"
     "accumulation that would happen for every micro-batch; inside\n"
     "`with model.no_sync():` backward() only adds to the local .grad, and the first\n"
     "backward() outside reduces what was gathered. So: no_sync() around the forward\n"
     "and backward of the first A-1 micro-batches, not around the last one.\n"
     "What goes wrong:\n"
     "  - without no_sync() the result is the same but there are A all-reduces;\n"
     "  - the forward pass is left outside: gradients are synchronized all the same;\n"
     "  - the loss is not divided by A: the step is A times too long;\n"
     "  - DDP's mean over processes and the mean over micro-batches are both means of\n"
     "    means: wrong when processes or micro-batches have different sizes;\n"
     "  - a process with fewer micro-batches leaves the others waiting for ever.\n"
     "Here: there is one reduction per update whatever A is (`print bytes`), of sums\n"
     "and weights, and an empty part is simply not run.\n"},

    {"utilisation", "utilization util nvml monitor temperature",
     "How busy devices are, and where that is shown",
     "`devices` and the devices panel (key 9) list this process, and every GPU that\n"
     "NVIDIA's management library (NVML) knows, by its place on the PCI bus: its share\n"
     "of time at work, memory, temperature, power, clock, and what holds the clock.\n"
     "In the replica table `util` is the replica's own while it trains: its GPU's, or\n"
     "the share of one core by the thread that works for it. Small items are computed\n"
     "by one thread for all replicas, which then read the same; `busy` and `idle` are\n"
     "shares of the run's virtual time and another thing.\n"
     "`log jsonl FILE devices` writes it for each replica; `print util`, and\n"
     "device_memory, device_total, temperature, power in its place, tell it now.\n"
     "`print device_time` tells how long the device worked for the gradients of each\n"
     "replica's last item, a GPU by its own clock; the 100 updates that follow the\n"
     "question are timed, and others are not (n/a). Such a log times all of them.\n"
     "What is not known reads n/a, in logs null (csv: nan). Without a GPU or driver\n"
     "the first line about NVML says why in its own words, and all else is as before.\n"
     "NVML is loaded when one of these asks for it. It runs on a thread of its own:\n"
     "a driver that stalls, fails or loses a GPU holds neither training nor a key.\n"},

    {"all-reduce", "allreduce ring nccl collective",
     "All-reduce: every replica gets the sum of all",
     "Each of P replicas has a vector; afterwards each has the sum. A ring does it in\n"
     "2(P-1) steps of 1/P of the vector, so with latency l and bandwidth w the time is\n"
     "\n"
     "    2(P-1) l + 2(P-1)/P x bytes/w\n"
     "\n"
     "which hardly grows with P for long vectors. That is the time model here:\n"
     "`set latency 10us bandwidth 10GB/s`; bytes = 4 x (parameters + 1).\n"
     "All-reduce gives the sum. Whether a mean is wanted, and over what, is the\n"
     "caller's business: DDP divides by the number of processes, tf.distribute's\n"
     "optimizers do not divide, and neither knows how many examples there were.\n"
     "Floating-point sums depend on their order, so on P, on the ring and on the\n"
     "library; the sums of `numerics exact` do not (help exact).\n"},

    {"reduce", "mean sum", "reduce mean and reduce sum",
     "`mean` divides the sum of all gradients by the window's weight: the gradient of\n"
     "the mean loss. `sum` leaves it: then a window of B examples makes a step B times\n"
     "as long, and lr has to shrink when B grows. It is there to show what happens\n"
     "when a framework sums (tf.distribute's optimizers do, over replicas) and the\n"
     "user did not divide the loss by the global batch.\n"},

    {"backup", "straggler late", "Backup replicas: not waiting for the slowest",
     "With `backup k` a window closes at the first P-k replicas that finish.\n"
     "  late cancel   items still running are aborted; their examples are spent and\n"
     "                counted as dropped; all start the next window together\n"
     "  late finish   they run on, are dropped on arrival and join the open window\n"
     "The window is divided by the weight that did arrive. `slow R FACTOR` and\n"
     "`set jitter exponential` make replicas differ; `print idle` shows the waiting.\n"
     "TensorFlow's SyncReplicasOptimizer calls P-k replicas_to_aggregate.\n"},

    {"exact", "numerics hash reproducible deterministic",
     "numerics exact: the split does not change a bit",
     "Each example's gradient is computed in float32 in a fixed order of operations.\n"
     "Its terms are products of two floats, exact in double; each is split on two\n"
     "fixed grids (multiples of 2^-8 and of 2^-44) and added to two doubles. Such sums\n"
     "are exact, so they do not depend on order: not on P, A or b, not on threads, not\n"
     "on the reduction. Then one division. exp, tanh and their kin are our own code.\n"
     "So runs that cover the same examples have equal weights, bit for bit: `print\n"
     "hash` (FNV-1a of all weights) is equal on every machine and for every split.\n"
     "The limits: gradient terms up to 2^27 and windows up to 2^18 examples; beyond\n"
     "that the run is refused or stops and says so. Parts of a term below 2^-45 are\n"
     "lost.\n"},

    {"fast", "blas float32 openblas auto", "numerics fast: for models of real size",
     "Sums are float32. Small nets have vector loops of their own; large layers are\n"
     "products of matrices, with AVX-512 by kernels of the program up to a million\n"
     "weights a layer, all others by a BLAS library if there is one.\n"
     "Gradients agree with float64 within 2e-6 of their length at the start. The split\n"
     "does reach the last bits: equal windows cut differently agree within rounding,\n"
     "and their hashes differ. On one machine a run still repeats to the same bits, so\n"
     "`back`, checkpoints and `replay` hold.\n"
     "`numerics auto`, the default, is exact up to 100,000 parameters and fast above;\n"
     "the status line, `devices` and `print hash` say which is in force.\n"},

    {"bursts", "burst speed", "Bursts: many updates at once where they are alike",
     "A run that takes all its data in one micro-batch does the same work in every\n"
     "update: only the weights and the figures differ. The device then makes up to\n"
     "4,000 updates in one go (in about 4 ms at most, so that `pause` is heard) and\n"
     "keeps a row of each: its loss and the lengths of gradient, step and weights.\n"
     "Everything else of an update follows from the one before.\n"
     "A run gets bursts with\n"
     "    set replicas 1 accum 1 batch 50 numerics fast pace max\n"
     "where batch is the number of training examples, the net is small, and nothing\n"
     "changes from one update to the next: mode sync, clock virtual without jitter,\n"
     "schedule constant without warmup, clip off, reduce mean.\n"
     "Updates that someone looks at are made one by one: those that `log-every` prints\n"
     "(1 is every one of them), those of `log tensorboard`, and all of them under a\n"
     "condition that is more than a comparison of update or a row's figure with a\n"
     "number, as `loss < 0.01` is. The screen, `log jsonl` and `log csv` take rows.\n"
     "Nothing that can be seen changes by it: weights, records, events, logs, places\n"
     "that `back` leads to and where a condition stops are the same to the last bit.\n"},

    {"tail", "epoch sharding order drop_last drop_remainder",
     "The end of an epoch, and who sees which examples",
     "The stream of an epoch is file order or a permutation that depends on seed and\n"
     "epoch alone, never on P, A or b. When an epoch does not fill its last window:\n"
     "  tail short   the window is short, and averaged over what it has\n"
     "  tail drop    it is left out (PyTorch: drop_last, TensorFlow: drop_remainder)\n"
     "  tail wrap    it is filled from the next epoch\n"
     "`sharding stream` gives replica r part r of each window. `contiguous` and\n"
     "`strided` give each replica rows of its own, as DistributedSampler does - which\n"
     "pads the last rows by repeating some, where here a share is just shorter.\n"},

    {"condition", "conditions until-conditions", "Conditions of until, break and expect",
     "    loss < 0.01\n"
     "    update >= 100 and not (replica 1 loss > 2 or |g| > 10)\n"
     "    hash == 3f9a27c1          the first 8 to 16 digits of the run hash\n"
     "    nan                       the last window's loss or |g| is not finite\n"
     "    noise_scale == nan        the figure is not defined\n"
     "Comparisons are < <= > >= == !=. `and` binds tighter than `or`. The figures are\n"
     "the metrics that `help metrics` lists, alone or behind `replica R`. A figure\n"
     "that is not defined makes every comparison false but == nan and != nan.\n"},

    {"script", "scripts", "Scripts",
     "A script is a file of commands, one a line; # begins a comment, quotes hold\n"
     "blanks together. A moving command ends before the next line starts, and the\n"
     "first line that fails ends the script: gaconsole: FILE:LINE: what was wrong and\n"
     "what was expected. Exit status: 0 fine, 1 an `expect` failed or training stopped\n"
     "on an error, 2 anything else.\n"
     "    say \"two replicas, five micro-batches each\"\n"
     "    set replicas 2 accum 5 batch 5\n"
     "    run 100\n"
     "    ask \"How many examples has a window?\" answer=50 reveal=\"2 x 5 x 5\"\n"
     "    expect loss < 1\n"
     "    wait key\n"
     "In batch `ask` prints question and answer, and `wait key` does nothing. Esc (at\n"
     "the plain prompt ctrl-C) leaves a script and `resume` goes on with it; b at a\n"
     "pause goes back to the one before, with the run as it was. Files\n"
     "named in a script are looked for from here, then beside the script.\n"},
};

#define COUNT (sizeof(topics) / sizeof(topics[0]))

size_t ga_topic_count(void)
{
    return COUNT + ga_topics_of_modes_count + ga_topics_of_files_count;
}

const struct ga_topic *ga_topic_at(size_t position)
{
    if (position < COUNT)
        return &topics[position];
    position -= COUNT;
    if (position < ga_topics_of_modes_count)
        return &ga_topics_of_modes[position];
    position -= ga_topics_of_modes_count;
    return position < ga_topics_of_files_count ? &ga_topics_of_files[position] : NULL;
}

/* Like the words of settings, and whatever the case: PerReplica is typed as perreplica. */
static int same(const char *a, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++) {
        const char x = a[i] == '_' ? '-' : a[i];
        const char y = word[i] == '_' ? '-' : word[i];
        if (strncasecmp(&x, &y, 1) != 0)
            return 0;
    }
    return word[length] == '\0';
}

static int named(const struct ga_topic *topic, const char *word)
{
    if (same(topic->name, strlen(topic->name), word))
        return 1;
    for (const char *at = topic->aliases; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (same(at, length, word))
            return 1;
        at += length;
    }
    return 0;
}

const struct ga_topic *ga_topic_named(const char *word)
{
    for (size_t i = 0; i < ga_topic_count(); i++)
        if (named(ga_topic_at(i), word))
            return ga_topic_at(i);
    return NULL;
}
