/* Faults planted in what a module might do: the fake runtime finds each, and only those. */
#include "support/support.h"

#include <string.h>

#include "compute/cuda/exact_body.h"
#include "fake.h"

#define N 100

struct desk {
    cudaStream_t stream[2]; /* of devices 0 and 1 */
    cudaStream_t other;     /* of device 0 */
    double *a[2], *b[2];    /* N doubles on each */
    double *pinned;
};

static void fine(cudaError_t code)
{
    if (code != cudaSuccess)
        fail_msg("%s", cudaGetErrorString(code));
}

/* All is zero and nothing is under way. */
static void open_desk(struct desk *d)
{
    fake_set("devices=2");
    for (int device = 0; device < 2; device++) {
        fine(cudaSetDevice(device));
        fine(cudaStreamCreateWithFlags(&d->stream[device], cudaStreamNonBlocking));
        fine(cudaMalloc((void **)&d->a[device], N * sizeof(double)));
        fine(cudaMalloc((void **)&d->b[device], N * sizeof(double)));
        fine(cudaMemsetAsync(d->a[device], 0, N * sizeof(double), d->stream[device]));
        fine(cudaMemsetAsync(d->b[device], 0, N * sizeof(double), d->stream[device]));
        fine(cudaStreamSynchronize(d->stream[device]));
    }
    fine(cudaSetDevice(0));
    fine(cudaStreamCreateWithFlags(&d->other, cudaStreamNonBlocking));
    fine(cudaHostAlloc((void **)&d->pinned, N * sizeof(double), cudaHostAllocDefault));
}

static void close_desk(struct desk *d)
{
    for (int device = 0; device < 2; device++) {
        fine(cudaStreamDestroy(d->stream[device]));
        fine(cudaFree(d->a[device]));
        fine(cudaFree(d->b[device]));
        assert_int_equal(fake_used(device), 0);
    }
    fine(cudaStreamDestroy(d->other));
    fine(cudaFreeHost(d->pinned));
}

static void assert_faults(const char *part)
{
    const char *text = NULL;
    assert_int_equal(fake_faults(&text), 1);
    if (!strstr(text, part))
        fail_msg("the fault is \"%s\", expected \"%s\" in it", text, part);
}

static cudaError_t add(double *to, const double *from, size_t count, cudaStream_t stream)
{
    const struct ga_k_add k = {.threads = count, .to = to, .from = from};
    return fake_launch("ga_kernel_add", &k, stream);
}

static void test_nothing_is_wrong(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    d.pinned[3] = 2.5;
    fine(
        cudaMemcpyAsync(d.a[0], d.pinned, N * sizeof(double), cudaMemcpyHostToDevice, d.stream[0]));
    fine(add(d.b[0], d.a[0], N, d.stream[0]));
    fine(add(d.b[0], d.a[0], N, d.stream[0]));
    fine(cudaStreamSynchronize(d.stream[0]));
    fine(cudaMemcpyAsync(d.b[1], d.b[0], N * sizeof(double), cudaMemcpyDefault, d.stream[1]));
    fine(cudaMemcpyAsync(d.pinned, d.b[1], N * sizeof(double), cudaMemcpyDefault, d.stream[1]));
    fine(cudaStreamSynchronize(d.stream[1]));
    assert_true(d.pinned[3] == 5.0);
    assert_int_equal(fake_faults(NULL), 0);
    close_desk(&d);
}

static void test_wrong_device(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    assert_int_equal(add(d.a[0], d.a[1], N, d.stream[0]), cudaErrorAssert);
    assert_faults("on device 0 takes memory of device 1");
    assert_int_equal(cudaMemsetAsync(d.a[1], 0, 8, d.stream[0]), cudaErrorAssert);
    assert_faults("does not hold");
    assert_int_equal(add(d.a[0], d.pinned, N, d.stream[0]), cudaErrorAssert);
    assert_faults("memory of device -1");
    close_desk(&d);
}

static void test_beyond_the_end(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    assert_int_equal(add(d.a[0], d.b[0], N * sizeof(double), d.stream[0]), cudaErrorAssert);
    assert_faults("no memory of a device");
    assert_int_equal(cudaMemcpyAsync(d.a[0], d.pinned, N * sizeof(double) + 1,
                                     cudaMemcpyHostToDevice, d.stream[0]),
                     cudaErrorAssert);
    assert_faults("over the end");
    close_desk(&d);
}

static void test_missing_wait_between_streams(void **state)
{
    struct desk d;
    cudaEvent_t event = NULL;
    (void)state;
    open_desk(&d);
    fine(add(d.a[0], d.b[0], N, d.stream[0]));
    assert_int_equal(add(d.b[0], d.a[0], N, d.other), cudaErrorAssert);
    assert_faults("a wait is missing");
    fine(cudaStreamSynchronize(d.stream[0]));
    fine(cudaStreamSynchronize(d.other));

    /* The same with an event; and the other half of the buffer needs none. */
    fine(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    fine(add(d.a[0], d.b[0], N / 2, d.stream[0]));
    fine(cudaMemsetAsync(d.a[0] + N / 2, 0, N / 2 * sizeof(double), d.other));
    fine(cudaEventRecord(event, d.stream[0]));
    fine(cudaStreamWaitEvent(d.other, event, 0));
    fine(add(d.b[0], d.a[0], N, d.other));
    assert_int_equal(fake_faults(NULL), 0);

    /* Two readers need no order, a writer behind them does. */
    fine(cudaStreamSynchronize(d.other));
    fine(add(d.a[0], d.b[0], N / 2, d.stream[0]));
    fine(add(d.a[0] + N / 2, d.b[0], N / 2, d.other));
    assert_int_equal(cudaMemsetAsync(d.b[0], 0, 8, d.other), cudaErrorAssert);
    assert_faults("a memset writes bytes that stream");
    fine(cudaEventDestroy(event));
    close_desk(&d);
}

static void test_missing_wait_of_the_host(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    memset(d.pinned, 0, N * sizeof(double));
    fine(
        cudaMemcpyAsync(d.pinned, d.a[0], N * sizeof(double), cudaMemcpyDeviceToHost, d.stream[0]));
    assert_true(d.pinned[0] != 0.0);
    fine(cudaStreamSynchronize(d.stream[0]));
    assert_true(d.pinned[0] == 0.0);

    fine(
        cudaMemcpyAsync(d.a[0], d.pinned, N * sizeof(double), cudaMemcpyHostToDevice, d.stream[0]));
    d.pinned[7] = 1.0;
    assert_int_equal(cudaStreamSynchronize(d.stream[0]), cudaErrorAssert);
    assert_faults("pinned memory changed");

    fine(
        cudaMemcpyAsync(d.a[0], d.pinned, N * sizeof(double), cudaMemcpyHostToDevice, d.stream[0]));
    assert_int_equal(cudaFreeHost(d.pinned), cudaErrorAssert);
    assert_faults("given back while stream");
    fine(cudaStreamSynchronize(d.stream[0]));
    close_desk(&d);
}

static void test_default_stream_and_wrong_direction(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    assert_int_equal(cudaMemsetAsync(d.a[0], 0, 8, NULL), cudaErrorAssert);
    assert_faults("default stream");
    assert_int_equal(cudaMemcpyAsync(d.a[0], d.pinned, 8, cudaMemcpyDeviceToHost, d.stream[0]),
                     cudaErrorAssert);
    assert_faults("direction");
    assert_int_equal(cudaFree(d.a[0] + 1), cudaErrorAssert);
    assert_faults("never handed out");
    close_desk(&d);
}

static void test_injected_failures(void **state)
{
    struct desk d;
    void *more = NULL;
    size_t available = 0;
    size_t total = 0;
    (void)state;
    open_desk(&d);
    fake_set("memory=2000");
    fine(cudaMemGetInfo(&available, &total));
    assert_int_equal(available, 2000 - 2 * N * sizeof(double));
    assert_int_equal(cudaMalloc(&more, available + 1), cudaErrorMemoryAllocation);
    fake_set("memory=1000000 oom=2");
    fine(cudaMalloc(&more, 10));
    fine(cudaFree(more));
    assert_int_equal(cudaMalloc(&more, 10), cudaErrorMemoryAllocation);
    fine(cudaMalloc(&more, 10));
    fine(cudaFree(more));
    fake_set("hang=1");
    fine(add(d.a[0], d.b[0], N, d.stream[0]));
    assert_int_equal(cudaStreamQuery(d.stream[0]), cudaErrorNotReady);
    assert_int_equal(cudaStreamSynchronize(d.stream[0]), cudaErrorAssert);
    assert_faults("hangs");
    close_desk(&d);
}

/* Half the pinned memory goes up and is added at each start; the sum comes down to the other half.
 */
static void test_graph_does_what_was_noted(void **state)
{
    struct desk d;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    (void)state;
    open_desk(&d);
    for (int i = 0; i < N; i++)
        d.pinned[i] = 1;
    fine(cudaStreamBeginCapture(d.stream[0], cudaStreamCaptureModeThreadLocal));
    fine(cudaMemcpyAsync(d.a[0], d.pinned, N / 2 * sizeof(double), cudaMemcpyHostToDevice,
                         d.stream[0]));
    fine(add(d.b[0], d.a[0], N / 2, d.stream[0]));
    fine(cudaMemcpyAsync(d.pinned + N / 2, d.b[0], N / 2 * sizeof(double), cudaMemcpyDeviceToHost,
                         d.stream[0]));
    fine(cudaStreamEndCapture(d.stream[0], &graph));
    fine(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    fine(cudaGraphDestroy(graph));
    assert_true(d.pinned[N - 1] == 1);
    d.pinned[N / 2 - 1] = 5;
    fine(cudaGraphLaunch(exec, d.stream[0]));
    fine(cudaStreamSynchronize(d.stream[0]));
    assert_true(d.pinned[N - 1] == 5);
    fine(cudaGraphLaunch(exec, d.other));
    fine(cudaStreamSynchronize(d.other));
    assert_true(d.pinned[N - 1] == 10);
    fine(cudaGraphLaunch(exec, d.stream[0]));
    assert_int_equal(cudaGraphLaunch(exec, d.other), cudaErrorAssert);
    assert_faults("a wait is missing");
    fine(cudaStreamSynchronize(d.stream[0]));
    fine(cudaGraphExecDestroy(exec));
    close_desk(&d);
}

/* What spoils a capture, and a fork that nobody waits for. */
static void test_rules_of_a_capture(void **state)
{
    struct desk d;
    cudaGraph_t graph = NULL;
    cudaEvent_t fork = NULL;
    cudaEvent_t join = NULL;
    void *more = NULL;
    (void)state;
    open_desk(&d);
    fine(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    fine(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    fine(cudaStreamBeginCapture(d.stream[0], cudaStreamCaptureModeThreadLocal));
    assert_int_equal(cudaStreamQuery(d.stream[0]), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(d.stream[0], &graph), cudaErrorStreamCaptureInvalidated);
    fine(cudaStreamBeginCapture(d.stream[0], cudaStreamCaptureModeThreadLocal));
    assert_int_equal(cudaMalloc(&more, 8), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(d.stream[0], &graph), cudaErrorStreamCaptureInvalidated);
    for (int waits = 0; waits < 2; waits++) {
        fine(cudaStreamBeginCapture(d.stream[0], cudaStreamCaptureModeThreadLocal));
        fine(cudaEventRecord(fork, d.stream[0]));
        fine(cudaStreamWaitEvent(d.other, fork, 0));
        fine(add(d.a[0], d.b[0], N, d.other));
        fine(cudaEventRecord(join, d.other));
        if (waits)
            fine(cudaStreamWaitEvent(d.stream[0], join, 0));
        assert_int_equal(cudaStreamEndCapture(d.stream[0], &graph),
                         waits ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
    }
    fine(cudaGraphDestroy(graph));
    assert_int_equal(cudaStreamWaitEvent(d.other, fork, 0), cudaErrorCapturedEvent);
    fine(cudaEventDestroy(fork));
    fine(cudaEventDestroy(join));
    assert_int_equal(fake_faults(NULL), 0);
    close_desk(&d);
}

/* An external record is a node: the event tells of the last launch, and only within a capture. */
static void test_an_external_record(void **state)
{
    struct desk d;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaEvent_t half = NULL;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    (void)state;
    open_desk(&d);
    fine(cudaEventCreateWithFlags(&half, cudaEventDisableTiming));
    assert_int_equal(cudaEventRecordWithFlags(half, d.stream[0], cudaEventRecordExternal),
                     cudaErrorIllegalState);
    fine(cudaStreamIsCapturing(d.stream[0], &status));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    fine(cudaStreamBeginCapture(d.stream[0], cudaStreamCaptureModeThreadLocal));
    fine(cudaStreamIsCapturing(d.stream[0], &status));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    fine(cudaMemsetAsync(d.a[0], 0, sizeof(double), d.stream[0]));
    fine(cudaEventRecordWithFlags(half, d.stream[0], cudaEventRecordExternal));
    fine(cudaMemsetAsync(d.b[0], 0, sizeof(double), d.stream[0]));
    fine(cudaStreamEndCapture(d.stream[0], &graph));
    fine(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    fine(cudaGraphDestroy(graph));
    fine(cudaGraphLaunch(exec, d.stream[0]));
    fine(cudaStreamWaitEvent(d.other, half, 0));
    fine(cudaMemcpyAsync(d.pinned, d.a[0], sizeof(double), cudaMemcpyDeviceToHost, d.other));
    assert_int_equal(fake_faults(NULL), 0);
    assert_int_equal(
        cudaMemcpyAsync(d.pinned, d.b[0], sizeof(double), cudaMemcpyDeviceToHost, d.other),
        cudaErrorAssert);
    assert_faults("a wait is missing");
    fine(cudaStreamSynchronize(d.other));
    fine(cudaStreamSynchronize(d.stream[0]));
    fine(cudaGraphExecDestroy(exec));
    fine(cudaEventDestroy(half));
    close_desk(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_wrong),
        cmocka_unit_test(test_wrong_device),
        cmocka_unit_test(test_beyond_the_end),
        cmocka_unit_test(test_missing_wait_between_streams),
        cmocka_unit_test(test_missing_wait_of_the_host),
        cmocka_unit_test(test_default_stream_and_wrong_direction),
        cmocka_unit_test(test_graph_does_what_was_noted),
        cmocka_unit_test(test_rules_of_a_capture),
        cmocka_unit_test(test_an_external_record),
        cmocka_unit_test(test_injected_failures),
    };
    return ga_test_main(tests);
}
