#!/bin/sh
# sanitizer.sh SANITIZER TOOL TEST: a test over the module on this machine's cards, under NVIDIA's
# compute-sanitizer with that tool; SANITIZER is its path, or empty where the build found none.
sanitizer=$1
tool=$2
test=$3
if [ -z "$sanitizer" ]; then
    echo "skipped: there is no compute-sanitizer in this build's toolkit"
    exit 77
fi
# A test that skips says why, and whether there is a card at all.
GA_TEST_SCALE=0.01 "$test" || exit
GA_TEST_SCALE=0.01 exec "$sanitizer" --tool "$tool" --error-exitcode 9 "$test"
