/* The command `export code`: whether the run can be written, and what is true of it. */
#include "console/export_code.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "console/session.h"

#define UPDATES 2000 /* of a program whose run has made none yet */

static unsigned fact(bool holds, unsigned bit)
{
    return holds ? bit : 0;
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static unsigned data_facts(const struct ga_program *program)
{
    const char *header = ga_code_option(program, "header", "auto");
    const bool parabola = is(program->data->word[0], "parabola");
    const bool target = ga_code_option(program, "target", NULL) != NULL;
    const bool weight = ga_code_option(program, "weight", NULL) != NULL;
    double noise = 0;
    ga_read_double(ga_code_option(program, "noise", "0"), 0, INFINITY, &noise);
    return fact(parabola, GA_CODE_PARABOLA) | fact(parabola && noise > 0, GA_CODE_NOISE) |
           fact(!parabola && is(header, "auto"), GA_CODE_HEADER_AUTO) |
           fact(!parabola && is(header, "yes"), GA_CODE_HEADER) | fact(target, GA_CODE_TARGET) |
           fact(target || weight, GA_CODE_COLUMNS) |
           fact(program->table->kind == GA_TARGET_CLASS, GA_CODE_CLASSES) |
           fact(program->table->weights != NULL, GA_CODE_WEIGHTED) |
           fact(program->table->test > 0, GA_CODE_HELD_OUT) |
           fact(ga_code_option(program, "shuffle", NULL) != NULL, GA_CODE_DRAWN);
}

static unsigned order_facts(const struct ga_settings *set)
{
    return fact(set->order == GA_ORDER_SHUFFLE, GA_CODE_SHUFFLE) |
           fact(set->sharding != GA_SHARD_STREAM, GA_CODE_SHARDED) |
           fact(set->tail == GA_TAIL_DROP, GA_CODE_DROP) |
           fact(set->tail == GA_TAIL_WRAP, GA_CODE_WRAP);
}

static unsigned rate_facts(const struct ga_settings *set)
{
    const unsigned facts = fact(set->warmup > 0, GA_CODE_WARMUP) |
                           fact(set->schedule.kind == GA_SCHEDULE_STEP, GA_CODE_STEP) |
                           fact(set->schedule.kind == GA_SCHEDULE_COSINE, GA_CODE_COSINE);
    return facts | fact(facts != 0, GA_CODE_RATE);
}

static unsigned training_facts(const struct ga_settings *set)
{
    const bool coupled = set->optimizer != GA_ADAMW && set->weight_decay > 0;
    return fact(set->mode == GA_MODE_LOCAL, GA_CODE_LOCAL) |
           fact(set->mode == GA_MODE_LOCAL && set->outer.kind != GA_OUTER_NONE, GA_CODE_OUTER) |
           fact(set->reduce == GA_REDUCE_SUM, GA_CODE_SUM) | fact(set->bias, GA_CODE_BIAS) |
           fact(set->optimizer != GA_SGD, GA_CODE_ADAM) |
           fact(set->optimizer == GA_SGD && set->momentum > 0, GA_CODE_MOMENTUM) |
           fact(coupled, GA_CODE_COUPLED) | fact(set->clip > 0, GA_CODE_CLIP) | rate_facts(set);
}

unsigned ga_code_facts(const struct ga_program *program, unsigned framework)
{
    const struct ga_settings *set = program->settings;
    const bool small = program->net->parameters <= GA_CODE_INLINE_PARAMETERS;
    const unsigned facts = framework | data_facts(program) | order_facts(set) |
                           training_facts(set) |
                           fact(set->init == GA_INIT_FILE, GA_CODE_INIT_FILE) |
                           fact(set->init != GA_INIT_FILE && small, GA_CODE_INLINE);
    const bool start = facts & (GA_CODE_INLINE | GA_CODE_INIT_FILE);
    const bool rows = !(facts & (GA_CODE_NOISE | GA_CODE_DRAWN | GA_CODE_SHUFFLE));
    return facts | fact(start && rows, GA_CODE_SAME);
}

static const struct {
    const char *word;
    unsigned fact;
    bool local; /* mode local can be written, besides sync */
    const char *modes;
} frameworks[] = {
    {"tensorflow", GA_CODE_TENSORFLOW, false, "sync (`export code pytorch` writes local as well)"},
    {"pytorch", GA_CODE_PYTORCH, true, "sync or local"},
};
enum { FRAMEWORKS = sizeof(frameworks) / sizeof(frameworks[0]) };

static int check_mode(size_t which, const struct ga_settings *set)
{
    const bool fits =
        set->mode == GA_MODE_SYNC || (set->mode == GA_MODE_LOCAL && frameworks[which].local);
    if (!fits)
        return ga_fail(GA_EUNSUPPORTED,
                       "export code %s: mode %s is no short program there: expected mode %s",
                       frameworks[which].word, ga_choice_word("mode", (int)set->mode),
                       frameworks[which].modes);
    if (set->mode == GA_MODE_SYNC && set->backup > 0)
        return ga_fail(GA_EUNSUPPORTED,
                       "export code: backup %d: the all-reduce of both frameworks waits for every "
                       "replica: expected backup 0",
                       (int)set->backup);
    return 0;
}

static int find_framework(const char *word, unsigned *fact_of, const struct ga_settings *set)
{
    for (size_t i = 0; i < FRAMEWORKS; i++) {
        *fact_of = frameworks[i].fact;
        if (is(word, frameworks[i].word))
            return check_mode(i, set);
    }
    return ga_fail(GA_EINPUT, "export code %s: expected tensorflow or pytorch", word);
}

static int write_program(const struct ga_program *program, const char *path)
{
    struct ga_text text = GA_TEXT_INIT;
    struct ga_writer *writer = NULL;
    int code = ga_code_write(program, &text);
    if (code == 0)
        code = ga_writer_open(&writer, path);
    if (code == 0)
        code = ga_writer_write(writer, ga_text_get(&text), text.length);
    if (code == 0) {
        code = ga_writer_commit(writer);
        writer = NULL;
    }
    ga_writer_abandon(writer);
    ga_text_free(&text);
    return code;
}

static int count_updates(struct ga_run *run, void *arg)
{
    *(uint64_t *)arg = ga_run_counters(run)->updates;
    return 0;
}

/* The weights of a run that starts now; one from a file is named, not read. */
static int open_start(struct ga_console *console, struct ga_settings settings, struct ga_run **out)
{
    settings.clock = GA_CLOCK_VIRTUAL;
    if (settings.init == GA_INIT_FILE)
        settings.init = GA_INIT_ZEROS;
    const struct ga_run_start start = {.data = console->data, .settings = settings};
    return ga_run_open(out, &start);
}

static int export_run(struct ga_console *console, unsigned framework,
                      const struct ga_program *asked, const char *path)
{
    struct ga_program program = *asked;
    struct ga_words data = GA_WORDS_INIT;
    struct ga_run *run = NULL;
    char init_path[4096];
    const char *spec = ga_dataset_spec(console->data);
    int code = ga_words_read(&data, spec, strlen(spec));
    if (code == 0)
        code = open_start(console, *program.settings, &run);
    if (code == 0) {
        ga_engine_init_path(console->engine, init_path, sizeof(init_path));
        program.data = &data;
        program.init_path = init_path;
        program.table = ga_dataset_table(console->data);
        program.net = ga_run_net_of(run);
        program.start = ga_run_version(run)->weights;
        program.facts = ga_code_facts(&program, framework);
        code = write_program(&program, path);
    }
    ga_run_close(run);
    ga_words_fini(&data);
    return code;
}

static int check_data(const struct ga_dataset *data)
{
    const char *format = ga_dataset_format(data);
    if (ga_dataset_table(data)->kind == GA_TARGET_QUADRATIC)
        return ga_fail(GA_EUNSUPPORTED,
                       "export code: data quadratic has no net: expected data parabola or a file "
                       "with values or classes");
    if (strcmp(format, "parabola") != 0 && strcmp(format, "csv") != 0)
        return ga_fail(GA_EUNSUPPORTED,
                       "export code: the programs read no %s files: expected data parabola or a "
                       "CSV file",
                       format);
    return 0;
}

int ga_export_code(struct ga_console *console, const char *framework, const char *path)
{
    struct ga_settings in_force;
    struct ga_settings draft;
    unsigned fact_of = 0;
    struct ga_program program = {.settings = &draft};
    ga_engine_settings(console->engine, &in_force, &draft);
    int code = check_data(console->data);
    if (code == 0)
        code = find_framework(framework, &fact_of, &draft);
    if (code == 0)
        code = ga_engine_call(console->engine, count_updates, &program.updates);
    if (code == 0 && program.updates == 0)
        program.updates = UPDATES;
    if (code == 0)
        code = export_run(console, fact_of, &program, path);
    if (code == 0)
        ga_say(console, "code for %s written to %s", framework, path);
    return code;
}
