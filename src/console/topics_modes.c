#include "console/topics_modes.h"

const struct ga_topic ga_topics_of_modes[] = {
    {"modes", "update-modes parallel distributed",
     "Update modes: when a gradient meets the weights",
     "  sync         all replicas work on one version; one sum, one update (help\n"
     "               backup)\n"
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
     "`clock real` replicas run on threads and race; the race is recorded, and\n"
     "`replay` does it again to the same bits (not for hogwild). The record has a\n"
     "sixteenth of `history-budget`; where that is full, its beginning is let go.\n"
     "Each has a page: help async, help staleness, help ssp, help buffered, help\n"
     "local, help hogwild, help delay; `law` puts theory beside what happened, `fork`\n"
     "and `compare` put two runs side by side.\n"},

    {"async", "asynchronous parameter-server ps async-sgd", "async: each replica at its own pace",
     "A replica pulls the weights, works on its item, pushes the gradient; the server\n"
     "applies it at once, and the replica pulls and goes on. Nobody waits, so a slow\n"
     "replica costs only its own share. The price: while it worked, the others moved\n"
     "the weights, and its gradient belongs to weights that are gone.\n"
     "\n"
     "  staleness     updates applied between the pull and the push; its mean is P-1,\n"
     "                whatever the times; equal times make it P-1 always, exponential\n"
     "                times geometric (help staleness)\n"
     "  stability     a rate that sync takes may diverge: with staleness 7 the limit\n"
     "                of lr * lambda is a tenth of the fresh one (help stability)\n"
     "  momentum      with exponential times the mean path is that of SGD with\n"
     "                momentum 1-1/P: asynchrony begets momentum\n"
     "  bias          a fast replica pushes more often: with data of its own it pulls\n"
     "                the weights to its own minimum. `scale rescaled` weighs that\n"
     "                out.\n"
     "  step scale    full (lr as it is), share (the item's part of its window),\n"
     "                staleness (lr / tau), sqrt (lr / sqrt(1 + tau)), rescaled\n"
     "One push is one update here, so an epoch has P times as many updates as in\n"
     "sync. TensorFlow: ParameterServerStrategy. Try:\n"
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
     "Stale synchronous parallel (Ho and others, 2013): as async, but a replica\n"
     "starts an item only while its finished items are at most s more than the\n"
     "slowest's.\n"
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
     "Between sync and async: the server adds up k pushes, sums and weights, never\n"
     "means, then updates once (n-softsync; Zhang and others, 2016). Replicas do not\n"
     "wait. Mean staleness (P-1)/k; the staleness of an update is the largest in its\n"
     "buffer. With `bound 0` a replica waits for the update that its push is part of,\n"
     "and with k = P that is sync, bit for bit. `mode buffered 4`; `flush` updates\n"
     "with what is there.\n"},

    {"local", "local-sgd local_sgd fedavg federated diloco outer drift period",
     "local: private steps, then an average",
     "Each replica makes h private steps on its own copy, then the weights are\n"
     "averaged by the examples of the round (local SGD, federated averaging). Talking\n"
     "costs 1/h of sync. Private momentum and Adam's moments live on over rounds and\n"
     "are never averaged. One update is one round; `print private_steps` counts the\n"
     "rest.\n"
     "  - local 1 is sync, up to rounding (plain SGD).\n"
     "  - Between averages the copies drift apart: `print drift` is\n"
     "    sqrt(sum a_r |w_r - w_mean|^2).\n"
     "  - With data of their own the replicas meet at a place that is not the minimum\n"
     "    of the whole: sum q_i c_i / sum q_i, q_i = a_i (1 - (1 - lr lambda_i)^h) on\n"
     "    quadratics. More steps, more bias; with equal curvatures there is none.\n"
     "`outer sgd(1,0.9)` makes old minus average the gradient of a second optimizer,\n"
     "as DiLoCo does. `mode local 5`, or `set period 5`.\n"},

    {"hogwild", "lock-free lockfree writes lossy", "hogwild: no lock at all",
     "All replicas read and write one set of weights, coordinate by coordinate,\n"
     "without a lock (Niu, Recht, Re, Wright, 2011). In virtual time an item of\n"
     "duration t on n weights reads coordinate j at start + t j/(2n) and writes it at\n"
     "start + t (n+j)/(2n), so that items interleave within a vector.\n"
     "  writes atomic   a coordinate is added to in one step; nothing is lost\n"
     "  writes lossy    read, add, write: what others wrote meanwhile is undone, and\n"
     "                  `print lost` counts it\n"
     "It was made for sparse gradients, which rarely meet; a dense net shows the\n"
     "worst of it. Staleness is as in async. Only plain sgd. With `clock real`\n"
     "threads really race, and that cannot be replayed.\n"},

    {"delay", "lag", "delay: how much staleness can a rate bear?",
     "The window's gradient is taken at the weights of d updates ago, and nothing\n"
     "else is different from sync: staleness alone, without chance. With delay 0 it\n"
     "is sync, and async with equal times, the same data for all and scale full is\n"
     "delay P-1, bit for bit. On a quadratic w_{u+1} = w_u - c w_{u-d}, c = lr *\n"
     "lambda, converges iff\n"
     "    c < 2 sin(pi / (2(2d+1)))\n"
     "and fastest without swinging at c = d^d / (d+1)^(d+1). `mode delay 3`, or\n"
     "`set lag 3`.\n"},

    {"stability", "gauge sharpness lambda-max lambda_max diverge",
     "Stability: which rate diverges, and what staleness does to it",
     "Near a minimum a loss is a quadratic with curvatures lambda; plain SGD\n"
     "converges there iff lr * lambda_max < 2. On weights of tau updates ago the\n"
     "limit shrinks to\n"
     "    c_max(tau) = 2 sin(pi / (2(2 tau + 1)))\n"
     "    tau     0      1      2      3      4      7      15\n"
     "    c_max   2      1      0.618  0.445  0.347  0.209  0.101\n"
     "  sharpness   lambda_max, the largest eigenvalue of the Hessian over all\n"
     "              training rows; of a quadratic exact, of a net by power iteration\n"
     "  gauge       lr * lambda_max / c_max, with the mode's mean staleness, its step\n"
     "              scale and the settings that the next update will have\n"
     "Above 1 steps diverge. On a quadratic with constant staleness that is exact;\n"
     "with random staleness, and on a net, whose curvature changes as it moves (often\n"
     "until lr * lambda_max is near the limit), it is a guide. sgd's momentum moves\n"
     "the limit of fresh gradients to 2(1+m); for momentum on stale gradients, for\n"
     "Adam and for an outer optimizer no limit is known, and the gauge is nan. It is\n"
     "looked for when a condition, a column or `print` asks: `break gauge > 1`. `law`\n"
     "shows what it is made of.\n"},

    {"law", "laws theory", "Laws: prediction beside measurement",
     "`law` lists the predictions that apply to the present mode and settings beside\n"
     "what was measured since they hold, `law 200` over the last 200 updates.\n"
     "  exact         at any moment, to the last digit: time is conserved, staleness\n"
     "                adds up to (P-1) * updates, constant item times\n"
     "  in the mean   what many updates tend to: mean staleness, window times with\n"
     "                chance in them, items per second, where a quadratic comes to\n"
     "                rest\n"
     "  never above   bounds: ssp's staleness and clock gap; lr * lambda_max on a\n"
     "                quadratic\n"
     "  a guide       its conditions are not quite met: a net's curvature, varying\n"
     "                staleness, short windows\n"
     "Window time of sync, exponential item times of mean 1: H_P = 1 + 1/2 + .. + 1/P\n"
     "(1.5, 2.08, 2.72 for P = 2, 4, 8), with k backup replicas H_P - H_k; idle 1 -\n"
     "1/H_P. straggler(p,k): 1 + (k-1)(1 - (1-p)^P), where async loses only 1 +\n"
     "(k-1)p.\n"},

    {"runs", "run-manager experiments", "Several runs side by side",
     "    fork fast          a copy of the current run, history and all\n"
     "    use fast           from now on commands are about this one\n"
     "    set lr 0.05\n"
     "    run 500 all        all runs go on, each to its own end\n"
     "    runs               what there is\n"
     "    compare main fast by time\n"
     "    drop fast          forgets it; not the current one\n"
     "Runs share nothing but breakpoints. Logged lines and the screen show the\n"
     "current one; a log file stays with the run that was current when it was opened.\n"},

    {"failure", "failures kill restore fault-tolerance", "Replicas that fail and come back",
     "`kill R` makes replica R fail: its item is dropped and counted. `restore R`\n"
     "brings it back: it pulls fresh weights and has an empty optimizer state of its\n"
     "own.\n"
     "  sync, delay   with `failure wait` the window waits for it; when nothing else\n"
     "                can go on, training stops and names it. With `failure continue`\n"
     "                the living take over: the whole window of a common stream,\n"
     "                their own shards else\n"
     "  local         the same for rounds; weights are averaged over the living\n"
     "  the others    go on; ssp's bound counts the living only\n"
     "`print killed` counts the dead.\n"},
};

const size_t ga_topics_of_modes_count = sizeof(ga_topics_of_modes) / sizeof(ga_topics_of_modes[0]);
