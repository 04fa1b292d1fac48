/* Kernels: registered by the compiler's code, launched by address, run by name. */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define KERNELS 64

struct kernel {
    const void *host;
    const char *name;
};

static struct kernel registered[KERNELS];
static size_t count;

/* The launch under way, between the two calls that the compiler puts around it. */
static _Thread_local struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed;

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *tid, void *bid, void *block, void *grid, int *size);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream);

void **__cudaRegisterFatBinary(void *binary)
{
    static void *handle;
    handle = binary;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

char __cudaInitModule(void **handle)
{
    (void)handle;
    return 0;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *tid, void *bid, void *block, void *grid, int *size)
{
    struct fake *fake = fake_enter();
    (void)handle, (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid,
        (void)size;
    if (count < KERNELS)
        registered[count++] = (struct kernel){host, name};
    fake_leave(fake, cudaSuccess);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     struct CUstream_st *stream)
{
    pushed.grid = grid;
    pushed.block = block;
    pushed.shared = shared;
    pushed.stream = stream;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    *grid = pushed.grid;
    *block = pushed.block;
    *shared = pushed.shared;
    memcpy(stream, &pushed.stream, sizeof pushed.stream);
    return cudaSuccess;
}

static const struct kernel *kernel_of(const void *host)
{
    for (size_t i = 0; i < count; i++)
        if (registered[i].host == host)
            return &registered[i];
    return NULL;
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
    memcpy(out, &host, sizeof host);
    return kernel_of(host) ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

static cudaError_t launch(struct fake *fake, const void *host, dim3 grid, dim3 block, void **args,
                          size_t shared, cudaStream_t stream)
{
    const struct kernel *kernel = kernel_of(host);
    const unsigned threads = block.x * block.y * block.z;
    int device = 0;
    (void)cudaGetDevice(&device);
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (threads == 0 || threads > 1024 || grid.x == 0 || grid.y != 1 || grid.z != 1)
        return fake_fault(fake, "%s: a launch of %u x %u threads", kernel->name, grid.x, threads);
    if (stream && stream->device != device)
        return fake_fault(fake, "%s: the stream is of device %d and the thread's is %d",
                          kernel->name, stream->device, device);
    return fake_run(fake, kernel->name, args[0], shared, stream);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream)
{
    struct fake *fake = fake_enter();
    return fake_leave(fake, launch(fake, kernel, grid, block, args, shared, stream));
}

cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream)
{
    struct fake *fake = fake_enter();
    return fake_leave(fake, launch(fake, host, grid, block, args, shared, stream));
}

cudaError_t fake_launch(const char *name, const void *args, cudaStream_t stream)
{
    struct fake *fake = fake_enter();
    return fake_leave(fake, fake_run(fake, name, args, 0, stream));
}
