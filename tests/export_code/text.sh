#!/bin/bash
# text.sh PROGRAM SOURCES: the generated programs of golden/ letter by letter, the syntax of those of
# all cases where there is a Python, and what is refused. GA_GOLDEN_UPDATE=1 writes golden/ anew: look
# at the difference before keeping it.
program=$1
sources=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$sources"/cases/* "$folder"
cp "$sources"/../../data/digits.csv "$folder"
cd "$folder" || exit 1
status=0

complain()
{
    printf '%s\n' "$*"
    status=1
}

# generate CASE FRAMEWORK: writes CASE.FRAMEWORK.py; false when the console refuses.
generate()
{
    "$program" --batch "$1.ga" -e "export code $2 $1.$2.py" > "$1.$2.out" 2>&1
}

for golden in "$sources"/golden/*.py; do
    name=$(basename "$golden" .py)
    generate "${name%.*}" "${name#*.}" || complain "$name: $(tail -n 1 "$name.out")"
    if [[ -n "${GA_GOLDEN_UPDATE:-}" ]]; then
        cp "$name.py" "$golden"
    elif ! diff -u "$golden" "$name.py"; then
        complain "$name is not golden/$name.py"
    fi
done

for case in *.ga; do
    for framework in pytorch tensorflow; do
        case ${case%.ga}.$framework in local.tensorflow | outer.tensorflow) continue ;; esac
        generate "${case%.ga}" "$framework" || complain "$case: $(tail -n 1 "${case%.ga}.$framework.out")"
    done
done
if python3 -c '' 2> /dev/null; then
    python3 -W error -m py_compile ./*.py || complain "a program is no Python"
else
    echo "no python3 here: the syntax of the programs is left unchecked"
fi
for generated in *.py; do
    ! grep -n '.\{101\}' "$generated" || complain "$generated has lines over 100 columns"
    ! grep -n ' $' "$generated" || complain "$generated has blanks at the end of a line"
done

# refused 'COMMAND; COMMAND' 'WORDS OF THE MESSAGE': exit status 2, no file.
refused()
{
    local lines=() line message
    while IFS= read -r line; do lines+=(-e "$line"); done <<< "${1//; /$'\n'}"
    rm -f x.py
    message=$("$program" --batch "${lines[@]}" 2>&1 > /dev/null)
    [[ $? == 2 ]] || complain "'$1' did not end with status 2: $message"
    [[ "$message" == *"$2"* ]] || complain "'$1' said '$message' instead of '$2'"
    [[ ! -e x.py ]] || complain "'$1' wrote x.py"
}

refused 'export code keras x.py' 'expected tensorflow or pytorch'
refused 'export code pytorch' 'export code tensorflow|pytorch FILE'
refused 'export weights a b' 'export code tensorflow|pytorch FILE'
refused 'set mode async; export code pytorch x.py' 'mode async is no short program there: expected mode sync or local'
refused 'set mode local; export code tensorflow x.py' 'expected mode sync ('
refused 'set replicas 3 backup 1; export code pytorch x.py' 'expected backup 0'
printf '\000\000\010\001\000\000\000\002\000\001' > labels.idx
refused 'data labels.idx labels=labels.idx; export code pytorch x.py' 'the programs read no idx files'
refused 'data quadratic lambda=1,4; export code pytorch x.py' 'data quadratic has no net'
refused 'set model 3-5-1; export code pytorch x.py' 'model 3-5-1 does not fit parabola'
refused 'export code pytorch no/such/folder/x.py' 'no/such/folder'
refused 'export code pytorch .' 'directory'
exit $status
