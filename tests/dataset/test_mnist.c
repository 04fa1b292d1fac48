/*
 * Files of MNIST's layout, made here: they load, packed or not, and train. GA_ROWS images of 28 x
 * 28 and a sixth as many held out; of MNIST's own size in the long form.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "dataset/made.h"
#include "dataset/opened.h"
#include "train/run.h"

#define PIXELS (28 * 28)

/* A bright block whose place is the class, on noise; rows of classes in an irregular order. */
static void draw(uint32_t *state, int label, char *out)
{
    for (int i = 0; i < PIXELS; i++) {
        const int row = i / 28;
        const int column = i % 28;
        const bool lit = row / 5 == label / 5 * 3 && column / 5 == label % 5;
        *state = *state * 1664525u + 1013904223u;
        out[i] = (char)((*state >> 25) + (lit ? 100 : 0));
    }
}

static void write_packed(const char *name, struct ga_text *text)
{
    char *path = ga_test_path(ga_test_here, name);
    gzFile file = gzopen(path, "wb1");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text->data, (unsigned)text->length), (int)text->length);
    assert_int_equal(gzclose(file), Z_OK);
    ga_text_free(text);
    free(path);
}

static void write_part(const char *part, uint32_t rows, bool packed)
{
    const uint32_t shape[3] = {rows, 28, 28};
    char picture[PIXELS];
    char name[64];
    uint32_t state = rows;
    struct ga_text images = GA_TEXT_INIT;
    struct ga_text labels = GA_TEXT_INIT;
    ga_made_idx(&images, 0x08, 3, shape);
    ga_made_idx(&labels, 0x08, 1, shape);
    for (uint32_t i = 0; i < rows; i++) {
        const char label = (char)(i < 10 ? 9 - i : (state >> 8) % 10);
        draw(&state, label, picture);
        ga_text_append(&images, picture, PIXELS);
        ga_text_append(&labels, &label, 1);
    }
    snprintf(name, sizeof name, "%s-images-idx3-ubyte%s", part, packed ? ".gz" : "");
    (packed ? write_packed : ga_made_file)(name, &images);
    snprintf(name, sizeof name, "%s-labels-idx1-ubyte%s", part, packed ? ".gz" : "");
    (packed ? write_packed : ga_made_file)(name, &labels);
}

static void remove_part(const char *part)
{
    static const char *const forms[] = {"images-idx3", "labels-idx1"};
    for (size_t i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s-%s-ubyte", part, forms[i]);
        char *path = ga_test_path(ga_test_here, name);
        assert_int_equal(remove(path), 0);
        free(path);
    }
}

static struct ga_dataset *open_folder(void)
{
    struct ga_dataset *data = NULL;
    if (ga_test_data(&data, ga_test_here, "", "") != 0) {
        fail_msg("%s", ga_error_text());
    }
    return data;
}

static void set(struct ga_settings *settings, const char *name, const char *value)
{
    assert_int_equal(ga_setting_read(ga_setting_find(name), settings, value), 0);
}

/* Two replicas, 784-16-10, 32 examples a micro-batch; gives the accuracy on the held-out rows. */
static double train(struct ga_dataset *data, size_t updates)
{
    static const char *const settings[][2] = {
        {"model", "784-16-10"}, {"loss", "xent"},     {"init", "he"}, {"accum", "2"},
        {"batch", "32"},        {"order", "shuffle"}, {"lr", "0.2"},
    };
    struct ga_run_start start = {.data = data};
    struct ga_run *run = NULL;
    double loss = 0;
    double accuracy = 0;
    uint64_t examples = 0;
    ga_settings_default(&start.settings);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        set(&start.settings, settings[i][0], settings[i][1]);
    }
    assert_int_equal(ga_run_open(&run, &start), 0);
    while (ga_run_counters(run)->updates < updates) {
        assert_int_equal(ga_run_event(run), 0);
    }
    assert_int_equal(ga_run_evaluate(run, true, &loss, &accuracy, &examples), 0);
    assert_int_equal(examples, GA_ROWS / 6);
    ga_run_close(run);
    return accuracy;
}

static void test_loads_and_trains(void **state)
{
    (void)state;
    write_part("train", GA_ROWS, false);
    write_part("t10k", GA_ROWS / 6, true);
    struct ga_dataset *data = open_folder();
    const struct ga_table *table = ga_dataset_table(data);
    const uint64_t fingerprint = ga_dataset_fingerprint(data);
    assert_int_equal(table->train, GA_ROWS);
    assert_int_equal(table->test, GA_ROWS / 6);
    assert_int_equal(table->input_width, PIXELS);
    assert_int_equal(table->target_width, 10);
    assert_true(train(data, 200) > 0.9);
    ga_dataset_close(data);

    remove_part("train");
    write_part("train", GA_ROWS, true);
    data = open_folder();
    assert_true(ga_dataset_fingerprint(data) == fingerprint);
    ga_dataset_close(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_loads_and_trains, ga_test_make_folder,
                                        ga_test_remove_folder),
    };
    return ga_test_main(tests);
}
