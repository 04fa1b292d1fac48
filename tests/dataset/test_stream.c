/* The example stream against a slow model of semantics.md: splits, epochs, shards, tails, position.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "dataset/permutation.h"
#include "dataset/stream.h"

enum { MAX_ROWS = 60, MAX_REPLICAS = 12, MAX_WINDOW = 150 };

/* A random case comes from its number alone. */
struct dice {
    uint64_t number, drawn;
};

static size_t roll(struct dice *dice, size_t low, size_t high)
{
    uint32_t words[4];
    ga_draw(dice->number, dice->drawn++, 0, GA_DRAW_SPLIT, words);
    return low + words[0] % (high - low + 1);
}

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

static struct ga_stream_spec roll_spec(struct dice *dice)
{
    return (struct ga_stream_spec){
        .rows = roll(dice, 1, MAX_ROWS),
        .order = (enum ga_stream_order)roll(dice, 0, 1),
        .sharding = (enum ga_stream_sharding)roll(dice, 0, 2),
        .tail = (enum ga_stream_tail)roll(dice, 0, 2),
        .seed = roll(dice, 0, 1000),
        .replicas = roll(dice, 1, MAX_REPLICAS),
    };
}

/* A window size that the spec allows. */
static size_t roll_window(struct dice *dice, const struct ga_stream_spec *spec)
{
    size_t low = 1;
    size_t high = spec->tail == GA_STREAM_DROP ? spec->rows : MAX_WINDOW;
    if (spec->sharding != GA_STREAM_SHARED) {
        low = spec->replicas < spec->rows ? spec->replicas : spec->rows;
    }
    if (roll(dice, 0, 1) == 1 && high > low + 8) {
        high = low + 8;
    }
    return roll(dice, low, high);
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
        struct dice dice = {number, 0};
        struct model model = {.spec = roll_spec(&dice)};
        struct ga_stream *stream = NULL;
        size_t examples = roll_window(&dice, &model.spec);
        assert_int_equal(ga_stream_open(&stream, &model.spec), 0);
        for (size_t step = 0; step < 25; step++) {
            uint32_t rows[MAX_WINDOW];
            size_t counts[MAX_REPLICAS];
            size_t promised = 0;
            if (roll(&dice, 0, 9) == 0) {
                examples = roll_window(&dice, &model.spec);
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
        struct dice dice = {number, 0};
        struct ga_stream_spec spec = roll_spec(&dice);
        struct ga_stream *stream = NULL;
        spec.tail = GA_STREAM_SHORT;
        size_t examples = roll_window(&dice, &spec);
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
        struct dice dice = {number, 0};
        struct ga_stream_spec spec = roll_spec(&dice);
        uint32_t serial[COUNT], split[COUNT];
        spec.sharding = GA_STREAM_SHARED;
        spec.tail = roll(&dice, 0, 1) ? GA_STREAM_SHORT : GA_STREAM_WRAP;
        size_t examples = roll_window(&dice, &spec);
        collect(&spec, examples, split, COUNT);
        spec.replicas = 1;
        spec.tail = GA_STREAM_SHORT;
        collect(&spec, 1, serial, COUNT);
        assert_memory_equal(serial, split, sizeof serial);
    }
}

struct place {
    uint64_t epoch[MAX_REPLICAS], offset[MAX_REPLICAS];
    struct ga_stream_position position;
};

static void read_place(const struct ga_stream *stream, struct place *place)
{
    place->position.replica_epoch = place->epoch;
    place->position.replica_offset = place->offset;
    ga_stream_get(stream, &place->position);
}

static void assert_same_window(const struct ga_window *got, const struct ga_window *want)
{
    assert_int_equal(got->examples, want->examples);
    assert_int_equal(got->replicas, want->replicas);
    assert_int_equal(got->epoch, want->epoch);
    assert_memory_equal(got->index, want->index, want->examples * sizeof *want->index);
    assert_memory_equal(got->start, want->start, (want->replicas + 1) * sizeof *want->start);
}

/* At every point: a new stream set to the position goes on as the first one does. */
static void test_position_resumes_anywhere(void **state)
{
    (void)state;
    struct ga_window window, resumed;
    ga_window_init(&window);
    ga_window_init(&resumed);
    for (size_t number = 0; number < ga_test_count(1500); number++) {
        struct dice dice = {number, 0};
        struct ga_stream_spec spec = roll_spec(&dice);
        struct ga_stream *stream = NULL;
        struct ga_stream *other = NULL;
        struct place place, again;
        assert_int_equal(ga_stream_open(&stream, &spec), 0);
        assert_int_equal(ga_stream_open(&other, &spec), 0);
        for (size_t step = 0; step < 20; step++) {
            size_t examples = roll_window(&dice, &spec);
            read_place(stream, &place);
            assert_int_equal(ga_stream_set(other, &place.position), 0);
            read_place(other, &again);
            assert_int_equal(again.position.epoch, place.position.epoch);
            assert_int_equal(again.position.offset, place.position.offset);
            assert_int_equal(ga_stream_left(other), ga_stream_left(stream));
            assert_int_equal(ga_stream_next(stream, examples, &window), 0);
            assert_int_equal(ga_stream_next(other, examples, &resumed), 0);
            assert_same_window(&resumed, &window);
            if (roll(&dice, 0, 3) == 0) { /* jump back and walk the window again */
                assert_int_equal(ga_stream_set(stream, &place.position), 0);
                assert_int_equal(ga_stream_next(stream, examples, &resumed), 0);
                assert_same_window(&resumed, &window);
            }
        }
        ga_stream_close(other);
        ga_stream_close(stream);
    }
    ga_window_fini(&resumed);
    ga_window_fini(&window);
}

static void take(struct ga_stream *stream, size_t examples, size_t times)
{
    struct ga_window window;
    ga_window_init(&window);
    for (size_t i = 0; i < times; i++) {
        assert_int_equal(ga_stream_next(stream, examples, &window), 0);
    }
    ga_window_fini(&window);
}

static void assert_place(const struct ga_stream *stream, uint64_t epoch, uint64_t offset)
{
    struct ga_stream_position position = {0};
    ga_stream_get(stream, &position);
    assert_int_equal(position.epoch, epoch);
    assert_int_equal(position.offset, offset);
}

/* A change of one field after 12 of 40 rows in epoch 1: where does the stream stand then? */
static void test_change_rules(void **state)
{
    (void)state;
    const struct ga_stream_spec start = {
        40, GA_STREAM_SHUFFLE, GA_STREAM_SHARED, GA_STREAM_SHORT, 7, 4};
    struct ga_stream_spec fixed = start;
    fixed.sharding = GA_STREAM_STRIDED;
    struct ga_stream_spec replicas = start, tail = start, seed = start, order = start, rows = start;
    struct ga_stream_spec sharding = fixed, fixed_replicas = fixed, fixed_tail = fixed;
    replicas.replicas = 3;
    tail.tail = GA_STREAM_WRAP;
    seed.seed = 8;
    order.order = GA_STREAM_FILE;
    rows.rows = 41;
    fixed_replicas.replicas = 3;
    fixed_tail.tail = GA_STREAM_DROP;
    const struct {
        const struct ga_stream_spec *from, *to;
        bool fresh;
    } cases[] = {
        {&start, &start, false},   {&start, &replicas, false},      {&start, &tail, false},
        {&start, &seed, true},     {&start, &order, true},          {&start, &rows, true},
        {&start, &sharding, true}, {&fixed, &fixed_replicas, true}, {&fixed, &fixed_tail, false},
        {&fixed, &start, true},    {&fixed, &fixed, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ga_stream *stream = NULL;
        assert_int_equal(ga_stream_open(&stream, cases[i].from), 0);
        assert_int_equal(ga_stream_change(stream, cases[i].to), 0);
        assert_place(stream, 0, 0); /* nothing was taken: the epoch is kept */
        assert_int_equal(ga_stream_change(stream, cases[i].from), 0);
        take(stream, 12, 5); /* 12 12 12 4, then 12 of epoch 1 */
        assert_place(stream, 1, 12);
        assert_int_equal(ga_stream_change(stream, cases[i].to), 0);
        assert_place(stream, cases[i].fresh ? 2 : 1, cases[i].fresh ? 0 : 12);
        take(stream, 12, 10);
        ga_stream_close(stream);
    }
}

static void test_seed_that_file_order_does_not_use(void **state)
{
    (void)state;
    struct ga_stream_spec spec = {10, GA_STREAM_FILE, GA_STREAM_SHARED, GA_STREAM_SHORT, 1, 2};
    struct ga_stream *stream = NULL;
    assert_int_equal(ga_stream_open(&stream, &spec), 0);
    take(stream, 4, 1);
    spec.seed = 2;
    assert_int_equal(ga_stream_change(stream, &spec), 0);
    assert_place(stream, 0, 4);
    spec.order = GA_STREAM_SHUFFLE;
    assert_int_equal(ga_stream_change(stream, &spec), 0);
    assert_place(stream, 1, 0);
    ga_stream_close(stream);
}

/* Changing the number of replicas mid-epoch still takes every row once. */
static void test_replicas_change_mid_epoch(void **state)
{
    (void)state;
    struct ga_stream_spec spec = {50, GA_STREAM_SHUFFLE, GA_STREAM_SHARED, GA_STREAM_SHORT, 3, 2};
    struct ga_stream *stream = NULL;
    struct ga_window window;
    unsigned seen[50] = {0};
    ga_window_init(&window);
    assert_int_equal(ga_stream_open(&stream, &spec), 0);
    for (size_t taken = 0; taken < 50; taken += window.examples) {
        assert_int_equal(ga_stream_next(stream, spec.replicas * 5, &window), 0);
        assert_int_equal(window.replicas, spec.replicas);
        for (size_t i = 0; i < window.examples; i++) {
            seen[window.index[i]]++;
        }
        spec.replicas = spec.replicas % 5 + 1;
        assert_int_equal(ga_stream_change(stream, &spec), 0);
    }
    for (size_t i = 0; i < 50; i++) {
        assert_int_equal(seen[i], 1);
    }
    ga_window_fini(&window);
    ga_stream_close(stream);
}

/* Micro-batches of 1 example: replica 0 has 5 of them, replica 1 has 4, A = 2. */
static void test_uneven_shards_finish(void **state)
{
    (void)state;
    const size_t want[4][2] = {{2, 2}, {2, 2}, {1, 0}, {2, 2}};
    const struct ga_stream_spec spec = {9, GA_STREAM_FILE, GA_STREAM_CONTIGUOUS, GA_STREAM_SHORT, 1,
                                        2};
    struct ga_stream *stream = NULL;
    struct ga_window window;
    ga_window_init(&window);
    assert_int_equal(ga_stream_open(&stream, &spec), 0);
    for (size_t u = 0; u < 4; u++) {
        assert_int_equal(ga_stream_next(stream, 4, &window), 0);
        assert_int_equal(window.start[1], want[u][0]);
        assert_int_equal(window.start[2] - window.start[1], want[u][1]);
        assert_int_equal(window.epoch, u / 3);
    }
    ga_window_fini(&window);
    ga_stream_close(stream);
}

static void test_wrap_counts_epochs(void **state)
{
    (void)state;
    struct ga_stream_spec spec = {5, GA_STREAM_FILE, GA_STREAM_SHARED, GA_STREAM_WRAP, 1, 1};
    const uint64_t want[] = {0, 0, 1, 1, 2, 3, 3, 4};
    struct ga_stream *stream = NULL;
    struct ga_window window;
    ga_window_init(&window);
    assert_int_equal(ga_stream_open(&stream, &spec), 0);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(ga_stream_next(stream, 3, &window), 0);
        assert_int_equal(window.epoch, want[i]);
    }
    assert_place(stream, 4, 4);
    spec.sharding = GA_STREAM_STRIDED;
    spec.replicas = 2; /* shards of 3 and 2 rows, shares of 2: they part ways */
    assert_int_equal(ga_stream_change(stream, &spec), 0);
    take(stream, 4, 3);
    assert_place(stream, 6, 5); /* replica 0: 3 rows of epoch 6; replica 1 has finished 6 and 7 */
    spec.tail = GA_STREAM_SHORT;
    assert_int_equal(ga_stream_change(stream, &spec), 0);
    take(stream, 4, 1);
    assert_place(stream, 8, 4); /* all shards had ended, so one epoch begins for both */
    ga_window_fini(&window);
    ga_stream_close(stream);
}

/* Every refusal says so and moves nothing. */
static void test_refusals(void **state)
{
    (void)state;
    struct ga_stream_spec spec = {10, GA_STREAM_FILE, GA_STREAM_STRIDED, GA_STREAM_DROP, 1, 4};
    struct ga_stream *stream = NULL;
    struct ga_window window;
    size_t examples = 0;
    ga_window_init(&window);
    assert_int_equal(ga_stream_open(&stream, &spec), 0);
    take(stream, 4, 1);
    assert_int_equal(ga_stream_next(stream, 0, &window), GA_ERANGE);
    assert_int_equal(ga_stream_next(stream, 3, &window), GA_ERANGE);
    assert_non_null(strstr(ga_error_text(), "expected at least 4"));
    assert_int_equal(ga_stream_next(stream, 11, &window), GA_ERANGE);
    assert_non_null(strstr(ga_error_text(), "at most 10"));
    assert_int_equal(ga_stream_peek(stream, 11, &examples), GA_ERANGE);
    spec.replicas = 0;
    assert_int_equal(ga_stream_change(stream, &spec), GA_ERANGE);
    spec = (struct ga_stream_spec){0, GA_STREAM_FILE, GA_STREAM_SHARED, GA_STREAM_WRAP, 1, 4};
    assert_int_equal(ga_stream_change(stream, &spec), GA_ERANGE);
    assert_place(stream, 0, 4);
    ga_stream_close(stream);
    stream = (struct ga_stream *)&spec;
    spec.rows = (size_t)UINT32_MAX + 1;
    assert_int_equal(ga_stream_open(&stream, &spec), GA_ERANGE);
    assert_null(stream);
    spec.rows = 10;
    assert_int_equal(ga_stream_open(&stream, &spec), 0);
    assert_int_equal(ga_stream_next(stream, SIZE_MAX, &window), GA_ENOMEM);
    assert_place(stream, 0, 0);
    spec.replicas = 0;
    assert_int_equal(ga_stream_change(stream, &spec), GA_ERANGE);
    ga_stream_close(stream);
    ga_stream_close(NULL);
    ga_window_fini(&window);
}

static void test_bad_positions(void **state)
{
    (void)state;
    struct ga_stream_spec spec = {10, GA_STREAM_FILE, GA_STREAM_STRIDED, GA_STREAM_SHORT, 1, 2};
    struct ga_stream *stream = NULL;
    uint64_t epoch[2] = {3, 3};
    uint64_t offset[2] = {2, 1};
    struct ga_stream_position position = {3, 3, epoch, offset};
    assert_int_equal(ga_stream_open(&stream, &spec), 0);
    assert_int_equal(ga_stream_set(stream, &position), 0);
    position.offset = 4; /* not the sum */
    assert_int_equal(ga_stream_set(stream, &position), GA_EINPUT);
    position.offset = 3;
    position.epoch = 2;
    assert_int_equal(ga_stream_set(stream, &position), GA_EINPUT);
    position.epoch = 3;
    position.replica_offset = NULL;
    assert_int_equal(ga_stream_set(stream, &position), GA_EINPUT);
    position.replica_offset = offset;
    offset[1] = 6;
    assert_int_equal(ga_stream_set(stream, &position), GA_EINPUT);
    assert_non_null(strstr(ga_error_text(), "replica 1"));
    offset[1] = 1;
    epoch[0] = UINT64_MAX;
    assert_int_equal(ga_stream_set(stream, &position), GA_EINPUT);
    assert_place(stream, 3, 3);
    spec.sharding = GA_STREAM_SHARED;
    assert_int_equal(ga_stream_change(stream, &spec), 0);
    position.offset = 11;
    assert_int_equal(ga_stream_set(stream, &position), GA_EINPUT);
    position = (struct ga_stream_position){UINT64_MAX, 0, NULL, NULL};
    assert_int_equal(ga_stream_set(stream, &position), GA_EINPUT);
    assert_place(stream, 4, 0);
    ga_stream_close(stream);
}

/* Each allocation fails in turn: an error, no leak, and the stream stands where it stood. */
static void test_no_memory(void **state)
{
    (void)state;
    struct ga_stream_spec spec = {10, GA_STREAM_SHUFFLE, GA_STREAM_STRIDED, GA_STREAM_SHORT, 1, 2};
    struct ga_stream *stream = NULL;
    struct ga_window window;
    int64_t budget = 0;
    ga_window_init(&window);
    for (;; budget++) {
        ga_test_allocation_limit(budget);
        int code = ga_stream_open(&stream, &spec);
        ga_test_allocation_free();
        if (code == 0) {
            break;
        }
        assert_int_equal(code, GA_ENOMEM);
        assert_null(stream);
    }
    assert_true(budget > 3);
    for (int64_t successes = 0; successes < 2; successes++) {
        ga_test_allocation_limit(successes);
        assert_int_equal(ga_stream_next(stream, 4, &window), GA_ENOMEM);
        ga_test_allocation_free();
        assert_place(stream, 0, 0);
    }
    take(stream, 4, 1);
    spec.replicas = 3;
    ga_test_allocation_limit(2);
    assert_int_equal(ga_stream_change(stream, &spec), GA_ENOMEM);
    ga_test_allocation_free();
    assert_place(stream, 0, 4);
    ga_window_fini(&window);
    ga_stream_close(stream);
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
        cmocka_unit_test(test_position_resumes_anywhere),
        cmocka_unit_test(test_change_rules),
        cmocka_unit_test(test_seed_that_file_order_does_not_use),
        cmocka_unit_test(test_replicas_change_mid_epoch),
        cmocka_unit_test(test_uneven_shards_finish),
        cmocka_unit_test(test_wrap_counts_epochs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_positions),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_shuffle_is_fair_and_fixed),
    };
    return ga_test_main(tests);
}
