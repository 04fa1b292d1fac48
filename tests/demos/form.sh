#!/bin/bash
# form.sh DEMO...: what every lesson has: a word to the instructor, questions before answers,
# expectations at its end, and no pace of its own.
status=0

complain()
{
    printf '%s\n' "$*"
    status=1
}

for demo in "$@"; do
    name=$(basename "$demo")
    grep -q '^# For the instructor: .*at the pace' "$demo" || complain "$name tells the instructor no time"
    grep -q '^say ' "$demo" || complain "$name says nothing"
    grep -q '^ask .* answer=' "$demo" || complain "$name asks nothing"
    tail -n 1 "$demo" | grep -q '^expect ' || complain "$name does not end in an expectation"
    ! grep -n 'pace [0-9x]' <(grep -v '^#' "$demo") || complain "$name sets a pace"
    ! grep -n 'clock real' <(grep -v '^#' "$demo") || complain "$name uses the real clock: it would not repeat"
    ! grep -n '^#.\{100,\}' "$demo" || complain "$name has comments over 100 columns"
done
exit $status
