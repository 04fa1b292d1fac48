#!/bin/sh
# Plants good and bad sources and sees that check.sh tells them apart.
set -eu

check=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failed=0

# expect RULE STATUS FILE TEXT: the answer of a tree that holds this one file.
expect()
{
    rm -rf "$root/src" "$root/ui"
    mkdir -p "$root/$(dirname "$3")"
    printf '%b\n' "$4" > "$root/$3"
    status=0
    answer=$(sh "$check" "$1" "$root") || status=$?
    if [ "$status" -ne "$2" ] || { [ "$status" -eq 1 ] && [ "${answer#"$3":}" = "$answer" ]; }; then
        echo "$1 of $3 with '$4': status $status, expected $2; it said: $answer"
        failed=1
    fi
}

expect edges 0 src/train/a.c '#include "base/error.h"\n#include "model/model.h"\n#include "train/run.h"\n#include <stdio.h>'
expect edges 0 src/base/a.c '#include "base/error.h"'
expect edges 0 src/main.c '#include "ui/screen.h"\n#include "console/console.h"'
expect edges 0 ui/panel.c '#include "train/view.h"\n#include "ui/cells.h"'
expect edges 0 src/bench/a.c '#include "compute/compute.h"'
expect edges 0 src/collective/a.h '#include "compute/compute.h"'
expect edges 1 src/base/a.c '#include "train/run.h"'
expect edges 1 src/compute/a.h '\n #  include "model/model.h"'
expect edges 1 src/collective/deep/a.c '#include "dataset/dataset.h"'
expect edges 1 src/console/a.c '#include "ui/cells.h"'
expect edges 1 src/bench/a.c '#include "ui/cells.h"'
expect edges 1 src/main.c '#include "train/run.h"'
expect edges 1 ui/panel.c '#include "train/run.h"'
expect edges 1 src/train/a.c '#include "run.h"'
expect edges 1 src/train/a.c '#include "../base/error.h"'
expect edges 1 src/train/a.c '#include "base/../ui/cells.h"'
expect edges 1 src/unknown/a.c '#include "base/error.h"'
expect edges 1 src/compute/kernel.cu '#include "train/run.h"'
expect edges 1 src/settings/choices.def '#include "train/run.h"'
expect edges 2 README.md 'no sources'

expect quiet 0 src/train/a.c 'snprintf(b, 1, "printf(%d)", 1); // printf(\n/* exit(1)\n abort() */ ga_exit(); x_printf(1);'
expect quiet 0 src/train/a.c "fprintf(log, \"stdout\"); c = '\\\\\"'; exits(1); no_exit = atexit_count;"
expect quiet 0 src/train/a.h 'void f(const char *, ...) __attribute__((format(printf, 2, 3)));'
expect quiet 0 src/train/a.c 't = {.abort = stop}; group->abort(group); group.exit(1);'
expect quiet 0 src/main.c 'printf("x"); exit(1);'
expect quiet 0 src/bench/a.c 'printf("x");'
expect quiet 0 ui/a.c 'exit(1);'
expect quiet 1 src/train/a.c '    printf ("x");'
expect quiet 1 src/train/a.c 'fprintf(stderr, "x");'
expect quiet 1 src/base/a.h 'static inline void f(void) { exit(1); }'
expect quiet 1 src/train/a.c '/* a */ puts("x"); /* b */'
expect quiet 1 src/train/a.c "c = '\"'; abort();"
expect quiet 2 README.md 'no sources'

expect thirdparty 0 src/console/a.c '#include <readline/readline.h>'
expect thirdparty 0 src/console/a.h '#include <stdio.h>\n#include "console/a.h"'
expect thirdparty 1 src/console/a.h '#include <readline/readline.h>'
expect thirdparty 1 ui/a.h '#include <curses.h>'
expect thirdparty 1 src/storage/a.h '#include <jansson.h>'

expect nonsense 2 src/base/a.c 'int a;'

if [ "$failed" -ne 0 ]; then
    exit 1
fi
echo "check.sh tells good sources from bad ones"
