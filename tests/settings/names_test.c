/* Names: aliases, prefixes, refused words, choice groups, and a table without contradictions. */
#include <string.h>

#include "base/error.h"
#include "settings/settings.h"
#include "settings/settings_table.h"
#include "settings/words.h"
#include "support/support.h"

static void assert_finds(const char *word, const char *name)
{
    const struct ga_setting *row = ga_setting_find(word);
    if (!row)
        fail_msg("%s: %s", word, ga_error_text());
    assert_string_equal(row->name, name);
}

static void assert_lost(const char *word, const char *part)
{
    assert_null(ga_setting_find(word));
    if (!strstr(ga_error_text(), part))
        fail_msg("%s: '%s' does not say '%s'", word, ga_error_text(), part);
}

static void test_aliases(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"num_replicas_in_sync", "replicas"},
        {"world_size", "replicas"},
        {"n_gpus", "replicas"},
        {"workers", "replicas"},
        {"gradient_accumulation_steps", "accum"},
        {"accumulate_grad_batches", "accum"},
        {"micro_batch_size", "batch"},
        {"per_device_train_batch_size", "batch"},
        {"global_batch_size", "global"},
        {"train_batch_size", "global"},
        {"strategy", "mode"},
        {"replicas_to_aggregate", "backup"},
        {"learning_rate", "lr"},
        {"global_clipnorm", "clip"},
        {"max_grad_norm", "clip"},
        {"weight_decay", "weight-decay"},
        {"gradient-accumulation-steps", "accum"},
        {"local_steps", "period"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        assert_finds(pairs[i][0], pairs[i][1]);
    assert_true(ga_setting_is_alias(ga_setting_find("workers"), "workers"));
    assert_false(ga_setting_is_alias(ga_setting_find("replicas"), "replicas"));
    assert_false(ga_setting_is_alias(ga_setting_find("weight_decay"), "weight_decay"));
}

static void test_prefixes(void **state)
{
    (void)state;
    assert_finds("rep", "replicas");
    assert_finds("acc", "accum");
    assert_finds("weight", "weight-decay");
    assert_finds("per_ex", "per-example");
    assert_finds("late", "late");
    assert_finds("laten", "latency");
    assert_finds("peri", "period");
    assert_finds("fail", "failure");
    assert_finds("wri", "writes");
}

static void test_lost_words(void **state)
{
    (void)state;
    assert_lost("be", "beta1, beta2");
    assert_lost("lat", "late, latency");
    assert_lost("l", "expected more letters");
    assert_lost("la", "late, lag, latency");
    assert_lost("per", "period, per-example");
    assert_lost("batch_size", "say `batch`");
    assert_lost("batch-size", "DDP");
    assert_lost("clipnorm", "clips each variable");
    assert_lost("gradient_accumulation", "no setting is called");
    assert_lost("acum", "did you mean accum?");
    assert_lost("LR", "did you mean lr?");
    assert_lost("", "no setting is called ''");
    assert_lost("staleness", "no setting is called staleness");
    assert_lost("scales", "did you mean scale?");
    char longest[5000];
    memset(longest, 'r', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_lost(longest, "no setting is called");
}

/* Each name and alias finds its own row and no other. */
static void test_no_name_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        assert_ptr_equal(ga_setting_find(row->name), row);
        for (size_t k = 0; k < ga_setting_count(); k++)
            assert_false(ga_setting_is_alias(ga_setting_at(k), row->name));
        for (size_t k = 0; k < ga_settings_refused_count; k++)
            assert_false(ga_word_same(row->name, ga_settings_refused[k].word));
        char aliases[256];
        assert_true(strlen(row->aliases) < sizeof(aliases));
        strcpy(aliases, row->aliases);
        for (char *word = strtok(aliases, " "); word; word = strtok(NULL, " "))
            assert_ptr_equal(ga_setting_find(word), row);
    }
    assert_null(ga_setting_at(ga_setting_count()));
}

static void test_rows_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        assert_non_null(row->name);
        assert_true(*row->values && *row->help && *row->initial);
        assert_non_null(row->unit);
        assert_non_null(row->modes);
        assert_non_null(row->aliases);
        assert_non_null(row->read);
        assert_non_null(row->write);
        assert_null(strchr(row->name, '_'));
        assert_true(row->offset < sizeof(struct ga_settings));
    }
}

static void test_choices(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        if (!row->group)
            continue;
        const int count = ga_choice_count(row->group);
        assert_true(count > 0);
        for (int value = 0; value < count; value++) {
            const char *word = ga_choice_word(row->group, value);
            if (!word || !strstr(row->values, word))
                fail_msg("%s: value %d is not among '%s'", row->name, value, row->values);
            assert_int_equal(ga_choice_value(row->group, word), value);
            assert_true(*ga_choice_help(row->group, value));
        }
        assert_null(ga_choice_word(row->group, count));
        assert_null(ga_choice_help(row->group, -1));
        assert_int_equal(ga_choice_value(row->group, "nonsense"), -1);
    }
    assert_int_equal(ga_choice_count("nonsense"), 0);
    assert_int_equal(ga_choice_value("mode", "mirrored"), GA_MODE_SYNC);
    assert_int_equal(ga_choice_value("mode", "parameter-server"), GA_MODE_ASYNC);
    assert_int_equal(ga_choice_value("scale", "ps"), -1);
    assert_int_equal(ga_choice_value("optimizer", "mirrored"), -1);
}

/* What choices.def promises: the first of a group is its default. */
static void test_first_choice_is_the_default(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        if (row->group)
            assert_string_equal(row->initial, ga_choice_word(row->group, 0));
    }
}

static void test_distance(void **state)
{
    (void)state;
    assert_int_equal(ga_word_distance("accum", "accum"), 0);
    assert_int_equal(ga_word_distance("acucm", "accum"), 1);
    assert_int_equal(ga_word_distance("acum", "accum"), 1);
    assert_int_equal(ga_word_distance("ACCUM", "accum"), 0);
    assert_int_equal(ga_word_distance("", "lr"), 2);
    assert_int_equal(ga_word_distance("kitten", "sitting"), 3);
    assert_int_equal(ga_word_distance("0123456789012345678901234567890", "0"), 30);
    assert_int_equal(ga_word_distance("01234567890123456789012345678901", "0"), 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_lost_words),
        cmocka_unit_test(test_no_name_twice),
        cmocka_unit_test(test_rows_are_complete),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_first_choice_is_the_default),
        cmocka_unit_test(test_distance),
    };
    return ga_test_main(tests);
}
