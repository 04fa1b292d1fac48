#!/bin/sh
# modes.sh PROGRAM: every update mode, on cards and on the CPU: the same hash, for few and many replicas,
# also after going back. The environment says which cards there are.
program=$1
status=0
if [ -z "${GA_FAKE_CUDA:-}" ] && ! said=$("$program" --batch -e "set device cuda" 2>&1); then
    echo "skipped: $said"
    exit 77
fi

train() {
    "$program" --batch -e "$1" -e "run 25" -e "back 7" -e "micro 2" -e "run 30" -e "print hash" 2>&1 | tail -n 1
}

check() {
    cpu=$(train "set $1")
    card=$(train "set device cuda $1")
    case $cpu in "hash "*) ;; *) echo "on the CPU, $1: $cpu"; status=1 ;; esac
    if [ "$cpu" != "$card" ]; then
        echo "$1: cards say $card, the CPU $cpu"
        status=1
    fi
}

# Sanitizers look at fewer.
case ${GA_TEST_SCALE:-1} in 1) counts="1 2 3 5 16" ;; *) counts="1 3" ;; esac
for replicas in $counts; do
    for mode in sync "delay lag 2" async "ssp bound 1" "buffered buffer 2" "local period 2" hogwild; do
        check "mode $mode replicas $replicas accum 2 batch 3 jitter exponential"
    done
done
check "mode sync replicas 4 backup 1 jitter exponential late finish"
check "mode local period 3 replicas 4 outer nesterov(0.7,0.9) optimizer adamw weight-decay 0.1"
check "replicas 3 optimizer adam activation gelu model 1-20-7-1 clip 0.5"
check "replicas 8 optimizer sgd momentum 0.9 nesterov on activation relu accum 3 batch 4"
check "replicas 2 reduce sum lr 0.0001 sharding strided activation sigmoid bias off"
check "replicas 4 clock real per-example 1us accum 2 batch 3"
check "replicas 3 mode local period 2 clock real per-example 1us"
check "replicas 3 nonfinite skip lr 1000000 activation identity"
exit $status
