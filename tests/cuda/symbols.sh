#!/bin/sh
# symbols.sh MODULE NCCL: it exports one function, and takes CUDA from shared libraries: what a test puts in
# their place is what the module calls. NCCL is yes where the build has it.
module=$1
nccl=$2
status=0
exported=$(nm -D --defined-only "$module" | awk '{ print $3 }')
if [ "$exported" != ga_cuda_module ]; then
    echo "exported: $exported; expected ga_cuda_module alone"
    status=1
fi
for name in cudaMalloc cudaMemcpyAsync cudaStreamQuery __cudaLaunchKernel __cudaRegisterFunction; do
    if ! nm -D --undefined-only "$module" | grep -q " $name@libcudart"; then
        echo "$name is not taken from a shared libcudart"
        status=1
    fi
done
if ! nm -D --undefined-only "$module" | grep -q ' cublasLtMatmul@libcublasLt'; then
    echo "cublasLtMatmul is not taken from a shared libcublasLt"
    status=1
fi
case $nccl in
    yes)
        for name in ncclAllReduce ncclCommInitRankConfig ncclCommAbort; do
            if ! nm -D --undefined-only "$module" | grep -q " $name"; then
                echo "$name is not taken from a shared libnccl"
                status=1
            fi
        done
        ;;
esac
if nm -D --undefined-only "$module" | grep -E ' (ga_|_Z|__cxa_(throw|guard))'; then
    echo "these were expected to be in the module or not needed"
    status=1
fi
exit $status
