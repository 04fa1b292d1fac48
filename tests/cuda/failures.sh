#!/bin/sh
# failures.sh PROGRAM: whatever a card does wrong ends in an error that names it, soon, with the weights as
# they were and the console alive. The environment puts the fake runtime in place of the real one.
program=$1
status=0

# expect NAME FAKE WHAT SAYS: with these words for the fake runtime the console prints SAYS, then still
# evaluates, and holds the weights of the CPU's run with as many updates.
expect() {
    said=$(GA_FAKE_CUDA="$2" GA_CUDA_DEADLINE=0.2 "$program" --plain -e "set device cuda replicas 3" -e "$3" \
        -e "print counters" -e "print hash" 2>&1)
    case $said in
        *"$4"*) ;;
        *) echo "$1: expected \"$4\" in: $said"; status=1 ;;
    esac
    updates=$(echo "$said" | sed -n 's/^updates *\([0-9]*\).*/\1/p' | tail -n 1)
    hash=$(echo "$said" | sed -n 's/^hash //p' | tail -n 1)
    if [ -z "$hash" ] || [ -z "$updates" ]; then
        echo "$1: the console did not go on: $said"
        status=1
        return
    fi
    run=
    [ "$updates" = 0 ] || run="run $updates"
    want=$("$program" --batch -e "set replicas 3" ${run:+-e "$run"} -e "print hash" | sed -n 's/^hash //p')
    if [ "$hash" != "$want" ]; then
        echo "$1: after $updates updates the hash is $hash, expected $want"
        status=1
    fi
}

expect "no card" "devices=0" "run 3" "(cudaErrorInsufficientDriver, code 35)"
expect "a card that is not there" "devices=2" "set devices cuda:2" "there is no cuda:2: expected cuda:0 to cuda:1"
for nth in 1 2 3 5 8; do
    expect "allocation $nth" "devices=2 oom=$nth" "run 3" "(cudaErrorMemoryAllocation, code 2)"
done
expect "little memory" "devices=2 memory=3000" "run 3" "are free"
for nth in 20 60 200 333; do
    expect "lost at $nth" "devices=3 lost=$nth" "run 9" "(cudaErrorDevicesUnavailable, code 46)"
done
for nth in 20 100 250; do
    expect "hangs at $nth" "devices=2 hang=$nth" "run 9" "no answer after 0"
done
# Some of these are a replica's own work, which is named.
said=$(for nth in 12 14 16 18 20 22 24 26; do
    GA_FAKE_CUDA="devices=3 hang=$nth" GA_CUDA_DEADLINE=0.1 "$program" --plain -e "set device cuda replicas 3" -e "run 9" 2>&1
done)
if ! echo "$said" | grep -q ' replica \([012]\): cuda:\1: .*: no answer after 0.1 s'; then
    echo "no replica is named: $said"
    status=1
fi
expect "a rank fails" "devices=3 async=1" "run 9" "cuda:1 (replica 1) failed: internal error"
expect "a rank never ends" "devices=3 absent=1" "run 9" "no answer after 0.2 s from cuda:0 (replica 0), cuda:1 (replica 1)"
expect "what NCCL logs" "devices=3 async=2" "run 9" "NCCL: host:1:1 [2] fake.cc:1 NCCL WARN a card fell off the bus"
# Who names a file has all of it there, and nothing of it here.
file=$(mktemp) || exit 1
said=$(NCCL_DEBUG_FILE=$file GA_FAKE_CUDA="devices=3 async=2" GA_CUDA_DEADLINE=0.2 NCCL_DEBUG=INFO \
    "$program" --plain -e "set device cuda replicas 3" -e "run 9" 2>&1)
case $said,$(cat "$file") in
    *"WARN"*,*) echo "what NCCL logs is here: $said"; status=1 ;;
    *,*"NCCL WARN a card fell off the bus"*) ;;
    *) echo "what NCCL logs is not in its file: $(cat "$file")"; status=1 ;;
esac
rm -f "$file"

# recovers NAME FAKE HOW: after the failure run or reset goes on with the same cards; or the run ends up
# on the CPU. In the end it holds what the CPU's run holds after two updates.
want=$("$program" --batch -e "set replicas 3" -e "run 2" -e "print hash" | tail -n 1)
recovers() {
    name=$1 fake=$2
    shift 2
    said=$(GA_FAKE_CUDA="$fake" GA_CUDA_DEADLINE=0.2 "$program" --plain -e "set device cuda replicas 3" -e "run 2" \
        "$@" -e "print hash" 2>&1)
    if [ "$(echo "$said" | tail -n 1)" != "$want" ]; then
        echo "$name: expected $want at the end of: $said"
        status=1
    fi
    case $said in
        *"is given back"* | *"a wait is missing"*) echo "$name: the fake runtime found a fault: $said"; status=1 ;;
    esac
}

recovers "memory, run again" "devices=2 oom=5" -e "run 2"
recovers "memory, reset" "devices=2 oom=5" -e reset -e "run 2"
recovers "a rank fails, run again" "devices=3 async=1" -e "run 2"
recovers "hangs, to the CPU" "devices=2 hang=20" -e "set device cpu" -e reset -e "run 2"
recovers "hangs, without that card" "devices=2 stuck=1" -e "set devices cuda:0" -e reset -e "run 2"
recovers "lost, to the CPU" "devices=3 lost=60" -e "set device cpu" -e reset -e "run 2"
recovers "a rank never ends, to the CPU" "devices=3 absent=2" -e "set device cpu" -e reset -e "run 2"
exit $status
