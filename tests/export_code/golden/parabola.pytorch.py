#!/usr/bin/env python3
"""Gradient accumulation on 2 replicas, in PyTorch (DistributedDataParallel).

One update uses one window of examples: it is split over P replicas, each share over A
micro-batches, and the gradient is that of the mean loss of the window: the sum over ALL its
examples, divided once, by their weight. So a short last window and uneven shares come out right.

backward() under DDP averages the gradients over processes, however many examples they had. So
each loss is a sum times P / (weight of the whole window). The first A - 1 micro-batches run
under no_sync(): they only add to .grad, and the last backward() reduces what was added.

    python3 THIS_FILE                      # starts the processes itself
    torchrun --nproc_per_node=2 THIS_FILE  # has torchrun start them

It needs NumPy and PyTorch.

It starts from the run's own weights and takes the examples in the same order, so the losses are
those that gaconsole printed, but for rounding.
"""
import contextlib
import itertools
import os
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

P, A = 2, 5  # replicas; micro-batches that a replica adds up before a step
WINDOW = 50  # examples of a full window: P * A * 5
UPDATES, LOG_EVERY = 300, 50  # prints after updates 1, 1 + LOG_EVERY, ...
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
    replica = DistributedDataParallel(model, device_ids=[local] if gpus else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for update, window in zip(range(1, UPDATES + 1), windows()):
        total = float(sum(w[share].sum() for share in window))  # all know it without asking
        # Empty micro-batches are not run, but every process needs one that synchronizes.
        micros = [m for m in np.array_split(window[rank], A) if len(m)] or [window[rank]]
        for k, rows in enumerate(micros):
            last = k == len(micros) - 1
            # The forward pass must be inside no_sync() as well: it is what decides.
            with contextlib.nullcontext() if last else replica.no_sync():
                loss = (W[rows] * losses(replica(X[rows]), Y[rows])).sum()
                (loss * (P / total)).backward()
        optimizer.step()
        optimizer.zero_grad()
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
