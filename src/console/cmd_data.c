/* data and init-from. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "console/command.h"
#include "console/session.h"
#include "storage/weights.h"

bool ga_is_built_in_data(const char *word)
{
    return strcmp(word, "parabola") == 0 || strcmp(word, "quadratic") == 0;
}

static int open_data(struct ga_console *console, size_t count, const char *const *word,
                     struct ga_dataset **out)
{
    if (ga_is_built_in_data(word[0]))
        return ga_dataset_open(out, count, word, "");
    char *path = NULL;
    const char **words = ga_alloc(count, sizeof(*words));
    int code = words ? ga_find_file(console, word[0], &path) : (int)GA_ENOMEM;
    if (code == 0) {
        memcpy(words, word, count * sizeof(*words));
        words[0] = path;
        code = ga_dataset_open(out, count, words, "");
    }
    free(path);
    free(words);
    return code;
}

int ga_exec_data(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_dataset *data = NULL;
    int code = open_data(console, count, word, &data);
    if (code == 0)
        code = ga_engine_data(console->engine, ga_dataset_share(data));
    if (code < 0) {
        ga_dataset_close(data);
        return code;
    }
    ga_dataset_close(console->data);
    console->data = data;
    console->explain_at = 0;
    struct ga_text text = GA_TEXT_INIT;
    ga_text_printf(&text, "data %s: ", ga_dataset_name(data));
    ga_dataset_describe(data, &text);
    ga_text_puts(&text, "; the run starts at update 0");
    ga_say_text(console, &text);
    ga_text_free(&text);
    return 0;
}

static int init_from(struct ga_console *console, const char *path)
{
    struct ga_settings in_force;
    struct ga_settings draft;
    struct ga_net net;
    float *weights = NULL;
    ga_engine_settings(console->engine, &in_force, &draft);
    int code = ga_run_net(&draft, console->data, &net);
    if (code == 0) {
        weights = ga_alloc(net.parameters, sizeof(*weights));
        code = weights ? ga_weights_load(path, &net, weights) : (int)GA_ENOMEM;
    }
    if (code == 0)
        code = ga_engine_init_from(console->engine, path, weights, net.parameters);
    if (code == 0)
        ga_say(console, "weights from %s: %zu parameters; the run starts at update 0", path,
               net.parameters);
    free(weights);
    return code;
}

int ga_exec_init_from(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    char *path = NULL;
    int code = ga_find_file(console, word[0], &path);
    if (code == 0)
        code = init_from(console, path);
    free(path);
    return code;
}
