#!/bin/sh
# held.sh PROGRAM: weights, optimizer state and gradients that stay on the cards until somebody reads them:
# everything that is printed, saved or gone on with elsewhere is what the CPU says. The environment puts the
# fake runtime in place of the real one.
program=$1
status=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# look DEVICE SETTINGS: what can be read of a run, but its device. Each reader comes first after something was
# computed; `run` prints a hash, and so reads weights, `event` nothing.
look() {
    "$program" --plain -e "set device $1 $2" -e "run 12" -e "back 5" -e "print state" -e "micro 2" -e "run 7" \
        -e "save $folder/$1.1" -e "event 17" -e "save $folder/$1.2" -e "event 19" -e "explain layers.0.weight[1,0]" \
        -e "event 17" -e "print grad" -e "event 3" -e "explain layers.1.bias[0]" -e "event 19" -e "print state" \
        -e "event 17" -e "print weights" -e "print replicas" -e "print drift" -e "event 19" -e "print param_norm" \
        -e "event 17" -e "print sharpness" -e "event 19" -e "fork other" -e "use other" -e "run 3" -e "print hash" \
        2>&1 | grep -v -e '^device' -e "$folder"
}

check() {
    look cpu "$1" >"$folder/cpu"
    look cuda "$1" >"$folder/cuda"
    if ! grep -q '^hash ' "$folder/cpu" || ! cmp -s "$folder/cpu" "$folder/cuda"; then
        echo "$1, with ${GA_FAKE_CUDA:-cards}:"
        diff "$folder/cpu" "$folder/cuda" | head -n 8
        tail -n 1 "$folder/cpu"
        status=1
    fi
    for file in 1 2; do
        for device in cpu cuda; do
            "$program" --batch -e "load $folder/$device.$file" -e "run 2" -e "print hash" 2>&1 |
                tail -n 1 >"$folder/$device"
        done
        if ! grep -q '^hash ' "$folder/cpu" || ! cmp -s "$folder/cpu" "$folder/cuda"; then
            echo "$1: checkpoint $file of the cards is another one: $(cat "$folder/cuda"), expected $(cat "$folder/cpu")"
            status=1
        fi
    done
}

# However few bytes, they stay; and where little fits, the oldest make way.
export GA_CUDA_BRINGS_BACK=0
for memory in 60000 67108864; do
    GA_FAKE_CUDA="devices=3 memory=$memory"
    export GA_FAKE_CUDA
    for mode in sync "delay lag 2" async "buffered buffer 2" "local period 2" hogwild; do
        check "mode $mode replicas 4 accum 2 batch 3 jitter exponential"
    done
    check "replicas 4 accum 2 batch 3 optimizer adam clip 0.5"
    check "replicas 3 mode local period 2 outer nesterov(0.7,0.9) optimizer adamw weight-decay 0.1"
done

# What the cards hold is counted, card by card.
said=$(GA_FAKE_CUDA="devices=2" "$program" --plain -e "set device cuda replicas 3" -e "run 3" -e "print memory" 2>&1)
case $said in
    *"on cuda:0"*"  sums "*"on cuda:1"*"  total "*) ;;
    *) echo "the memory of two cards: $said"; status=1 ;;
esac
exit $status
