#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "run_support.h"
#include "storage/checkpoint.h"
#include "storage/safetensors.h"
#include "storage/weights.h"
#include "support/support.h"

#define REFERENCE GA_TOP_DIR "/tests/data/reference/"

/* A folder with two file names, and what the test under way opened. */
struct fixture {
    char *folder, *first, *second;
};

static struct fixture make_fixture(void)
{
    struct fixture fixture = {.folder = ga_test_folder()};
    fixture.first = ga_test_path(fixture.folder, "first.safetensors");
    fixture.second = ga_test_path(fixture.folder, "second.safetensors");
    return fixture;
}

static void drop_fixture(struct fixture *fixture)
{
    free(fixture->first);
    free(fixture->second);
    ga_test_folder_remove(fixture->folder);
}

static void require(int code)
{
    if (code)
        fail_msg("%s", ga_error_text());
}

static void save_run(const struct ga_run *run, const char *path)
{
    struct ga_state state;
    require(ga_run_capture(run, &state));
    require(ga_checkpoint_save(path, &state, "some file.safetensors"));
    ga_state_fini(&state);
}

static void load_state(const char *path, struct ga_dataset *data, struct ga_state *state)
{
    struct ga_checkpoint *checkpoint = NULL;
    require(ga_checkpoint_open(&checkpoint, path));
    assert_string_equal(ga_checkpoint_data(checkpoint), ga_dataset_spec(data));
    assert_int_equal(ga_checkpoint_fingerprint(checkpoint), ga_dataset_fingerprint(data));
    assert_string_equal(ga_checkpoint_init_from(checkpoint), "some file.safetensors");
    require(ga_checkpoint_state(checkpoint, data, state));
    ga_checkpoint_close(checkpoint);
}

static struct ga_run *load_run(const char *path, struct ga_dataset *data)
{
    struct ga_state state;
    load_state(path, data, &state);
    struct ga_run *run = run_restored(&state);
    if (!run)
        fail_msg("%s", ga_error_text());
    ga_state_fini(&state);
    return run;
}

static void assert_same_files(const struct fixture *files, const char *name, uint64_t events)
{
    size_t length = 0, other = 0;
    char *bytes = ga_test_read_file(files->first, &length);
    char *others = ga_test_read_file(files->second, &other);
    if (length != other || memcmp(bytes, others, length) != 0)
        fail_msg("%s: the files differ at event %llu", name, (unsigned long long)events);
    free(bytes);
    free(others);
}

static void assert_same_runs(const struct fixture *files, const char *name,
                             const struct ga_run *run, const struct ga_run *twin)
{
    save_run(run, files->first);
    save_run(twin, files->second);
    assert_same_files(files, name, ga_run_counters(run)->events);
}

/*
 * At every event of the first updates: saved, loaded and saved again, the file is the same; and one
 * event on, the loaded run is in the state of the one that never stopped, to the last bit.
 */
static void resume_everywhere(const struct run_variant *variant, const struct fixture *files)
{
    struct ga_dataset *data = run_open_data(variant->data);
    struct ga_run *run = run_open_variant(variant, data);
    const size_t events = ga_test_count(150);
    if (!run)
        fail_msg("%s: %s", variant->name, ga_error_text());
    for (size_t i = 0; i < events; i++) {
        save_run(run, files->first);
        struct ga_run *twin = load_run(files->first, data);
        assert_same_runs(files, variant->name, run, twin);
        require(run_go(run, variant, 1));
        require(run_go(twin, variant, 1));
        assert_same_runs(files, variant->name, run, twin);
        ga_run_close(twin);
    }
    ga_run_close(run);
    ga_dataset_close(data);
}

static void resuming_is_exact_at_every_event(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    for (size_t i = 0; i < run_variant_count; i++)
        resume_everywhere(&run_variants[i], &files);
    drop_fixture(&files);
}

/* The run that went on without a checkpoint ends where one does that was loaded on the way. */
static void a_loaded_run_equals_one_that_never_stopped(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    for (size_t i = 0; i < run_variant_count; i++) {
        const struct run_variant *variant = &run_variants[i];
        struct ga_dataset *data = run_open_data(variant->data);
        struct ga_run *run = run_open_variant(variant, data);
        assert_non_null(run);
        require(run_go(run, variant, 101));
        save_run(run, files.first);
        struct ga_run *loaded = load_run(files.first, data);
        require(run_go(run, variant, 400));
        require(run_go(loaded, variant, 400));
        assert_same_runs(&files, variant->name, run, loaded);
        ga_run_close(loaded);
        ga_run_close(run);
        ga_dataset_close(data);
    }
    drop_fixture(&files);
}

/* States as large as settings allow; the header and the time to read it are bounded. */
static void the_most_replicas_fit_into_a_header(void **unused)
{
    (void)unused;
    static const struct run_variant variants[] = {
        {"many", "parabola n=5000", "replicas=4096 accum=1 batch=1", .deeds = RUN_ALONE},
        {"many pushes", "parabola n=5000",
         "mode=async replicas=4096 accum=1 batch=1 optimizer=adam jitter=exponential",
         .deeds = RUN_ALONE},
        {"many steps", "parabola n=5000",
         "mode=local period=3 replicas=4096 accum=1 batch=1 optimizer=adam", .deeds = RUN_ALONE},
        {"many items", "parabola n=5000", "mode=hogwild replicas=4096 accum=1 batch=1",
         .deeds = RUN_ALONE},
    };
    struct fixture files = make_fixture();
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        struct ga_dataset *data = run_open_data(variants[i].data);
        struct ga_run *run = run_open_variant(&variants[i], data);
        assert_non_null(run);
        require(run_go(run, &variants[i], 3000));
        save_run(run, files.first);
        struct ga_run *loaded = load_run(files.first, data);
        assert_same_runs(&files, variants[i].name, run, loaded);
        ga_run_close(loaded);
        ga_run_close(run);
        ga_dataset_close(data);
    }
    drop_fixture(&files);
}

static struct ga_run *short_run(struct ga_dataset **data, size_t events)
{
    *data = run_open_data(run_variants[0].data);
    struct ga_run *run = run_open_variant(&run_variants[0], *data);
    assert_non_null(run);
    require(run_go(run, &run_variants[0], events));
    return run;
}

static void other_data_is_refused(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    struct ga_dataset *data = NULL, *other = run_open_data("parabola n=13");
    struct ga_run *run = short_run(&data, 3);
    struct ga_checkpoint *checkpoint = NULL;
    struct ga_state state;
    save_run(run, files.first);
    require(ga_checkpoint_open(&checkpoint, files.first));
    assert_int_equal(ga_checkpoint_state(checkpoint, other, &state), GA_EINPUT);
    assert_non_null(strstr(ga_error_text(), "made with other data: expected what \"data parabola"));
    assert_non_null(strstr(ga_error_text(), files.first));
    assert_null(state.data);
    ga_checkpoint_close(checkpoint);
    ga_run_close(run);
    ga_dataset_close(data);
    ga_dataset_close(other);
    drop_fixture(&files);
}

static void weights_alone_are_no_checkpoint(void **unused)
{
    (void)unused;
    struct ga_checkpoint *checkpoint = NULL;
    assert_int_equal(ga_checkpoint_open(&checkpoint, REFERENCE "parabola/init.safetensors"),
                     GA_EINPUT);
    assert_non_null(strstr(ga_error_text(), "holds no run"));
    assert_true(ga_checkpoint_open(&checkpoint, GA_TEST_DIR) < 0);
    assert_true(ga_checkpoint_open(&checkpoint, GA_TEST_DIR "/none") < 0);
    assert_null(checkpoint);
    ga_checkpoint_close(NULL);
}

static void weights_are_saved_and_loaded(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    struct ga_dataset *data = NULL;
    struct ga_run *run = short_run(&data, 40);
    const struct ga_net *net = ga_run_net_of(run);
    const struct ga_version *version = ga_run_version(run);
    float got[16];
    assert_int_equal(net->parameters, 16);
    require(ga_weights_save(files.first, net, version->weights));
    require(ga_weights_load(files.first, net, got));
    assert_memory_equal(got, version->weights, sizeof got);
    memset(got, 0, sizeof got);
    save_run(run, files.first);
    require(ga_weights_load(files.first, net, got));
    assert_memory_equal(got, version->weights, sizeof got);
    require(ga_weights_load(REFERENCE "parabola/sgd_full.final.safetensors", net, got));
    assert_true(got[0] != version->weights[0]);
    ga_run_close(run);
    ga_dataset_close(data);
    drop_fixture(&files);
}

static void weights_of_another_model_are_refused(void **unused)
{
    (void)unused;
    struct ga_dataset *data = NULL;
    struct ga_run *run = short_run(&data, 0);
    struct ga_net net = *ga_run_net_of(run);
    float got[16];
    for (int i = 0; i < 16; i++)
        got[i] = 7;
    assert_int_equal(ga_weights_load(REFERENCE "digits/init.safetensors", &net, got), GA_EINPUT);
    assert_non_null(
        strstr(ga_error_text(), "\"layers.0.weight\" is F32 [32,64], expected F32 [5,1]"));
    strcpy(net.tensor[3].name, "layers.1.offset");
    assert_int_equal(ga_weights_load(REFERENCE "parabola/init.safetensors", &net, got), GA_EINPUT);
    assert_non_null(strstr(ga_error_text(), "\"layers.1.bias\" is not one of the model's 4"));
    net.tensors = 3;
    assert_int_equal(ga_weights_load(REFERENCE "parabola/init.safetensors", &net, got), GA_EINPUT);
    for (int i = 0; i < 16; i++)
        assert_true(got[i] == 7);
    ga_run_close(run);
    ga_dataset_close(data);
}

static void a_full_disk_keeps_the_old_checkpoint(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    struct ga_dataset *data = NULL;
    struct ga_run *run = short_run(&data, 5);
    struct ga_state state;
    struct rlimit old, small;
    save_run(run, files.first);
    save_run(run, files.second);
    require(run_go(run, &run_variants[0], 2));
    require(ga_run_capture(run, &state));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int code = ga_checkpoint_save(files.first, &state, "");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(code, GA_EIO);
    assert_non_null(strstr(ga_error_text(), files.first));
    assert_same_files(&files, "on a full disk", 0);
    ga_state_fini(&state);
    ga_run_close(run);
    ga_dataset_close(data);
    drop_fixture(&files);
}

static int load_quietly(const char *path, struct ga_dataset *data)
{
    struct ga_checkpoint *checkpoint = NULL;
    struct ga_state state;
    int code = ga_checkpoint_open(&checkpoint, path);
    if (!code) {
        code = ga_checkpoint_state(checkpoint, data, &state);
        ga_state_fini(&state);
    }
    ga_checkpoint_close(checkpoint);
    return code;
}

/* Saving and loading succeed in the end, and until then say that memory is short. */
static void run_out_of_memory(const struct fixture *files, const struct ga_run *run)
{
    const int64_t stride = (int64_t)ga_test_stride();
    struct ga_state state;
    int code = GA_ENOMEM;
    require(ga_run_capture(run, &state));
    save_run(run, files->second);
    for (int64_t limit = 0; code; limit += stride) {
        ga_test_allocation_limit(limit);
        code = ga_checkpoint_save(files->first, &state, "some file.safetensors");
        ga_test_allocation_free();
        assert_true(code <= 0);
    }
    assert_same_files(files, "short of memory", ga_run_counters(run)->events);
    code = GA_ENOMEM;
    for (int64_t limit = 0; code; limit += stride) {
        ga_test_allocation_limit(limit);
        code = load_quietly(files->first, ga_run_data(run));
        ga_test_allocation_free();
        assert_true(code == GA_OK || code == GA_ENOMEM);
    }
    ga_state_fini(&state);
}

static void every_lack_of_memory_is_an_error(void **unused)
{
    (void)unused;
    static const char *const names[] = {"plain", "buffered", "local", "hogwild", "delay"};
    struct fixture files = make_fixture();
    for (size_t i = 0; i < run_variant_count; i++) {
        const struct run_variant *variant = &run_variants[i];
        bool tried = false;
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            tried = tried || strcmp(names[k], variant->name) == 0;
        if (!tried)
            continue;
        struct ga_dataset *data = run_open_data(variant->data);
        struct ga_run *run = run_open_variant(variant, data);
        assert_non_null(run);
        require(run_go(run, variant, 20));
        run_out_of_memory(&files, run);
        ga_run_close(run);
        ga_dataset_close(data);
    }
    drop_fixture(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resuming_is_exact_at_every_event),
        cmocka_unit_test(a_loaded_run_equals_one_that_never_stopped),
        cmocka_unit_test(the_most_replicas_fit_into_a_header),
        cmocka_unit_test(other_data_is_refused),
        cmocka_unit_test(weights_alone_are_no_checkpoint),
        cmocka_unit_test(weights_are_saved_and_loaded),
        cmocka_unit_test(weights_of_another_model_are_refused),
        cmocka_unit_test(a_full_disk_keeps_the_old_checkpoint),
        cmocka_unit_test(every_lack_of_memory_is_an_error),
    };
    run_prefer_memory_files();
    return ga_test_main(tests);
}
