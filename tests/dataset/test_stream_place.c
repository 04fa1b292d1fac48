/* Where a stream stands: positions, changes of the spec, ends of epochs, refusals. */
#include "support/support.h"

#include <string.h>

#include "base/error.h"
#include "dataset/rolled.h"
#include "dataset/stream.h"

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
        struct ga_test_dice dice = {number, 0};
        struct ga_stream_spec spec = ga_test_roll_spec(&dice);
        struct ga_stream *stream = NULL;
        struct ga_stream *other = NULL;
        struct place place, again;
        assert_int_equal(ga_stream_open(&stream, &spec), 0);
        assert_int_equal(ga_stream_open(&other, &spec), 0);
        for (size_t step = 0; step < 20; step++) {
            size_t examples = ga_test_roll_window(&dice, &spec);
            read_place(stream, &place);
            assert_int_equal(ga_stream_set(other, &place.position), 0);
            read_place(other, &again);
            assert_int_equal(again.position.epoch, place.position.epoch);
            assert_int_equal(again.position.offset, place.position.offset);
            assert_int_equal(ga_stream_left(other), ga_stream_left(stream));
            assert_int_equal(ga_stream_next(stream, examples, &window), 0);
            assert_int_equal(ga_stream_next(other, examples, &resumed), 0);
            assert_same_window(&resumed, &window);
            if (ga_test_roll(&dice, 0, 3) == 0) { /* jump back and walk the window again */
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
    assert_int_equal(ga_stream_check(&spec, 3), GA_ERANGE);
    assert_int_equal(ga_stream_check(&spec, 4), 0);
    assert_int_equal(ga_stream_check(&spec, 10), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_position_resumes_anywhere),
        cmocka_unit_test(test_change_rules),
        cmocka_unit_test(test_seed_that_file_order_does_not_use),
        cmocka_unit_test(test_replicas_change_mid_epoch),
        cmocka_unit_test(test_uneven_shards_finish),
        cmocka_unit_test(test_wrap_counts_epochs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_positions),
        cmocka_unit_test(test_no_memory),
    };
    return ga_test_main(tests);
}
