/*
 * Random sequences of commands: modes, shapes, scales, failures, forks, moves forward and back, of
 * one run and of all. Whatever the sequence, nothing hangs, no count is lost, every answer comes
 * out the same the second time, and the history replays to the bits that it recorded.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "console/console.h"
#include "support/support.h"
#include "train/law.h"

#define COMMANDS   40
#define PATIENCE_S 120 /* for one sequence, also under a sanitizer */

/* ---- a console that keeps what it says, and gives up on a move that does not end ---- */

struct session {
    struct ga_console *console;
    struct ga_text said; /* answers and refusals, in order */
    bool hangs;
};

static int keep_out(void *self, const char *bytes, size_t length)
{
    ga_text_append(&((struct session *)self)->said, bytes, length);
    return 0;
}

static void keep_fail(void *self, const char *bytes, size_t length)
{
    ga_text_append(&((struct session *)self)->said, bytes, length);
}

static enum ga_wait wait_a_while(void *self, int bell_fd)
{
    struct pollfd bell = {.fd = bell_fd, .events = POLLIN};
    struct session *session = self;
    if (poll(&bell, 1, PATIENCE_S * 1000) > 0)
        return GA_WAIT_ON;
    session->hangs = true;
    return GA_WAIT_BROKEN;
}

static void open_session(struct session *session)
{
    memset(session, 0, sizeof(*session));
    const struct ga_console_options options = {
        .sink = {session, keep_out, keep_fail},
        .front = {.self = session, .wait = wait_a_while},
    };
    if (ga_console_open(&session->console, &options) < 0)
        fail_msg("%s", ga_error_text());
}

static void close_session(struct session *session)
{
    ga_console_close(session->console);
    ga_text_free(&session->said);
}

/* ---- sequences ---- */

struct draws {
    uint64_t state;
};

static uint32_t draw(struct draws *draws, uint32_t bound)
{
    draws->state = draws->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((draws->state >> 33) % bound);
}

#define PICK(draws, list) (list)[draw(draws, sizeof(list) / sizeof((list)[0]))]

static const char *const modes[] = {"sync",  "sync 1",     "delay 0",    "delay 3", "async",
                                    "ssp 0", "ssp 2",      "buffered 1", "local 1", "local 4",
                                    "async", "buffered 3", "hogwild"};
/* Without `nonfinite skip`: where every window is skipped no number of updates is ever reached. */
static const char *const others[] = {
    "scale full",
    "scale share",
    "scale staleness",
    "scale sqrt",
    "scale rescaled",
    "failure wait",
    "failure continue",
    "late cancel",
    "late finish",
    "sharding stream",
    "sharding strided",
    "sharding contiguous",
    "jitter constant",
    "jitter exponential",
    "jitter uniform(0.5,1.5)",
    "tail short",
    "tail wrap",
    "order shuffle",
    "optimizer adam",
    "optimizer sgd",
    "momentum 0.5",
    "momentum 0",
    "lr 0.002",
    "lr 0.02",
    "lr 0.2",
    "clip 0.5",
    "clip off",
    "bound none",
    "bound 0",
    "outer sgd(0.7,0.5)",
    "outer none",
    "writes lossy",
    "writes atomic",
    "latency 1ms",
    "latency 0",
    "server-time 500us",
    "server-time 0",
    "history-budget 1MiB",

    "reduce sum",
    "reduce mean",
    "schedule step(7,0.9)",
    "weight-decay 0.01",
};
static const char *const names[] = {"main", "a", "b", "c"};
static const char *const spans[] = {"updates", "examples", "time", "bytes"};
static const char *const units[] = {"updates", "micros", "events"};

static void write_mode(struct draws *draws, char *out, size_t size)
{
    snprintf(out, size, "mode %s", PICK(draws, modes));
}

static void write_shape(struct draws *draws, char *out, size_t size)
{
    if (draw(draws, 4) == 0)
        snprintf(out, size, "set global %u replicas %u", 1 + draw(draws, 30), 1 + draw(draws, 7));
    else
        snprintf(out, size, "set replicas %u accum %u batch %u", 1 + draw(draws, 7),
                 1 + draw(draws, 3), 1 + draw(draws, 6));
}

static void write_other(struct draws *draws, char *out, size_t size)
{
    snprintf(out, size, "set %s", PICK(draws, others));
}

static void write_failure(struct draws *draws, char *out, size_t size)
{
    static const char *const verbs[] = {"kill", "restore", "restore"};
    snprintf(out, size, "%s %u", PICK(draws, verbs), draw(draws, 5));
}

static void write_slow(struct draws *draws, char *out, size_t size)
{
    static const char *const factors[] = {"0.5", "1", "3"};
    snprintf(out, size, "slow %u %s", draw(draws, 5), PICK(draws, factors));
}

static void write_fork(struct draws *draws, char *out, size_t size)
{
    static const char *const verbs[] = {"fork", "use", "use", "drop"};
    snprintf(out, size, "%s %s", PICK(draws, verbs), PICK(draws, names));
}

static void write_run(struct draws *draws, char *out, size_t size)
{
    static const char *const forms[] = {"run %u",  "run %u all", "run %u ms",
                                        "next %u", "micro %u",   "event %u"};
    char form[16];
    snprintf(form, sizeof(form), "%s", PICK(draws, forms));
    char *number = strstr(form, "%u");
    snprintf(out, size, "%.*s%u%s", (int)(number - form), form, 1 + draw(draws, 25), number + 2);
}

static void write_back(struct draws *draws, char *out, size_t size)
{
    if (draw(draws, 3) == 0)
        snprintf(out, size, "goto %u", draw(draws, 80));
    else
        snprintf(out, size, "back %u %s", 1 + draw(draws, 30), PICK(draws, units));
}

static void write_look(struct draws *draws, char *out, size_t size)
{
    static const char *const looks[] = {
        "runs",        "law",         "staleness 20", "print counters", "print replicas",
        "print gauge", "print drift", "explain",      "replay",         "history"};
    if (draw(draws, 4) == 0)
        snprintf(out, size, "compare %s %s by %s", PICK(draws, names), PICK(draws, names),
                 PICK(draws, spans));
    else
        snprintf(out, size, "%s", PICK(draws, looks));
}

static void write_close(struct draws *draws, char *out, size_t size)
{
    static const char *const verbs[] = {"flush", "discard", "until update >= 40", "break gauge > 1",
                                        "delete all"};
    snprintf(out, size, "%s", PICK(draws, verbs));
}

static void (*const writers[])(struct draws *draws, char *out, size_t size) = {
    write_mode,    write_mode, write_shape, write_shape, write_other, write_other, write_other,
    write_failure, write_slow, write_fork,  write_fork,  write_run,   write_run,   write_run,
    write_run,     write_run,  write_back,  write_back,  write_look,  write_close,
};

/* ---- what must hold wherever a run stands ---- */

/* Up to when a replica's times are booked. */
static int64_t booked_to(const struct ga_replica_value *v)
{
    const bool works = v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_LATE;
    return works ? v->start_ns : v->free_ns;
}

static const char *check_state(const struct ga_state *state)
{
    const struct ga_counters *counters = &state->counters;
    uint64_t binned = 0;
    uint64_t finished = 0;
    for (size_t r = 0; r < state->replicas; r++) {
        const struct ga_replica_value *v = &state->replica[r];
        const int64_t booked = v->busy_ns + v->idle_ns + v->communication_ns;
        if (booked + (state->now_ns - booked_to(v)) != state->now_ns)
            return "a replica's time is not the run's";
        if (v->finished > v->items || v->done_examples > v->examples)
            return "a replica finished more than it began";
        finished += v->finished;
    }
    for (size_t bin = 0; state->modes && bin < GA_STALENESS_BINS; bin++)
        binned += state->modes->stale[bin];
    if (binned > counters->pushes || finished > counters->pushes)
        return "pushes are missing";
    if (state->server->number != counters->updates)
        return "the version is not the number of updates";
    return NULL;
}

static int check_run(struct ga_run *run, void *arg)
{
    struct ga_state state;
    if (ga_run_capture(run, &state) < 0)
        return ga_error_code();
    *(const char **)arg = check_state(&state);
    ga_state_fini(&state);
    return 0;
}

/* The law's identities are exact at any moment. */
static const char *check_laws(struct ga_engine *engine, struct ga_law_report *report)
{
    if (ga_engine_laws(engine, 30, false, report) < 0 || report->updates == 0)
        return NULL;
    for (size_t i = 0; i < report->rows; i++) {
        const struct ga_law_row *row = &report->row[i];
        const double off = row->measured - row->predicted;
        const double slack = 1e-9 * (row->predicted < 0 ? -row->predicted : row->predicted);
        if (row->truth == GA_LAW_EXACT && strstr(row->name, "ed") &&
            !(off <= slack && off >= -slack))
            return row->name;
    }
    return NULL;
}

static const char *check(struct session *session, struct ga_law_report *report)
{
    struct ga_engine *engine = ga_console_engine(session->console);
    const char *wrong = NULL;
    if (session->hangs)
        return "it hangs";
    if (strstr(ga_text_get(&session->said), "internal"))
        return "an internal error";
    ga_engine_call(engine, check_run, (void *)&wrong);
    return wrong ? wrong : check_laws(engine, report);
}

/* The transcript is longer than a failure's message may be. */
static void give_up(uint64_t seed, const char *why, const struct session *session)
{
    fprintf(stderr, "%s\n", ga_text_get(&session->said));
    fail_msg("seed %llu: %s", (unsigned long long)seed, why);
}

static void walk(uint64_t seed, struct session *session)
{
    struct draws draws = {seed * 7919 + 1};
    struct ga_law_report *report = calloc(1, sizeof(*report));
    char line[128] = "set log-every 1000000 lr 0.005 accum 1 batch 4 per-example 1ms";
    assert_non_null(report);
    for (int k = 0; k < COMMANDS; k++) {
        const struct ga_origin origin = {"walk", (size_t)k};
        ga_text_printf(&session->said, "> %s\n", line);
        ga_console_line(session->console, line, strlen(line), &origin);
        const char *wrong = check(session, report);
        if (wrong)
            give_up(seed, wrong, session);
        if (k + 2 == COMMANDS)
            snprintf(line, sizeof(line), "replay");
        else
            PICK(&draws, writers)(&draws, line, sizeof(line));
    }
    free(report);
}

static void test_random_sequences(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(1000); seed++) {
        struct session first;
        struct session second;
        alarm(2 * PATIENCE_S);
        open_session(&first);
        open_session(&second);
        walk(seed, &first);
        walk(seed, &second);
        if (strcmp(ga_text_get(&first.said), ga_text_get(&second.said)) != 0) {
            fprintf(stderr, "%s\nand then\n", ga_text_get(&first.said));
            give_up(seed, "it goes another way the second time", &second);
        }
        if (strstr(ga_text_get(&first.said), "they differ"))
            give_up(seed, "it replays to other bits", &first);
        close_session(&second);
        close_session(&first);
    }
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_sequences)};
    return ga_test_main(tests);
}
