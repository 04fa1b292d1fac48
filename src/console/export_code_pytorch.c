/* Pieces of a generated program: PyTorch, for the modes sync (DistributedDataParallel) and local.
 */
#include "console/export_code.h"

const struct ga_code_piece ga_code_pytorch_pieces[] = {
    {GA_CODE_PYTORCH, 0,
     "\n"
     "\n"
     "class Net(torch.nn.Module):\n"
     "    def __init__(self):\n"
     "        super().__init__()\n"
     "        self.layers = torch.nn.ModuleList(\n"
     "            torch.nn.Linear(*sizes, bias=$with-bias$) for sizes in zip(WIDTHS, WIDTHS[1:])\n"
     "        )\n"
     "        self.load_state_dict({k: torch.from_numpy(START[k]) for k in self.state_dict()})\n"
     "\n"
     "    def forward(self, x):\n"
     "        for layer in self.layers[:-1]:\n"
     "            x = $activated$\n"
     "        return self.layers[-1](x)\n"
     "\n"
     "\n"
     "def losses(outputs, targets):\n"
     "    \"\"\"One loss for each example.\"\"\"\n"
     "    return $losses$\n"
     "\n"
     "\n"
     "def train(rank, meeting):\n"
     "    \"\"\"What each of the P processes does.\"\"\"\n"
     "    local = int(os.environ.get(\"LOCAL_RANK\", rank))\n"
     "    gpus = torch.cuda.device_count() >= int(os.environ.get(\"LOCAL_WORLD_SIZE\", P))\n"
     "    device = torch.device(\"cuda\", local) if gpus else torch.device(\"cpu\")\n"
     "    if gpus:\n"
     "        torch.cuda.set_device(device)\n"
     "    else:\n"
     "        torch.set_num_threads(1)  # P processes share the cores\n"
     "    dist.init_process_group(\"nccl\" if gpus else \"gloo\", meeting, rank=rank, "
     "world_size=P)\n"
     "    X, Y, W = (torch.from_numpy(a).to(device) for a in (x, y, w))\n"
     "    model = Net().to(device)\n"},
    {GA_CODE_PYTORCH, GA_CODE_LOCAL,
     "    replica = DistributedDataParallel(model, device_ids=[local] if gpus else None)\n"},
    {GA_CODE_PYTORCH, 0, "    optimizer = $new-optimizer$\n"},
    {GA_CODE_PYTORCH, GA_CODE_LOCAL,
     "    for update, window in zip(range(1, UPDATES + 1), windows()):\n"
     "        total = float(sum(w[share].sum() for share in window))  # all know it without "
     "asking\n"},
    {GA_CODE_PYTORCH | GA_CODE_WEIGHTED, GA_CODE_LOCAL,
     "        if total == 0:\n"
     "            continue  # nothing in it counts\n"},
    {GA_CODE_PYTORCH, GA_CODE_LOCAL,
     "        # Empty micro-batches are not run, but every process needs one that synchronizes.\n"
     "        micros = [m for m in np.array_split(window[rank], A) if len(m)] or [window[rank]]\n"
     "        for k, rows in enumerate(micros):\n"
     "            last = k == len(micros) - 1\n"
     "            # The forward pass must be inside no_sync() as well: it is what decides.\n"
     "            with contextlib.nullcontext() if last else replica.no_sync():\n"
     "                loss = (W[rows] * losses(replica(X[rows]), Y[rows])).sum()\n"},
    {GA_CODE_PYTORCH, GA_CODE_LOCAL | GA_CODE_SUM,
     "                (loss * (P / total)).backward()\n"},
    {GA_CODE_PYTORCH | GA_CODE_SUM, GA_CODE_LOCAL, "                (loss * P).backward()\n"},
    {GA_CODE_PYTORCH | GA_CODE_CLIP, GA_CODE_LOCAL,
     "        # Once per update, behind the reduction: the norm is that of the window's gradient.\n"
     "        torch.nn.utils.clip_grad_norm_(model.parameters(), $clip$)\n"},
    {GA_CODE_PYTORCH | GA_CODE_RATE, GA_CODE_LOCAL,
     "        optimizer.param_groups[0][\"lr\"] = rate(update - 1)\n"},
    {GA_CODE_PYTORCH, GA_CODE_LOCAL,
     "        optimizer.step()\n"
     "        optimizer.zero_grad()\n"},
    {GA_CODE_PYTORCH | GA_CODE_LOCAL | GA_CODE_OUTER, 0,
     "    server = [p.detach().clone().requires_grad_() for p in model.parameters()]\n"
     "    outer = torch.optim.SGD(server, lr=$outer-lr$$outer-terms$)\n"},
    {GA_CODE_PYTORCH | GA_CODE_LOCAL | GA_CODE_RATE, 0,
     "    steps = 0  # private ones; they drive the schedule\n"},
    {GA_CODE_PYTORCH | GA_CODE_LOCAL, 0,
     "    stream = windows()\n"
     "    for update in range(1, UPDATES + 1):\n"
     "        round_ = [next(stream) for _ in range(H)]\n"
     "        for window in round_:\n"
     "            total = float(w[window[rank]].sum())\n"
     "            if total == 0:\n"
     "                continue  # no piece for this replica: no step\n"
     "            for rows in (m for m in np.array_split(window[rank], A) if len(m)):\n"
     "                loss = (W[rows] * losses(model(X[rows]), Y[rows])).sum()\n"},
    {GA_CODE_PYTORCH | GA_CODE_LOCAL, GA_CODE_SUM, "                (loss / total).backward()\n"},
    {GA_CODE_PYTORCH | GA_CODE_LOCAL | GA_CODE_SUM, 0, "                loss.backward()\n"},
    {GA_CODE_PYTORCH | GA_CODE_LOCAL | GA_CODE_CLIP, 0,
     "            torch.nn.utils.clip_grad_norm_(model.parameters(), $clip$)\n"},
    {GA_CODE_PYTORCH | GA_CODE_LOCAL | GA_CODE_RATE, 0,
     "            optimizer.param_groups[0][\"lr\"] = rate(steps)\n"
     "            steps += 1\n"},
    {GA_CODE_PYTORCH | GA_CODE_LOCAL, 0,
     "            optimizer.step()\n"
     "            optimizer.zero_grad()\n"
     "        # The average, weighted by examples. The optimizer's own state stays private.\n"
     "        mine = sum(len(window[rank]) for window in round_)\n"
     "        everyone = sum(len(share) for window in round_ for share in window)\n"
     "        with torch.no_grad():\n"
     "            for p in model.parameters():\n"
     "                p *= mine / everyone\n"
     "                dist.all_reduce(p)  # adds\n"},
    {GA_CODE_PYTORCH | GA_CODE_LOCAL | GA_CODE_OUTER, 0,
     "        for s, p in zip(server, model.parameters()):\n"
     "            s.grad = s.detach() - p.detach()\n"
     "        outer.step()\n"
     "        with torch.no_grad():\n"
     "            for s, p in zip(server, model.parameters()):\n"
     "                p.copy_(s)\n"},
    {GA_CODE_PYTORCH, 0,
     "        if rank == 0 and (update - 1) % LOG_EVERY == 0:\n"
     "            with torch.no_grad():\n"
     "                loss = (W * losses(model(X), Y)).sum() / W.sum()\n"
     "            print(f\"update {update:7d}  dataset_loss {loss:.6g}\", flush=True)\n"},
    {GA_CODE_PYTORCH | GA_CODE_HELD_OUT, 0,
     "    if rank == 0:\n"
     "        with torch.no_grad():\n"
     "            outputs = model(torch.from_numpy(x_test).to(device)).cpu()\n"
     "            each = losses(outputs, torch.from_numpy(y_test)).numpy()\n"
     "        print(f\"test_loss {(w_test * each).sum() / w_test.sum():.6g}\")\n"},
    {GA_CODE_PYTORCH | GA_CODE_HELD_OUT | GA_CODE_CLASSES, 0,
     "        print(f\"accuracy {(outputs.numpy().argmax(1) == y_test).mean():.6g}\")\n"},
    {GA_CODE_PYTORCH, 0,
     "    dist.destroy_process_group()\n"
     "\n"
     "\n"
     "if __name__ == \"__main__\":\n"
     "    if \"RANK\" in os.environ:  # torchrun started this process\n"
     "        if int(os.environ[\"WORLD_SIZE\"]) != P:\n"
     "            raise SystemExit(f\"{os.environ['WORLD_SIZE']} processes were started, expected "
     "{P}\")\n"
     "        train(int(os.environ[\"RANK\"]), \"env://\")\n"
     "    else:\n"
     "        with tempfile.TemporaryDirectory() as folder:\n"
     "            mp.spawn(train, (f\"file://{folder}/meeting\",), nprocs=P)\n"},
    {0, 0, NULL},
};
