#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "storage/checkpoint_format.h"
#include "support/support.h"

struct inner {
    int32_t whole;
    uint8_t kind;
};

struct outer {
    uint64_t count;
    int64_t time;
    uint32_t small;
    double real, finite;
    double list[3];
    bool flag;
    struct inner inner;
};

static const char *kind_word(int value)
{
    static const char *const words[] = {"none", "some", "all"};
    return value < 3 ? words[value] : NULL;
}

static const struct ga_field inner_fields[] = {
    {.name = "whole",
     .kind = GA_FIELD_SIGNED,
     .offset = offsetof(struct inner, whole),
     .bytes = 4,
     .low = -5,
     .high = 5},
    {.name = "kind",
     .kind = GA_FIELD_WORD,
     .offset = offsetof(struct inner, kind),
     .bytes = 1,
     .word = kind_word},
};
static const struct ga_fields inner = GA_FIELDS(inner_fields);

static const struct ga_field outer_fields[] = {
    {.name = "count",
     .kind = GA_FIELD_UNSIGNED,
     .offset = offsetof(struct outer, count),
     .bytes = 8,
     .high = 0x1p62},
    {.name = "time",
     .kind = GA_FIELD_SIGNED,
     .offset = offsetof(struct outer, time),
     .bytes = 8,
     .low = -0x1p62,
     .high = 0x1p62},
    {.name = "small",
     .kind = GA_FIELD_UNSIGNED,
     .offset = offsetof(struct outer, small),
     .bytes = 4,
     .high = UINT32_MAX},
    {.name = "real", .kind = GA_FIELD_REAL, .offset = offsetof(struct outer, real), .bytes = 8},
    {.name = "finite",
     .kind = GA_FIELD_FINITE,
     .offset = offsetof(struct outer, finite),
     .bytes = 8,
     .low = -1,
     .high = 1},
    {.name = "list",
     .kind = GA_FIELD_REAL,
     .offset = offsetof(struct outer, list),
     .bytes = 8,
     .list = 3},
    {.name = "flag",
     .kind = GA_FIELD_BOOL,
     .offset = offsetof(struct outer, flag),
     .bytes = sizeof(bool)},
    {.name = "inner",
     .kind = GA_FIELD_GROUP,
     .offset = offsetof(struct outer, inner),
     .bytes = sizeof(struct inner),
     .group = &inner},
};
static const struct ga_fields outer = GA_FIELDS(outer_fields);

static struct outer round_trip(const struct outer *from)
{
    struct outer to;
    memset(&to, 0, sizeof to);
    json_t *object = ga_fields_write(&outer, from);
    assert_non_null(object);
    if (ga_fields_read(&outer, object, &to))
        fail_msg("%s", ga_error_text());
    json_decref(object);
    return to;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void every_kind_of_double_is_kept_exactly(void **unused)
{
    (void)unused;
    static const double special[] = {0.0,          -0.0,
                                     0.1,          1.0 / 3,
                                     -1e-300,      DBL_MAX,
                                     -DBL_MAX,     DBL_MIN,
                                     DBL_TRUE_MIN, -3 * DBL_TRUE_MIN,
                                     1e23,         INFINITY,
                                     -INFINITY,    0x1.fffffffffffffp-1};
    struct outer from = {.finite = DBL_TRUE_MIN};
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        from.real = from.list[i % 3] = special[i];
        const struct outer to = round_trip(&from);
        assert_true(same_bits(to.real, special[i]));
        assert_true(same_bits(to.list[i % 3], special[i]));
        assert_true(same_bits(to.finite, DBL_TRUE_MIN));
    }
    from.real = NAN;
    assert_true(isnan(round_trip(&from).real));
}

static void random_doubles_are_kept_exactly(void **unused)
{
    (void)unused;
    struct outer from = {.finite = 0};
    for (size_t i = 0; i < ga_test_count(20000); i++) {
        uint32_t word[4];
        ga_draw(7, i, 0, GA_DRAW_NOISE, word);
        memcpy(&from.real, word, sizeof from.real);
        if (!isnan(from.real))
            assert_true(same_bits(round_trip(&from).real, from.real));
    }
}

static void integers_are_kept_to_their_limits(void **unused)
{
    (void)unused;
    const struct outer from = {.count = UINT64_C(1) << 62,
                               .time = -(INT64_C(1) << 62),
                               .small = UINT32_MAX,
                               .flag = true,
                               .inner = {.whole = -5, .kind = 2}};
    const struct outer to = round_trip(&from);
    assert_true(to.count == from.count && to.time == from.time && to.small == from.small);
    assert_true(to.flag && to.inner.whole == -5 && to.inner.kind == 2);
}

static const char good[] =
    "{\"count\":\"1\",\"time\":\"2\",\"small\":3,\"real\":\"4\",\"finite\":\"0.5\","
    "\"list\":[\"1\",\"2\",\"nan\"],\"flag\":true,\"inner\":{\"whole\":1,\"kind\":"
    "\"all\"}}";

static int read_text(const char *text)
{
    struct outer to;
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    const int code = ga_fields_read(&outer, object, &to);
    json_decref(object);
    return code;
}

static void what_does_not_fit_is_refused_by_name(void **unused)
{
    (void)unused;
    static const struct {
        const char *from, *to, *words;
    } edits[] = {
        {"\"count\":\"1\"", "\"count\":\"4611686018427387905\"",
         "\"count\": is \"4611686018427387905\", expected a string of a whole number from 0 to "
         "4611686018427387904"},
        {"\"count\":\"1\"", "\"count\":\"1 \"", "\"count\": is"},
        {"\"count\":\"1\"", "\"count\":\"\"", "\"count\": is"},
        {"\"count\":\"1\"", "\"count\":1", "\"count\": is 1, expected a string"},
        {"\"count\":\"1\"", "\"counts\":\"1\"", "\"count\": is missing"},
        {"\"count\":\"1\"", "\"count\":\"1\",\"more\":null", "unknown field \"more\""},
        {"\"small\":3", "\"small\":-1",
         "\"small\": is -1, expected a whole number from 0 to 4294967295"},
        {"\"small\":3", "\"small\":\"3\"", "\"small\": is \"3\""},
        {"\"real\":\"4\"", "\"real\":4",
         "\"real\": is 4, expected a string of a number, nan, inf or -inf"},
        {"\"real\":\"4\"", "\"real\":\"NaN\"", "\"real\": is \"NaN\""},
        {"\"real\":\"4\"", "\"real\":\"0x1p3\"", "\"real\": is"},
        {"\"finite\":\"0.5\"", "\"finite\":\"1.5\"",
         "\"finite\": is \"1.5\", expected a string of a number from -1 to 1"},
        {"\"finite\":\"0.5\"", "\"finite\":\"nan\"", "\"finite\": is \"nan\""},
        {"[\"1\",\"2\"", "[\"1\"", "\"list\": is [\"1\",\"nan\"], expected a list of 3"},
        {"[\"1\",\"2\"", "[\"1\",2", "\"list\": element 1: is 2"},
        {"\"flag\":true", "\"flag\":null", "\"flag\": is null, expected true or false"},
        {"\"whole\":1", "\"whole\":6",
         "\"inner\": \"whole\": is 6, expected a whole number from -5 to 5"},
        {"\"kind\":\"all\"", "\"kind\":\"most\"",
         "\"inner\": \"kind\": is \"most\", expected one of none, some, all"},
        {"{\"whole\":1,\"kind\":\"all\"}", "[]", "\"inner\": is [], expected an object"},
    };
    assert_int_equal(read_text(good), GA_OK);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        char text[512];
        const char *at = strstr(good, edits[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, edits[i].to,
                 at + strlen(edits[i].from));
        assert_int_equal(read_text(text), GA_EINPUT);
        if (!strstr(ga_error_text(), edits[i].words))
            fail_msg("\"%s\", expected \"%s\"", ga_error_text(), edits[i].words);
    }
}

static size_t covered(const struct ga_fields *table)
{
    size_t bytes = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct ga_field *field = &table->field[i];
        bytes += field->kind == GA_FIELD_GROUP ? covered(field->group)
                                               : field->bytes * (field->list ? field->list : 1);
    }
    return bytes;
}

/*
 * A field that the train room adds must get a row in a table of storage/checkpoint_format.c. Sizes
 * are those of a 64-bit machine: what the table covers, what is kept elsewhere in a checkpoint,
 * padding.
 */
static void every_field_of_a_state_has_a_row(void **unused)
{
    (void)unused;
    if (sizeof(void *) != 8)
        ga_test_skip("the sizes stated here are those of a 64-bit machine");
    const size_t replica_elsewhere = 2 * sizeof(struct ga_version *), replica_padding = 22;
    assert_int_equal(sizeof(struct ga_replica_value),
                     covered(&ga_fields_replica) + replica_elsewhere + replica_padding);
    const size_t version_elsewhere = sizeof(atomic_uint) + sizeof(void *) + sizeof(size_t) +
                                     2 * sizeof(float *) + sizeof(double);
    const size_t version_padding = 4;
    assert_int_equal(sizeof(struct ga_version),
                     covered(&ga_fields_version) + version_elsewhere + version_padding);
    const size_t state_elsewhere =
        14 * sizeof(void *) + 5 * sizeof(size_t) + sizeof(uint64_t) + sizeof(enum ga_type);
    const size_t state_padding = 47;
    assert_int_equal(sizeof(struct ga_state),
                     covered(&ga_fields_run) + state_elsewhere + state_padding);
    const size_t modes_elsewhere = 9 * sizeof(void *) + 5 * sizeof(size_t), modes_padding = 7;
    assert_int_equal(sizeof(struct ga_mode_state),
                     covered(&ga_fields_modes) + modes_elsewhere + modes_padding);
    const size_t item_elsewhere = 2 * sizeof(void *) + sizeof(uint32_t), item_padding = 4;
    assert_int_equal(sizeof(struct ga_hogwild_item), item_elsewhere + item_padding);
    assert_int_equal(sizeof(struct ga_race_turn), sizeof(int64_t) + sizeof(int32_t) + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_double_is_kept_exactly),
        cmocka_unit_test(random_doubles_are_kept_exactly),
        cmocka_unit_test(integers_are_kept_to_their_limits),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
        cmocka_unit_test(every_field_of_a_state_has_a_row),
    };
    return ga_test_main(tests);
}
