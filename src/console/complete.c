#include "console/complete.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "console/command.h"
#include "console/lexer.h"
#include "console/print.h"
#include "console/sensors.h"
#include "console/topics.h"
#include "settings/words.h"

/* The words before the one at the cursor, and that one's beginning. */
struct place {
    const struct ga_completion *completion;
    const char *prefix;
    const char *const *word; /* behind the verb */
    size_t count;
};

static void offer(const struct place *place, const char *word)
{
    if (ga_word_starts(word, place->prefix))
        place->completion->each(place->completion->self, word);
}

static void offer_list(const struct place *place, const char *list)
{
    char word[64];
    for (; list && *list; list += strspn(list, " |")) {
        const size_t length = strcspn(list, " |");
        if (length < sizeof(word)) {
            memcpy(word, list, length);
            word[length] = '\0';
            offer(place, word);
        }
        list += length;
    }
}

static void offer_commands(const struct place *place)
{
    for (size_t i = 0; i < ga_command_count(); i++)
        offer(place, ga_command_at(i)->name);
}

static void offer_settings(const struct place *place)
{
    for (size_t i = 0; i < ga_setting_count(); i++)
        offer(place, ga_setting_at(i)->name);
}

static void offer_values(const struct place *place, const struct ga_setting *row)
{
    const int count = row->group ? ga_choice_count(row->group) : 0;
    for (int value = 0; value < count; value++)
        offer(place, ga_choice_word(row->group, value));
    if (strcmp(row->values, "on | off") == 0)
        offer_list(place, "on off");
}

static void offer_setting_pairs(const struct place *place)
{
    const struct ga_setting *row = NULL;
    if (place->count % 2 == 1)
        row = ga_setting_find(place->word[place->count - 1]);
    if (row)
        offer_values(place, row);
    else if (place->count % 2 == 0)
        offer_settings(place);
}

static void offer_metrics(const struct place *place, bool replica)
{
    for (int i = 0; i < GA_METRIC_COUNT; i++) {
        const struct ga_metric_info *info = ga_metric_info((enum ga_metric)i);
        if (replica ? info->of_replica : info->of_run)
            offer(place, info->name);
    }
}

static bool behind_replica(const struct place *place)
{
    return place->count >= 2 && strcmp(place->word[place->count - 2], "replica") == 0;
}

static void offer_figures(const struct place *place, const char *others)
{
    offer_metrics(place, behind_replica(place));
    if (!behind_replica(place))
        offer_list(place, others);
}

static void offer_expression(const struct place *place)
{
    if (place->count > 0 && !behind_replica(place)) {
        offer_list(place, place->completion->tensors);
        return;
    }
    for (size_t i = 0; i < ga_sensor_count(); i++)
        offer(place, ga_sensor_at(i)->name);
    offer_figures(place, "replica events");
    if (place->count > 0)
        return;
    for (size_t i = 0; i < ga_subject_count(); i++)
        offer(place, ga_subject_at(i)->name);
    offer_settings(place);
}

static void offer_runs(const struct place *place, const struct ga_command *command)
{
    if (place->count < command->least)
        offer_list(place, place->completion->runs);
    else if (command->most > command->least)
        offer_list(place, place->count == command->least ? "by" : "updates examples time bytes");
}

static void offer_help(const struct place *place)
{
    offer_commands(place);
    offer_settings(place);
    offer_metrics(place, false);
    offer_list(place, "metrics");
    for (size_t i = 0; i < ga_topic_count(); i++)
        offer(place, ga_topic_at(i)->name);
}

/* Options of `data`, those that need a value of one's own up to the equals sign. */
static const char data_options[] =
    "kind=value kind=class kind=quadratic target= weight= inputs= labels= heldout= heldout-labels= "
    "classes= scale= train= test= shuffle= header=yes header=no n= range= noise= seed= lambda= c=";

/* What stands behind a verb; true when it may be a file name. */
static bool offer_arguments(const struct place *place, const struct ga_command *command)
{
    if (place->count == 0)
        offer_list(place, command->words);
    switch (command->complete) {
    case GA_COMPLETE_SETTINGS:
        offer_setting_pairs(place);
        break;
    case GA_COMPLETE_SETTING:
        offer_settings(place);
        break;
    case GA_COMPLETE_MODE:
        offer_values(place, ga_setting_find("mode"));
        break;
    case GA_COMPLETE_CONDITION:
        offer_figures(place, "replica hash nan and or not");
        break;
    case GA_COMPLETE_EXPRESSION:
        offer_expression(place);
        break;
    case GA_COMPLETE_COLUMNS:
        offer_figures(place, "replica hash");
        break;
    case GA_COMPLETE_TENSOR:
        offer_list(place, place->completion->tensors);
        break;
    case GA_COMPLETE_HELP:
        offer_help(place);
        break;
    case GA_COMPLETE_RUN:
        offer_runs(place, command);
        break;
    case GA_COMPLETE_FILE:
        if (place->count > 0 && command->exec == ga_exec_data)
            offer_list(place, data_options);
        return !*command->words || place->count > 0 || command->exec == ga_exec_data;
    default:
        break;
    }
    return false;
}

bool ga_complete(const char *line, const struct ga_completion *completion)
{
    const char *last = line + strlen(line);
    while (last > line && last[-1] != ' ' && last[-1] != '\t')
        last--;
    struct ga_words words = GA_WORDS_INIT;
    bool files = false;
    struct place place = {completion, last, NULL, 0};
    const int code = ga_words_read(&words, line, (size_t)(last - line));
    if (code == 0 && words.count == 0)
        offer_commands(&place);
    const struct ga_command *command = words.count > 0 ? ga_command_find(words.word[0]) : NULL;
    if (command) {
        place.word = words.word + 1;
        place.count = words.count - 1;
        files = offer_arguments(&place, command);
    }
    ga_words_fini(&words);
    return files;
}
