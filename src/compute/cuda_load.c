#include "compute/cuda_load.h"

#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define FILE_NAME "libgaconsole_cuda.so"

static const struct ga_host host = {
    .version = GA_CUDA_MODULE_VERSION,
    .compute_bytes = sizeof(struct ga_compute),
    .tally_bytes = sizeof(struct ga_tally),
    .fail = ga_fail,
    .fail_within = ga_fail_within,
    .error_text = ga_error_text,
    .error_code = ga_error_code,
    .step_state_blocks = ga_step_state_blocks,
};

/* The folder of the program with its last slash; false where the system does not say. */
static bool program_folder(char *out, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", out, size - 1);
    char *slash = NULL;
    if (length <= 0)
        return false;
    out[length] = '\0';
    slash = strrchr(out, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    return true;
}

/* The file that is there, or false. */
static bool find_file(char *out, size_t size)
{
    static const char *const folders[] = {"", "../lib/gaconsole/"};
    char program[2048];
    const char *named = getenv("GA_CUDA_MODULE");
    if (named && *named)
        return snprintf(out, size, "%s", named) < (int)size;
    if (!program_folder(program, sizeof program))
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (snprintf(out, size, "%s%s" FILE_NAME, program, folders[i]) < (int)size &&
            access(out, R_OK) == 0)
            return true;
    }
    return false;
}

static const struct ga_cuda_module *open_module(void)
{
    char path[4096];
    union {
        void *object;
        ga_cuda_module_function *function;
    } entry = {NULL};
    const struct ga_cuda_module *module = NULL;
    void *library = NULL;
    if (!find_file(path, sizeof path)) {
        ga_fail(GA_EUNSUPPORTED,
                "no GPU support here: expected " FILE_NAME " beside the program, which a build "
                "with the CUDA toolkit makes");
        return NULL;
    }
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fesetenv(FE_DFL_ENV); /* a library's start may set flush-to-zero */
    if (!library) {
        ga_fail(GA_EUNSUPPORTED, "the CUDA module cannot be opened: %s", dlerror());
        return NULL;
    }
    entry.object = dlsym(library, "ga_cuda_module");
    if (entry.object)
        module = entry.function(&host);
    else
        ga_fail(GA_EUNSUPPORTED, "%s has no ga_cuda_module: expected the module of this program",
                path);
    if (!module)
        dlclose(library);
    return module;
}

const struct ga_cuda_module *ga_cuda_load(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const struct ga_cuda_module *loaded;
    const struct ga_cuda_module *module = NULL;
    pthread_mutex_lock(&lock);
    if (!loaded)
        loaded = open_module();
    module = loaded;
    pthread_mutex_unlock(&lock);
    return module;
}
