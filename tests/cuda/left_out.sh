#!/bin/sh
# left_out.sh PROGRAM SOURCE CMAKE COMPILER: the program is built without the CUDA module, because that is not
# wanted or because no toolkit is found; it computes what PROGRAM computes and says what was left out.
program=$1 source=$2 cmake=$3 compiler=$4
status=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# build ANSWER WHY OPTION: in one folder, so that the second build compiles next to nothing.
build() {
    if ! said=$("$cmake" -S "$source" -B "$folder" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS_DEBUG=-O0 -DGA_TESTS=OFF -DGA_CUDA="$1" "$3" 2>&1); then
        echo "$2: $said"
        exit 1
    fi
    case $said in
        *"The CUDA module is left out: $2"*) ;;
        *) echo "expected \"The CUDA module is left out: $2\" in: $said"; status=1 ;;
    esac
    if ! said=$("$cmake" --build "$folder" --target gaconsole --parallel 2 2>&1); then
        echo "$2: $said"
        exit 1
    fi
}

hash_of() {
    "$1" --batch -e "$2" -e "run 20" -e "print hash" 2>&1 | tail -n 1
}

check() {
    for terms in "replicas 3 accum 2" "mode local period 2 replicas 2" "optimizer adam activation gelu"; do
        want=$(hash_of "$program" "set $terms")
        have=$(hash_of "$folder/gaconsole" "set $terms")
        case $want in "hash "*) ;; *) echo "$terms: $want"; status=1 ;; esac
        if [ "$want" != "$have" ]; then
            echo "$1, $terms: $have, expected $want"
            status=1
        fi
    done
    said=$("$folder/gaconsole" --plain -e devices -e "set device cuda" -e "run 2" 2>&1)
    case $said in
        *"cuda: no GPU support here: expected libgaconsole_cuda.so"*"no GPU support here: expected"*"at update 2, hash "*) ;;
        *) echo "$1: it does not say what was left out and go on: $said"; status=1 ;;
    esac
    if [ -e "$folder/libgaconsole_cuda.so" ]; then
        echo "$1: the module was built"
        status=1
    fi
}

unset GA_CUDA_MODULE
build OFF "GA_CUDA is OFF" -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=OFF
check "GA_CUDA=OFF"
build AUTO "no CUDA toolkit was found" -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON
check "no toolkit"
if "$cmake" -S "$source" -B "$folder" -DGA_CUDA=ON >/dev/null 2>&1; then
    echo "GA_CUDA=ON without a toolkit is no error"
    status=1
fi
exit $status
