#!/usr/bin/env python3
"""Local SGD on 4 replicas with gradient accumulation, in PyTorch.

One update is one round: each replica makes H private steps with an optimizer of its own, each
on its share of one window of examples, taken in A micro-batches; then the weights are averaged,
weighted by the examples that each replica had in the round.
Old minus average is then the gradient of a second optimizer, the same on all replicas.

    python3 THIS_FILE                      # starts the processes itself
    torchrun --nproc_per_node=4 THIS_FILE  # has torchrun start them

It needs NumPy and PyTorch.

It starts from the run's own weights and takes the examples in the same order, so the losses are
those that gaconsole printed, but for rounding.
"""
import itertools
import os
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

P, A = 4, 1  # replicas; micro-batches that a replica adds up before a step
WINDOW = 10  # examples of a full window, whatever P and A are
H = 3  # private steps of a round
UPDATES, LOG_EVERY = 60, 10  # prints after updates 1, 1 + LOG_EVERY, ...
WIDTHS = [1, 5, 1]  # units: inputs, hidden layers, outputs

# The data: y = x^2 at equally spaced points.
x = -2 + 4 * np.arange(50) / 49
y = x * x
x, y = x.astype(np.float32)[:, None], y.astype(np.float32)[:, None]
w = np.ones(len(x), np.float32)  # the weight of each example in the loss


def windows():
    """One window after the other: a list with the rows of each replica."""
    owned = np.array_split(np.arange(len(x)), P)
    shares = [len(part) for part in np.array_split(range(WINDOW), P)]
    for epoch in itertools.count():
        order = np.arange(len(x))
        left = [order[np.isin(order, rows)] for rows in owned]
        while any(len(rows) for rows in left):
            yield [rows[:n] for rows, n in zip(left, shares)]
            left = [rows[n:] for rows, n in zip(left, shares)]


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


def rate(done):
    """The learning rate after `done` steps: by step, not by micro-batch."""
    return 0.02 * 0.9 ** (done // 20)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(*sizes, bias=True) for sizes in zip(WIDTHS, WIDTHS[1:])
        )
        self.load_state_dict({k: torch.from_numpy(START[k]) for k in self.state_dict()})

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.tanh(layer(x))
        return self.layers[-1](x)


def losses(outputs, targets):
    """One loss for each example."""
    return ((outputs - targets) ** 2).sum(dim=1)


def train(rank, meeting):
    """What each of the P processes does."""
    local = int(os.environ.get("LOCAL_RANK", rank))
    gpus = torch.cuda.device_count() >= int(os.environ.get("LOCAL_WORLD_SIZE", P))
    device = torch.device("cuda", local) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)  # P processes share the cores
    dist.init_process_group("nccl" if gpus else "gloo", meeting, rank=rank, world_size=P)
    X, Y, W = (torch.from_numpy(a).to(device) for a in (x, y, w))
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.5)
    server = [p.detach().clone().requires_grad_() for p in model.parameters()]
    outer = torch.optim.SGD(server, lr=0.7, momentum=0.5, nesterov=True)
    steps = 0  # private ones; they drive the schedule
    stream = windows()
    for update in range(1, UPDATES + 1):
        round_ = [next(stream) for _ in range(H)]
        for window in round_:
            total = float(w[window[rank]].sum())
            if total == 0:
                continue  # no piece for this replica: no step
            for rows in (m for m in np.array_split(window[rank], A) if len(m)):
                loss = (W[rows] * losses(model(X[rows]), Y[rows])).sum()
                (loss / total).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5)
            optimizer.param_groups[0]["lr"] = rate(steps)
            steps += 1
            optimizer.step()
            optimizer.zero_grad()
        # The average, weighted by examples. The optimizer's own state stays private.
        mine = sum(len(window[rank]) for window in round_)
        everyone = sum(len(share) for window in round_ for share in window)
        with torch.no_grad():
            for p in model.parameters():
                p *= mine / everyone
                dist.all_reduce(p)  # adds
        for s, p in zip(server, model.parameters()):
            s.grad = s.detach() - p.detach()
        outer.step()
        with torch.no_grad():
            for s, p in zip(server, model.parameters()):
                p.copy_(s)
        if rank == 0 and (update - 1) % LOG_EVERY == 0:
            with torch.no_grad():
                loss = (W * losses(model(X), Y)).sum() / W.sum()
            print(f"update {update:7d}  dataset_loss {loss:.6g}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if "RANK" in os.environ:  # torchrun started this process
        if int(os.environ["WORLD_SIZE"]) != P:
            raise SystemExit(f"{os.environ['WORLD_SIZE']} processes were started, expected {P}")
        train(int(os.environ["RANK"]), "env://")
    else:
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(train, (f"file://{folder}/meeting",), nprocs=P)
