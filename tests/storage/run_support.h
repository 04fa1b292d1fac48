/* Runs in various settings for the tests of checkpoints; no CMocka here, so fuzz targets link it
 * too. */
#ifndef GA_TESTS_STORAGE_RUN_SUPPORT_H
#define GA_TESTS_STORAGE_RUN_SUPPORT_H

#include "train/run.h"

/* What happens to a run now and then, by its count of events. */
enum {
    RUN_ALONE = 0,
    RUN_CUTS = 1,  /* windows are flushed and discarded */
    RUN_KILLS = 2, /* replicas are killed, and restored later, or when nothing goes on without */
    RUN_SLOWS = 4  /* replicas become slower and faster */
};

/* Settings as "name=value" words, data as words of the `data` command. */
struct run_variant {
    const char *name;
    const char *data;
    const char *settings;
    const char *pending; /* changed at every third event; NULL none */
    const char *back;    /* not NULL: `pending` and this, in turn, at every 13th */
    unsigned deeds;
};

extern const struct run_variant run_variants[];
extern const size_t run_variant_count;

/* NULL on failure, with the error's text. */
struct ga_dataset *run_open_data(const char *words);

/* Files of a test go to memory where that is possible: each save waits for the disk. */
void run_prefer_memory_files(void);

/* Sets "name=value ..." in `settings`; a negative code when one is refused. */
int run_set_words(struct ga_settings *settings, const char *words);

struct ga_run *run_open_variant(const struct run_variant *variant, struct ga_dataset *data);

/* `count` events, with the variant's interventions now and then; the first code that is not GA_OK.
 */
int run_go(struct ga_run *run, const struct run_variant *variant, size_t count);

/* A run that stands where `state` does; NULL when it is refused. */
struct ga_run *run_restored(const struct ga_state *state);

#endif
