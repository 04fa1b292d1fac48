/* The windows of the example stream against a slow model of the rules in stream.h. */
#include "support/support.h"

#include "dataset/permutation.h"
#include "dataset/rolled.h"
#include "dataset/stream.h"

/* The rows a window gives to each replica, by the plain rule. */
struct model {
    struct ga_stream_spec spec;
    uint64_t epoch[MAX_REPLICAS + 1]; /* the last one: sharding stream */
    size_t offset[MAX_REPLICAS + 1];
};

static bool owns(const struct ga_stream_spec *spec, size_t replica, size_t row)
{
    size_t first, count;
    if (spec->sharding == GA_STREAM_STRIDED) {
        return row % spec->replicas == replica;
    }
    ga_split(spec->rows, spec->replicas, replica, &first, &count);
    return row >= first && row < first + count;
}

/* The sequence of one walker (a replica, or everyone when replica = MAX_REPLICAS) in one epoch. */
static size_t walk(const struct ga_stream_spec *spec, size_t replica, uint64_t epoch, uint32_t *out)
{
    uint32_t order[MAX_ROWS];
    size_t count = 0;
    ga_permutation_identity(order, spec->rows);
    if (spec->order == GA_STREAM_SHUFFLE) {
        ga_permutation_shuffle(order, spec->rows, spec->seed, epoch, GA_DRAW_SHUFFLE);
    }
    for (size_t i = 0; i < spec->rows; i++) {
        if (replica == MAX_REPLICAS || owns(spec, replica, order[i])) {
            out[count++] = order[i];
        }
    }
    return count;
}

static size_t walker_left(const struct model *model, size_t walker)
{
    uint32_t rows[MAX_ROWS];
    return walk(&model->spec, walker, 0, rows) - model->offset[walker];
}

static size_t model_take(struct model *model, size_t walker, size_t count, uint32_t *out)
{
    uint32_t rows[MAX_ROWS];
    for (size_t taken = 0; taken < count; taken++) {
        size_t length = walk(&model->spec, walker, model->epoch[walker], rows);
        if (length == 0) {
            return 0;
        }
        if (model->offset[walker] == length) {
            model->epoch[walker]++;
            model->offset[walker] = 0;
            length = walk(&model->spec, walker, model->epoch[walker], rows);
        }
        out[taken] = rows[model->offset[walker]++];
    }
    return count;
}

static void model_begin(struct model *model)
{
    uint64_t epoch = 0;
    for (size_t w = 0; w <= MAX_REPLICAS; w++) {
        uint64_t next = model->epoch[w] + (model->offset[w] > 0 ? 1 : 0);
        epoch = next > epoch ? next : epoch;
    }
    for (size_t w = 0; w <= MAX_REPLICAS; w++) {
        model->epoch[w] = epoch;
        model->offset[w] = 0;
    }
}

static size_t part(size_t n, size_t parts, size_t i)
{
    return n / parts + (i < n % parts ? 1 : 0);
}

static void model_shared(struct model *model, size_t examples, uint32_t *out, size_t *counts)
{
    size_t left = walker_left(model, MAX_REPLICAS);
    if ((model->spec.tail == GA_STREAM_SHORT && left == 0) ||
        (model->spec.tail == GA_STREAM_DROP && left < examples)) {
        model_begin(model);
        left = model->spec.rows;
    }
    if (model->spec.tail == GA_STREAM_SHORT && left < examples) {
        examples = left;
    }
    model_take(model, MAX_REPLICAS, examples, out);
    for (size_t r = 0; r < model->spec.replicas; r++) {
        counts[r] = part(examples, model->spec.replicas, r);
    }
}

static void model_fixed(struct model *model, size_t examples, uint32_t *out, size_t *counts)
{
    size_t replicas = model->spec.replicas;
    bool empty = true;
    bool lacking = false;
    for (size_t r = 0; r < replicas; r++) {
        empty = empty && walker_left(model, r) == 0;
        lacking = lacking || walker_left(model, r) < part(examples, replicas, r);
    }
    if ((model->spec.tail == GA_STREAM_SHORT && empty) ||
        (model->spec.tail == GA_STREAM_DROP && lacking)) {
        model_begin(model);
    }
    for (size_t r = 0; r < replicas; r++) {
        size_t share = part(examples, replicas, r);
        if (model->spec.tail == GA_STREAM_SHORT && walker_left(model, r) < share) {
            share = walker_left(model, r);
        }
        counts[r] = model_take(model, r, share, out);
        out += counts[r];
    }
}

static void model_next(struct model *model, size_t examples, uint32_t *out, size_t *counts)
{
    if (model->spec.sharding == GA_STREAM_SHARED) {
        model_shared(model, examples, out, counts);
    } else {
        model_fixed(model, examples, out, counts);
    }
}

static void assert_window(const struct ga_window *window, const struct ga_stream_spec *spec,
                          const uint32_t *rows, const size_t *counts)
{
    size_t place = 0;
    assert_int_equal(window->replicas, spec->replicas);
    for (size_t r = 0; r < spec->replicas; r++) {
        assert_int_equal(window->start[r], place);
        place += counts[r];
    }
    assert_int_equal(window->start[spec->replicas], place);
    assert_int_equal(window->examples, place);
    assert_true(place > 0);
    assert_memory_equal(window->index, rows, place * sizeof *rows);
}

static void test_windows_follow_the_rule(void **state)
{
    (void)state;
    struct ga_window window;
    ga_window_init(&window);
    for (size_t number = 0; number < ga_test_count(4000); number++) {
        struct ga_test_dice dice = {number, 0};
        struct model model = {.spec = ga_test_roll_spec(&dice)};
        struct ga_stream *stream = NULL;
        size_t examples = ga_test_roll_window(&dice, &model.spec);
        assert_int_equal(ga_stream_open(&stream, &model.spec), 0);
        for (size_t step = 0; step < 25; step++) {
            uint32_t rows[MAX_WINDOW];
            size_t counts[MAX_REPLICAS];
            size_t promised = 0;
            if (ga_test_roll(&dice, 0, 9) == 0) {
                examples = ga_test_roll_window(&dice, &model.spec);
            }
            model_next(&model, examples, rows, counts);
            assert_int_equal(ga_stream_peek(stream, examples, &promised), 0);
            assert_int_equal(ga_stream_next(stream, examples, &window), 0);
            assert_int_equal(promised, window.examples);
            assert_window(&window, &model.spec, rows, counts);
        }
        ga_stream_close(stream);
    }
    ga_window_fini(&window);
}

static void test_short_takes_every_row_once(void **state)
{
    (void)state;
    struct ga_window window;
    ga_window_init(&window);
    for (size_t number = 0; number < ga_test_count(3000); number++) {
        struct ga_test_dice dice = {number, 0};
        struct ga_stream_spec spec = ga_test_roll_spec(&dice);
        struct ga_stream *stream = NULL;
        spec.tail = GA_STREAM_SHORT;
        size_t examples = ga_test_roll_window(&dice, &spec);
        assert_int_equal(ga_stream_open(&stream, &spec), 0);
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            unsigned seen[MAX_ROWS] = {0};
            size_t left = spec.rows;
            while (left > 0) {
                assert_int_equal(ga_stream_next(stream, examples, &window), 0);
                assert_true(window.examples > 0 && window.examples <= examples);
                assert_int_equal(window.epoch, epoch);
                for (size_t i = 0; i < window.examples; i++) {
                    assert_true(window.index[i] < spec.rows);
                    assert_int_equal(seen[window.index[i]]++, 0);
                }
                left -= window.examples;
                assert_int_equal(ga_stream_left(stream), left);
                assert_int_equal(ga_stream_epoch(stream), epoch);
            }
        }
        ga_stream_close(stream);
    }
    ga_window_fini(&window);
}

/* What a stream gives, row after row, whatever the split. */
static void collect(const struct ga_stream_spec *spec, size_t examples, uint32_t *out, size_t count)
{
    struct ga_stream *stream = NULL;
    struct ga_window window;
    ga_window_init(&window);
    assert_int_equal(ga_stream_open(&stream, spec), 0);
    for (size_t got = 0; got < count;) {
        assert_int_equal(ga_stream_next(stream, examples, &window), 0);
        for (size_t i = 0; i < window.examples && got < count; i++) {
            out[got++] = window.index[i];
        }
    }
    ga_window_fini(&window);
    ga_stream_close(stream);
}

static void test_stream_is_independent_of_the_split(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    for (size_t number = 0; number < ga_test_count(2000); number++) {
        struct ga_test_dice dice = {number, 0};
        struct ga_stream_spec spec = ga_test_roll_spec(&dice);
        uint32_t serial[COUNT], split[COUNT];
        spec.sharding = GA_STREAM_SHARED;
        spec.tail = ga_test_roll(&dice, 0, 1) ? GA_STREAM_SHORT : GA_STREAM_WRAP;
        size_t examples = ga_test_roll_window(&dice, &spec);
        collect(&spec, examples, split, COUNT);
        spec.replicas = 1;
        spec.tail = GA_STREAM_SHORT;
        collect(&spec, 1, serial, COUNT);
        assert_memory_equal(serial, split, sizeof serial);
    }
}

/* The shuffle is a promise to old checkpoints: seed 1, epochs 0 and 1, 10 rows. */
static void test_shuffle_is_fair_and_fixed(void **state)
{
    (void)state;
    enum { ROWS = 5, DRAWS = 20000 };
    uint32_t order[10], other[10];
    size_t count[ROWS][ROWS] = {{0}};
    ga_permutation_shuffle(order, 10, 1, 0, GA_DRAW_SHUFFLE);
    ga_permutation_shuffle(other, 10, 1, 1, GA_DRAW_SHUFFLE);
    assert_memory_equal(order, ((uint32_t[10]){3, 6, 4, 5, 0, 7, 9, 8, 1, 2}), sizeof order);
    assert_memory_equal(other, ((uint32_t[10]){0, 9, 3, 7, 1, 8, 2, 5, 4, 6}), sizeof other);
    ga_permutation_shuffle(other, 10, 1, UINT64_C(1) << 32, GA_DRAW_SHUFFLE);
    assert_memory_not_equal(order, other, sizeof order);
    for (uint64_t epoch = 0; epoch < DRAWS; epoch++) {
        ga_permutation_shuffle(order, ROWS, 11, epoch, GA_DRAW_SHUFFLE);
        for (size_t i = 0; i < ROWS; i++) {
            count[i][order[i]]++;
        }
    }
    for (size_t i = 0; i < ROWS * ROWS; i++) { /* 5 standard deviations of 57 */
        assert_in_range(count[i / ROWS][i % ROWS], DRAWS / ROWS - 283, DRAWS / ROWS + 283);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_follow_the_rule),
        cmocka_unit_test(test_short_takes_every_row_once),
        cmocka_unit_test(test_stream_is_independent_of_the_split),
        cmocka_unit_test(test_shuffle_is_fair_and_fixed),
    };
    return ga_test_main(tests);
}
