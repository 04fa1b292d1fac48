/* Keeping: save, load, export, log. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "console/command.h"
#include "console/describe.h"
#include "console/export_code.h"
#include "console/session.h"
#include "settings/words.h"
#include "storage/checkpoint.h"
#include "storage/export.h"
#include "storage/weights.h"

struct save_request {
    const char *path;
    const char *init_from;
    uint64_t updates, hash;
};

static int save_run(struct ga_run *run, void *arg)
{
    struct save_request *request = arg;
    struct ga_state state;
    ga_state_init(&state);
    int code = ga_run_capture(run, &state);
    if (code == 0)
        code = ga_run_capture_race(run, &state);
    if (code == 0)
        code = ga_checkpoint_save(request->path, &state, request->init_from);
    request->updates = ga_run_counters(run)->updates;
    request->hash = ga_run_hash(run);
    ga_state_fini(&state);
    return code;
}

int ga_exec_save(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    char init_path[4096];
    ga_engine_init_path(console->engine, init_path, sizeof(init_path));
    struct save_request request = {.path = word[0], .init_from = init_path};
    const int code = ga_engine_call(console->engine, save_run, &request);
    if (code < 0)
        return code;
    console->saved.known = true;
    console->saved.hash = request.hash;
    ga_say(console, "saved %s at update %" PRIu64, word[0], request.updates);
    return 0;
}

/* The data set that the checkpoint names, from where it names it or from beside the script. */
static int open_data(const struct ga_console *console, const struct ga_checkpoint *checkpoint,
                     struct ga_dataset **out)
{
    struct ga_words words = GA_WORDS_INIT;
    char *path = NULL;
    const char *spec = ga_checkpoint_data(checkpoint);
    int code = ga_words_read(&words, spec, strlen(spec));
    if (code == 0 && words.count == 0)
        code = ga_fail(GA_EINPUT, "the file names no data: expected the words of a `data` command");
    if (code == 0 && !ga_is_built_in_data(words.word[0])) {
        code = ga_find_file(console, words.word[0], &path);
        words.word[0] = path;
    }
    if (code == 0)
        code = ga_dataset_open(out, words.count, words.word, "");
    free(path);
    ga_words_fini(&words);
    return code;
}

/* So that `reset` can go back to the initial weights; a file that is gone only prevents that. */
static void take_initial_weights(struct ga_console *console, const char *path,
                                 const struct ga_settings *settings, const struct ga_dataset *data)
{
    struct ga_net net;
    float *weights = NULL;
    if (!*path || ga_run_net(settings, data, &net) < 0)
        return;
    weights = ga_alloc(net.parameters, sizeof(*weights));
    int code = weights ? ga_weights_load(path, &net, weights) : (int)GA_ENOMEM;
    if (code == 0)
        code = ga_engine_init_from(console->engine, path, weights, net.parameters);
    if (code < 0)
        ga_say(console, "the initial weights are not there for `reset`: %s", ga_error_text());
    free(weights);
}

static int load(struct ga_console *console, const struct ga_checkpoint *checkpoint)
{
    struct ga_dataset *data = NULL;
    struct ga_state state;
    ga_state_init(&state);
    int code = open_data(console, checkpoint, &data);
    if (code == 0)
        code = ga_checkpoint_state(checkpoint, data, &state);
    if (code == 0) {
        take_initial_weights(console, ga_checkpoint_init_from(checkpoint),
                             ga_checkpoint_settings(checkpoint), data);
        code = ga_engine_load(console->engine, &state);
    }
    if (code == 0) {
        ga_dataset_close(console->data);
        console->data = data;
        data = NULL;
    }
    ga_state_fini(&state);
    ga_dataset_close(data);
    return code;
}

static int say_loaded(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    ga_text_printf(&report->text, "loaded %s: at ", report->word[0]);
    ga_describe_place(run, &report->text);
    return 0;
}

int ga_exec_load(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_checkpoint *checkpoint = NULL;
    char *path = NULL;
    int code = ga_find_file(console, word[0], &path);
    if (code == 0)
        code = ga_checkpoint_open(&checkpoint, path);
    if (code == 0)
        code = load(console, checkpoint);
    ga_checkpoint_close(checkpoint);
    free(path);
    if (code < 0)
        return code;
    struct ga_report report = {.count = count, .word = word, .text = GA_TEXT_INIT};
    return ga_report(console, say_loaded, &report);
}

static int export_weights(struct ga_run *run, void *arg)
{
    return ga_weights_save(arg, ga_run_net_of(run), ga_run_version(run)->weights);
}

static int export_history(struct ga_console *console, const char *path)
{
    struct ga_export *export = NULL;
    int code = ga_export_open(&export, path);
    if (code < 0)
        return code;
    code = ga_engine_records(console->engine, ga_export_record, export);
    if (code == 0)
        return ga_export_commit(export);
    ga_export_abandon(export);
    return code;
}

int ga_exec_export(struct ga_console *console, size_t count, const char *const *word)
{
    if (strcmp(word[0], "code") == 0 && count == 3)
        return ga_export_code(console, word[1], word[2]);
    if (strcmp(word[0], "code") == 0 || count == 3)
        return ga_fail(GA_EINPUT,
                       "export %s: expected `export weights FILE`, `export history "
                       "FILE` or `export code tensorflow|pytorch FILE`",
                       word[0]);
    char *path = ga_join(1, word + 1);
    int code = path ? 0 : (int)GA_ENOMEM;
    if (code == 0 && strcmp(word[0], "weights") == 0)
        code = ga_engine_call(console->engine, export_weights, path);
    else if (code == 0 && strcmp(word[0], "history") == 0)
        code = export_history(console, path);
    else if (code == 0)
        code = ga_fail(GA_EINPUT, "export %s: expected weights, history or code", word[0]);
    if (code == 0)
        ga_say(console, "%s written to %s", word[0], path);
    free(path);
    return code;
}

static void record(void *self, struct ga_run *run, const struct ga_update_record *record_made)
{
    (void)run;
    ga_log_record(self, record_made);
}

/* The log takes no more records; its file gets what is left. */
static int close_log(struct ga_console *console, size_t k)
{
    struct ga_log *log = console->log[k];
    console->log[k] = NULL;
    if (!log)
        return 0;
    ga_engine_unobserve(console->engine, log);
    return ga_log_close(log);
}

void ga_logs_close(struct ga_console *console)
{
    for (size_t k = 0; k < GA_LOGS; k++)
        if (close_log(console, k) < 0)
            ga_complain(console);
}

int ga_logs_check(struct ga_console *console)
{
    for (size_t k = 0; k < GA_LOGS; k++) {
        struct ga_log_status status;
        if (!console->log[k])
            continue;
        ga_log_status(console->log[k], &status);
        if (status.error.code != GA_OK)
            return close_log(console, k);
    }
    return 0;
}

static int list_logs(struct ga_console *console)
{
    size_t found = 0;
    for (size_t k = 0; k < GA_LOGS; k++) {
        struct ga_log_status status;
        if (!console->log[k])
            continue;
        ga_log_status(console->log[k], &status);
        ga_say(console, "log %s %s every %" PRIu64 ": %" PRIu64 " records",
               ga_log_format_name(console->log[k]), ga_log_path(console->log[k]),
               ga_log_every(console->log[k]), status.records);
        found++;
    }
    if (found == 0)
        ga_say(console, "no logs");
    return 0;
}

static int end_logs(struct ga_console *console, const char *path)
{
    size_t found = 0;
    for (size_t k = 0; k < GA_LOGS; k++) {
        if (!console->log[k] || (path && strcmp(ga_log_path(console->log[k]), path) != 0))
            continue;
        ga_say(console, "log %s is closed", ga_log_path(console->log[k]));
        found++;
        const int code = close_log(console, k);
        if (code < 0)
            return code;
    }
    if (path && found == 0)
        return ga_fail(GA_EINPUT, "log off %s: there is no such log: expected one that `log` lists",
                       path);
    return 0;
}

static int read_every(size_t count, const char *const *word, uint64_t *out)
{
    int64_t every = 1;
    if (count != 2 && (count != 4 || !ga_word_same(word[2], "every")))
        return ga_fail(GA_EINPUT, "log %s: expected `log %s PATH [every N]`", word[0], word[0]);
    if (count == 4 && ga_read_int(word[3], 1, 1000000000000000, &every) < 0)
        return ga_fail_within("log: every");
    *out = (uint64_t)every;
    return 0;
}

static int start_log(struct ga_console *console, size_t count, const char *const *word)
{
    size_t k = 0;
    struct ga_log_options options = {.format = ga_log_format_find(word[0])};
    if (!options.format)
        return ga_fail_within("log");
    int code = read_every(count, word, &options.every);
    if (code < 0)
        return code;
    for (size_t i = 0; i < GA_LOGS; i++)
        if (console->log[i] && strcmp(ga_log_path(console->log[i]), word[1]) == 0)
            return ga_fail(GA_ESTATE, "%s is being logged to already: expected another file",
                           word[1]);
    while (k < GA_LOGS && console->log[k])
        k++;
    if (k == GA_LOGS)
        return ga_fail(GA_ERANGE, "there are %d logs already: `log off PATH` closes one", GA_LOGS);
    code = ga_log_open(&console->log[k], word[1], &options);
    if (code < 0)
        return code;
    const struct ga_observer observer = {record, console->log[k]};
    code = ga_engine_observe_runs(console->engine, GA_OBSERVE_RUN, &observer);
    if (code < 0) {
        close_log(console, k);
        return code;
    }
    ga_say(console, "log %s every %" PRIu64 " to %s", word[0], options.every, word[1]);
    return 0;
}

int ga_exec_log(struct ga_console *console, size_t count, const char *const *word)
{
    if (count == 0)
        return list_logs(console);
    if (!ga_word_same(word[0], "off"))
        return start_log(console, count, word);
    if (count > 2)
        return ga_fail(GA_EINPUT, "log off: expected a path behind it, or nothing");
    return end_logs(console, count == 2 ? word[1] : NULL);
}
