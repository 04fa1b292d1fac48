#!/usr/bin/env python3
"""Gradient accumulation on 3 replicas, in TensorFlow 2 (MirroredStrategy).

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
import itertools
import os

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before the import: no start-up messages
import tensorflow as tf

P, A = 3, 4  # replicas; micro-batches that a replica adds up before a step
WINDOW = 24  # examples of a full window: P * A * 2
UPDATES, LOG_EVERY = 100, 20  # prints after updates 1, 1 + LOG_EVERY, ...
WIDTHS = [1, 5, 1]  # units: inputs, hidden layers, outputs

# The data: y = x^2 at equally spaced points.
x = -2 + 4 * np.arange(50) / 49
y = x * x
x, y = x.astype(np.float32)[:, None], y.astype(np.float32)[:, None]
w = np.ones(len(x), np.float32)  # the weight of each example in the loss


def windows():
    """One window after the other: a list with the rows of each replica."""
    for epoch in itertools.count():
        order = np.arange(len(x))
        for at in range(0, len(order), WINDOW):  # the last one of an epoch may be short
            yield np.array_split(order[at : at + WINDOW], P)


# Where the weights start, by PyTorch's names and shapes: weights [out, in], biases [out].
START = {
    "layers.0.weight":
        [[1.6981304], [-1.2298827], [-1.4280119], [0.49632442], [1.5509552]],
    "layers.0.bias":
        [-2.3872008, -1.4186378, 1.1222782, -0.17294835, -0.2732749],
    "layers.1.weight":
        [[1.7341241, 0.41806963, 0.5772029, 0.7677514, 1.8986185]],
    "layers.1.bias":
        [-1.1784129],
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
    optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True)
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
    # Clipping needs the window's gradient, so the sum over replicas is made here. The optimizer
    # will sum again, over P equal copies: hence the division by P.
    context = tf.distribute.get_replica_context()
    gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
    scale = tf.minimum(1.0, 1 / (tf.linalg.global_norm(gradients) + 1e-6)) / P
    gradients = [scale * gradient for gradient in gradients]
    # Weight decay as part of the gradient. (Keras's weight_decay is AdamW's.) P of them are summed.
    gradients = [g + 0.01 / P * v for g, v in zip(gradients, variables)]
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
    X, Y, W = (per_replica(values) for values in zip(*map(micro_batches, window)))
    update_weights(X, Y, W, tf.constant(total))
    if (update - 1) % LOG_EVERY == 0:
        loss = tf.reduce_sum(w * losses(model(x), y)) / w.sum()
        print(f"update {update:7d}  dataset_loss {loss:.6g}", flush=True)
