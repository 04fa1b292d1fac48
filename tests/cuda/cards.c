#include "cards.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "support/support.h"

bool test_on_the_fake(void)
{
    return getenv("GA_FAKE_CUDA") != NULL;
}

const struct ga_compute *test_cuda(const char *numerics)
{
    const struct ga_compute *compute = ga_compute_find("cuda", numerics);
    if (compute)
        return compute;
    if (test_on_the_fake())
        fail_msg("%s", ga_error_text());
    ga_test_skip("%s", ga_error_text());
    return NULL;
}

size_t test_cards(const struct ga_compute *compute)
{
    size_t count = 0;
    if (ga_buffer_places(compute, &count) < 0)
        fail_msg("%s", ga_error_text());
    return count;
}

/* A function of the fake runtime that the module has loaded. */
static void *symbol(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    char file[64];
    for (int major = 11; !found && major < 20; major++) {
        void *library = NULL;
        snprintf(file, sizeof file, "libcudart.so.%d", major);
        library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
        if (library) {
            found = dlsym(library, name);
            dlclose(library);
        }
    }
    return found;
}

void test_fake_set(const char *words)
{
    union {
        void *object;
        void (*function)(const char *words);
    } set = {symbol("fake_set")};
    if (!set.object)
        fail_msg("no fake runtime is loaded: expected its folder first on LD_LIBRARY_PATH");
    set.function(words);
}

static size_t faults(const char **text)
{
    union {
        void *object;
        size_t (*function)(const char **text);
    } found = {symbol("fake_faults")};
    if (!found.object)
        fail_msg("no fake runtime is loaded: expected its folder first on LD_LIBRARY_PATH");
    return found.function(text);
}

void test_fault(const char *part)
{
    const char *text = "";
    if (faults(&text) == 0 || !strstr(text, part))
        fail_msg("the fake runtime found \"%s\", expected \"%s\" in it", text, part);
}

static size_t count_of(const char *name)
{
    union {
        void *object;
        size_t (*function)(void);
    } count = {symbol(name)};
    if (!count.object)
        fail_msg("no fake runtime is loaded: expected its folder first on LD_LIBRARY_PATH");
    return count.function();
}

size_t test_fake_launches(void)
{
    return count_of("fake_launches");
}

size_t test_fake_used(size_t card)
{
    union {
        void *object;
        size_t (*function)(int device);
    } used = {symbol("fake_used")};
    if (!used.object)
        fail_msg("no fake runtime is loaded: expected its folder first on LD_LIBRARY_PATH");
    return used.function((int)card);
}

size_t test_fake_under_way(void)
{
    return count_of("fake_under_way");
}

bool test_fake_faulty(void)
{
    return count_of("fake_faulty") > 0;
}

void test_until_found(const struct ga_compute *compute, size_t card)
{
    const time_t until = time(NULL) + 20;
    void *buffer = NULL;
    while (!buffer && time(NULL) < until) {
        ga_buffer_revive(compute);
        buffer = ga_buffer_alloc(compute, 8, card);
        sched_yield();
    }
    if (!buffer)
        fail_msg("%s", ga_error_text());
    compute->free(buffer);
}

void test_at_rest(void)
{
    if (test_on_the_fake() && test_fake_under_way() > 0)
        fail_msg("a call has left work under way: a wait is missing");
}

void test_no_faults(void)
{
    const char *text = "";
    if (test_on_the_fake() && faults(&text) > 0)
        fail_msg("the fake runtime found: %s", text);
}
