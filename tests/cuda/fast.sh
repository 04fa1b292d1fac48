#!/bin/sh
# fast.sh PROGRAM: numerics fast on cards and on the CPU, mode by mode: losses agree to the float's
# rounding. The environment says which cards there are.
program=$1
status=0
if [ -z "${GA_FAKE_CUDA:-}" ] && ! said=$("$program" --batch -e "set device cuda" 2>&1); then
    echo "skipped: $said"
    exit 77
fi

train() {
    "$program" --batch -e "$1" -e "run 40" -e "print loss" 2>&1 | tail -n 1 | sed 's/^loss \([^ ]*\).*/\1/'
}

case ${GA_TEST_SCALE:-1} in 1) counts="1 3" ;; *) counts=2 ;; esac
for replicas in $counts; do
    for mode in sync "delay lag 2" async "buffered buffer 2" "local period 2" hogwild; do
        terms="numerics fast mode $mode replicas $replicas accum 2 batch 3 model 1-30-20-1"
        cpu=$(train "set $terms")
        card=$(train "set device cuda $terms")
        if ! echo "$cpu $card" | awk 'NF == 2 && $1 > 0 { d = ($1 - $2) / $1; exit d * d < 1e-8 ? 0 : 1 } { exit 1 }'; then
            echo "$terms: cards say $card, the CPU $cpu"
            status=1
        fi
    done
done
exit $status
