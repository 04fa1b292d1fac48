/* Pieces of a generated program that both frameworks share: imports, data, windows, initial
 * weights. */
#include "console/export_code.h"

const struct ga_code_piece ga_code_data_pieces[] = {
    {GA_CODE_PYTORCH, GA_CODE_LOCAL, "import contextlib\n"},
    {0, GA_CODE_PARABOLA,
     "import csv\n"
     "import gzip\n"},
    {0, 0, "import itertools\n"},
    {GA_CODE_COSINE, 0, "import math\n"},
    {0, 0, "import os\n"},
    {GA_CODE_PYTORCH, 0, "import tempfile\n"},
    {0, 0,
     "\n"
     "import numpy as np\n"},
    {GA_CODE_PYTORCH, 0,
     "import torch\n"
     "import torch.distributed as dist\n"
     "import torch.multiprocessing as mp\n"},
    {GA_CODE_PYTORCH, GA_CODE_LOCAL, "from torch.nn.parallel import DistributedDataParallel\n"},
    {GA_CODE_INIT_FILE, 0, "from safetensors.numpy import load_file\n"},
    {GA_CODE_TENSORFLOW, 0,
     "\n"
     "os.environ.setdefault(\"TF_CPP_MIN_LOG_LEVEL\", \"2\")  # before the import: no start-up "
     "messages\n"
     "import tensorflow as tf\n"},
    {0, 0,
     "\n"
     "P, A = $replicas$, $accum$  # replicas; micro-batches that a replica adds up before a step\n"
     "WINDOW = $window$  # examples of a full window$window-rule$\n"},
    {GA_CODE_LOCAL, 0, "H = $period$  # private steps of a round\n"},
    {0, 0,
     "UPDATES, LOG_EVERY = $updates$, $log-every$  # prints after updates 1, 1 + LOG_EVERY, ...\n"
     "WIDTHS = [$widths$]  # units: inputs, hidden layers, outputs\n"},
    {GA_CODE_PARABOLA, 0,
     "\n"
     "# The data: y = x^2 at equally spaced points.\n"
     "x = $low$ + $span$ * np.arange($points$) / $gaps$\n"
     "y = x * x\n"},
    {GA_CODE_NOISE, 0,
     "y += $noise$ * np.random.default_rng($noise-seed$).standard_normal(len(y))\n"},
    {GA_CODE_PARABOLA, 0,
     "x, y = x.astype(np.float32)[:, None], y.astype(np.float32)[:, None]\n"
     "w = np.ones(len(x), np.float32)  # the weight of each example in the loss\n"},
    {0, GA_CODE_PARABOLA,
     "\n"
     "# The data: a CSV file, perhaps gzipped. A relative name counts from where the program is "
     "started.\n"
     "DATA = $file$\n"
     "unpack = gzip.open if open(DATA, \"rb\").read(2) == b\"\\x1f\\x8b\" else open\n"
     "with unpack(DATA, \"rt\", newline=\"\", encoding=\"utf-8-sig\") as lines:\n"
     "    table = [[cell.strip() for cell in row] for row in csv.reader(lines) if row]\n"
     "names = []\n"},
    {GA_CODE_HEADER_AUTO, 0,
     "try:\n"
     "    [float(cell or 0) for cell in table[0]]\n"
     "except ValueError:  # a first line with anything but numbers\n"
     "    names = table.pop(0)\n"},
    {GA_CODE_HEADER, 0, "names = table.pop(0)\n"},
    {GA_CODE_COLUMNS, 0,
     "\n"
     "\n"
     "def column(key):\n"
     "    \"\"\"By name, or by number: from 1, or from -1 backwards.\"\"\"\n"
     "    if key in names:\n"
     "        return names.index(key)\n"
     "    return int(key) - 1 if int(key) > 0 else len(table[0]) + int(key)\n"
     "\n"
     "\n"},
    {0, GA_CODE_PARABOLA, "weight = [$weight-columns$]\n"},
    {GA_CODE_TARGET, 0, "target = [$target-columns$]\n"},
    {0, GA_CODE_PARABOLA | GA_CODE_TARGET,
     "target = [max(c for c in range(len(table[0])) if c not in weight)]  # the last column\n"},
    {0, GA_CODE_PARABOLA,
     "inputs = [c for c in range(len(table[0])) if c not in weight + target]\n"
     "values = np.array(table, dtype=np.float64)\n"
     "x = (values[:, inputs] * $scale-of-inputs$).astype(np.float32)\n"},
    {GA_CODE_CLASSES, 0, "y = values[:, target[0]].astype(np.int64)\n"},
    {0, GA_CODE_CLASSES | GA_CODE_PARABOLA, "y = values[:, target].astype(np.float32)\n"},
    {GA_CODE_WEIGHTED, 0,
     "w = values[:, weight[0]].astype(np.float32)  # the weight of each example in the loss\n"},
    {0, GA_CODE_WEIGHTED | GA_CODE_PARABOLA,
     "w = np.ones(len(x), np.float32)  # the weight of each example in the loss\n"},
    {0, GA_CODE_PARABOLA,
     "TRAIN, TEST = $train$, $test$  # rows; the held-out ones stand behind\n"},
    {GA_CODE_DRAWN, 0,
     "drawn = np.random.default_rng($split-seed$).permutation(len(x))[: TRAIN + TEST]\n"
     "rows = np.concatenate([np.sort(drawn[:TRAIN]), np.sort(drawn[TRAIN:])])\n"
     "x, y, w = x[rows], y[rows], w[rows]\n"},
    {GA_CODE_HELD_OUT, 0,
     "x_test, y_test, w_test = (a[TRAIN : TRAIN + TEST] for a in (x, y, w))\n"},
    {0, GA_CODE_PARABOLA, "x, y, w = x[:TRAIN], y[:TRAIN], w[:TRAIN]\n"},
    {0, 0,
     "\n"
     "\n"
     "def windows():\n"
     "    \"\"\"One window after the other: a list with the rows of each replica.\"\"\"\n"},
    {0, GA_CODE_SHARDED | GA_CODE_WRAP,
     "    for epoch in itertools.count():\n"
     "        order = $order-of-epoch$\n"},
    {0, GA_CODE_SHARDED | GA_CODE_WRAP | GA_CODE_DROP,
     "        for at in range(0, len(order), WINDOW):  # the last one of an epoch may be short\n"},
    {GA_CODE_DROP, GA_CODE_SHARDED,
     "        for at in range(0, len(order) - WINDOW + 1, WINDOW):  # a short one is left out\n"},
    {0, GA_CODE_SHARDED | GA_CODE_WRAP,
     "            yield np.array_split(order[at : at + WINDOW], P)\n"},
    {GA_CODE_WRAP, GA_CODE_SHARDED,
     "    rest = np.empty(0, np.int64)\n"
     "    for epoch in itertools.count():\n"
     "        rest = np.append(rest, $order-of-epoch$)\n"
     "        while len(rest) >= WINDOW:\n"
     "            yield np.array_split(rest[:WINDOW], P)\n"
     "            rest = rest[WINDOW:]\n"},
    {GA_CODE_SHARDED, 0,
     "    owned = $shards$\n"
     "    shares = [len(part) for part in np.array_split(range(WINDOW), P)]\n"},
    {GA_CODE_SHARDED, GA_CODE_WRAP,
     "    for epoch in itertools.count():\n"
     "        order = $order-of-epoch$\n"
     "        left = [order[np.isin(order, rows)] for rows in owned]\n"},
    {GA_CODE_SHARDED, GA_CODE_WRAP | GA_CODE_DROP,
     "        while any(len(rows) for rows in left):\n"},
    {GA_CODE_SHARDED | GA_CODE_DROP, 0,
     "        while all(len(rows) >= n for rows, n in zip(left, shares)):\n"},
    {GA_CODE_SHARDED, GA_CODE_WRAP,
     "            yield [rows[:n] for rows, n in zip(left, shares)]\n"
     "            left = [rows[n:] for rows, n in zip(left, shares)]\n"},
    {GA_CODE_SHARDED | GA_CODE_WRAP, 0,
     "    left, epochs = [np.empty(0, np.int64) for _ in range(P)], [0] * P\n"
     "    while True:\n"
     "        for r, n in enumerate(shares):\n"
     "            while len(owned[r]) > 0 and len(left[r]) < n:  # this replica's next epoch\n"
     "                epoch, epochs[r] = epochs[r], epochs[r] + 1\n"
     "                order = $order-of-epoch$\n"
     "                left[r] = np.append(left[r], order[np.isin(order, owned[r])])\n"
     "        yield [rows[:n] for rows, n in zip(left, shares)]\n"
     "        left = [rows[n:] for rows, n in zip(left, shares)]\n"},
    {GA_CODE_INLINE, 0,
     "\n"
     "\n"
     "# Where the weights start, by PyTorch's names and shapes: weights [out, in], biases [out].\n"
     "START = {\n"
     "$start$}\n"
     "START = {name: np.array(value, np.float32) for name, value in START.items()}\n"},
    {GA_CODE_INIT_FILE, 0,
     "\n"
     "\n"
     "# Where the weights start, by PyTorch's names and shapes: weights [out, in], biases [out].\n"
     "START = {name: value.astype(np.float32) for name, value in "
     "load_file($init-file$).items()}\n"},
    {0, GA_CODE_INLINE | GA_CODE_INIT_FILE,
     "\n"
     "\n"
     "# Where the weights start, by PyTorch's names and shapes: weights [out, in], biases [out].\n"
     "rng = np.random.default_rng($seed$)\n"
     "START = {}\n"
     "for layer, (fan_in, fan_out) in enumerate(zip(WIDTHS, WIDTHS[1:])):\n"
     "    START[f\"layers.{layer}.weight\"] = $draw-weight$\n"
     "    START[f\"layers.{layer}.bias\"] = $draw-bias$\n"
     "START = {name: value.astype(np.float32) for name, value in START.items()}\n"},
    {GA_CODE_RATE, 0,
     "\n"
     "\n"
     "def rate(done):\n"
     "    \"\"\"The learning rate after `done` steps: by step, not by micro-batch.\"\"\"\n"},
    {GA_CODE_WARMUP, 0,
     "    if done < $warmup$:\n"
     "        return $lr$ * (done + 1) / $warmup$\n"
     "    done -= $warmup$\n"},
    {GA_CODE_STEP, 0, "    return $lr$ * $schedule-value$ ** (done // $schedule-every$)\n"},
    {GA_CODE_COSINE, 0,
     "    part = min(done, $schedule-every$) / $schedule-every$\n"
     "    return $schedule-value$ + ($lr$ - $schedule-value$) * (1 + math.cos(math.pi * part)) / "
     "2\n"},
    {GA_CODE_WARMUP, GA_CODE_STEP | GA_CODE_COSINE, "    return $lr$\n"},
    {0, 0, NULL},
};
