#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "settings/settings.h"
#include "settings/words.h"

struct choice {
    const char *group;
    int value;
    const char *word;
    const char *summary;
};

static const struct choice choices[] = {
#define CHOICE(group, enumerator, word, summary) {#group, enumerator, word, summary},
#include "settings/choices.def"
};

/* Words of other tools, accepted wherever the group's own words are. */
static const struct {
    const char *group;
    const char *word;
    int value;
} synonyms[] = {
    {"mode", "mirrored", GA_MODE_SYNC},
    {"mode", "multi_worker_mirrored", GA_MODE_SYNC},
    {"mode", "ddp", GA_MODE_SYNC},
    {"mode", "all-reduce", GA_MODE_SYNC},
    {"mode", "parameter_server", GA_MODE_ASYNC},
    {"mode", "ps", GA_MODE_ASYNC},
    {"mode", "softsync", GA_MODE_BUFFERED},
    {"mode", "local_sgd", GA_MODE_LOCAL},
    {"mode", "fedavg", GA_MODE_LOCAL},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct choice *find(const char *group, int value)
{
    for (size_t i = 0; i < COUNT(choices); i++)
        if (choices[i].value == value && strcmp(choices[i].group, group) == 0)
            return &choices[i];
    return NULL;
}

const char *ga_choice_word(const char *group, int value)
{
    const struct choice *choice = find(group, value);
    return choice ? choice->word : NULL;
}

const char *ga_choice_help(const char *group, int value)
{
    const struct choice *choice = find(group, value);
    return choice ? choice->summary : NULL;
}

int ga_choice_count(const char *group)
{
    int count = 0;
    for (size_t i = 0; i < COUNT(choices); i++)
        count += strcmp(choices[i].group, group) == 0;
    return count;
}

static void fail_unknown(const char *group, const char *word)
{
    struct ga_word_nearest nearest = {word, NULL, 0};
    struct ga_text words = GA_TEXT_INIT;
    const int count = ga_choice_count(group);
    for (int value = 0; value < count; value++) {
        const char *known = ga_choice_word(group, value);
        ga_word_consider(&nearest, known);
        ga_text_printf(&words, "%s%s", value ? " | " : "", known);
    }
    if (nearest.name)
        ga_text_printf(&words, " (did you mean %s?)", nearest.name);
    ga_fail(GA_EINPUT, "'%s' is no %s; expected %s", word, group, ga_text_get(&words));
    ga_text_free(&words);
}

int ga_choice_value(const char *group, const char *word)
{
    for (size_t i = 0; i < COUNT(choices); i++)
        if (strcmp(choices[i].group, group) == 0 && ga_word_same(choices[i].word, word))
            return choices[i].value;
    for (size_t i = 0; i < COUNT(synonyms); i++)
        if (strcmp(synonyms[i].group, group) == 0 && ga_word_same(synonyms[i].word, word))
            return synonyms[i].value;
    fail_unknown(group, word);
    return -1;
}
