#include "train/kept.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "train/holdings.h"

#define WORD        sizeof(uint64_t)
#define FIRST_LIMIT 64 /* states on a first base; each later one serves 8 times as many */

_Static_assert(sizeof(struct ga_state) % WORD == 0, "a state is a row of words");
_Static_assert(sizeof(struct ga_replica_value) % WORD == 0, "a replica is a row of words");

typedef uint64_t __attribute__((may_alias)) word;

/* A boundary's state in one piece; also seen as a row of words. */
struct image {
    struct ga_state head; /* without server and arrays */
    struct ga_replica_value replica[];
};

/* Holds references to data and settings; the states on it have the same. */
struct base {
    size_t users;        /* states on it, and the keeper while it goes on with it */
    size_t given, limit; /* states that were put on it, and how many may be */
    size_t active;
    uint32_t *index; /* (active) positions of the words in which its states may differ from it */
    struct image *image;
};

struct ga_kept {
    struct ga_state *whole; /* or NULL: */
    struct base *base;
    struct ga_version *server;
    uint64_t word[]; /* (base->active) */
};

struct ga_keeper {
    uint64_t bytes;              /* without: */
    struct ga_holdings holdings; /* what whole states lead to */
    struct base *base;           /* of states to come */
    size_t room;                 /* replicas that the images below hold */
    struct image *now;           /* the state to be kept; its padding stays 0 */
    struct image *last;          /* the base with the active words of the state kept last */
    struct image *seen;          /* the state looked at last */
};

static size_t image_bytes(size_t replicas)
{
    return sizeof(struct image) + replicas * sizeof(struct ga_replica_value);
}

static size_t base_bytes(const struct base *base)
{
    return sizeof *base + base->active * sizeof *base->index +
           image_bytes(base->image->head.replicas);
}

static void leave_base(struct ga_keeper *keeper, struct base *base)
{
    if (!base || --base->users > 0)
        return;
    keeper->bytes -= base_bytes(base);
    ga_settings_share_close(base->image->head.settings);
    ga_settings_share_close(base->image->head.pending);
    ga_dataset_close(base->image->head.data);
    free(base->image);
    free(base->index);
    free(base);
}

static int make_room(struct ga_keeper *keeper, size_t replicas)
{
    struct image **const images[] = {&keeper->now, &keeper->last, &keeper->seen};

    if (replicas <= keeper->room)
        return GA_OK;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        struct image *image = ga_alloc(1, image_bytes(replicas));

        if (!image)
            return ga_error_code();
        free(*images[i]);
        *images[i] = image;
    }
    keeper->room = replicas;
    return GA_OK;
}

/* memcpy() of a size that gcc knows becomes `rep movs`, which is slow to start. */
static void copy_words(void *to, const void *from, size_t words)
{
    for (size_t i = 0; i < words; i++)
        ((word *)to)[i] = ((const word *)from)[i];
}

/* Fills in `now`; false where the state is more than an image holds. */
static bool look(struct ga_keeper *keeper, const struct ga_run *run)
{
    struct image *now = keeper->now;

    if (!ga_run_glance(run, &now->head))
        return false;
    now->head.server = NULL;
    for (size_t r = 0; r < now->head.replicas; r++)
        copy_words(&now->replica[r], ga_run_replica(run, r), sizeof now->replica[r] / WORD);
    return true;
}

static bool fits(const struct base *base, const struct ga_state *head)
{
    const struct ga_state *there = base ? &base->image->head : NULL;

    return there && there->replicas == head->replicas && there->data == head->data &&
           there->settings == head->settings && there->pending == head->pending;
}

/*
 * Which words states on the new base may change: those that changed since the old one, and if `all`
 * also those that could change there. What changed once and then no more is dropped otherwise.
 */
static void choose_words(struct base *base, const struct base *old, bool all)
{
    const word *now = (const word *)base->image, *before = (const word *)old->image;
    size_t words = image_bytes(base->image->head.replicas) / WORD, next = 0;

    for (size_t i = 0; i < words; i++) {
        bool active = next < old->active && old->index[next] == i;

        next += active;
        if (now[i] != before[i] || (active && all))
            base->index[base->active++] = (uint32_t)i;
    }
}

static struct base *new_base(const struct image *now)
{
    size_t bytes = image_bytes(now->head.replicas);
    struct base *base = ga_alloc(1, sizeof *base);

    if (!base)
        return NULL;
    base->image = malloc(bytes);
    base->index = malloc(bytes / WORD * sizeof *base->index);
    if (!base->image || !base->index) {
        free(base->image);
        free(base->index);
        free(base);
        ga_fail(GA_ENOMEM, "no memory for the history");
        return NULL;
    }
    memcpy(base->image, now, bytes);
    base->users = 1;
    base->limit = FIRST_LIMIT;
    return base;
}

/* The present state becomes the base of those to come, in continuation of `old` (or NULL). */
static int renew_base(struct ga_keeper *keeper, const struct base *old, bool all)
{
    struct base *base = new_base(keeper->now);
    uint32_t *index = NULL;

    if (!base)
        return ga_error_code();
    if (old)
        choose_words(base, old, all);
    if (old && !all && old->limit <= SIZE_MAX / 8)
        base->limit = old->limit * 8;
    else if (old)
        base->limit = old->limit;
    index = realloc(base->index, (base->active + 1) * sizeof *index);
    if (index)
        base->index = index;
    ga_settings_share_take(base->image->head.settings);
    ga_settings_share_take(base->image->head.pending);
    ga_dataset_share(base->image->head.data);
    memcpy(keeper->last, base->image, image_bytes(base->image->head.replicas));
    keeper->bytes += base_bytes(base);
    leave_base(keeper, keeper->base);
    keeper->base = base;
    return GA_OK;
}

size_t ga_kept_bytes(const struct ga_kept *kept)
{
    if (kept->whole)
        return sizeof *kept + ga_state_bytes(kept->whole);
    return sizeof *kept + kept->base->active * WORD;
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
    return kept;
}

static void count_version(void *self, const struct ga_version *version)
{
    (void)version;
    ++*(size_t *)self;
}

static void hold(void *self, const struct ga_version *version)
{
    ga_holdings_hold(self, version);
}

static void release(void *self, const struct ga_version *version)
{
    ga_holdings_release(self, version);
}

static int capture(struct ga_keeper *keeper, const struct ga_run *run, struct ga_state *out)
{
    size_t versions = 0;

    if (ga_run_capture(run, out) < 0)
        return ga_error_code();
    ga_state_versions(out, count_version, &versions);
    if (ga_holdings_room(&keeper->holdings, versions) < 0) {
        ga_state_fini(out);
        return ga_error_code();
    }
    ga_state_versions(out, hold, &keeper->holdings);
    return GA_OK;
}

static int keep_whole(struct ga_keeper *keeper, const struct ga_run *run, struct ga_kept **out)
{
    struct ga_kept *kept = new_kept(0);

    if (!kept)
        return ga_error_code();
    kept->whole = malloc(sizeof *kept->whole);
    if (!kept->whole || capture(keeper, run, kept->whole) < 0) {
        free(kept->whole);
        free(kept);
        return ga_fail(GA_ENOMEM, "no memory for the history");
    }
    keeper->bytes += ga_kept_bytes(kept);
    *out = kept;
    return GA_OK;
}

/* Takes the active words of the present state; false where others differ from the base, too. */
static bool take_words(const struct ga_keeper *keeper, uint64_t *out)
{
    const struct base *base = keeper->base;
    const word *now = (const word *)keeper->now;
    word *last = (word *)keeper->last;

    for (size_t k = 0; k < base->active; k++) {
        uint64_t value = now[base->index[k]];

        out[k] = value;
        last[base->index[k]] = value;
    }
    return memcmp(now, last, image_bytes(base->image->head.replicas)) == 0;
}

/* The words of the present state on the keeper's base, which is renewed when it does not do. */
static int keep_words(struct ga_keeper *keeper, struct ga_kept **out)
{
    bool same = false;

    *out = new_kept(keeper->base->active);
    if (!*out)
        return ga_error_code();
    same = take_words(keeper, (*out)->word);
    if (same)
        return GA_OK;
    free(*out);
    *out = NULL;
    return renew_base(keeper, keeper->base, true) < 0 ? ga_error_code() : keep_words(keeper, out);
}

static int prepare_base(struct ga_keeper *keeper)
{
    if (!fits(keeper->base, &keeper->now->head))
        return renew_base(keeper, NULL, false);
    if (keeper->base->given >= keeper->base->limit)
        return renew_base(keeper, keeper->base, false);
    return GA_OK;
}

int ga_keep(struct ga_keeper *keeper, const struct ga_run *run, struct ga_kept **out)
{
    *out = NULL;
    if (make_room(keeper, ga_run_replicas(run)) < 0)
        return ga_error_code();
    if (!look(keeper, run))
        return keep_whole(keeper, run, out);
    if (prepare_base(keeper) < 0 || keep_words(keeper, out) < 0)
        return ga_error_code();
    (*out)->base = keeper->base;
    (*out)->server = ga_run_share_version(run);
    keeper->base->users++;
    keeper->base->given++;
    keeper->bytes += ga_kept_bytes(*out) + ga_version_bytes((*out)->server);
    return GA_OK;
}

void ga_kept_close(struct ga_keeper *keeper, struct ga_kept *kept)
{
    if (!kept)
        return;
    keeper->bytes -= ga_kept_bytes(kept) + ga_version_bytes(kept->server);
    leave_base(keeper, kept->base);
    ga_version_close(kept->server);
    if (kept->whole) {
        ga_state_versions(kept->whole, release, &keeper->holdings);
        ga_state_fini(kept->whole);
    }
    free(kept->whole);
    free(kept);
}

const struct ga_state *ga_kept_state(struct ga_keeper *keeper, const struct ga_kept *kept)
{
    const struct base *base = kept->base;
    struct image *seen = keeper->seen;

    if (kept->whole)
        return kept->whole;
    memcpy(seen, base->image, image_bytes(base->image->head.replicas));
    for (size_t k = 0; k < base->active; k++)
        ((word *)seen)[base->index[k]] = kept->word[k];
    seen->head.server = kept->server;
    seen->head.replica = seen->replica;
    return &seen->head;
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
    ga_holdings_fini(&keeper->holdings);
    free(keeper->now);
    free(keeper->last);
    free(keeper->seen);
    free(keeper);
}

uint64_t ga_keeper_bytes(const struct ga_keeper *keeper)
{
    return keeper->bytes + keeper->holdings.bytes +
           keeper->holdings.places * sizeof *keeper->holdings.place;
}
