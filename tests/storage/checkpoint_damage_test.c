/* Checkpoints that were damaged, or edited by hand with a fitting checksum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "damage_support.h"
#include "support/support.h"

/* Edits of a run in mid-window (2 replicas, accum 2, 2 events in). */
static const struct edit edits[] = {
    {"", "{", "[{", "not valid JSON"},
    {"", "\"version\":3", "\"version\":1", "\"version\" is 1, expected 3"},
    {"", "\"version\":3", "\"version\":true", "\"version\" is missing"},
    {"", "\"version\":3", "\"version\":3,\"version\":3", "duplicate object key"},
    {"", "\"program\"", "\"x\":1,\"program\"", "15 entries"},
    {"\"data\"", "parabola", "para\\nbola", "\"data\" is not a line of text"},
    {"", "\"fingerprint\":\"", "\"fingerprint\":\"0",
     "\"fingerprint\" is not 16 hexadecimal digits"},
    {"\"settings\"", "\"epoch\":\"0\"", "\"epoch\":0",
     "\"settings\": \"epoch\": is 0, expected a string"},
    {"\"settings\"", "\"replicas\":\"2\"", "\"replicas\":\"3\"",
     "have 2 and 2 entries, expected 3"},
    {"\"settings\"", "\"replicas\":\"2\"", "\"replicas\":\"0\"", "expected 1..4096"},
    {"\"settings\"", "\"replicas\":\"2\"", "\"replicas\":2", "\"replicas\" is missing"},
    {"\"settings\"", "\"replicas\"", "\"workers\"", "\"replicas\" is missing"},
    {"\"settings\"", "\"replicas\"", "\"x\":\"1\",\"replicas\"", "some name is no setting"},
    {"\"settings\"", "\"1-5-1\"", "\"1-65536-65536-1\"", "bytes of tensors, expected at least"},
    {"\"settings\"", "\"1-5-1\"", "\"2-5-1\"", "does not fit parabola"},
    {"\"settings\"", "\"1-5-1\"", "\"1-4-1\"",
     "\"layers.0.weight\" is F32 [5,1], expected F32 [4,1]"},
    {"\"settings\"", "\"optimizer\":\"sgd\"", "\"optimizer\":\"adam\"",
     "0 blocks of optimizer state, expected 2"},
    {"\"settings\"", "\"sharding\":\"stream\"", "\"sharding\":\"strided\"",
     "\"shards\": expected an object"},
    {"\"settings\"", "\"accum\":\"2\"", "\"accum\":\"3\"", "part or micros does not fit"},
    {"", "\"pending\":null", "\"pending\":1", "\"pending\" is not an object"},
    {"\"run\"", "\"updates\":\"0\"", "\"updates\":\"1\"",
     "number 0, expected 1, the updates so far"},
    {"\"run\"", "\"updates\":\"0\"", "\"updates\":\"-1\"",
     "expected a string of a whole number from 0"},
    {"\"run\"", "\"updates\":\"0\"", "\"updates\":0", "\"updates\": is 0, expected a string"},
    {"\"run\"", "\"updates\":\"0\"", "\"updates\":\"9223372036854775808\"", "\"updates\": is"},
    {"\"run\"", "\"updates\":\"0\"", "\"update\":\"0\"", "\"counters\": \"updates\": is missing"},
    {"\"run\"", "\"updates\"", "\"extra\":1,\"updates\"", "unknown field \"extra\""},
    {"\"run\"", "\"phase\":\"micro\"", "\"phase\":\"idle\"", "does not fit the mode and the phase"},
    {"\"run\"", "\"phase\":\"micro\"", "\"phase\":\"apply\"",
     "does not fit the mode and the phase"},
    {"\"run\"", "\"phase\":\"micro\"", "\"phase\":\"lunch\"",
     "expected one of idle, micro, reduce"},
    {"\"run\"", "\"now_ns\":\"", "\"now_ns\":\"9", "contradict each other"},
    {"\"stream\"", "\"offset\":\"12\"", "\"offset\":\"13\"", "13 rows taken, expected at most 12"},
    {"\"window\"", "\"expected\":2", "\"expected\":3", "0 of 3 expected pushes arrived"},
    {"\"window\"", "\"expected\":2", "\"expected\":0", "0 of 0 expected pushes arrived"},
    {"\"window\"", "\"expected\":2", "\"expected\":4294967296", "from 0 to 4294967295"},
    {"\"window\"", "\"expected\":2", "\"expected\":2.0", "\"expected\": is 2.0"},
    {"\"window\"", "\"arrived\":0", "\"arrived\":1", "1 of 2 expected pushes arrived"},
    {"\"window\"", "\"number\":\"1\"", "\"number\":\"2\"",
     "window, in_window or pushed_at does not fit"},
    {"\"window\"", "\"examples\":\"12\"", "\"examples\":\"2\"", "of 2 examples"},
    {"\"window\"", "\"loss\":[\"0\"", "\"loss\":[\"zero\"",
     "element 0: is \"zero\", expected a string of a number"},
    {"\"window\"", "\"loss\":[\"0\",", "\"loss\":[", "expected a list of 3"},
    {"\"window\"", "\"skipped\":false", "\"skipped\":0", "is 0, expected true or false"},
    {"\"last_event\"", "\"replica\":", "\"replica\":2,\"replica\":", "duplicate object key"},
    {"\"last_event\"", "\"kind\":\"micro\"", "\"kind\":\"open\"",
     "\"last_event\": open of replica"},
    {"\"versions\"", "\"state_blocks\":\"0\"", "\"state_blocks\":\"1\"",
     "momentum_buffer.layers.0.weight"},
    {"\"versions\"", "\"state_blocks\":\"0\"", "\"state_blocks\":\"3\"", "from 0 to 2"},
    {"\"versions\"", "\"beta1_power\":\"1\"", "\"beta1_power\":\"1.5\"", "from 0 to 1"},
    {"\"versions\"", "\"beta1_power\":\"1\"", "\"beta1_power\":\"nan\"", "from 0 to 1"},
    {"", "\"versions\":[", "\"versions\":[{},", "\"versions\": 0: \"number\": is missing"},
    {"", "\"versions\":[", "\"versions\":[],\"v\":[", "15 entries"},
    {"\"replicas\":[", "\"state\":\"busy\"", "\"state\":\"done\"",
     "window, in_window or pushed_at does not fit"},
    {"\"replicas\":[", "\"state\":\"busy\"", "\"state\":\"ready\"", "contradict each other"},
    {"\"replicas\":[", "\"state\":\"busy\"", "\"state\":\"late\"",
     "window, in_window or pushed_at does not fit"},
    {"\"replicas\":[", "\"in_window\":false", "\"in_window\":true",
     "window, in_window or pushed_at does not fit"},
    {"\"replicas\":[", "\"part\":6", "\"part\":5", "part or micros does not fit"},
    {"\"replicas\":[", "\"micros\":2", "\"micros\":0", "contradict each other"},
    {"\"replicas\":[", "\"micros\":2", "\"micros\":7", "contradict each other"},
    {"\"replicas\":[", "\"micro\":1", "\"micro\":3", "contradict each other"},
    {"\"replicas\":[", "\"micro\":1", "\"micro\":0", "contradict each other"},
    {"\"replicas\":[", "\"finish_ns\":\"", "\"finish_ns\":\"-", "\"finish_ns\": is"},
    {"\"replicas\":[", "\"slow\":\"1\"", "\"slow\":\"0\"", "from 1e-06 to 1e+06"},
    {"\"replicas\":[", "\"slow\":\"1\"", "\"slow\":\"1e7\"", "from 1e-06 to 1e+06"},
    {"", "\"reads\":[0,", "\"reads\":[1,", "\"reads\": 0: is not a whole number from -1 to 0"},
    {"", "\"reads\":[0,", "\"reads\":[-1,", "the version it works on does not fit"},
    {"", "\"reads\":[0,", "\"reads\":[", "have 2 and 1 entries"},
    {"", "\"shards\":null", "\"shards\":{}", "\"shards\": expected null"},
};

static void edited_fields_are_refused_by_name(void **unused)
{
    (void)unused;
    struct sample sample = make_sample(&run_variants[0], 2);
    char *text = note_of(&sample);
    struct ga_state state;
    assert_int_equal(read_state(sample.bytes, sample.length, text, sample.data, &state), GA_OK);
    ga_state_fini(&state);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++)
        assert_edit_refused(&sample, &edits[i]);
    free(text);
    drop_sample(&sample);
}

static void tensors_that_do_not_fit_are_refused_by_name(void **unused)
{
    (void)unused;
    static const int64_t rows[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12};
    static const int64_t negative[12] = {-1};
    static const int32_t other[1] = {1};
    static const float extra[1] = {0};
    struct sample sample = make_sample(&run_variants[0], 2);
    struct parts parts = take_parts(&sample);
    assert_int_equal(part(&parts, GA_CHECKPOINT_ROWS)->bytes, sizeof rows);
    part(&parts, GA_CHECKPOINT_ROWS)->data = rows;
    assert_parts_refused(&parts, &sample,
                         "\"gaconsole.rows\": element 11 is 12, expected a row from 0 to 11");
    parts = take_parts(&sample);
    part(&parts, GA_CHECKPOINT_ROWS)->data = negative;
    assert_parts_refused(&parts, &sample, "element 0 is -1");
    parts = take_parts(&sample);
    remove_part(&parts, GA_CHECKPOINT_ROWS);
    assert_parts_refused(&parts, &sample, "0 row numbers, expected 12");
    parts = take_parts(&sample);
    part(&parts, GA_CHECKPOINT_SUMS_OF)->data = other;
    assert_parts_refused(&parts, &sample, "its accumulator is missing");
    parts = take_parts(&sample);
    remove_part(&parts, GA_CHECKPOINT_ACCUMS);
    assert_parts_refused(&parts, &sample, "no tensor \"gaconsole.accumulators\"");
    parts = take_parts(&sample);
    remove_part(&parts, "layers.1.bias");
    assert_parts_refused(&parts, &sample, "no tensor \"layers.1.bias\"");
    parts = take_parts(&sample);
    parts.tensor[parts.count++] =
        (struct ga_file_tensor){"extra", GA_F32, 1, {1}, extra, sizeof extra};
    assert_parts_refused(&parts, &sample, "tensor \"extra\" is not one that its run has");
    parts = take_parts(&sample);
    part(&parts, "layers.0.weight")->shape[0] = 1;
    part(&parts, "layers.0.weight")->shape[1] = 5;
    assert_parts_refused(&parts, &sample, "\"layers.0.weight\" is F32 [1,5], expected F32 [5,1]");
    drop_sample(&sample);
}

static void a_missing_gradient_is_refused(void **unused)
{
    (void)unused;
    const struct run_variant *variant = &run_variants[1]; /* with clip: CHECK, CLIP, APPLY */
    enum ga_phase phase = GA_PHASE_IDLE;
    int refused = 0;
    for (size_t events = 0; events < 30; events++) {
        struct sample sample = make_sample(variant, events);
        struct ga_state state;
        struct parts parts = take_parts(&sample);
        assert_int_equal(reload(&parts, &sample, &state), GA_OK);
        phase = state.phase;
        ga_state_fini(&state);
        if (phase >= GA_PHASE_CHECK && phase <= GA_PHASE_APPLY) {
            parts = take_parts(&sample);
            remove_part(&parts, GA_CHECKPOINT_GRADIENT);
            assert_parts_refused(&parts, &sample, "\"gaconsole.gradient\" is missing in phase");
            parts = take_parts(&sample);
            remove_part(&parts, GA_CHECKPOINT_REDUCED);
            assert_parts_refused(&parts, &sample, "\"gaconsole.reduced\" is missing in phase");
            refused++;
        }
        drop_sample(&sample);
    }
    assert_true(refused >= 3);
}

static bool same_state(const struct ga_state *state, const struct sample *sample)
{
    size_t length = 0;
    assert_int_equal(ga_checkpoint_save(sample->path, state, ""), GA_OK);
    char *bytes = ga_test_read_file(sample->path, &length);
    const bool same = length == sample->length && memcmp(bytes, sample->bytes, length) == 0;
    free(bytes);
    return same;
}

/* Every byte, each in two ways: refused, or (blanks of the header) without any effect. */
static void every_damaged_byte_is_noticed(void **unused)
{
    (void)unused;
    struct sample sample = make_sample(&run_variants[1], 4);
    const size_t step = sample.length / ga_test_count(sample.length);
    size_t refused = 0, harmless = 0;
    for (size_t at = 0; at < sample.length; at += step)
        for (int bit = 0; bit < 8; bit += 5) {
            struct ga_state state;
            sample.bytes[at] = (char)(sample.bytes[at] ^ 1 << bit);
            const int code = read_state(sample.bytes, sample.length, NULL, sample.data, &state);
            sample.bytes[at] = (char)(sample.bytes[at] ^ 1 << bit);
            refused += code != GA_OK;
            harmless += code == GA_OK;
            if (!code)
                assert_true(same_state(&state, &sample));
            ga_state_fini(&state);
        }
    assert_true(refused > 40 * harmless);
    drop_sample(&sample);
}

static void every_shortened_file_is_refused(void **unused)
{
    (void)unused;
    struct sample sample = make_sample(&run_variants[1], 4);
    struct ga_state state;
    for (size_t length = 0; length < sample.length; length += 7)
        assert_true(read_state(sample.bytes, length, NULL, sample.data, &state) < 0);
    drop_sample(&sample);
}

/* What passes without the checksum must be a state that a run can go on from. */
static void assert_usable(const struct ga_state *state)
{
    struct ga_run *run = run_restored(state);
    int code = GA_OK;
    if (!run)
        fail_msg("%s", ga_error_text());
    for (int i = 0; !code && i < 60; i++)
        code = ga_run_event(run);
    if (code == GA_EINTERNAL)
        fail_msg("%s", ga_error_text());
    ga_run_close(run);
}

static void edited_bytes_never_break_a_run(void **unused)
{
    size_t passed = 0; /* over all variants: few are tried of each when counts are reduced */
    (void)unused;
    for (size_t v = 0; v < run_variant_count; v++) {
        struct sample sample = make_sample(&run_variants[v], 23 + v);
        char *text = note_of(&sample);
        const size_t length = strlen(text);
        const size_t step = length / ga_test_count(length / 9);
        for (size_t at = v % step; at < length; at += step) {
            const char old = text[at];
            struct ga_state state;
            text[at] = (char)(old ^ (old >= '0' && old <= '9' ? 1 + (int)(at % 7) : 32));
            if (read_state(sample.bytes, sample.length, text, sample.data, &state) == GA_OK) {
                assert_usable(&state);
                passed++;
            }
            ga_state_fini(&state);
            text[at] = old;
        }
        free(text);
        drop_sample(&sample);
    }
    assert_true(passed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edited_fields_are_refused_by_name),
        cmocka_unit_test(tensors_that_do_not_fit_are_refused_by_name),
        cmocka_unit_test(a_missing_gradient_is_refused),
        cmocka_unit_test(every_damaged_byte_is_noticed),
        cmocka_unit_test(every_shortened_file_is_refused),
        cmocka_unit_test(edited_bytes_never_break_a_run),
    };
    run_prefer_memory_files();
    return ga_test_main(tests);
}
