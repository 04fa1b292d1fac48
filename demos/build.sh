# shellcheck shell=bash
# Configures and builds folders under build/. Sourced by demos/run and tests/run, which set ga_top to
# the folder of CMakeLists.txt; defines functions only.
: "${ga_top:?}"

ga_jobs()
{
    printf '%s\n' "${GA_JOBS:-$(nproc 2> /dev/null || echo 2)}"
}

# A build folder that was made elsewhere, or by a compiler or build tool that is gone, is removed: it
# holds nothing that cannot be built again. pwd -P because CMake resolves links as well.
ga_drop_stale()
{
    local folder=$1 cache="$1/CMakeCache.txt" home tool
    [[ -f "$cache" ]] || return 0
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
    for tool in CMAKE_MAKE_PROGRAM CMAKE_C_COMPILER; do
        if ! command -v "$(sed -n "s/^$tool:[A-Z]*=//p" "$cache")" > /dev/null; then
            home=gone
        fi
    done
    if [[ "$home" != "$(cd "$ga_top" && pwd -P)" ]]; then
        echo "$folder was made elsewhere or with other tools: building it anew" >&2
        rm -rf "$folder"
    fi
}

# ga_configure FOLDER ARGUMENT...: a preset or cache settings; the generator of an old cache stays.
ga_configure()
{
    local folder=$1 generator=()
    shift
    ga_drop_stale "$folder"
    if [[ ! -f "$folder/CMakeCache.txt" ]] && command -v ninja > /dev/null; then
        generator=(-G Ninja)
    fi
    (cd "$ga_top" && cmake -B "$folder" "${generator[@]}" "$@" < /dev/null)
}

ga_build()
{
    local folder=$1
    shift
    cmake --build "$folder" --parallel "$(ga_jobs)" "$@" < /dev/null
}

# ga_locked FOLDER COMMAND...: of two at once that build in one folder the second waits.
ga_locked()
{
    local folder=$1
    shift
    (
        exec 9> "$folder.lock"
        ! command -v flock > /dev/null || flock 9
        "$@"
    )
}

# ga_quietly LOG COMMAND...: output goes to the log; its end comes out only when the command fails.
ga_quietly()
{
    local log=$1
    shift
    if ! "$@" > "$log" 2>&1; then
        tail -n 100 "$log" >&2
        echo "The whole of it is in $log" >&2
        return 1
    fi
}
