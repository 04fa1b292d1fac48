#!/bin/bash
# demo.sh PROGRAM DEMO GOLDEN: a lesson runs to its end, its expectations hold, and its last run has the
# hash that GOLDEN names, whatever compiler built the program. GA_GOLDEN_UPDATE=1 puts it there anew.
program=$1
demo=$2
golden=$3
name=$(basename "$demo" .ga)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1 # a lesson finds its data from anywhere, and writes no files

if ! "$program" --batch "$demo" -e "print hash" > out 2> complaints; then
    cat out complaints
    exit 1
fi
if [[ -s complaints ]]; then
    cat complaints
    exit 1
fi
hash=$(tail -n 1 out)
if [[ -n "${GA_GOLDEN_UPDATE:-}" ]]; then
    { grep -v "^$name " "$golden"; echo "$name $hash"; } | LC_ALL=C sort > updated
    cat updated > "$golden"
fi
if ! grep -qx "$name $hash" "$golden"; then
    echo "$name ends with $hash, expected $(grep "^$name " "$golden")"
    exit 1
fi
rm -f out complaints updated
if [[ -n "$(ls -A)" ]]; then
    echo "$name leaves files behind: $(ls -A)"
    exit 1
fi
