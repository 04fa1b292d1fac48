#include "train/kept.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define WORD          sizeof(uint64_t)
#define GROUP         64 /* words that one mask tells of */
#define BASE_USERS    64 /* a base serves so many states: near ones differ least */
#define HEAD_WORDS    (sizeof(struct ga_state) / WORD)
#define REPLICA_WORDS (sizeof(struct ga_replica_value) / WORD)

_Static_assert(sizeof(struct ga_state) % WORD == 0, "a state is a row of words");
_Static_assert(sizeof(struct ga_replica_value) % WORD == 0, "a replica is a row of words");

/* Holds references to data and settings; its users have the same. */
struct base {
    size_t users;
    struct ga_state head; /* without server and replicas */
    struct ga_replica_value replica[];
};

struct ga_kept {
    struct ga_state *whole; /* or NULL: */
    struct base *base;
    struct ga_version *server;
    size_t words;
    uint64_t word[]; /* (words) */
};

struct ga_keeper {
    uint64_t bytes;
    struct base *base;     /* of states to come */
    struct ga_state head;  /* scratch; its padding stays 0 */
    uint64_t *room;        /* for the words of a state on `base`, and one more */
    struct ga_state state; /* the one last looked at */
    struct ga_replica_value *replica;
    size_t room_capacity, replica_capacity;
};

/* Puts down which of at most 64 words differ from the base's, then those; returns what is behind.
 */
static uint64_t *fold_group(uint64_t *to, const char *now, const char *base, size_t count)
{
    uint64_t *mask_at = to++, mask = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t word, old;

        memcpy(&word, now + i * WORD, WORD);
        memcpy(&old, base + i * WORD, WORD);
        if (word == old)
            continue;
        *to++ = word;
        mask |= UINT64_C(1) << i;
    }
    *mask_at = mask;
    return to;
}

static uint64_t *fold(uint64_t *to, const void *now, const void *base, size_t words)
{
    for (size_t first = 0; first < words; first += GROUP)
        to = fold_group(to, (const char *)now + first * WORD, (const char *)base + first * WORD,
                        words - first < GROUP ? words - first : GROUP);
    return to;
}

static const uint64_t *unfold(const uint64_t *from, void *now, const void *base, size_t words)
{
    memcpy(now, base, words * WORD);
    for (size_t first = 0; first < words; first += GROUP)
        for (uint64_t left = *from++; left != 0; left &= left - 1)
            memcpy((char *)now + (first + (size_t)__builtin_ctzll(left)) * WORD, from++, WORD);
    return from;
}

static size_t base_bytes(size_t replicas)
{
    return sizeof(struct base) + replicas * sizeof(struct ga_replica_value);
}

static void leave_base(struct ga_keeper *keeper, struct base *base)
{
    if (!base || --base->users > 0)
        return;
    keeper->bytes -= base_bytes(base->head.replicas);
    ga_settings_share_close(base->head.settings);
    ga_settings_share_close(base->head.pending);
    ga_dataset_close(base->head.data);
    free(base);
}

static int make_room(struct ga_keeper *keeper, size_t replicas)
{
    size_t words = 1 + (HEAD_WORDS + GROUP) + replicas * (REPLICA_WORDS + 1);

    if (ga_grow((void **)&keeper->room, &keeper->room_capacity, words + 1, WORD) < 0 ||
        ga_grow((void **)&keeper->replica, &keeper->replica_capacity, replicas,
                sizeof *keeper->replica) < 0)
        return ga_error_code();
    return GA_OK;
}

/* The present state becomes the base of those to come. */
static int renew_base(struct ga_keeper *keeper, const struct ga_run *run)
{
    const struct ga_state *head = &keeper->head;
    struct base *base = NULL;

    if (make_room(keeper, head->replicas) < 0)
        return ga_error_code();
    base = malloc(base_bytes(head->replicas));
    if (!base)
        return ga_fail(GA_ENOMEM, "no memory for the history");
    base->users = 1;
    memcpy(&base->head, head, sizeof *head);
    for (size_t r = 0; r < head->replicas; r++)
        memcpy(&base->replica[r], ga_run_replica(run, r), sizeof base->replica[r]);
    ga_settings_share_take(base->head.settings);
    ga_settings_share_take(base->head.pending);
    ga_dataset_share(base->head.data);
    keeper->bytes += base_bytes(head->replicas);
    leave_base(keeper, keeper->base);
    keeper->base = base;
    return GA_OK;
}

static bool fits(const struct base *base, const struct ga_state *head)
{
    return base && base->users <= BASE_USERS && base->head.replicas == head->replicas &&
           base->head.data == head->data && base->head.settings == head->settings &&
           base->head.pending == head->pending;
}

/* Folds the present state into the keeper's room; returns how many words it takes. */
static size_t fold_run(struct ga_keeper *keeper, const struct ga_run *run)
{
    const struct base *base = keeper->base;
    uint64_t *to = fold(keeper->room, &keeper->head, &base->head, HEAD_WORDS);

    for (size_t r = 0; r < base->head.replicas; r++)
        to = fold(to, ga_run_replica(run, r), &base->replica[r], REPLICA_WORDS);
    return (size_t)(to - keeper->room);
}

static struct ga_kept *new_kept(size_t words)
{
    struct ga_kept *kept = malloc(sizeof *kept + words * WORD);

    if (!kept) {
        ga_fail(GA_ENOMEM, "no memory for the history");
        return NULL;
    }
    kept->whole = NULL;
    kept->base = NULL;
    kept->server = NULL;
    kept->words = words;
    return kept;
}

static size_t kept_bytes(const struct ga_kept *kept)
{
    size_t bytes = sizeof *kept + kept->words * WORD;

    if (kept->whole)
        return bytes + ga_state_bytes(kept->whole);
    return bytes + ga_version_bytes(kept->server);
}

static int keep_whole(struct ga_keeper *keeper, const struct ga_run *run, struct ga_kept **out)
{
    struct ga_kept *kept = new_kept(0);

    if (!kept)
        return ga_error_code();
    kept->whole = malloc(sizeof *kept->whole);
    if (!kept->whole || ga_run_capture(run, kept->whole) < 0) {
        free(kept->whole);
        free(kept);
        return ga_fail(GA_ENOMEM, "no memory for the history");
    }
    keeper->bytes += kept_bytes(kept);
    *out = kept;
    return GA_OK;
}

static int keep_words(struct ga_keeper *keeper, const struct ga_run *run, struct ga_kept **out)
{
    size_t words = fold_run(keeper, run);
    struct ga_kept *kept = new_kept(words);

    if (!kept)
        return ga_error_code();
    memcpy(kept->word, keeper->room, words * WORD);
    kept->base = keeper->base;
    kept->base->users++;
    kept->server = ga_version_share((struct ga_version *)ga_run_version(run));
    keeper->bytes += kept_bytes(kept);
    *out = kept;
    return GA_OK;
}

int ga_keep(struct ga_keeper *keeper, const struct ga_run *run, struct ga_kept **out)
{
    *out = NULL;
    if (!ga_run_glance(run, &keeper->head))
        return keep_whole(keeper, run, out);
    keeper->head.server = NULL;
    if (!fits(keeper->base, &keeper->head) && renew_base(keeper, run) < 0)
        return ga_error_code();
    return keep_words(keeper, run, out);
}

void ga_kept_close(struct ga_keeper *keeper, struct ga_kept *kept)
{
    if (!kept)
        return;
    keeper->bytes -= kept_bytes(kept);
    leave_base(keeper, kept->base);
    ga_version_close(kept->server);
    if (kept->whole)
        ga_state_fini(kept->whole);
    free(kept->whole);
    free(kept);
}

const struct ga_state *ga_kept_state(struct ga_keeper *keeper, const struct ga_kept *kept)
{
    const uint64_t *from = kept->word;
    const struct base *base = kept->base;

    if (kept->whole)
        return kept->whole;
    from = unfold(from, &keeper->state, &base->head, HEAD_WORDS);
    for (size_t r = 0; r < base->head.replicas; r++)
        from = unfold(from, &keeper->replica[r], &base->replica[r], REPLICA_WORDS);
    keeper->state.server = kept->server;
    keeper->state.replica = keeper->replica;
    return &keeper->state;
}

int ga_keeper_open(struct ga_keeper **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : ga_error_code();
}

void ga_keeper_close(struct ga_keeper *keeper)
{
    if (!keeper)
        return;
    leave_base(keeper, keeper->base);
    free(keeper->room);
    free(keeper->replica);
    free(keeper);
}

uint64_t ga_keeper_bytes(const struct ga_keeper *keeper)
{
    return keeper->bytes;
}
