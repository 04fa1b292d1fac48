/* States kept in few words come back as they were. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/support.h"
#include "train/holdings.h"
#include "train/kept.h"
#include "train/support/run_rig.h"

#define STATES 300

struct shelf {
    struct ga_keeper *keeper;
    struct ga_kept *kept[STATES];
    struct ga_state whole[STATES]; /* the same states, captured as they are */
    size_t count;
};

static void shelf_add(struct shelf *shelf, const struct ga_run_rig *rig)
{
    assert_true(shelf->count < STATES);
    assert_int_equal(ga_keep(shelf->keeper, rig->run, &shelf->kept[shelf->count]), GA_OK);
    assert_int_equal(ga_run_capture(rig->run, &shelf->whole[shelf->count]), GA_OK);
    shelf->count++;
}

static void shelf_remove(struct shelf *shelf, size_t k)
{
    ga_kept_close(shelf->keeper, shelf->kept[k]);
    ga_state_fini(&shelf->whole[k]);
    shelf->count--;
    memmove(shelf->kept + k, shelf->kept + k + 1, (shelf->count - k) * sizeof *shelf->kept);
    memmove(shelf->whole + k, shelf->whole + k + 1, (shelf->count - k) * sizeof *shelf->whole);
}

static void shelf_open(struct shelf *shelf)
{
    memset(shelf, 0, sizeof *shelf);
    assert_int_equal(ga_keeper_open(&shelf->keeper), GA_OK);
}

static void shelf_close(struct shelf *shelf)
{
    while (shelf->count > 0)
        shelf_remove(shelf, shelf->count / 2);
    ga_keeper_close(shelf->keeper);
}

#define assert_same(a, b, field) assert_memory_equal(&(a)->field, &(b)->field, sizeof(a)->field)

static void assert_same_state(const struct ga_state *got, const struct ga_state *want)
{
    assert_ptr_equal(got->data, want->data);
    assert_ptr_equal(got->settings, want->settings);
    assert_ptr_equal(got->pending, want->pending);
    assert_ptr_equal(got->server, want->server);
    assert_same(got, want, counters);
    assert_same(got, want, now_ns);
    assert_same(got, want, window);
    assert_same(got, want, noise);
    assert_same(got, want, last_event);
    assert_same(got, want, last_record);
    assert_same(got, want, stream.epoch);
    assert_same(got, want, stream.offset);
    assert_int_equal(got->phase, want->phase);
    assert_int_equal(got->has_record, want->has_record);
    assert_int_equal(got->sums, want->sums);
    assert_int_equal(got->rows, want->rows);
    assert_int_equal(got->sums_elements, want->sums_elements);
    assert_int_equal(got->sums_type, want->sums_type);
    assert_int_equal(got->replicas, want->replicas);
    assert_memory_equal(got->replica, want->replica, want->replicas * sizeof *want->replica);
}

static void assert_all_same(struct shelf *shelf)
{
    for (size_t k = shelf->count; k-- > 0;)
        assert_same_state(ga_kept_state(shelf->keeper, shelf->kept[k]), &shelf->whole[k]);
}

static void windows_come_back(void **state)
{
    struct shelf shelf;
    struct ga_run_rig rig;

    (void)state;
    shelf_open(&shelf);
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = "replicas 3 accum 2 batch 4"});
    for (size_t u = 0; u < 150; u++) { /* more than one base serves */
        shelf_add(&shelf, &rig);
        ga_run_rig_updates(&rig, 1);
    }
    assert_all_same(&shelf);
    for (size_t k = 1; k < shelf.count; k += 2)
        shelf_remove(&shelf, k);
    assert_all_same(&shelf);
    ga_run_rig_close(&rig);
    assert_all_same(&shelf); /* they hold what they need of the run */
    shelf_close(&shelf);
}

static void add_version(void *self, const struct ga_version *version)
{
    assert_int_equal(ga_holdings_room(self, 1), GA_OK);
    ga_holdings_hold(self, version);
}

/* What the keeper says against what all states have, versions that several share counted once. */
static void assert_bytes(const struct shelf *shelf)
{
    struct ga_holdings held = {0};
    uint64_t copied = 0, said = ga_keeper_bytes(shelf->keeper);

    for (size_t k = 0; k < shelf->count; k++) {
        copied += ga_kept_bytes(shelf->kept[k]);
        ga_state_versions(&shelf->whole[k], add_version, &held);
    }
    assert_in_range(said - copied - held.bytes, 0, 65536); /* the table itself */
    ga_holdings_fini(&held);
}

static void shared_weights_count_once(void **state)
{
    static const char *const settings[] = {
        "mode async replicas 12 jitter exponential accum 2",
        "mode local replicas 6 period 3 momentum 0.9 jitter exponential",
        "mode delay lag 4 replicas 3",
        "mode hogwild replicas 5 jitter exponential",
    };

    (void)state;
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        struct shelf shelf;
        struct ga_run_rig rig;

        shelf_open(&shelf);
        ga_run_rig_open(&rig, &(struct ga_test_start){.settings = settings[s]});
        for (size_t e = 0; e < 120; e++) {
            ga_run_rig_events(&rig, 3);
            shelf_add(&shelf, &rig);
        }
        assert_bytes(&shelf);
        for (size_t k = 0; k < shelf.count; k++)
            shelf_remove(&shelf, k);
        assert_bytes(&shelf);
        ga_run_rig_close(&rig);
        shelf_close(&shelf);
    }
}

/* A change of P, a pending change, a window under way, late items, shards with their positions. */
static void all_kinds_come_back(void **state)
{
    static const char *const settings[] = {
        "replicas 3 accum 2 batch 4",
        "replicas 4 backup 1 late finish jitter exponential",
        "replicas 5 sharding strided tail wrap",
    };

    (void)state;
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        struct shelf shelf;
        struct ga_run_rig rig;

        shelf_open(&shelf);
        ga_run_rig_open(&rig, &(struct ga_test_start){.settings = settings[s]});
        for (size_t e = 0; e < 120; e++) {
            shelf_add(&shelf, &rig);
            ga_run_rig_events(&rig, 1);
            if (e == 40)
                assert_int_equal(ga_run_rig_set(&rig, "replicas 6"), GA_OK);
            if (e == 80)
                assert_int_equal(ga_run_rig_set(&rig, "replicas 2 lr 0.02"), GA_OK);
        }
        assert_all_same(&shelf);
        ga_run_rig_close(&rig);
        shelf_close(&shelf);
    }
}

static void a_kept_state_restores(void **state)
{
    struct shelf shelf;
    struct ga_run_rig rig;
    uint64_t hash = 0;

    (void)state;
    shelf_open(&shelf);
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = "replicas 2 accum 5 batch 5"});
    ga_run_rig_updates(&rig, 7);
    shelf_add(&shelf, &rig);
    ga_run_rig_updates(&rig, 5);
    hash = ga_run_hash(rig.run);
    assert_int_equal(ga_run_restore(rig.run, ga_kept_state(shelf.keeper, shelf.kept[0])), GA_OK);
    ga_run_rig_updates(&rig, 5);
    assert_true(ga_run_hash(rig.run) == hash);
    ga_run_rig_close(&rig);
    shelf_close(&shelf);
}

static void bytes_are_counted(void **state)
{
    struct shelf shelf;
    struct ga_run_rig rig;
    uint64_t before = 0;

    (void)state;
    shelf_open(&shelf);
    assert_int_equal(ga_keeper_bytes(shelf.keeper), 0);
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = "replicas 2"});
    for (size_t u = 0; u < 5; u++) { /* then it is known which words change */
        shelf_add(&shelf, &rig);
        ga_run_rig_updates(&rig, 1);
    }
    before = ga_keeper_bytes(shelf.keeper);
    assert_true(before > 5 * ga_version_bytes(ga_run_version(rig.run)));
    shelf_add(&shelf, &rig);
    assert_true(ga_keeper_bytes(shelf.keeper) > before);
    shelf_remove(&shelf, 5);
    assert_int_equal(ga_keeper_bytes(shelf.keeper), before);
    while (shelf.count > 0)
        shelf_remove(&shelf, 0);
    assert_true(ga_keeper_bytes(shelf.keeper) < before / 2); /* the base of states to come */
    ga_run_rig_close(&rig);
    shelf_close(&shelf);
}

static void no_memory_is_an_error(void **state)
{
    struct ga_run_rig rig;
    int64_t successes = 0;
    int code = GA_ENOMEM;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = "replicas 2"});
    ga_run_rig_updates(&rig, 1);
    for (; code == GA_ENOMEM; successes++) {
        struct ga_keeper *keeper = NULL;
        struct ga_kept *kept = NULL;

        assert_int_equal(ga_keeper_open(&keeper), GA_OK);
        ga_test_allocation_limit(successes);
        code = ga_keep(keeper, rig.run, &kept);
        ga_test_allocation_free();
        assert_true((code == GA_OK) == (kept != NULL));
        ga_kept_close(keeper, kept);
        ga_keeper_close(keeper);
    }
    assert_int_equal(code, GA_OK);
    assert_true(successes > 3);
    ga_run_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_weights_count_once), cmocka_unit_test(windows_come_back),
        cmocka_unit_test(all_kinds_come_back),       cmocka_unit_test(a_kept_state_restores),
        cmocka_unit_test(bytes_are_counted),         cmocka_unit_test(no_memory_is_an_error),
    };

    return ga_test_main(tests);
}
