#!/bin/bash
# frameworks.sh PROGRAM SOURCES FRAMEWORK CASE...: runs the generated programs and holds their losses
# against the console's. GA_PYTHON names the interpreter (python3); 77 when it has no such framework.
program=$1
sources=$2
framework=$3
shift 3
python=${GA_PYTHON:-python3}
module=${framework/pytorch/torch}
if ! "$python" -c "import $module" 2> /dev/null; then
    echo "left out: $python has no module $module"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$sources"/cases/* "$folder"
cp "$sources"/../../data/digits.csv "$folder"
cd "$folder" || exit 1
status=0

for case in "$@"; do
    if [[ $case == digits ]] && ! "$python" -c "import safetensors" 2> /dev/null; then
        echo "$case is left out: $python has no module safetensors"
        continue
    fi
    if ! "$program" --batch -e "columns update dataset_loss" "$case.ga" \
        -e "export code $framework $case.py" > want 2>&1; then
        tail -n 1 want
        status=1
    elif ! "$python" "$case.py" > got 2> errors; then
        echo "$case in $framework failed:"
        tail -n 5 errors
        status=1
    # Keras's Adam has its epsilon elsewhere: 1e-4 covers that; a wrong factor shows in the first digit.
    elif ! grep '^update' want | paste - <(grep '^update' got) | awk -v name="$case" '
        { difference = $4 > $8 ? $4 - $8 : $8 - $4; lines++ }
        $2 != $6 || !(difference <= 1e-4 * $4) { print name ": " $0; bad = 1 }
        END { print name ": " lines + 0 " losses"; exit bad || lines < 4 }'; then
        status=1
    fi
done
exit $status
