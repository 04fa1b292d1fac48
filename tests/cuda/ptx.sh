#!/bin/sh
# ptx.sh FILE: the exact kernels are there, and nothing in them fuses, flushes or approximates.
file=$1
kernels=$(grep -c '^\.visible \.entry ga_kernel_' "$file")
if [ "$kernels" -lt 10 ]; then
    echo "$kernels kernels in $file, expected at least 10"
    exit 1
fi
if ! grep -q 'div\.rn\.f32' "$file" || ! grep -q 'sqrt\.rn\.f32' "$file"; then
    echo "no rounded division and root in $file: is it the optimizer's code?"
    exit 1
fi
if grep -nE 'fma\.|mad\.(rn|rz|f)|\.ftz|\.approx|\.full' "$file"; then
    echo "these operations do not round as the CPU does"
    exit 1
fi
