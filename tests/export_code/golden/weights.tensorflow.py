#!/usr/bin/env python3
"""Gradient accumulation on 2 replicas, in TensorFlow 2 (MirroredStrategy).

One update uses one window of examples: it is split over P replicas, each share over A
micro-batches, and the gradient is that of the mean loss of the window: the sum over ALL its
examples, divided once, by their weight. So a short last window and uneven shares come out right.

MirroredStrategy has no accumulation of its own, and what one tries first ends in errors:
- gradients summed outside strategy.run: there they are PerReplica containers, one value for
  each replica, with no + between them, and apply_gradients does not take them;
- apply_gradients in strategy.run, but under a condition on a tensor: "`merge_call` called while
  defining a new graph or a tf.function", since all replicas have to meet in it. The optimizers'
  own gradient_accumulation_steps (Keras 3) has such a condition in it.
Below is what works: accumulators that each replica keeps for itself, all A micro-batches in one
strategy.run, and one apply_gradients behind them. That SUMS over replicas, it does not average:
hence each loss is divided by the weight of the whole window, never of a replica's part of it.

Start it with `python3 THIS_FILE`. It needs NumPy and TensorFlow.

It starts from the run's own weights and takes the examples in the same order, so the losses are
those that gaconsole printed, but for rounding.
"""
import csv
import gzip
import itertools
import os

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before the import: no start-up messages
import tensorflow as tf

P, A = 2, 2  # replicas; micro-batches that a replica adds up before a step
WINDOW = 3  # examples of a full window, whatever P and A are
UPDATES, LOG_EVERY = 50, 5  # prints after updates 1, 1 + LOG_EVERY, ...
WIDTHS = [1, 3, 2]  # units: inputs, hidden layers, outputs

# The data: a CSV file, perhaps gzipped. A relative name counts from where the program is started.
DATA = "weights.csv"
unpack = gzip.open if open(DATA, "rb").read(2) == b"\x1f\x8b" else open
with unpack(DATA, "rt", newline="", encoding="utf-8-sig") as lines:
    table = [[cell.strip() for cell in row] for row in csv.reader(lines) if row]
names = []
try:
    [float(cell or 0) for cell in table[0]]
except ValueError:  # a first line with anything but numbers
    names = table.pop(0)


def column(key):
    """By name, or by number: from 1, or from -1 backwards."""
    if key in names:
        return names.index(key)
    return int(key) - 1 if int(key) > 0 else len(table[0]) + int(key)


weight = [column("w")]
target = [column("y2"), column("2")]
inputs = [c for c in range(len(table[0])) if c not in weight + target]
values = np.array(table, dtype=np.float64)
x = (values[:, inputs] * 1).astype(np.float32)
y = values[:, target].astype(np.float32)
w = values[:, weight[0]].astype(np.float32)  # the weight of each example in the loss
TRAIN, TEST = 5, 0  # rows; the held-out ones stand behind
x, y, w = x[:TRAIN], y[:TRAIN], w[:TRAIN]


def windows():
    """One window after the other: a list with the rows of each replica."""
    for epoch in itertools.count():
        order = np.arange(len(x))
        for at in range(0, len(order), WINDOW):  # the last one of an epoch may be short
            yield np.array_split(order[at : at + WINDOW], P)


# Where the weights start, by PyTorch's names and shapes: weights [out, in], biases [out].
START = {
    "layers.0.weight":
        [[1.6981304], [-1.2298827], [-1.4280119]],
    "layers.0.bias":
        [0.49632442, 1.5509552, -2.3872008],
    "layers.1.weight":
        [[-1.4186378, 1.1222782, -0.17294835], [-0.2732749, 1.7341241, 0.41806963]],
    "layers.1.bias":
        [0.5772029, 0.7677514],
}
START = {name: np.array(value, np.float32) for name, value in START.items()}

gpus = tf.config.list_physical_devices("GPU")
if len(gpus) < P:  # then P devices are cut out of the CPU
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * P)
kind = "CPU" if len(gpus) < P else "GPU"
strategy = tf.distribute.MirroredStrategy([f"{kind}:{r}" for r in range(P)])

with strategy.scope():
    hidden = [tf.keras.layers.Dense(n, "tanh", use_bias=True) for n in WIDTHS[1:-1]]
    model = tf.keras.Sequential(hidden + [tf.keras.layers.Dense(WIDTHS[-1], use_bias=True)])
    model.build((None, WIDTHS[0]))
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)
    # ON_READ: in strategy.run assign_add changes the replica's own copy and asks nobody; read
    # outside of it, such a variable is the SUM of the copies. An ordinary mirrored variable
    # (ON_WRITE) is meant to be equal on all replicas, which these are not.
    accumulators = [
        tf.Variable(
            tf.zeros(variable.shape),
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        for variable in model.trainable_variables
    ]
for number, layer in enumerate(model.layers):
    kernel = START[f"layers.{number}.weight"].T  # [in, out]
    layer.set_weights([kernel, START[f"layers.{number}.bias"]])


def losses(outputs, targets):
    """One loss for each example."""
    return tf.reduce_sum(tf.square(outputs - targets), axis=1)


def replica_step(x, y, w, total):
    """All that a replica does for an update; x is [A, examples, inputs]."""
    variables = model.trainable_variables
    for accumulator in accumulators:
        accumulator.assign(tf.zeros_like(accumulator))
    for k in tf.range(A):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w[k] * losses(model(x[k]), y[k])) / total
        for accumulator, gradient in zip(accumulators, tape.gradient(loss, variables)):
            accumulator.assign_add(gradient)
    gradients = [accumulator.read_value() for accumulator in accumulators]  # its own
    optimizer.apply_gradients(zip(gradients, variables))  # sums over replicas, then updates


@tf.function
def update_weights(x, y, w, total):
    strategy.run(replica_step, (x, y, w, total))


def micro_batches(rows):
    """A micro-batches of equal shape, filled up with examples of weight 0, which add nothing."""
    room = -(-WINDOW // (P * A))  # the largest micro-batch of a full window
    index, weight = np.zeros((A, room), np.int64), np.zeros((A, room), np.float32)
    for k, part in enumerate(np.array_split(rows, A)):
        index[k, : len(part)] = part
        weight[k, : len(part)] = w[part]
    return x[index], y[index], weight


def per_replica(values):
    """Gives replica r values[r]."""
    return strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(values[context.replica_id_in_sync_group])
    )


for update, window in zip(range(1, UPDATES + 1), windows()):
    total = np.float32(sum(w[share].sum() for share in window))  # of the whole window
    if total == 0:
        continue  # nothing in it counts
    X, Y, W = (per_replica(values) for values in zip(*map(micro_batches, window)))
    update_weights(X, Y, W, tf.constant(total))
    if (update - 1) % LOG_EVERY == 0:
        loss = tf.reduce_sum(w * losses(model(x), y)) / w.sum()
        print(f"update {update:7d}  dataset_loss {loss:.6g}", flush=True)
