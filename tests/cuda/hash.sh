#!/bin/sh
# hash.sh PROGRAM GOLDEN: nets trained through the device table have on cards the hashes of the CPU, for
# micro-batches of any size. The environment says which cards there are.
program=$1
golden=$2
status=0
case ${GA_TEST_SCALE:-1} in 1) sizes="1 5 11 37" ;; *) sizes=37 ;; esac
for micro in $sizes; do
    if ! lines=$("$program" "$micro" cuda 2>&1); then
        if [ -z "${GA_FAKE_CUDA:-}" ]; then
            echo "skipped: $lines"
            exit 77
        fi
        echo "micro-batches of $micro: $lines"
        exit 1
    fi
    if [ "$lines" != "$(cat "$golden")" ]; then
        echo "micro-batches of $micro gave"
        echo "$lines"
        status=1
    fi
done
exit $status
