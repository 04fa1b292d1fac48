#!/usr/bin/env python3
"""The work of `gaconsole bench mlp` in PyTorch and NumPy, where they are installed, beside gaconsole.

    tests/peers.py [--program build/release/gaconsole] [--rounds 5] [--updates 40]

Trains 784-512-512-10 (relu, cross-entropy, batch 128, plain SGD, every loss recorded) with one thread:
gaconsole, PyTorch eager, NumPy; and with two processes of one thread each: PyTorch's
DistributedDataParallel over gloo. Contenders take turns; medians and best are printed, the medians of
the ratios within rounds, and the ratios of the best. Nothing else needs this script; missing packages are said and left out.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
for name in THREADS:
    os.environ[name] = "1"

SIZES = (784, 512, 512, 10)
BATCH = 128
IMAGES = 2048
RATE = 0.01


def of_numpy(updates):
    import numpy as np

    draw = np.random.default_rng(1)
    x = draw.random((IMAGES, SIZES[0]), dtype=np.float32)
    y = draw.integers(0, SIZES[-1], IMAGES)
    w = [(draw.standard_normal((o, i)) * (2 / i) ** 0.5).astype(np.float32) for i, o in zip(SIZES, SIZES[1:])]
    b = [np.zeros(o, np.float32) for o in SIZES[1:]]

    def run():
        losses = []
        for k in range(updates):
            at = k * BATCH % IMAGES
            a = [x[at:at + BATCH]]
            for layer in range(3):
                z = a[-1] @ w[layer].T + b[layer]
                a.append(np.maximum(z, 0) if layer < 2 else z)
            t = y[at:at + BATCH]
            p = np.exp(a[3] - a[3].max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            losses.append(float(-np.log(p[np.arange(BATCH), t]).mean()))
            p[np.arange(BATCH), t] -= 1
            d = p / BATCH
            for layer in (2, 1, 0):
                back = d @ w[layer] * (a[layer] > 0) if layer else None
                w[layer] -= RATE * (d.T @ a[layer])
                b[layer] -= RATE * d.sum(0)
                d = back
        return losses

    return run


def torch_model():
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(1)
    layers = []
    for i, o in zip(SIZES, SIZES[1:]):
        layers += [torch.nn.Linear(i, o), torch.nn.ReLU()]
    return torch, torch.nn.Sequential(*layers[:-1])


def torch_loop(torch, model, updates):
    x = torch.rand(IMAGES, SIZES[0])
    y = torch.randint(0, SIZES[-1], (IMAGES,))
    step = torch.optim.SGD(model.parameters(), lr=RATE)
    criterion = torch.nn.CrossEntropyLoss()

    def run():
        losses = []
        for k in range(updates):
            at = k * BATCH % IMAGES
            step.zero_grad()
            loss = criterion(model(x[at:at + BATCH]), y[at:at + BATCH])
            loss.backward()
            step.step()
            losses.append(loss.item())
        return losses

    return run


def of_torch(updates):
    torch, model = torch_model()
    return torch_loop(torch, model, updates)


def ddp_worker(rank, port, updates):
    """One of two processes: runs a round for each line that it reads, and prints wall and CPU time of it."""
    torch, model = torch_model()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    run = torch_loop(torch, torch.nn.parallel.DistributedDataParallel(model), updates)
    run()
    for _ in sys.stdin:
        torch.distributed.barrier()
        print(*timed(lambda: (run(), torch.distributed.barrier())), flush=True)
    torch.distributed.destroy_process_group()


class Ddp:
    """Both processes, which wait between rounds."""

    def __init__(self, updates):
        port = 20000 + os.getpid() % 20000
        command = [sys.executable, os.path.abspath(__file__), "--ddp", str(port), "--updates", str(updates)]
        self.work = 2 * updates * BATCH
        self.ranks = [subprocess.Popen(command + ["--rank", str(rank)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True, bufsize=1) for rank in (0, 1)]

    def round(self):
        """Samples per second of wall time, and of CPU time of both."""
        for rank in self.ranks:
            rank.stdin.write("go\n")
        times = [[float(word) for word in rank.stdout.readline().split()] for rank in self.ranks]
        return self.work / times[0][0], self.work / (times[0][1] + times[1][1])

    def close(self):
        for rank in self.ranks:
            rank.stdin.close()
        for rank in self.ranks:
            rank.wait()


def of_gaconsole(program, updates):
    """Samples per second of wall time and of CPU time, of one replica and of two."""
    environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    out = subprocess.run([program, "bench", "mlp", "--json", "--rounds", "1", "--updates", str(20 * updates)],
                         stdout=subprocess.PIPE, check=True, text=True, env=environment).stdout
    figures = json.loads(out)
    return [(figures[key]["best"], figures[key]["best_cpu"]) for key in ("one", "two")]


def timed(run):
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


def compare(arguments):
    work = arguments.updates * BATCH
    peers = {}
    for name, make in (("PyTorch eager", of_torch), ("NumPy", of_numpy)):
        try:
            peers[name] = make(arguments.updates)
        except ImportError:
            print(f"{name}: not installed")
    ddp = Ddp(arguments.updates) if "PyTorch eager" in peers else None
    rates = {name: [] for name in peers}
    one, two, of_ddp = [], [], []
    for name in peers:
        peers[name]()  # what only the first round has to do
    for _ in range(arguments.rounds):
        for all_rates, rate in zip((one, two), of_gaconsole(arguments.program, arguments.updates)):
            all_rates.append(rate)
        for name, run in peers.items():
            rates[name].append([work / t for t in timed(run)])
        if ddp:
            of_ddp.append(ddp.round())
    if ddp:
        ddp.close()
    report("gaconsole, 1 replica", one, None)
    for name in peers:
        report(name + ", 1 thread", rates[name], one)
    report("gaconsole, 2 replicas", two, None)
    if ddp:
        report("PyTorch DDP, gloo, 2 x 1 thread", of_ddp, two)


def report(name, rates, own):
    wall, cpu = zip(*rates)
    line = f"{name:32} median {statistics.median(wall):6.0f}  best {max(wall):6.0f}  best by CPU time {max(cpu):6.0f}"
    if own:
        ratio = [statistics.median(o[i] / r[i] for o, r in zip(own, rates)) for i in (0, 1)]
        line += f"   gaconsole {ratio[0]:.2f}x, by CPU time {ratio[1]:.2f}x"
        line += f"; of the best {max(o[0] for o in own) / max(wall):.2f}x, {max(o[1] for o in own) / max(cpu):.2f}x"
    print(line)


def main():
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(top, "build", "release", "gaconsole"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--updates", type=int, default=120)
    parser.add_argument("--ddp", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ddp:
        ddp_worker(arguments.rank, arguments.ddp, arguments.updates)
    else:
        compare(arguments)


if __name__ == "__main__":
    main()
