/* Pieces of a generated program: TensorFlow 2, mode sync on MirroredStrategy. */
#include "console/export_code.h"

const struct ga_code_piece ga_code_tensorflow_pieces[] = {
    {GA_CODE_TENSORFLOW, 0,
     "\n"
     "gpus = tf.config.list_physical_devices(\"GPU\")\n"
     "if len(gpus) < P:  # then P devices are cut out of the CPU\n"
     "    cpu = tf.config.list_physical_devices(\"CPU\")[0]\n"
     "    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] "
     "* P)\n"
     "kind = \"CPU\" if len(gpus) < P else \"GPU\"\n"
     "strategy = tf.distribute.MirroredStrategy([f\"{kind}:{r}\" for r in range(P)])\n"
     "\n"
     "with strategy.scope():\n"
     "    hidden = [tf.keras.layers.Dense(n, $activated$, use_bias=$with-bias$) for n in "
     "WIDTHS[1:-1]]\n"
     "    model = tf.keras.Sequential(hidden + [tf.keras.layers.Dense(WIDTHS[-1], "
     "use_bias=$with-bias$)])\n"
     "    model.build((None, WIDTHS[0]))\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_ADAM, 0,
     "    # Keras adds epsilon to the root before the bias correction, PyTorch and gaconsole after "
     "it:\n"
     "    # early updates differ where a gradient is not much larger than epsilon.\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_MOMENTUM | GA_CODE_RATE, 0,
     "    # Keras keeps lr * gradient in the momentum, PyTorch and gaconsole the gradient: they "
     "part\n"
     "    # when lr changes.\n"},
    {GA_CODE_TENSORFLOW, 0,
     "    optimizer = $new-optimizer$\n"
     "    optimizer.build(model.trainable_variables)\n"
     "    # ON_READ: in strategy.run assign_add changes the replica's own copy and asks nobody; "
     "read\n"
     "    # outside of it, such a variable is the SUM of the copies. An ordinary mirrored "
     "variable\n"
     "    # (ON_WRITE) is meant to be equal on all replicas, which these are not.\n"
     "    accumulators = [\n"
     "        tf.Variable(\n"
     "            tf.zeros(variable.shape),\n"
     "            trainable=False,\n"
     "            synchronization=tf.VariableSynchronization.ON_READ,\n"
     "            aggregation=tf.VariableAggregation.SUM,\n"
     "        )\n"
     "        for variable in model.trainable_variables\n"
     "    ]\n"
     "for number, layer in enumerate(model.layers):\n"
     "    kernel = START[f\"layers.{number}.weight\"].T  # [in, out]\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_BIAS, 0,
     "    layer.set_weights([kernel, START[f\"layers.{number}.bias\"]])\n"},
    {GA_CODE_TENSORFLOW, GA_CODE_BIAS, "    layer.set_weights([kernel])\n"},
    {GA_CODE_TENSORFLOW, 0,
     "\n"
     "\n"
     "def losses(outputs, targets):\n"
     "    \"\"\"One loss for each example.\"\"\"\n"
     "    return $losses$\n"
     "\n"
     "\n"
     "def replica_step(x, y, w, total):\n"
     "    \"\"\"All that a replica does for an update; x is [A, examples, inputs].\"\"\"\n"
     "    variables = model.trainable_variables\n"
     "    for accumulator in accumulators:\n"
     "        accumulator.assign(tf.zeros_like(accumulator))\n"
     "    for k in tf.range(A):\n"
     "        with tf.GradientTape() as tape:\n"},
    {GA_CODE_TENSORFLOW, GA_CODE_SUM,
     "            loss = tf.reduce_sum(w[k] * losses(model(x[k]), y[k])) / total\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_SUM, 0,
     "            loss = tf.reduce_sum(w[k] * losses(model(x[k]), y[k]))\n"},
    {GA_CODE_TENSORFLOW, 0,
     "        for accumulator, gradient in zip(accumulators, tape.gradient(loss, variables)):\n"
     "            accumulator.assign_add(gradient)\n"
     "    gradients = [accumulator.read_value() for accumulator in accumulators]  # its own\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_CLIP, 0,
     "    # Clipping needs the window's gradient, so the sum over replicas is made here. The "
     "optimizer\n"
     "    # will sum again, over P equal copies: hence the division by P.\n"
     "    context = tf.distribute.get_replica_context()\n"
     "    gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)\n"
     "    scale = tf.minimum(1.0, $clip$ / (tf.linalg.global_norm(gradients) + 1e-6)) / P\n"
     "    gradients = [scale * gradient for gradient in gradients]\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_COUPLED, 0,
     "    # Weight decay as part of the gradient. (Keras's weight_decay is AdamW's.) P of them are "
     "summed.\n"
     "    gradients = [g + $weight-decay$ / P * v for g, v in zip(gradients, variables)]\n"},
    {GA_CODE_TENSORFLOW, 0,
     "    optimizer.apply_gradients(zip(gradients, variables))  # sums over replicas, then "
     "updates\n"
     "\n"
     "\n"
     "@tf.function\n"
     "def update_weights(x, y, w, total):\n"
     "    strategy.run(replica_step, (x, y, w, total))\n"
     "\n"
     "\n"
     "def micro_batches(rows):\n"
     "    \"\"\"A micro-batches of equal shape, filled up with examples of weight 0, which add "
     "nothing.\"\"\"\n"
     "    room = -(-WINDOW // (P * A))  # the largest micro-batch of a full window\n"
     "    index, weight = np.zeros((A, room), np.int64), np.zeros((A, room), np.float32)\n"
     "    for k, part in enumerate(np.array_split(rows, A)):\n"
     "        index[k, : len(part)] = part\n"
     "        weight[k, : len(part)] = w[part]\n"
     "    return x[index], y[index], weight\n"
     "\n"
     "\n"
     "def per_replica(values):\n"
     "    \"\"\"Gives replica r values[r].\"\"\"\n"
     "    return strategy.experimental_distribute_values_from_function(\n"
     "        lambda context: tf.constant(values[context.replica_id_in_sync_group])\n"
     "    )\n"
     "\n"
     "\n"
     "for update, window in zip(range(1, UPDATES + 1), windows()):\n"
     "    total = np.float32(sum(w[share].sum() for share in window))  # of the whole window\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_WEIGHTED, 0,
     "    if total == 0:\n"
     "        continue  # nothing in it counts\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_RATE, 0,
     "    optimizer.learning_rate.assign(rate(update - 1))\n"},
    {GA_CODE_TENSORFLOW, 0,
     "    X, Y, W = (per_replica(values) for values in zip(*map(micro_batches, window)))\n"
     "    update_weights(X, Y, W, tf.constant(total))\n"
     "    if (update - 1) % LOG_EVERY == 0:\n"
     "        loss = tf.reduce_sum(w * losses(model(x), y)) / w.sum()\n"
     "        print(f\"update {update:7d}  dataset_loss {loss:.6g}\", flush=True)\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_HELD_OUT, 0,
     "outputs = model(x_test)\n"
     "print(f\"test_loss {tf.reduce_sum(w_test * losses(outputs, y_test)) / "
     "w_test.sum():.6g}\")\n"},
    {GA_CODE_TENSORFLOW | GA_CODE_HELD_OUT | GA_CODE_CLASSES, 0,
     "print(f\"accuracy {(tf.argmax(outputs, 1).numpy() == y_test).mean():.6g}\")\n"},
    {0, 0, NULL},
};
