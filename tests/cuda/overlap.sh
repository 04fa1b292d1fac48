#!/bin/sh
# overlap.sh PROGRAM: sums that are reduced while gradients are still being computed are the same to the last
# bit, whatever is done to a window; and what goes wrong ends in an error with the weights as they were. The
# environment puts the fake runtime in place of the real one.
program=$1
status=0

# train LEAST TERMS: where sums of LEAST bytes pay.
train() {
    GA_CUDA_OVERLAP=$1 "$program" --plain -e "set device cuda numerics fast batch 60 model 1-48-40-32-24-1 lr 0.001 $2" -e "run 5" \
        -e "micro 4" -e "back 3" -e "run 3" -e "micro 2" -e "run 2" -e "micro 3" -e flush -e "run 2" -e "micro 1" \
        -e discard -e "run 3" -e "event 7" -e "explain layers.1.weight[1,0]" -e "run 2" -e "print counters" -e "print noise" \
        -e "print state" -e devices 2>&1 | grep -v -e '^this process' -e '^cuda:'
}

check() {
    parts=$(train 0 "$1")
    whole=$(train 99999999999 "$1")
    case $parts in
        *", overlapped"*) ;;
        *) echo "$1: nothing overlaps: $(echo "$parts" | tail -n 3)"; status=1 ;;
    esac
    if [ "$(echo "$parts" | sed 's/, overlapped$//')" != "$whole" ]; then
        echo "$1:"
        echo "$parts" >"$folder/parts"
        echo "$whole" | diff "$folder/parts" - | head -n 8
        status=1
    fi
}

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
check "replicas 3 accum 2 jitter exponential"
case ${GA_TEST_SCALE:-1} in
    1)
        check "replicas 3 accum 1"
        check "replicas 3 accum 3"
        check "replicas 3 mode delay lag 2 accum 2"
        check "replicas 2 accum 2 activation relu clip 0.5 optimizer adam"
        ;;
esac

# No card of its own for each, or not everybody's sums: as ever.
case $(train 0 "replicas 4 accum 2")$(train 0 "replicas 3 backup 1 jitter exponential") in
    *", overlapped"*) echo "sums overlap where they must not"; status=1 ;;
esac

# Anything may hang or fail anywhere: an error that names a card, and weights of whole updates.
weights() {
    "$program" --batch -e "set device cuda numerics fast batch 60 model 1-48-40-32-24-1 lr 0.001 replicas 3 accum 2" ${1:+-e "$1"} \
        -e "print hash" | grep '^hash '
}
case ${GA_TEST_SCALE:-1} in
    1) words="hang=510 hang=640 hang=651 hang=662 hang=673 hang=684 lost=655 lost=700" ;;
    *) words="hang=651 lost=700" ;;
esac
for word in $words; do
    said=$(GA_CUDA_OVERLAP=0 GA_CUDA_DEADLINE=0.2 GA_FAKE_CUDA="devices=3 $word" "$program" --plain \
        -e "set device cuda numerics fast batch 60 model 1-48-40-32-24-1 lr 0.001 replicas 3 accum 2" -e "run 9" \
        -e "print counters" -e "print hash" 2>&1)
    updates=$(echo "$said" | sed -n 's/^updates *\([0-9]*\).*/\1/p' | tail -n 1)
    [ "$updates" = 0 ] || run="run $updates"
    case $said in
        *"a wait is missing"* | *"is given back"*) echo "$word: $said"; status=1 ;;
        *cuda:[012]*"no answer after 0.2 s"* | *cuda:[012]*"no answer yet"* | *cuda:[012]*"(c"*) ;;
        *) echo "$word: no card is named in: $said"; status=1 ;;
    esac
    if [ "$(echo "$said" | grep '^hash ')" != "$(weights "$run")" ]; then
        echo "$word: after $updates updates the weights are others: $said"
        status=1
    fi
done
exit $status
