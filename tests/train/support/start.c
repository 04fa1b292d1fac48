#include "train/support/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "dataset/opened.h"
#include "support/support.h"

void ga_test_ok_at(int code, const char *file, int line)
{
    if (code >= 0)
        return;
    print_error("%s\n", ga_error_text());
    _fail(file, line);
}

void ga_test_refused_at(int code, int want, const char *part, const char *file, int line)
{
    if (code == want && strstr(ga_error_text(), part))
        return;
    print_error("code %d, expected %d, with \"%s\" in \"%s\"\n", code, want, part, ga_error_text());
    _fail(file, line);
}

static struct ga_dataset *open_text(const char *text, const char *words)
{
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "data.csv");
    struct ga_dataset *data = NULL;
    int code = 0;

    ga_test_write_file(path, text, strlen(text));
    code = ga_test_data(&data, path, words, "");
    ga_test_folder_remove(folder);
    free(path);
    ga_test_ok(code);
    return data;
}

struct ga_dataset *ga_test_start_data(const struct ga_test_start *start)
{
    const char *words = start->data ? start->data : start->file || start->csv ? "" : "parabola";
    struct ga_dataset *data = NULL;

    if (start->csv)
        return open_text(start->csv, words);
    ga_test_ok(ga_test_data(&data, start->file, words, ""));
    return data;
}

int ga_test_read_settings(struct ga_settings *draft, const char *words)
{
    char copy[1024], *rest = copy, *name = NULL;

    assert_true(strlen(words) < sizeof copy);
    snprintf(copy, sizeof copy, "%s", words);
    while ((name = strtok_r(rest, " ", &rest))) {
        const char *value = strtok_r(rest, " ", &rest);
        const struct ga_setting *row = ga_setting_find(name);

        assert_non_null(value);
        if (!row || ga_setting_read(row, draft, value) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

void ga_test_start_settings(const struct ga_test_start *start, struct ga_settings *out)
{
    const char *device = getenv("GA_TEST_DEVICE");
    char words[64];

    ga_settings_default(out);
    snprintf(words, sizeof words, "device %s", device ? device : "cpu");
    ga_test_ok(ga_test_read_settings(out, words));
    if (start->settings)
        ga_test_ok(ga_test_read_settings(out, start->settings));
    if (start->weights)
        out->init = GA_INIT_FILE;
}

uint32_t ga_test_draw(struct ga_test_random *random, uint32_t bound)
{
    uint32_t words[4];

    ga_draw(random->seed, random->next++, 0, GA_DRAW_NOISE, words);
    return (uint32_t)(((uint64_t)words[0] * bound) >> 32);
}
