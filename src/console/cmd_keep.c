/* Keeping: save, load, export. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "console/command.h"
#include "console/describe.h"
#include "console/export_code.h"
#include "console/session.h"
#include "settings/words.h"
#include "storage/checkpoint.h"
#include "storage/export.h"
#include "storage/export_svg.h"
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

/* START settings that wait for `reset` differ from those in force. */
static bool waits_for_reset(struct ga_console *console)
{
    struct ga_settings in_force;
    struct ga_settings draft;
    ga_engine_settings(console->engine, &in_force, &draft);
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        if (row->when == GA_WHEN_START && !ga_setting_same(row, &in_force, &draft))
            return true;
    }
    return false;
}

/* A checkpoint is of a place: what lies ahead of it on record, and what a reset would bring, stays
 * behind. */
static void say_what_is_left(struct ga_console *console, uint64_t updates)
{
    struct ga_history_info history;
    ga_engine_history(console->engine, &history);
    const uint64_t ahead = history.last_update > updates ? history.last_update - updates : 0;
    if (ahead > 0)
        ga_say(console,
               "not in the file: %" PRIu64 " recorded update%s ahead of here, and what was "
               "changed there",
               ahead, ahead == 1 ? "" : "s");
    else if (history.changes_ahead > 0)
        ga_say(console, "not in the file: what was changed ahead of here, within this window");
    if (waits_for_reset(console))
        ga_say(console, "not in the file: settings that wait for `reset`");
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
    say_what_is_left(console, request.updates);
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

/* What a picture says above its charts. */
struct caption {
    struct ga_text title, subtitle;
};

static int write_caption(struct ga_run *run, void *arg)
{
    struct caption *caption = arg;
    const struct ga_settings *set = ga_run_settings(run);
    char hash[GA_HASH_TEXT];
    ga_hash_format(hash, ga_run_hash(run));
    ga_describe_mode(set, &caption->title);
    ga_text_printf(&caption->title, ", %d replicas x accumulation %d x batch %d, %s, lr ",
                   (int)set->replicas, (int)set->accum, (int)set->batch,
                   ga_choice_word("optimizer", (int)set->optimizer));
    ga_text_number(&caption->title, set->lr);
    ga_text_printf(&caption->subtitle, "%s: ", ga_dataset_name(ga_run_data(run)));
    ga_dataset_describe(ga_run_data(run), &caption->subtitle);
    ga_text_printf(&caption->subtitle, "; %zu parameters; update %" PRIu64 ", hash %.8s",
                   ga_run_net_of(run)->parameters, ga_run_counters(run)->updates, hash);
    return ga_text_failed(&caption->title) || ga_text_failed(&caption->subtitle) ? (int)GA_ENOMEM
                                                                                 : 0;
}

static int export_svg(struct ga_console *console, const char *path)
{
    struct caption caption = {GA_TEXT_INIT, GA_TEXT_INIT};
    struct ga_export_svg *export = NULL;
    int code = ga_export_svg_open(&export);
    if (code == 0)
        code = ga_engine_call(console->engine, write_caption, &caption);
    if (code == 0)
        code = ga_engine_records(console->engine, ga_export_svg_record, export);
    if (code == 0)
        code = ga_export_svg_write(export, path, ga_text_get(&caption.title),
                                   ga_text_get(&caption.subtitle));
    ga_export_svg_close(export);
    ga_text_free(&caption.title);
    ga_text_free(&caption.subtitle);
    return code;
}

int ga_exec_export(struct ga_console *console, size_t count, const char *const *word)
{
    if (strcmp(word[0], "code") == 0 && count == 3)
        return ga_export_code(console, word[1], word[2]);
    if (strcmp(word[0], "code") == 0 || count == 3)
        return ga_fail(GA_EINPUT,
                       "export %s: expected `export weights FILE`, `export history FILE`, "
                       "`export svg FILE` or `export code tensorflow|pytorch FILE`",
                       word[0]);
    char *path = ga_join(1, word + 1);
    int code = path ? 0 : (int)GA_ENOMEM;
    if (code == 0 && strcmp(word[0], "weights") == 0)
        code = ga_engine_call(console->engine, export_weights, path);
    else if (code == 0 && strcmp(word[0], "history") == 0)
        code = export_history(console, path);
    else if (code == 0 && strcmp(word[0], "svg") == 0)
        code = export_svg(console, path);
    else if (code == 0)
        code = ga_fail(GA_EINPUT, "export %s: expected weights, history, svg or code", word[0]);
    if (code == 0)
        ga_say(console, "%s written to %s", word[0], path);
    free(path);
    return code;
}
