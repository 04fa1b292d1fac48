#include "console/topics_modes.h"

const struct ga_topic ga_topics_of_modes[] = {
    {"modes", "update-modes parallel distributed",
     "Update modes: when a gradient meets the weights",
     "  sync         all replicas work on one version; one sum, one update (help backup)\n"
     "  delay d      sync with the gradient of the weights of d updates ago\n"
     "  async        each push is applied at once; the replica pulls and goes on\n"
     "  ssp s        async, but nobody is more than s items ahead of the slowest\n"
     "  buffered k   the server adds k pushes, then updates once\n"
     "  local h      h private steps on each replica, then the weights are averaged\n"
     "  hogwild      no lock: weights are read and written one by one\n"
     "`mode ssp 3` sets a mode and its number; it holds from the next update on, and\n"
     "what the old mode had under way is dropped and counted, or finished first with\n"
     "`late finish`. Accumulation works in all of them: an item is A micro-batches on\n"
     "one snapshot of the weights.\n"
     "In virtual time every mode is reproducible, can be stepped and goes back. With\n"
     "`clock real` replicas run on threads and race; the race is recorded, and `replay`\n"
     "does it again to the same bits (not for hogwild).\n"
     "Each has a page: help async, help staleness, help ssp, help buffered, help local,\n"
     "help hogwild, help delay; `law` puts theory beside what happened, `fork` and\n"
     "`compare` put two runs side by side.\n"},

    {"async", "asynchronous parameter-server ps async-sgd", "async: each replica at its own pace",
     "A replica pulls the weights, works on its item, pushes the gradient; the server\n"
     "applies it at once, and the replica pulls and goes on. Nobody waits, so a slow\n"
     "replica costs only its own share. The price: while it worked, the others moved\n"
     "the weights, and its gradient belongs to weights that are gone.\n"
     "\n"
     "  staleness     updates applied between the pull and the push; its mean is P-1,\n"
     "                whatever the times; equal times make it P-1 always, exponential\n"
     "                times geometric (help staleness)\n"
     "  stability     a rate that sync takes may diverge: with staleness 7 the limit of\n"
     "                lr * lambda is a tenth of the fresh one (help stability)\n"
     "  momentum      with exponential times the mean path is that of SGD with momentum\n"
     "                1-1/P: asynchrony begets momentum\n"
     "  bias          a fast replica pushes more often: with data of its own it pulls the\n"
     "                weights to its own minimum. `scale rescaled` weighs that out.\n"
     "  step scale    full (lr as it is), share (the item's part of its window),\n"
     "                staleness (lr / tau), sqrt (lr / sqrt(1 + tau)), rescaled\n"
     "One push is one update here, so an epoch has P times as many updates as in sync.\n"
     "TensorFlow: ParameterServerStrategy. Try:\n"
     "    run 1284\n"
     "    set mode async replicas 8 lr 0.05     the answer shows the gauge\n"
     "    run 500                               the loss leaves its minimum\n"
     "    back 500\n"
     "    set scale staleness\n"
     "    run 500                               it stays\n"},

    {"staleness", "stale tau", "Staleness: updates between a replica's pull and its gradient's use",
     "A replica pulls weights, computes, and hands its gradient over. Updates applied\n"
     "meanwhile make the gradient stale: it belongs to weights that are gone.\n"
     "\n"
     "Each update passes by the P-1 other items under way, so at any time\n"
     "    staleness summed over pushes + (version - version read) over running items\n"
     "        = (P-1) * updates\n"
     "exactly, whatever the times. So the mean tends to\n"
     "    async P-1     buffered (P-1)/k     ssp 0 (P-1)/2     delay d: always d\n"
     "and sync and local have none. How it is spread depends on the times:\n"
     "    equal constant times    always P-1, after the first round\n"
     "    exponential times       P(tau = j) = (1/P) (1-1/P)^j\n"
     "    ssp s                   at most (P-1)(2s+1)\n"
     "`staleness` shows the histogram with its law; `print staleness_mean`,\n"
     "`staleness_max` and `replica 1 staleness` are figures for conditions; `explain`\n"
     "says which version a push had read. What it does to training: help stability.\n"},

    {"ssp", "stale-synchronous bounded-staleness bound", "ssp: asynchronous within a bound",
     "Stale synchronous parallel (Ho and others, 2013): as async, but a replica starts an\n"
     "item only while its finished items are at most s more than the slowest's.\n"
     "  - No replica has ever finished more than the slowest's count + s + 1.\n"
     "  - No update is staler than (P-1)(2s+1).\n"
     "  - s = 0: rounds. All pull one version, push one after another, wait for the\n"
     "    last: staleness 0..P-1, mean (P-1)/2.\n"
     "  - Two replicas with exponential times get (2s+2)/(2s+3) of what async gets:\n"
     "    2/3 for s = 0, 8/9 for s = 3.\n"
     "  - One replica that is always slow sets the pace for every finite s: the bound\n"
     "    evens out bad luck, not bad hardware.\n"
     "`mode ssp 3`, or `set bound 3`; `bound none` is async. `print clock_gap` is the\n"
     "distance between the fastest and the slowest.\n"},

    {"buffered", "softsync n-softsync buffer", "buffered: k pushes to an update",
     "Between sync and async: the server adds up k pushes, sums and weights, never means,\n"
     "then updates once (n-softsync; Zhang and others, 2016). Replicas do not wait. Mean\n"
     "staleness (P-1)/k; the staleness of an update is the largest in its buffer. With\n"
     "`bound 0` a replica waits for the update that its push is part of, and with k = P\n"
     "that is sync, bit for bit. `mode buffered 4`; `flush` updates with what is there.\n"},

    {"local", "local-sgd local_sgd fedavg federated diloco outer drift period",
     "local: private steps, then an average",
     "Each replica makes h private steps on its own copy, then the weights are averaged by\n"
     "the examples of the round (local SGD, federated averaging). Talking costs 1/h of\n"
     "sync. Private momentum and Adam's moments live on over rounds and are never\n"
     "averaged. One update is one round; `print private_steps` counts the rest.\n"
     "  - local 1 is sync, up to rounding (plain SGD).\n"
     "  - Between averages the copies drift apart: `print drift` is\n"
     "    sqrt(sum a_r |w_r - w_mean|^2).\n"
     "  - With data of their own the replicas meet at a place that is not the minimum of\n"
     "    the whole: sum q_i c_i / sum q_i, q_i = a_i (1 - (1 - lr lambda_i)^h) on\n"
     "    quadratics. More steps, more bias; with equal curvatures there is none.\n"
     "`outer sgd(1,0.9)` makes old minus average the gradient of a second optimizer, as\n"
     "DiLoCo does. `mode local 5`, or `set period 5`.\n"},

    {"hogwild", "lock-free lockfree writes lossy", "hogwild: no lock at all",
     "All replicas read and write one set of weights, coordinate by coordinate, without a\n"
     "lock (Niu, Recht, Re, Wright, 2011). In virtual time an item of duration t on n\n"
     "weights reads coordinate j at start + t j/(2n) and writes it at start +\n"
     "t (n+j)/(2n), so that items interleave within a vector.\n"
     "  writes atomic   a coordinate is added to in one step; nothing is lost\n"
     "  writes lossy    read, add, write: what others wrote meanwhile is undone, and\n"
     "                  `print lost` counts it\n"
     "It was made for sparse gradients, which rarely meet; a dense net shows the worst of\n"
     "it. Staleness is as in async. Only plain sgd. With `clock real` threads really race,\n"
     "and that cannot be replayed.\n"},

    {"delay", "lag", "delay: how much staleness can a rate bear?",
     "The window's gradient is taken at the weights of d updates ago, and nothing else is\n"
     "different from sync: staleness alone, without chance. With delay 0 it is sync, and\n"
     "async with equal times, the same data for all and scale full is delay P-1, bit for\n"
     "bit. On a quadratic w_{u+1} = w_u - c w_{u-d}, c = lr * lambda, converges iff\n"
     "    c < 2 sin(pi / (2(2d+1)))\n"
     "and fastest without swinging at c = d^d / (d+1)^(d+1). `mode delay 3`, or\n"
     "`set lag 3`.\n"},

    {"stability", "gauge sharpness lambda-max lambda_max diverge",
     "Stability: which rate diverges, and what staleness does to it",
     "Near a minimum a loss is a quadratic with curvatures lambda; plain SGD converges\n"
     "there iff lr * lambda_max < 2. On weights of tau updates ago the limit shrinks to\n"
     "    c_max(tau) = 2 sin(pi / (2(2 tau + 1)))\n"
     "    tau     0      1      2      3      4      7      15\n"
     "    c_max   2      1      0.618  0.445  0.347  0.209  0.101\n"
     "  sharpness   lambda_max, the largest eigenvalue of the Hessian over all training\n"
     "              rows; of a quadratic exact, of a net by power iteration\n"
     "  gauge       lr * lambda_max / c_max, with the mode's mean staleness, its step\n"
     "              scale and the settings that the next update will have\n"
     "Above 1 steps diverge. On a quadratic with constant staleness that is exact; with\n"
     "random staleness, and on a net, whose curvature changes as it moves (often until\n"
     "lr * lambda_max is near the limit), it is a guide. sgd's momentum moves the limit of\n"
     "fresh gradients to 2(1+m); for momentum on stale gradients, for Adam and for an outer\n"
     "optimizer no limit is known, and the gauge is nan. It is looked for when a condition,\n"
     "a column or `print` asks: `break gauge > 1`. `law` shows what it is made of.\n"},

    {"law", "laws theory", "Laws: prediction beside measurement",
     "`law` lists the predictions that apply to the present mode and settings beside what\n"
     "was measured since they hold, `law 200` over the last 200 updates.\n"
     "  exact         at any moment, to the last digit: time is conserved, staleness adds\n"
     "                up to (P-1) * updates, constant item times\n"
     "  in the mean   what many updates tend to: mean staleness, window times with\n"
     "                chance in them, items per second, where a quadratic comes to rest\n"
     "  never above   bounds: ssp's staleness and clock gap; lr * lambda_max on a quadratic\n"
     "  a guide       its conditions are not quite met: a net's curvature, varying\n"
     "                staleness, short windows\n"
     "Window time of sync, exponential item times of mean 1: H_P = 1 + 1/2 + .. + 1/P\n"
     "(1.5, 2.08, 2.72 for P = 2, 4, 8), with k backup replicas H_P - H_k; idle 1 - 1/H_P.\n"
     "straggler(p,k): 1 + (k-1)(1 - (1-p)^P), where async loses only 1 + (k-1)p.\n"},

    {"runs", "run-manager experiments", "Several runs side by side",
     "    fork fast          a copy of the current run, history and all\n"
     "    use fast           from now on commands are about this one\n"
     "    set lr 0.05\n"
     "    run 500 all        all runs go on, each to its own end\n"
     "    runs               what there is\n"
     "    compare main fast by time\n"
     "    drop fast          forgets it; not the current one\n"
     "Runs share nothing but breakpoints. Logged lines and the screen show the current one;\n"
     "a log file stays with the run that was current when it was opened.\n"},

    {"failure", "failures kill restore fault-tolerance", "Replicas that fail and come back",
     "`kill R` makes replica R fail: its item is dropped and counted. `restore R` brings it\n"
     "back: it pulls fresh weights and has an empty optimizer state of its own.\n"
     "  sync, delay   with `failure wait` the window waits for it; when nothing else can go\n"
     "                on, training stops and names it. With `failure continue` the living\n"
     "                take over: the whole window of a common stream, their own shards else\n"
     "  local         the same for rounds; weights are averaged over the living\n"
     "  the others    go on; ssp's bound counts the living only\n"
     "`print killed` counts the dead.\n"},
};

const size_t ga_topics_of_modes_count = sizeof(ga_topics_of_modes) / sizeof(ga_topics_of_modes[0]);
