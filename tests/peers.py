#!/usr/bin/env python3
"""The work of `gaconsole bench mlp` in PyTorch and NumPy, where they are installed, beside gaconsole.

    tests/peers.py [--program build/release/gaconsole] [--rounds 5] [--updates 40]

Trains 784-512-512-10 (relu, cross-entropy, batch 128, plain SGD, every loss recorded) with one thread:
gaconsole, PyTorch eager, NumPy; and with two processes of one thread each: PyTorch's
DistributedDataParallel over gloo. Contenders take turns; medians and best are printed, and the
ratios of the best. Nothing else needs this script; missing packages are said and left out.
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


def ddp_worker(rank, port, updates, rounds):
    """One of two processes: prints the wall time of each round."""
    torch, model = torch_model()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    run = torch_loop(torch, torch.nn.parallel.DistributedDataParallel(model), updates)
    run()
    for _ in range(rounds):
        torch.distributed.barrier()
        began = time.perf_counter()
        run()
        torch.distributed.barrier()
        if rank == 0:
            print(time.perf_counter() - began, flush=True)
    torch.distributed.destroy_process_group()


def of_ddp(updates, rounds):
    """Samples per second of each round: its processes run by themselves."""
    port = 20000 + os.getpid() % 20000
    command = [sys.executable, os.path.abspath(__file__), "--ddp", str(port), "--rounds", str(rounds), "--updates",
               str(updates)]
    other = subprocess.Popen(command + ["--rank", "1"])
    out = subprocess.run(command + ["--rank", "0"], stdout=subprocess.PIPE, check=True, text=True).stdout
    other.wait()
    return [2 * updates * BATCH / float(line) for line in out.split()]


def of_gaconsole(program, rounds, updates):
    """Best and median samples per second of one replica and of two, and by CPU time."""
    environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    out = subprocess.run([program, "bench", "mlp", "--json", "--rounds", str(rounds), "--updates", str(50 * updates)],
                         stdout=subprocess.PIPE, check=True, text=True, env=environment).stdout
    return json.loads(out)


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
    rates = {name: [] for name in peers}
    own = []
    for name in peers:
        peers[name]()  # what only the first round has to do
    for _ in range(arguments.rounds):
        own.append(of_gaconsole(arguments.program, 1, arguments.updates))
        for name, run in peers.items():
            rates[name].append([work / t for t in timed(run)])
    one = [[r["one"]["best"], r["one"]["best_cpu"]] for r in own]
    report("gaconsole, 1 replica", one, None)
    for name in peers:
        report(name + ", 1 thread", rates[name], one)
    two = [[r["two"]["best"], r["two"]["best_cpu"]] for r in own]
    report("gaconsole, 2 replicas", two, None)
    if "PyTorch eager" in peers:
        ddp = of_ddp(arguments.updates, arguments.rounds)
        report("PyTorch DDP, gloo, 2 x 1 thread", [[r, float("nan")] for r in ddp], two)


def report(name, rates, own):
    wall, cpu = zip(*rates)
    line = f"{name:34} median {statistics.median(wall):8.0f}  best {max(wall):8.0f}  best by CPU time {max(cpu):8.0f}"
    if own:
        line += f"  gaconsole {max(w for w, _ in own) / max(wall):5.2f}x, by CPU {max(c for _, c in own) / max(cpu):5.2f}x"
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
        ddp_worker(arguments.rank, arguments.ddp, arguments.updates, arguments.rounds)
    else:
        compare(arguments)


if __name__ == "__main__":
    main()
