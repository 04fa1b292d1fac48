/* Checkpoints in memory, to be changed and read again. Failures fail the test. */
#ifndef GA_TESTS_STORAGE_DAMAGE_SUPPORT_H
#define GA_TESTS_STORAGE_DAMAGE_SUPPORT_H

#include "run_support.h"
#include "storage/checkpoint_format.h"
#include "storage/safetensors.h"

/* A checkpoint of the variant after `events`, as a file in memory. */
struct sample {
    struct ga_dataset *data;
    char *bytes;
    size_t length;
    char *folder, *path;
};

struct sample make_sample(const struct run_variant *variant, size_t events);
void drop_sample(struct sample *sample);

/* Reads bytes as a checkpoint; `text` as in ga_checkpoint_take(). */
int read_state(const char *bytes, size_t length, const char *text, struct ga_dataset *data,
               struct ga_state *state);

char *note_of(const struct sample *sample); /* its JSON entry */

/* A copy of `text` in which `from`, the first after `after`, became `to`. */
char *replaced(const char *text, const char *after, const char *from, const char *to);

/* What is changed in the JSON entry, and words of the refusal. */
struct edit {
    const char *after, *from, *to, *words;
};
void assert_edit_refused(const struct sample *sample, const struct edit *edit);

/* The tensors of a sample, to be changed and written again with a fitting checksum. */
#define MOST_PARTS 64
struct parts {
    struct ga_safetensors *file;
    struct ga_file_tensor tensor[MOST_PARTS];
    size_t count;
};

struct parts take_parts(const struct sample *sample);
struct ga_file_tensor *part(struct parts *parts, const char *name);
void remove_part(struct parts *parts, const char *name);

/* Writes the parts and loads them from the file: the code, and an empty or valid state. These two
 * take the parts. */
int reload(struct parts *parts, const struct sample *sample, struct ga_state *state);
void assert_parts_refused(struct parts *parts, const struct sample *sample, const char *words);

#endif
