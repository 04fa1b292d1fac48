#!/bin/sh
# check.sh RULE ROOT: holds the sources below ROOT/src and ROOT/ui to one rule of the structure.
#
#   edges       a room includes only itself, base and the rooms it may use
#   quiet       only src/main.c, src/bench and ui print to the terminal or end the process
#   thirdparty  headers of other packages are included in .c files only, so that their types stay there
#
# Prints file:line and what was expected for each break of the rule; status 1 when there is one.
set -eu

rule=$1
root=$2
cd "$root"

# Status 2 when there is nothing to check: a rule that sees no file would never be broken.
files=$(mktemp)
trap 'rm -f "$files"' EXIT
for folder in src ui; do
    if [ -d "$folder" ]; then
        find "$folder" -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.cu' -o -name '*.cuh' \)
    fi
done | LC_ALL=C sort > "$files"
if [ ! -s "$files" ]; then
    echo "no sources below $root: expected src/ with .c and .h files" >&2
    exit 2
fi

LC_ALL=C awk -v rule="$rule" '
BEGIN {
    may["base"] = " "
    may["settings"] = " "
    may["compute"] = " "
    may["dataset"] = " "
    may["monitor"] = " "
    may["collective"] = " compute "
    may["model"] = " compute "
    may["train"] = " settings compute collective dataset model monitor "
    may["storage"] = " train model "
    may["console"] = " settings train storage "
    may["ui"] = " console settings storage "
    may["bench"] = " settings compute collective dataset model train monitor storage console "
    may["main"] = " ui console bench "
    also["ui", "train/view.h"] = 1
    loud = "(^|[^A-Za-z0-9_.>])((printf|vprintf|puts|putchar|perror|psignal|exit|_exit|_Exit|quick_exit|abort)[ \t]*\\(|(stdout|stderr)([^A-Za-z0-9_]|$))"
    packages = "^(curses|ncurses|ncursesw|term[.]h|readline|jansson|csv|zlib|zip|cblas|Random123|cuda|cublas|nccl|mpi|nvml)"
}

function room_of(path,   parts) {
    split(path, parts, "/")
    if (parts[1] == "ui")
        return "ui"
    return parts[3] == "" ? "main" : parts[2]
}

function complain(text) {
    print path ":" line ": " text
    broken = 1
}

# What is left of a line without comments, strings and characters; open_comment crosses lines.
function code(text,   out, at, c, two, quote) {
    out = ""
    quote = ""
    for (at = 1; at <= length(text); at++) {
        c = substr(text, at, 1)
        two = substr(text, at, 2)
        if (open_comment) {
            if (two == "*/") { open_comment = 0; at++ }
        } else if (quote != "") {
            if (c == "\\") at++
            else if (c == quote) { quote = ""; out = out c }
        } else if (two == "/*") { open_comment = 1; at++ }
        else if (two == "//") break
        else {
            if (c == "\"" || c == "\047") quote = c
            out = out c
        }
    }
    return out
}

function check_edge(text,   room, target, parts) {
    if (text !~ /^[ \t]*#[ \t]*include[ \t]*"/)
        return
    split(text, parts, "\"")
    target = parts[2]
    room = room_of(path)
    if (!(room in may))
        complain("room " room " is not in the list of rooms")
    else if (target !~ "/" || target ~ /\.\./)
        complain("\"" target "\", expected a path from src/, such as \"base/error.h\"")
    else {
        sub("/.*", "", parts[2])
        if (parts[2] != room && parts[2] != "base" && index(may[room], " " parts[2] " ") == 0 && !((room, target) in also))
            complain(room " may not include " target ", expected base" (may[room] == " " ? "" : "," may[room]) "or " room)
    }
}

function check_quiet(text,   room) {
    room = room_of(path)
    if (room == "main" || room == "ui" || room == "bench" || text ~ /^[ \t]*#[ \t]*include/)
        return
    text = code(text)
    if (match(text, loud))
        complain("only src/main.c, src/bench and ui may print or end the process: " substr(text, RSTART, RLENGTH))
}

function check_third_party(text,   parts) {
    if (path ~ /\.(c|cu)$/ || text !~ /^[ \t]*#[ \t]*include[ \t]*</)
        return
    split(text, parts, /[<>]/)
    if (parts[2] ~ packages)
        complain("<" parts[2] "> in a header, expected in a .c file only")
}

{
    path = $0
    line = 0
    open_comment = 0
    while ((status = (getline text < path)) > 0) {
        line++
        if (rule == "edges") check_edge(text)
        else if (rule == "quiet") check_quiet(text)
        else if (rule == "thirdparty") check_third_party(text)
        else { print "unknown rule " rule ", expected edges, quiet or thirdparty"; exit 2 }
    }
    if (status < 0)
        complain("cannot be read")
    close(path)
}

END { if (broken) exit 1 }
' "$files"
