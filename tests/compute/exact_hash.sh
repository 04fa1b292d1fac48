#!/bin/sh
# exact_hash.sh PROGRAM GOLDEN: the program prints the golden lines on every kernel and for micro-batches
# of every kind.
program=$1
golden=$2
status=0
for kernel in "" baseline avx2; do
    case $kernel in "") sizes=37 ;; *) sizes="1 5 8 11 37" ;; esac
    for micro in $sizes; do
        if ! lines=$(GA_CPU_KERNEL=$kernel "$program" "$micro" 2>&1); then
            # A machine without AVX2, or a build without it, refuses the name.
            case $kernel,$lines in avx2,*"GA_CPU_KERNEL is"*) echo "left out: $lines"; break ;; esac
            echo "kernel '$kernel', micro-batches of $micro: $lines"
            exit 1
        fi
        if [ "$lines" != "$(cat "$golden")" ]; then
            echo "kernel '$kernel', micro-batches of $micro gave"
            echo "$lines"
            status=1
        fi
    done
done
exit $status
