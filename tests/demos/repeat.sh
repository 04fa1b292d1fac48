#!/bin/bash
# repeat.sh PROGRAM DEMO...: lessons print the same, letter by letter, when they run twice, and when all
# threads share one core.
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
launchers=("")
if command -v taskset > /dev/null; then
    cores=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')
    launchers+=("taskset -c $cores")
else
    echo "no taskset here: only repeated, not on one core"
fi
status=0
for demo in "$@"; do
    "$program" --batch "$demo" -e "print hash" > "$folder/first" 2>&1
    for launcher in "${launchers[@]}"; do
        # shellcheck disable=SC2086
        $launcher "$program" --batch "$demo" -e "print hash" > "$folder/again" 2>&1
        if ! diff "$folder/first" "$folder/again"; then
            echo "$demo differs${launcher:+ under $launcher}"
            status=1
        fi
    done
done
exit $status
