#!/bin/sh
# lessons.sh PROGRAM DEMOS GOLDEN: lessons run on cards, their expectations hold there, and their last runs
# have the hashes that were made on the CPU. The environment says which cards there are.
program=$1
demos=$2
golden=$3
status=0
if [ -z "${GA_FAKE_CUDA:-}" ] && ! said=$("$program" --batch -e "set device cuda" 2>&1); then
    echo "skipped: $said"
    exit 77
fi
# All of them but the one that is about the memory of its device; other numbers of cards take fewer.
case ${GA_TEST_SCALE:-1},${GA_FAKE_CUDA:-} in
    1, | 1,devices=3)
        names="accumulation backup-workers digits hogwild local-sgd parabola question-mirrored question-parabola
            slow-replica ssp staleness stragglers sync-vs-async"
        ;;
    *) names="ssp local-sgd question-mirrored" ;;
esac
for name in $names; do
    said=$("$program" --batch -e "set device cuda" "$demos/$name.ga" -e devices -e "print hash" 2>&1)
    hash=$(echo "$said" | tail -n 1)
    case $said in *" on device cuda, numerics exact"*) ;; *) echo "$name left the cards: $said"; status=1 ;; esac
    if ! grep -qx "$name $hash" "$golden"; then
        echo "$name ends with $hash, expected $(grep "^$name " "$golden")"
        status=1
    fi
done
exit $status
