/*
 * The settings of the update modes through the engine: a change made while training holds from the
 * update that was named, is undone by going back and done again by going forward; what would make
 * no run is refused and changes nothing; and each row matters in the modes that its table names,
 * and in no other.
 */
#include "support/support.h"

#include <stdio.h>
#include <string.h>

#include "train/support/engine_rig.h"

#define COMMON "replicas 4 accum 2 batch 2 momentum 0 jitter exponential seed 3 "

/* One row, and two values of it that make a difference. */
struct trial {
    const char *row, *one, *other;
};

static const struct trial trials[] = {
    {"backup", "0", "2"},           {"lag", "1", "4"},
    {"bound", "none", "0"},         {"buffer", "2", "3"},
    {"period", "1", "3"},           {"outer", "none", "sgd(0.7,0.9)"},
    {"scale", "full", "staleness"}, {"writes", "lossy", "atomic"},
};
#define TRIALS (sizeof trials / sizeof trials[0])

static const char *const modes[] = {"sync",     "delay", "async",  "ssp",
                                    "buffered", "local", "hogwild"};
#define MODES (sizeof modes / sizeof modes[0])

static bool named(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static void open_trial(struct ga_engine_rig *rig, const char *mode, const struct trial *trial)
{
    char words[256];

    snprintf(words, sizeof words, COMMON "mode %s %s %s", mode, trial->row, trial->one);
    ga_engine_rig_open(
        rig, &(struct ga_test_start){.data = "parabola n=40", .settings = words, .threads = 1});
}

/* The hash after 12 updates, of which the last 6 are made with the row's new value. */
static uint64_t hash_with(const char *mode, const struct trial *trial, const char *value)
{
    struct ga_engine_rig rig;
    char change[64];
    uint64_t hash = 0;

    snprintf(change, sizeof change, "%s %s", trial->row, value);
    open_trial(&rig, mode, trial);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 6);
    ga_engine_rig_set(&rig, change);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 6);
    hash = ga_engine_rig_hash(&rig);
    ga_engine_rig_close(&rig);
    return hash;
}

/* Completion, help and the settings panel say in which modes a row matters: so it does. */
static void test_rows_matter_in_the_modes_they_name(void **state)
{
    (void)state;
    for (size_t k = 0; k < TRIALS; k++) {
        const struct ga_setting *row = ga_setting_find(trials[k].row);

        assert_non_null(row);
        assert_true(*row->modes);
        for (size_t m = 0; m < MODES; m++) {
            bool differs = hash_with(modes[m], &trials[k], trials[k].one) !=
                           hash_with(modes[m], &trials[k], trials[k].other);

            if (differs != named(row->modes, modes[m]))
                fail_msg("%s %s a difference in mode %s, and its row names: %s", row->name,
                         differs ? "makes" : "makes no", modes[m], row->modes);
        }
    }
}

static uint64_t hash_at(struct ga_engine_rig *rig, uint64_t update)
{
    ga_engine_rig_go(rig, GA_MOVE_GOTO, update);
    return ga_engine_rig_hash(rig);
}

/* In the middle of an update: that one still has the old value. */
static void change_in_mid_update(const char *mode, const struct trial *trial, uint64_t events)
{
    struct ga_engine_rig rig, old;
    struct ga_change change;
    char words[64];
    uint64_t hash = 0;

    snprintf(words, sizeof words, "%s %s", trial->row, trial->other);
    open_trial(&rig, mode, trial);
    open_trial(&old, mode, trial);
    ga_engine_rig_go(&rig, GA_MOVE_EVENTS, events);
    change = ga_engine_rig_set(&rig, words);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, change.from_update + 5);
    hash = ga_engine_rig_hash(&rig);
    assert_int_equal(hash_at(&rig, change.from_update - 1), hash_at(&old, change.from_update - 1));
    assert_int_equal(hash_at(&rig, change.from_update + 5), hash);
    ga_engine_rig_close(&old);
    ga_engine_rig_close(&rig);
}

static void test_changes_hold_from_the_update_that_was_named(void **state)
{
    (void)state;
    for (size_t k = 0; k < TRIALS; k++)
        for (size_t m = 0; m < MODES; m++)
            if (named(ga_setting_find(trials[k].row)->modes, modes[m]))
                for (uint64_t events = 31; events < 38; events += 2)
                    change_in_mid_update(modes[m], &trials[k], events);
}

static const char *const refused[][2] = {
    {"mode hogwild optimizer adam", "expected optimizer sgd with momentum 0"},
    {"mode async global 3", "expected at least one example each"},
    {"mode buffered bound 0 buffer 5", "would wait for ever"},
    {"mode buffered global 262144 buffer 4096", "at most 262144 examples in one update"},
    {"mode local period 4096 global 262144", "at most 16777216 in a round"},
    {"outer nesterov(0.7,0)", "expected a momentum above 0"},
    {"mode sync backup 4", "fewer than the replicas"},
    {"mode local tail drop global 41", "tail drop"},
};

/* All or nothing, also while the run is under way: the draft and the bits are as they were. */
static void test_what_makes_no_run_changes_nothing(void **state)
{
    struct ga_engine_rig rig, calm;
    struct ga_settings before, after;
    struct ga_change change;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=40",
                                                     .settings = COMMON "mode async",
                                                     .threads = 1});
    ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 40);
    ga_engine_settings(rig.engine, NULL, &before);
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        ga_test_refused(ga_engine_rig_try_set(&rig, refused[k][0], &change), GA_ERANGE,
                        refused[k][1]);
        ga_engine_settings(rig.engine, NULL, &after);
        assert_memory_equal(&after, &before, sizeof after);
    }
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 30);
    open_trial(&calm, "async", &trials[0]);
    assert_int_equal(ga_engine_rig_hash(&rig), hash_at(&calm, 30));
    ga_engine_rig_close(&calm);
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_matter_in_the_modes_they_name),
        cmocka_unit_test(test_changes_hold_from_the_update_that_was_named),
        cmocka_unit_test(test_what_makes_no_run_changes_nothing),
    };

    return ga_test_main(tests);
}
