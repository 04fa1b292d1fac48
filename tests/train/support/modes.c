#include "train/support/modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/support.h"
#include "train/run_internal.h"

struct words {
    struct ga_test_random random;
    char *text;
    size_t size;
    uint32_t replicas;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *to, const char *format, ...)
{
    size_t used = strlen(to->text);
    va_list args;
    int wrote = 0;

    va_start(args, format);
    wrote = vsnprintf(to->text + used, to->size - used, format, args);
    va_end(args);
    assert_true(wrote > 0 && (size_t)wrote < to->size - used);
}

static uint32_t draw(struct words *words, uint32_t bound)
{
    return ga_test_draw(&words->random, bound);
}

static void say_bound(struct words *to)
{
    if (draw(to, 4) > 0)
        say(to, "bound %u ", draw(to, 3));
}

/* With bound 0 a buffer of more pushes than replicas would never fill. */
static void say_buffered(struct words *to)
{
    uint32_t waits = draw(to, 2);

    say(to, "bound %s ", waits ? "0" : "none");
    if (draw(to, 3) > 0)
        say(to, "buffer %u ", 1 + draw(to, waits ? to->replicas : 12));
}

static void say_local(struct words *to)
{
    const char *const outer[] = {"none", "sgd(0.7,0)", "sgd(0.5,0.5)", "nesterov(0.7,0.9)"};

    say(to, "period %u outer %s ", 1 + draw(to, 4), outer[draw(to, 4)]);
}

static void say_hogwild(struct words *to)
{
    say(to, "optimizer sgd nesterov off momentum 0 writes %s ", draw(to, 2) ? "atomic" : "lossy");
}

static void say_sync(struct words *to)
{
    if (draw(to, 2))
        say(to, "backup 1 ");
}

static void say_delay(struct words *to)
{
    say(to, "lag %u ", draw(to, 5));
}

static void say_nothing(struct words *to)
{
    (void)to;
}

void ga_test_random_mode(struct ga_test_random_start *out, uint64_t seed, int mode)
{
    static void (*const say_of[GA_TEST_MODES])(struct words *) = {
        [GA_MODE_SYNC] = say_sync,         [GA_MODE_DELAY] = say_delay,
        [GA_MODE_ASYNC] = say_nothing,     [GA_MODE_SSP] = say_bound,
        [GA_MODE_BUFFERED] = say_buffered, [GA_MODE_LOCAL] = say_local,
        [GA_MODE_HOGWILD] = say_hogwild,
    };
    const char *const scale[] = {"full", "share", "staleness", "sqrt", "rescaled"};
    struct words to = {
        .random = {.seed = seed + 7919}, .text = out->settings, .size = sizeof out->settings};

    ga_test_random_start(out, seed, GA_TEST_NO_BACKUP);
    to.replicas = (uint32_t)out->replicas;
    say(&to, "tail %s mode %s ", draw(&to, 2) ? "short" : "wrap", ga_choice_word("mode", mode));
    say(&to, "scale %s ", scale[draw(&to, 5)]);
    if (draw(&to, 3) == 0)
        say(&to, "server-time %uus ", 1 + draw(&to, 900));
    if (mode != GA_MODE_SYNC || out->replicas > 1)
        say_of[mode](&to);
    say(&to, "late %s failure %s ", draw(&to, 2) ? "cancel" : "finish",
        draw(&to, 2) ? "wait" : "continue");
}

void ga_test_open_random(struct ga_run_rig *rig, const struct ga_test_random_start *random)
{
    ga_run_rig_open(rig, &random->start);
    for (int32_t r = 0; r < random->replicas; r++)
        ga_test_ok(ga_run_slow(rig->run, (size_t)r, random->slow[r]));
}

static bool works(const struct ga_replica_value *v)
{
    return v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_SENDING;
}

static int64_t count_working(const struct ga_run *run)
{
    int64_t count = 0;

    for (size_t r = 0; r < run->replicas; r++)
        count += works(&run->replica[r].v);
    return count;
}

/* An update makes every item under way one version staler; a dropped item takes its own with it. */
static void follow_staleness(struct ga_test_books *books, const struct ga_event *event)
{
    uint64_t updates = ga_run_counters(books->run)->updates;

    if (event->kind == GA_EVENT_APPLY)
        books->staleness += count_working(books->run);
    if (event->kind == GA_EVENT_DROP)
        books->staleness -= (int64_t)(updates - event->version);
}

static void add_event(void *self, const struct ga_event *event)
{
    struct ga_test_books *books = self;
    uint64_t *const count[GA_EVENT_KINDS] = {
        [GA_EVENT_MICRO] = &books->micros,
        [GA_EVENT_PUSH] = &books->pushes,
        [GA_EVENT_DROP] = &books->drops,
        [GA_EVENT_APPLY] = &books->applies,
    };

    if (count[event->kind])
        ++*count[event->kind];
    follow_staleness(books, event);
    if (event->time_ns < books->last_ns)
        books->wrong = true;
    books->last_ns = event->time_ns;
}

void ga_test_books_open(struct ga_test_books *books, struct ga_run *run)
{
    *books = (struct ga_test_books){
        .run = run, .settings = *run_set(run), .epoch = run->settings->epoch};
    ga_run_watch(run, add_event, NULL, books);
}

uint64_t ga_test_taken(const struct ga_run *run)
{
    size_t replicas = run->replicas, rows = run->table->train, first = 0, size = 0;
    struct ga_stream_position at = {0};
    uint64_t taken = 0;

    at.replica_epoch = ga_alloc(replicas, sizeof *at.replica_epoch);
    at.replica_offset = ga_alloc(replicas, sizeof *at.replica_offset);
    assert_true(at.replica_epoch && at.replica_offset);
    ga_stream_get(run->stream, &at);
    for (size_t r = 0; r < replicas; r++) {
        ga_split(rows, replicas, r, &first, &size);
        taken += at.replica_epoch[r] * size + at.replica_offset[r];
    }
    if (run_set(run)->sharding == GA_SHARD_STREAM)
        taken = at.epoch * rows + at.offset;
    free(at.replica_epoch);
    free(at.replica_offset);
    return taken;
}

/* Examples that a replica holds: taken, and neither applied nor given up. */
static uint64_t held_by(const struct ga_run *run, const struct ga_replica_value *v)
{
    bool applied = run->phase == GA_PHASE_CLEAR && !run->window.skipped;

    switch (v->state) {
    case GA_REPLICA_LATE:
        return v->part + v->examples;
    case GA_REPLICA_DONE:
        if (applied)
            return 0;
        return run_is(run, GA_FAMILY_ROUND) ? v->round.examples : v->tally.examples;
    default:
        return v->part;
    }
}

static uint64_t examples_held(const struct ga_run *run)
{
    uint64_t held = 0;

    for (size_t r = 0; r < run->replicas; r++)
        held += held_by(run, &run->replica[r].v);
    if (!ga_run_pushes(run))
        return held;
    held += run->window.total.examples; /* the server's buffer */
    if (run->next_piece < run->rows.replicas)
        held += run->rows.examples - run->rows.start[run->next_piece];
    return held;
}

static int64_t examples_known(const struct ga_run *run)
{
    const struct ga_counters *counters = ga_run_counters(run);

    return (int64_t)(counters->examples + counters->examples_dropped + counters->examples_unused +
                     examples_held(run));
}

static bool has_fixed_shards(const struct ga_settings *set)
{
    return set->sharding != GA_SHARD_STREAM;
}

/* Shards that have come into different epochs skip rows to be in one again. */
static void check_examples(const struct ga_test_books *books)
{
    int64_t taken = (int64_t)ga_test_taken(books->run);
    int64_t known = examples_known(books->run) + books->skipped_rows;

    assert_int_equal(books->micros, ga_run_counters(books->run)->micros);
    if (books->changed && has_fixed_shards(run_set(books->run)))
        assert_true(taken >= known);
    else
        assert_int_equal(taken, known);
}

/* Items applied, dropped or under way that no replica of now has started. */
static int64_t items_without_replica(const struct ga_run *run)
{
    const struct ga_counters *counters = ga_run_counters(run);
    int64_t count = (int64_t)(counters->items_applied + counters->items_dropped);

    for (size_t r = 0; r < run->replicas; r++) {
        count += run->replica[r].v.state != GA_REPLICA_READY;
        count -= (int64_t)run->replica[r].v.items;
    }
    return ga_run_pushes(run) ? count + run->window.arrived : count;
}

static int64_t pushes_without_replica(const struct ga_run *run)
{
    int64_t count = (int64_t)ga_run_counters(run)->pushes;

    for (size_t r = 0; r < run->replicas; r++)
        count -= (int64_t)run->replica[r].v.finished;
    return count;
}

/* In local mode an item is one private step, and what is pushed a whole round. */
static void check_items(const struct ga_test_books *books)
{
    const struct ga_run *run = books->run;

    assert_int_equal(books->applies, ga_run_counters(run)->updates);
    assert_int_equal(books->pushes, ga_run_counters(run)->pushes);
    assert_int_equal(pushes_without_replica(run), books->lost_finished);
    if (!run_is(run, GA_FAMILY_ROUND))
        assert_int_equal(items_without_replica(run), books->lost_items);
}

static int64_t staleness_known(const struct ga_run *run)
{
    int64_t sum = (int64_t)ga_run_counters(run)->staleness;

    for (size_t r = 0; r < run->replicas; r++)
        if (works(&run->replica[r].v))
            sum += (int64_t)(run->counters.updates - run->replica[r].v.read->number);
    return sum;
}

static void check_staleness(const struct ga_test_books *books)
{
    uint64_t binned = 0;

    for (size_t k = 0; k < GA_STALENESS_BINS; k++)
        binned += books->run->stale[k];
    assert_true(binned <= ga_run_counters(books->run)->pushes);
    if (!books->changed)
        assert_int_equal(binned, ga_run_counters(books->run)->pushes);
    if (ga_run_pushes(books->run))
        assert_int_equal(staleness_known(books->run), books->staleness);
}

static bool recuts(const struct ga_settings *from, const struct ga_settings *to)
{
    bool fixed = has_fixed_shards(from) || has_fixed_shards(to);

    return from->sharding != to->sharding || (fixed && from->replicas != to->replicas);
}

void ga_test_books_turn(struct ga_test_books *books)
{
    const struct ga_run *run = books->run;
    const struct ga_settings *now = run_set(run);

    if (run->settings->epoch == books->epoch)
        return;
    books->changed = true;
    if (recuts(&books->settings, now))
        books->skipped_rows = (int64_t)ga_test_taken(run) - examples_known(run);
    if (now->replicas < books->settings.replicas) {
        books->lost_items = items_without_replica(run);
        books->lost_finished = pushes_without_replica(run);
    }
    if (now->mode != books->settings.mode) {
        books->lost_items = items_without_replica(run);
        books->staleness = staleness_known(run);
    }
    books->settings = *now;
    books->epoch = run->settings->epoch;
}

static void check_time(struct ga_run *run)
{
    struct ga_run_rig rig = {.run = run};

    assert_int_equal(ga_run_rig_spent(&rig), (int64_t)run->replicas * run->now_ns);
    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica_value *v = &run->replica[r].v;

        assert_true(v->busy_ns >= 0 && v->idle_ns >= 0 && v->communication_ns >= 0);
        assert_true(v->busy_ns <= run->now_ns);
    }
}

void ga_test_books_check(const struct ga_test_books *books)
{
    assert_false(books->wrong);
    check_time(books->run);
    check_items(books);
    check_examples(books);
    check_staleness(books);
}
