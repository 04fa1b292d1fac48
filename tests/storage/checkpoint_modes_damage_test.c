/* Checkpoints of each update mode, edited by hand with a fitting checksum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "damage_support.h"
#include "support/support.h"

static const struct run_variant *variant_called(const char *name)
{
    for (size_t i = 0; i < run_variant_count; i++)
        if (strcmp(run_variants[i].name, name) == 0)
            return &run_variants[i];
    fail_msg("no variant %s", name);
    return NULL;
}

/* Edits of one state: the variant and how many events it is old. */
struct state_edits {
    const char *variant;
    size_t events;
    struct edit edit[16]; /* until one without words */
};

static const struct state_edits edits[] = {
    {"buffered", /* two of three pushes in the buffer, replica 1 killed */
     8,
     {{"\"settings\"", "\"mode\":\"buffered\"", "\"mode\":\"sync\"",
       "by the replicas' parts of 6 examples"},
      {"\"settings\"", "\"buffer\":\"3\"", "\"buffer\":\"4\"", "2 of 3 expected pushes arrived"},
      {"\"run\"", "\"phase\":\"micro\"", "\"phase\":\"check\"",
       "phase check, expected idle or micro in mode buffered"},
      {"\"window\"", "\"arrived\":2", "\"arrived\":1", "1 of 3 expected pushes arrived"},
      {"\"window\"", "\"arrived\":2", "\"arrived\":4294967295", "4294967295 of 3 expected"},
      {"\"window\"", "\"closer\":0", "\"closer\":4", "\"closer\": 4 among 4 replicas"},
      {"\"window\"", "\"closer\":0", "\"closer\":-1", "\"closer\": -1 among 4 replicas"},
      {"\"window\"", "\"closer\":0", "\"closer\":-2", "\"closer\": is -2"},
      {"\"window\"", "\"staleness\":\"0\"", "\"staleness\":\"1\"", "staleness 1 after 0 updates"},
      {"\"replicas\":[", "\"pushed_at\":\"1\"", "\"pushed_at\":\"2\"", "or pushed_at does not fit"},
      {"\"replicas\":[", "\"dead\":false", "\"dead\":true", "does not fit the mode"},
      {"\"replicas\":[", "\"step\":0", "\"step\":1", "step, step_row, its steps"},
      {"\"replicas\":[", "\"steps\":0", "\"steps\":1", "0 private steps, expected 1"},
      {"\"replicas\":[", "\"step_row\":0", "\"step_row\":3", "step, step_row, its steps"},
      {"\"replicas\":[", "\"micros\":2", "\"micros\":4", "contradict each other"}}},
    {"buffered",
     8,
     {{"\"modes\":", "\"pushes\":\"0\"", "\"pushes\":\"3\"", "it began at push 3"},
      {"\"modes\":", "\"staleness\":\"0\"", "\"staleness\":\"1\"", "with a staleness of 1"},
      {"\"modes\":", "[\"2\"", "[\"1\"", "do not add up to the 2 pushes"},
      {"\"modes\":", "[\"2\",\"0\"", "[\"2\",\"1\"", "do not add up to the 2 pushes"},
      {"\"modes\":", "\"draining\":false", "\"draining\":0", "\"modes\": \"values\": \"draining\""},
      {"\"modes\":", "\"server_free_ns\":\"0\"", "\"server_free_ns\":\"-1\"", "\"server_free_ns\""},
      {"\"modes\":", "\"owns\":[-1,", "\"owns\":[", "\"owns\": 3 entries, expected 4"},
      {"\"modes\":", "\"owns\":[-1,", "\"owns\":[0,", "version of its own does not fit"},
      {"\"modes\":", "\"owns\":[-1,", "\"owns\":[1,", "\"owns\": 0: is not a whole number"},
      {"\"modes\":", "\"recent\":[]", "\"recent\":[-1]", "\"recent\": 0: is not a whole number"},
      {"\"modes\":", "\"recent\":[]", "\"recent\":{}", "\"recent\" is not a list"},
      {"\"modes\":", "\"items\":[]", "\"items\":[{}]", "\"items\": 0: \"replica\": is missing"},
      {"\"modes\":", ",\"items\":[]", "", "is not an object of values, owns, recent and items"},
      {"\"modes\":", "\"race\":null", "\"race\":0", "\"race\": is 0, expected a string"},
      {"\"modes\":", "\"race\":null", "\"race\":\"0\"", "no tensor \"gaconsole.race_times\""}}},
    {"async", /* idle after an update, one piece of the stream left */
     14,
     {{"\"settings\"", "\"mode\":\"async\"", "\"mode\":\"local\"", "outer_momentum_buffer"},
      {"\"settings\"", "\"sharding\":\"stream\"", "\"sharding\":\"strided\"", "\"shards\""},
      {"\"run\"", "\"expected\":1", "\"expected\":2", "0 of 2 expected pushes arrived"},
      {"\"run\"", "\"arrived\":0", "\"arrived\":1", "\"closer\": -1 among 4 replicas"},
      {"\"replicas\":[", "\"state\":\"busy\"", "\"state\":\"late\"", "does not fit the mode"},
      {"\"replicas\":[", "\"state\":\"busy\"", "\"state\":\"done\"", "does not fit the mode"}}},
    {"hogwild", /* one push on its way, two items being read, one about to begin */
     6,
     {{"\"settings\"", "\"mode\":\"hogwild\"", "\"mode\":\"async\"",
       "\"gaconsole.shared\" and \"gaconsole.shared_writes\" are not expected in mode async"},
      {"\"replicas\":[", "\"micro\":2", "\"micro\":1", "contradict each other"},
      {"\"items\":", "\"at\":12", "\"at\":17", "not as far as its micro-batches"},
      {"\"items\":", "\"at\":12", "\"at\":33", "not as far as its micro-batches"},
      {"\"items\":", "\"at\":12", "\"at\":4294967296", "\"at\": is 4294967296"},
      {"\"items\":", "\"replica\":1", "\"replica\":0", "no tensor \"gaconsole.item.0.change\""},
      {"\"items\":", "\"replica\":1", "\"replica\":2", "\"gaconsole.item.1.change\" is not one"},
      {"\"items\":", "\"replica\":1", "\"replica\":-1", "\"replica\": is -1"},
      {"\"items\":", "{\"replica\":1,\"at\":12},", "", "\"gaconsole.item.1.change\" is not one"},
      {"\"items\":", "{\"replica\":3,\"at\":0}",
       "{\"replica\":3,\"at\":0},{\"replica\":3,\"at\":0}", "\"items\": 4 of them, expected 3"},
      {"", "\"modes\":{", "\"modes\":null,\"m\":{", "15 entries"}}},
    {"local", /* two replicas in the second of three private steps */
     9,
     {{"\"replicas\":[", "\"step\":1", "\"step\":2", "step, step_row, its steps"},
      {"\"replicas\":[", "\"step\":1", "\"step\":3", "step, step_row, its steps"},
      {"\"replicas\":[", "\"steps\":3", "\"steps\":2", "12 private steps, expected 11"},
      {"\"replicas\":[", "\"step_row\":3", "\"step_row\":0", "step, step_row, its steps"},
      {"\"replicas\":[", "\"step_row\":3", "\"step_row\":4294967295", "step, step_row, its steps"},
      {"\"replicas\":[", "\"part\":9", "\"part\":8", "step, step_row, its steps"},
      {"\"replicas\":[", "\"examples\":3", "\"examples\":2", "step, step_row, its steps"},
      {"\"replicas\":[", "\"state\":\"busy\"", "\"state\":\"sending\"", "does not fit the mode"},
      {"\"replicas\":[", "\"state\":\"busy\"", "\"state\":\"late\"", "does not fit the mode"},
      {"\"modes\":", "\"owns\":[1,", "\"owns\":[-1,", "version of its own does not fit"},
      {"\"modes\":", "\"owns\":[1,", "\"owns\":[0,", "version of its own does not fit"},
      {"\"modes\":", "\"draining\":false", "\"draining\":true", "nothing to drain in mode local"},
      {"\"versions\":[", "\"state_blocks\":\"1\"", "\"state_blocks\":\"2\"",
       "2 blocks of optimizer state, expected 1"},
      {"\"versions\":[", "\"state_blocks\":\"1\"", "\"state_blocks\":\"0\"",
       "outer_momentum_buffer.layers.0.weight\" is not one"},
      {"\"run\"", "\"phase\":\"micro\"", "\"phase\":\"clip\"", "does not fit the mode"}}},
    {"sync waits", /* replica 1 is missed, 3 is late */
     12,
     {{"\"replicas\":[", "\"dead\":true", "\"dead\":false", "part or micros does not fit"},
      {"\"settings\"", "\"mode\":\"sync\"", "\"mode\":\"delay\"", "does not fit the mode"},
      {"\"reads\":[", "-1", "1", "the version it works on does not fit"},
      {"\"versions\":[{", "\"number\":\"0\"", "\"number\":\"2\"", "the version it works on"},
      {"", "\"race\":null", "\"race\":\"\"", "\"race\": is \"\""}}},
    {"delay", /* one older version */
     20,
     {{"\"versions\":[{", "},{\"number\":\"0\"", "},{\"number\":\"2\"", "the version it works on"},
      {"\"modes\":", "\"recent\":[1]", "\"recent\":[2]", "\"recent\": 0: is not a whole number"}}},
};

static void edited_fields_are_refused_by_name(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct sample sample = make_sample(variant_called(edits[i].variant), edits[i].events);
        for (size_t k = 0; k < 16 && edits[i].edit[k].words; k++)
            assert_edit_refused(&sample, &edits[i].edit[k]);
        drop_sample(&sample);
    }
}

/* A tensor that is not there, or (with values) holds others. */
static const struct {
    const char *variant;
    size_t events;
    const char *tensor;
    const void *values;
    const char *words;
} changes[] = {
    {"buffered", 8, GA_CHECKPOINT_REDUCED, NULL, "\"gaconsole.reduced\" is missing in phase micro"},
    {"buffered", 8, GA_CHECKPOINT_PIECES, NULL, "0 pieces of 6 rows, expected at most 4 of 0"},
    {"buffered", 8, GA_CHECKPOINT_PIECES, (const int32_t[]){3, 4},
     "of 6 rows, expected at most 4 of 7"},
    {"buffered", 8, GA_CHECKPOINT_PIECES, (const int32_t[]){-1, 7},
     "element 0 is -1, expected 0 to"},
    {"buffered", 8, GA_CHECKPOINT_PIECE_ROWS, NULL, "2 pieces of 0 rows, expected at most 4 of 6"},
    {"buffered", 8, GA_CHECKPOINT_PIECE_ROWS, (const int64_t[6]){0, 12},
     "element 1 is 12, expected a row from 0 to 11"},
    {"hogwild", 6, GA_CHECKPOINT_SHARED, NULL, "are expected in mode hogwild"},
    {"hogwild", 6, GA_CHECKPOINT_WRITES, NULL, "are expected in mode hogwild"},
    {"hogwild", 6, "gaconsole.item.2.writes", NULL, "no tensor \"gaconsole.item.2.writes\""},
    {"local", 9, GA_CHECKPOINT_STEPS, NULL, "0 private steps, expected 12 by the replicas"},
    {"local", 9, GA_CHECKPOINT_STEPS, (const int32_t[12]){0}, "element 0 is 0, expected 1 to"},
    {"local", 9, GA_CHECKPOINT_STEPS, (const int32_t[12]){3, 3, 3, 3, 3, 2, 3, 3, 4, 3, 3, 3},
     "step, step_row, its steps"},
    {"local", 9, "gaconsole.version.3.state", NULL, "no tensor \"gaconsole.version.3.state\""},
    {"local", 39, GA_CHECKPOINT_AVERAGE, NULL, "\"gaconsole.average\" is missing in phase"},
    {"local", 39, GA_CHECKPOINT_GRADIENT, NULL, "\"gaconsole.gradient\" is missing in phase"},
};

static void changed_tensors_are_refused_by_name(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct sample sample = make_sample(variant_called(changes[i].variant), changes[i].events);
        struct parts parts = take_parts(&sample);
        if (changes[i].values)
            part(&parts, changes[i].tensor)->data = changes[i].values;
        else
            remove_part(&parts, changes[i].tensor);
        assert_parts_refused(&parts, &sample, changes[i].words);
        drop_sample(&sample);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edited_fields_are_refused_by_name),
        cmocka_unit_test(changed_tensors_are_refused_by_name),
    };
    run_prefer_memory_files();
    return ga_test_main(tests);
}
