# shellcheck shell=bash
# Finds out what is missing on this machine and installs it. Sourced by demos/run, tests/run and
# .ci/run; defines functions only.
#
# Nothing missing: no root is needed and nothing is touched. Otherwise root installs; on a terminal
# with sudo the command is shown and asked about; anybody else gets the command, and status 2.

ga_minimum_cmake=3.22

# set | probe | apt (Debian, Ubuntu) | dnf (Fedora) | pacman (Arch)
# A probe tests for the thing itself, not for a package, so whatever provides it will do:
# cc, cmake, maker and cblas as below; program:NAME on the path; header:FILE that the compiler finds;
# fuzzer: clang can link libFuzzer.
ga_packages='
demo | cc                           | gcc libc6-dev    | gcc glibc-devel     | gcc
demo | cmake                        | cmake            | cmake               | cmake
demo | maker                        | ninja-build      | ninja-build         | ninja
demo | header:readline/readline.h   | libreadline-dev  | readline-devel      | readline
demo | header:curses.h              | libncurses-dev   | ncurses-devel       | ncurses
demo | header:jansson.h             | libjansson-dev   | jansson-devel       | jansson
demo | header:csv.h                 | libcsv-dev       | libcsv-devel        | libcsv
demo | header:zlib.h                | zlib1g-dev       | zlib-devel          | zlib
demo | cblas                        | libopenblas0     | openblas-devel      | openblas
demo | header:zip.h                 | libzip-dev       | libzip-devel        | libzip
demo | header:Random123/philox.h    | librandom123-dev | Random123-devel     | random123
test | header:cmocka.h              | libcmocka-dev    | libcmocka-devel     | cmocka
test | header:vterm.h               | libvterm-dev     | libvterm-devel      | libvterm
ci   | program:clang                | clang            | clang               | clang
ci   | fuzzer                       | libclang-rt-dev  | compiler-rt         | compiler-rt
ci   | program:clang-format         | clang-format     | clang-tools-extra   | clang
ci   | program:clang-tidy           | clang-tidy       | clang-tools-extra   | clang
ci   | program:cppcheck             | cppcheck         | cppcheck            | cppcheck
ci   | program:shellcheck           | shellcheck       | ShellCheck          | shellcheck
ci   | program:valgrind             | valgrind         | valgrind            | valgrind
'

ga_compiler()
{
    local name
    for name in "${CC:-}" cc gcc clang; do
        if [[ -n "$name" ]] && command -v "$name" > /dev/null; then
            printf '%s\n' "$name"
            return 0
        fi
    done
    return 1
}

# A header of the C library and start files are there: a compiler alone is not enough.
ga_has_cc()
{
    local compiler
    compiler=$(ga_compiler) || return 1
    printf '#include <stdio.h>\nint main(void){return 0;}\n' |
        "$compiler" -x c -o /dev/null - 2> /dev/null
}

ga_has_cmake()
{
    local version
    version=$(cmake --version 2> /dev/null | sed -n '1s/.* //p') || return 1
    [[ -n "$version" ]] &&
        [[ "$(printf '%s\n%s\n' "$ga_minimum_cmake" "$version" | sort -V | head -n 1)" == "$ga_minimum_cmake" ]]
}

ga_has_header()
{
    local compiler
    compiler=$(ga_compiler) || return 1
    printf '#include <stdio.h>\n#include <%s>\n' "$1" | "$compiler" -E -x c - > /dev/null 2>&1
}

# A shared library that has it, as the program will look for one.
ga_has_cblas()
{
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null | grep -E 'lib(openblas|blis|cblas)[.]so' > /dev/null
}

ga_has_fuzzer()
{
    local answer=0 object
    object=$(mktemp) || return 1
    printf 'int LLVMFuzzerTestOneInput(const char *b, long n);int LLVMFuzzerTestOneInput(const char *b, long n){return b?0:(int)n;}' |
        clang -fsanitize=fuzzer,address -x c -o "$object" - 2> /dev/null || answer=1
    rm -f "$object"
    return "$answer"
}

ga_probe()
{
    case $1 in
        cc) ga_has_cc ;;
        cmake) ga_has_cmake ;;
        maker) command -v ninja > /dev/null || command -v make > /dev/null ;;
        cblas) ga_has_cblas ;;
        fuzzer) ga_has_fuzzer ;;
        program:*) command -v "${1#*:}" > /dev/null ;;
        header:*) ga_has_header "${1#*:}" ;;
        *) return 1 ;;
    esac
}

# ga_missing COLUMN SET...: the packages of that column (3 apt, 4 dnf, 5 pacman) that are wanted.
ga_missing()
{
    local column=$1 set probe apt dnf pacman names
    shift
    while IFS='|' read -r set probe apt dnf pacman; do
        set=${set// /}
        probe=${probe// /}
        [[ -n "$set" && " $* " == *" $set "* ]] || continue
        ga_probe "$probe" && continue
        names=("" "" "" "$apt" "$dnf" "$pacman")
        # shellcheck disable=SC2086 # several packages stand in one cell
        printf '%s\n' ${names[column]}
    done <<< "$ga_packages" | sort -u | tr '\n' ' ' | sed 's/ $//'
}

# ga_install_command MANAGER PACKAGE...: one line for a root shell.
ga_install_command()
{
    local manager=$1
    shift
    case $manager in
        apt) echo "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $*" ;;
        dnf) echo "dnf install -y $*" ;;
        pacman) echo "pacman -S --needed --noconfirm $*" ;;
    esac
}

ga_ask()
{
    local answer
    printf '%s [Y/n] ' "$1" > /dev/tty
    read -r answer < /dev/tty || return 1
    [[ -z "$answer" || "$answer" == [Yy]* ]]
}

# Whether there is a terminal to ask on, even when the three streams are redirected.
ga_has_terminal()
{
    [[ -t 2 ]] && { : < /dev/tty; } 2> /dev/null
}

ga_run_install()
{
    local command=$1 log
    log=$(mktemp) || return 1
    echo "Installing: ${command##*&& }" >&2
    shift
    if "$@" sh -c "$command" > "$log" 2>&1 < /dev/null; then
        rm -f "$log"
        return 0
    fi
    cat "$log" >&2
    rm -f "$log"
    return 1
}

# Asks before sudo, which may then ask for a password on the terminal.
ga_install()
{
    local command=$1
    if [[ "$(id -u)" == 0 ]]; then
        ga_run_install "$command"
        return
    fi
    if command -v sudo > /dev/null && ga_has_terminal; then
        printf 'Some packages are missing. This would install them:\n  sudo sh -c "%s"\n' "$command" >&2
        if ga_ask "Run it now?" && sudo -v; then
            ga_run_install "$command" sudo
            return
        fi
    fi
    printf 'Some packages are missing. Install them as root, and run this again:\n  %s\n' "$command" >&2
    return 1
}

# ga_require SET...: returns only when all of the sets is there, else ends with status 2.
ga_require()
{
    local manager='' column=3 missing
    if command -v apt-get > /dev/null; then
        manager=apt
    elif command -v dnf > /dev/null; then
        manager=dnf column=4
    elif command -v pacman > /dev/null; then
        manager=pacman column=5
    fi
    missing=$(ga_missing "$column" "$@")
    [[ -n "$missing" ]] || return 0
    if [[ -z "$manager" ]]; then
        printf 'These are missing (names of the Debian packages): %s\n' "$missing" >&2
        exit 2
    fi
    # shellcheck disable=SC2086 # a list of packages
    ga_install "$(ga_install_command "$manager" $missing)" || exit 2
    hash -r
    missing=$(ga_missing "$column" "$@")
    if [[ -n "$missing" ]]; then
        printf 'Still missing or too old after installing (cmake %s or newer is needed): %s\n' \
            "$ga_minimum_cmake" "$missing" >&2
        exit 2
    fi
}
