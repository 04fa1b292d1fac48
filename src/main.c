/* gaconsole: reads the command line and hands over to a front end. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "bench/bench.h"
#include "bench/benchmark.h"
#include "console/front.h"
#include "console/options.h"
#include "ui/app.h"
#include "ui/bench.h"

static int fail(void)
{
    fprintf(stderr, "gaconsole: %s\n", ga_error_text());
    return GA_STATUS_INPUT;
}

/* --version, --help, --man. */
static int show(enum ga_show what)
{
    struct ga_stream stream;
    struct ga_text text = GA_TEXT_INIT;
    if (what == GA_SHOW_VERSION)
        ga_text_printf(&text, "gaconsole %s (%s)\n", ga_version(), ga_build());
    else if (what == GA_SHOW_HELP)
        ga_usage(&text);
    else
        ga_man(&text);
    ga_stream_init(&stream, STDOUT_FILENO, STDERR_FILENO);
    struct ga_sink sink = ga_stream_sink(&stream);
    sink.out(sink.self, ga_text_get(&text), text.length);
    ga_text_free(&text);
    return ga_finish(&stream, GA_STATUS_FINE);
}

/* The benchmark of the screen, which the bench room may not know. */
static int bench_screen(const struct ga_bench_options *options, struct ga_text *out)
{
    return ga_screen_bench(options->rounds, options->json, out);
}

/* `gaconsole bench NAME`; a script of that name is ./bench. */
static int bench(int argc, char **argv)
{
    static const struct ga_benchmark screen = {
        "screen", "the full screen: frames, bytes, latency of keys, speed beside batch",
        bench_screen};
    static const struct ga_benchmark *const more[] = {&screen};
    if (ga_bench_main(argc, argv, more, 1, stdout) < 0)
        return fail();
    return fflush(stdout) == 0 ? GA_STATUS_FINE : GA_STATUS_INPUT;
}

/* A standard stream that is closed would be the next file opened: it is nothing instead. */
static void hold_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
            _exit(GA_STATUS_INPUT);
}

/*
 * One arena for all threads: glibc grows a second one by a call to the system for nearly every
 * page, and the engine's thread, which keeps the history, is the only one that allocates much. What
 * is freed at the end of the heap is kept for the next run, and weights of millions of parameters
 * come from it as well: mapped by themselves they would be new pages at every update.
 */
static void settle_memory(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

/* On a terminal that cannot show the full screen it says why, and goes on with plain lines. */
static bool shows_screen(const struct ga_arguments *arguments)
{
    if (arguments->front != GA_FRONT_AUTO || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return false;
    if (ga_app_check() == 0)
        return true;
    fprintf(stderr, "gaconsole: %s; going on with --plain\n", ga_error_text());
    return false;
}

/*
 * Before there is a second thread: a BLAS library reads this when it is loaded, and starts no
 * threads of its own. Replicas are the threads. OpenBLAS 0.3.21 takes AMD's processors with AVX-512
 * for an Intel one; its kernels for AVX2 are a twentieth faster there. Who has named a type keeps
 * it.
 */
static void settle_threads(void)
{
    static const char *const names[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                        "OMP_NUM_THREADS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        setenv(names[i], "1", 1);
#if defined(__x86_64__)
    if (__builtin_cpu_is("amd") && __builtin_cpu_supports("avx512f"))
        setenv("OPENBLAS_CORETYPE", "Haswell", 0);
#endif
}

int main(int argc, char **argv)
{
    struct ga_arguments arguments;
    hold_streams();
    settle_memory();
    settle_threads();
    if (argc > 1 && strcmp(argv[1], "bench") == 0)
        return bench(argc - 2, argv + 2);
    if (ga_arguments_read(&arguments, argc, argv) < 0)
        return fail();
    int status = 0;
    if (arguments.show != GA_SHOW_NOTHING)
        status = show(arguments.show);
    else if (arguments.front == GA_FRONT_BATCH)
        status = ga_batch_main(&arguments);
    else if (shows_screen(&arguments))
        status = ga_app_main(&arguments);
    else
        status = ga_plain_main(&arguments);
    return status < 0 ? fail() : status;
}
