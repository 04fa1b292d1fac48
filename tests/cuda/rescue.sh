#!/bin/sh
# rescue.sh PROGRAM: whatever a card had alone is lost with it, and no weights with that: the run stands at
# an update that the host has, says which, and goes on from there on the CPU to what it would have come to.
# The environment puts the fake runtime in place of the real one.
program=$1
status=0
cases=0 older=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export GA_CUDA_BRINGS_BACK=0 GA_CUDA_DEADLINE=0.1

# learn SETTINGS: the CPU's hash after each update.
learn() {
    set -- "$1"
    update=0
    while [ $update -lt 18 ]; do
        set -- "$@" -e "print hash" -e "run 1"
        update=$((update + 1))
    done
    settings=$1
    shift
    "$program" --plain -e "set $settings" "$@" 2>&1 | sed -n 's/^hash //p' >"$folder/hashes"
}

# holds NAME UPDATES HASH
holds() {
    want=$(sed -n "$(($2 + 1))p" "$folder/hashes")
    if [ -z "$3" ] || [ "$3" != "$want" ]; then
        echo "$1: after $2 updates the hash is $3, expected $want"
        status=1
    fi
}

# survive FAKE SETTINGS: the failure comes, or the run ends before it; then it goes on on the CPU.
survive() {
    name="$2 with $1, mirror ${GA_CUDA_MIRROR:-}"
    GA_FAKE_CUDA=$1 "$program" --plain -e "set device cuda $2" -e "run 12" -e "print weights" -e "print counters" \
        -e "print hash" -e "set device cpu" -e "run 4" -e "print counters" -e "print hash" >"$folder/said" 2>&1
    # A card that is lost when all is done shows at the first look, and that is an error, too.
    if grep -q -i -w -e nan -e inf "$folder/said"; then
        echo "$name: there are numbers that are none:"
        cat "$folder/said"
        status=1
    fi
    # Nothing had failed yet when the device was changed.
    grep -q 'from the next reset' "$folder/said" && return
    cases=$((cases + 1))
    grep -q 'was on the cards alone' "$folder/said" && older=$((older + 1))
    updates=$(sed -n 's/^updates *\([0-9]*\).*/\1/p' "$folder/said")
    hashes=$(sed -n 's/^hash //p' "$folder/said")
    for turn in 1 2; do
        holds "$name, look $turn" "$(echo "$updates" | sed -n ${turn}p)" "$(echo "$hashes" | sed -n ${turn}p)"
    done
    if [ "$(echo "$updates" | sed -n 2p)" != $(($(echo "$updates" | sed -n 1p) + 4)) ]; then
        echo "$name: it did not go on:"
        cat "$folder/said"
        status=1
    fi
    if grep -q -e 'is given back' -e 'a wait is missing' "$folder/said"; then
        echo "$name: the fake runtime found a fault:"
        cat "$folder/said"
        status=1
    fi
}

# Sanitizers look at fewer. Each number is another place: in a gradient, a reduction, a step, between updates.
case ${GA_TEST_SCALE:-1} in 1) places="90 141 230 277 333 400 471 555" ;; *) places="141 277" ;; esac
for mode in sync "delay lag 2" async "buffered buffer 2" "local period 2" hogwild "ssp bound 1"; do
    settings="mode $mode replicas 3 accum 2 batch 3 optimizer adam jitter exponential"
    learn "$settings"
    for cards in 1 2; do
        for nth in $places; do
            GA_CUDA_MIRROR=$((nth % 2 * 1000)) survive "devices=$cards lost=$((nth + cards))" "$settings"
        done
    done
    GA_CUDA_MIRROR=0 survive "devices=2 hang=205" "$settings"
done
settings="replicas 3 accum 2 batch 3 clock real per-example 1us history-budget 64KiB"
learn "replicas 3 accum 2 batch 3"
for nth in $places; do
    GA_CUDA_MIRROR=0 survive "devices=3 lost=$nth" "$settings"
done
if [ $cases -lt 20 ] || [ $older -lt 5 ]; then
    echo "only $cases failures were met, and $older of them cost an update: expected more"
    status=1
fi

# A card that answers again: the run goes over the same updates on it.
learn "replicas 2"
said=$(GA_CUDA_MIRROR=1000 GA_FAKE_CUDA="devices=2 hang=300" "$program" --plain -e "set device cuda replicas 2" \
    -e "run 16" -e "set devices cuda:0" -e "goto 16" -e "print hash" 2>&1)
holds "on the other card: $said" 16 "$(echo "$said" | sed -n 's/^hash //p')"
exit $status
