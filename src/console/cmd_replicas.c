/* slow, kill, restore: what happens to one replica. */
#include <inttypes.h>

#include "base/error.h"
#include "base/number.h"
#include "console/command.h"
#include "console/session.h"

/* A replica of the present run by number. */
static int read_replica(struct ga_console *console, const char *verb, const char *word, size_t *out)
{
    struct ga_settings in_force;
    struct ga_settings draft;
    int64_t replica = 0;
    ga_engine_settings(console->engine, &in_force, &draft);
    if (ga_read_int(word, 0, in_force.replicas - 1, &replica) < 0)
        return ga_fail_within("%s: replica", verb);
    *out = (size_t)replica;
    return 0;
}

static void say_forgotten(struct ga_console *console, const struct ga_change *change)
{
    if (change->forgotten > 0)
        ga_say(console, "what was recorded beyond this point is forgotten");
}

/* What a replica's death means under each family of modes. */
static const char *consequence(const struct ga_settings *settings)
{
    const bool waits = settings->failure == GA_FAILURE_WAIT;
    switch (settings->mode) {
    case GA_MODE_SYNC:
    case GA_MODE_DELAY:
        return waits ? "windows wait for it (failure wait)"
                     : "windows go on with the living (failure continue)";
    case GA_MODE_LOCAL:
        return waits ? "rounds wait for it (failure wait)"
                     : "weights are averaged over the living (failure continue)";
    default:
        return "the others go on";
    }
}

static int count_killed(struct ga_run *run, void *arg)
{
    *(double *)arg = ga_run_metric(run, GA_METRIC_KILLED, -1);
    return 0;
}

/* "1 of 4 is killed". */
static int append_killed(struct ga_console *console, const struct ga_settings *settings,
                         struct ga_text *out)
{
    double killed = 0;
    const int code = ga_engine_call(console->engine, count_killed, &killed);
    ga_text_printf(out, "; %.0f of %d %s killed\n", killed, (int)settings->replicas,
                   killed == 1 ? "is" : "are");
    return code;
}

int ga_exec_kill(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    struct ga_settings settings;
    struct ga_change change = {0};
    size_t replica = 0;
    int code = read_replica(console, "kill", word[0], &replica);
    if (code == 0)
        code = ga_engine_kill(console->engine, replica, &change);
    if (code < 0)
        return code;
    struct ga_text text = GA_TEXT_INIT;
    ga_engine_settings(console->engine, NULL, &settings);
    ga_text_printf(&text, "replica %zu is killed, its item dropped: %s", replica,
                   consequence(&settings));
    code = append_killed(console, &settings, &text);
    ga_say_text(console, &text);
    ga_text_free(&text);
    say_forgotten(console, &change);
    return code;
}

int ga_exec_restore(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    struct ga_settings settings;
    struct ga_change change = {0};
    size_t replica = 0;
    int code = read_replica(console, "restore", word[0], &replica);
    if (code == 0)
        code = ga_engine_revive(console->engine, replica, &change);
    if (code < 0)
        return code;
    struct ga_text text = GA_TEXT_INIT;
    ga_engine_settings(console->engine, NULL, &settings);
    ga_text_printf(&text, "replica %zu is back and pulls fresh weights", replica);
    code = append_killed(console, &settings, &text);
    ga_say_text(console, &text);
    ga_text_free(&text);
    say_forgotten(console, &change);
    return code;
}

int ga_exec_slow(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    struct ga_settings in_force;
    struct ga_settings draft;
    struct ga_change change = {0};
    int64_t replica = 0;
    double factor = 0;
    ga_engine_settings(console->engine, &in_force, &draft);
    if (ga_read_int(word[0], 0, draft.replicas - 1, &replica) < 0)
        return ga_fail_within("slow: replica");
    if (ga_read_double(word[1], 1e-3, 1e6, &factor) < 0)
        return ga_fail_within("slow: factor");
    const int code = ga_engine_slow(console->engine, (size_t)replica, factor, &change);
    if (code < 0)
        return code;
    ga_say(console, "replica %" PRId64 ": items take %s times as long from the next one", replica,
           word[1]);
    return 0;
}
