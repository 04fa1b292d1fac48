/* The tables of the language: complete, unambiguous, and all that reads them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "console/command.h"
#include "console/complete.h"
#include "console/feed.h"
#include "console/options.h"
#include "console/print.h"
#include "console/topics.h"
#include "settings/words.h"
#include "storage/record_text.h"
#include "support/support.h"

static void test_commands_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_command_count(); i++) {
        const struct ga_command *command = ga_command_at(i);
        assert_true(command->name && command->alias && command->usage && command->words);
        assert_true(strlen(command->help) > 10);
        assert_int_equal(command->help[strlen(command->help) - 1], '.');
        assert_non_null(command->exec);
        assert_true(command->least <= command->most);
        assert_true((unsigned)command->group < GA_GROUPS);
        assert_true(*ga_command_group_name(command->group));
        assert_int_equal(!*command->usage, command->most == 0);
        assert_ptr_equal(ga_command_find(command->name), command);
        if (*command->alias)
            assert_ptr_equal(ga_command_find(command->alias), command);
        for (size_t k = 0; k < i; k++)
            assert_false(ga_word_same(command->name, ga_command_at(k)->name));
    }
    assert_null(ga_command_at(ga_command_count()));
}

/* Every beginning of a name finds it, or is the beginning of another one too. */
static void test_prefixes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_command_count(); i++) {
        const char *name = ga_command_at(i)->name;
        for (size_t length = 1; length < strlen(name); length++) {
            char prefix[32] = "";
            size_t others = 0;
            memcpy(prefix, name, length);
            for (size_t k = 0; k < ga_command_count(); k++)
                others += ga_word_starts(ga_command_at(k)->name, prefix);
            const struct ga_command *found = ga_command_find(prefix);
            if (others == 1)
                assert_string_equal(found->name, name);
            else
                assert_true(!found || ga_command_named(prefix) == found);
        }
    }
}

static void test_lost_commands(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"foo", "no command is called foo"}, {"", "no command is called ''"},
        {"prnit", "did you mean print?"},    {"nxet", "did you mean next?"},
        {"e", "could be event, explain"},    {"s", "expected more letters"},
        {"ga_exec_run", "no command"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_null(ga_command_find(rows[i][0]));
        if (!strstr(ga_error_text(), rows[i][1]))
            fail_msg("%s: '%s' does not say '%s'", rows[i][0], ga_error_text(), rows[i][1]);
    }
    assert_string_equal(ga_command_find("init_from")->name, "init-from");
    assert_string_equal(ga_command_find("init_f")->name, "init-from");
    assert_string_equal(ga_command_find("step")->name, "next");
}

/* Lines fit a terminal and hold nothing that a terminal would obey. */
static void assert_page(const char *name, const char *text)
{
    size_t column = 0;
    for (const char *at = text; *at; at++) {
        column = *at == '\n' ? 0 : column + 1;
        if (column > 80 || !(isprint((unsigned char)*at) || *at == '\n'))
            fail_msg("%s: column %zu at '%.20s'", name, column, at);
    }
    assert_int_equal(text[strlen(text) - 1], '\n');
}

/* The page about logs names every field that they have. */
static void test_log_fields(void **state)
{
    (void)state;
    struct ga_text names = GA_TEXT_INIT;
    const char *page = ga_topic_named("log_fields")->text;
    ga_record_csv.head(0, &names);
    for (const char *at = ga_text_get(&names); *at; at += strcspn(at, ",\n") + 1) {
        char line[64];
        snprintf(line, sizeof(line), "\n  %.*s ", (int)strcspn(at, ",\n"), at);
        if (!strstr(page, line))
            fail_msg("help log-fields does not have%s", line);
    }
    ga_text_free(&names);
}

static void test_topics(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "mirrored",  "no_sync", "PerReplica", "all-reduce", "perreplica", "accumulation",
        "staleness", "window",  "exact",      "condition",  "script",     "async",
        "ssp",       "local",   "hogwild",    "law",        "modes",      "buffered",
        "delay",     "gauge",   "runs",       "failure"};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (!ga_topic_named(wanted[i]))
            fail_msg("no page about %s", wanted[i]);
    for (size_t i = 0; i < ga_topic_count(); i++) {
        const struct ga_topic *topic = ga_topic_at(i);
        assert_ptr_equal(ga_topic_named(topic->name), topic);
        assert_true(*topic->title && strlen(topic->title) <= 80);
        assert_page(topic->name, topic->text);
    }
    assert_null(ga_topic_named("nonsense"));
    assert_null(ga_topic_named(""));
    assert_null(ga_topic_at(ga_topic_count()));
}

static void test_print_subjects(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_subject_count(); i++) {
        const struct ga_subject *subject = ga_subject_at(i);
        assert_true(*subject->help && subject->print && subject->least <= subject->most);
        assert_ptr_equal(ga_subject_named(subject->name), subject);
    }
    assert_null(ga_subject_named("nonsense"));
    assert_null(ga_subject_at(ga_subject_count()));
}

struct offered {
    struct ga_text words;
    size_t count;
};

static void take(void *self, const char *word)
{
    struct offered *offered = self;
    ga_text_printf(&offered->words, " %s", word);
    offered->count++;
}

static void assert_offers(const char *line, const char *word, bool files)
{
    struct offered offered = {GA_TEXT_INIT, 0};
    const struct ga_completion completion = {take, &offered, "layers.0.weight layers.0.bias",
                                             "main async"};
    const bool may_be_file = ga_complete(line, &completion);
    if (may_be_file != files || (word && !ga_word_in_list(word, ga_text_get(&offered.words) + 1)))
        fail_msg("'%s' offers '%s'", line, ga_text_get(&offered.words));
    if (!word && offered.count > 0)
        fail_msg("'%s' offers '%s'", line, ga_text_get(&offered.words));
    ga_text_free(&offered.words);
}

static void test_completion(void **state)
{
    (void)state;
    assert_offers("", "run", false);
    assert_offers("ru", "run", false);
    assert_offers("zzz", NULL, false);
    assert_offers("zzz ", NULL, false);
    assert_offers("set ", "replicas", false);
    assert_offers("set acc", "accum", false);
    assert_offers("set weight_", "weight-decay", false);
    assert_offers("set optimizer ", "adamw", false);
    assert_offers("set lr 0.1 opt", "optimizer", false);
    assert_offers("set nesterov o", "off", false);
    assert_offers("set lr 0.1 nesterov ", "on", false);
    assert_offers("show ch", "changed", false);
    assert_offers("mode ", "sync", false);
    assert_offers("until lo", "loss", false);
    assert_offers("break replica 1 cos", "cosine", false);
    assert_offers("break replica 1 update", NULL, false);
    assert_offers("expect ha", "hash", false);
    assert_offers("print mem", "memory", false);
    assert_offers("print weights lay", "layers.0.weight", false);
    assert_offers("explain layers.0.b", "layers.0.bias", false);
    assert_offers("columns up", "update", false);
    assert_offers("help mirr", "mirrored", false);
    assert_offers("help wo", NULL, false);
    assert_offers("source ", NULL, true);
    assert_offers("data par", "parabola", true);
    assert_offers("data x.csv kind=c", "kind=class", true);
    assert_offers("data x.csv kind=class la", "labels=", true);
    assert_offers("log js", "jsonl", false);
    assert_offers("log te", "tensorboard", false);
    assert_offers("export s", "svg", false);
    assert_offers("log jsonl ", NULL, true);
    assert_offers("export we", "weights", false);
    assert_offers("delete a", "all", false);
    assert_offers("mode a", "async", false);
    assert_offers("use as", "async", false);
    assert_offers("use main ", NULL, false);
    assert_offers("drop ", "main", false);
    assert_offers("compare m", "main", false);
    assert_offers("compare main a", "async", false);
    assert_offers("compare main async ", "by", false);
    assert_offers("compare main async by t", "time", false);
    assert_offers("break ga", "gauge", false);
    assert_offers("say \"", NULL, false);
    assert_offers("say \"a b", NULL, false);
}

/* The manual page names every command, setting, option and topic. */
static void test_manual_page(void **state)
{
    (void)state;
    struct ga_text page = GA_TEXT_INIT;
    ga_man(&page);
    assert_false(ga_text_failed(&page));
    for (size_t i = 0; i < ga_command_count(); i++) {
        char entry[64];
        snprintf(entry, sizeof(entry), ".B %.4s", ga_command_at(i)->name);
        assert_non_null(strstr(page.data, entry));
    }
    for (size_t i = 0; i < ga_topic_count(); i++) {
        char heading[16];
        snprintf(heading, sizeof(heading), ".SH %.3s", ga_topic_at(i)->title);
        assert_non_null(strstr(page.data, heading));
    }
    assert_non_null(strstr(page.data, ".TP\n.B init\\-from FILE\n"));
    assert_non_null(strstr(page.data, ".TP\n.B \\-\\-seed N\n"));
    assert_non_null(strstr(page.data, "num_replicas_in_sync"));
    ga_text_free(&page);
}

/* What a terminal has no room for is left out, the rest stays in its order. */
static void test_columns_of_a_terminal(void **state)
{
    static const struct {
        int columns;
        const char *words;
    } terminals[] = {{0, "update epoch examples loss grad_norm lr time"},
                     {111, "update epoch examples loss grad_norm lr time"},
                     {110, "update epoch loss grad_norm lr time"},
                     {80, "update loss grad_norm lr time"},
                     {1, "update loss grad_norm lr time"}};
    (void)state;
    for (size_t i = 0; i < sizeof terminals / sizeof terminals[0]; i++) {
        struct ga_columns columns;
        struct ga_text text = GA_TEXT_INIT;
        ga_columns_default(&columns, terminals[i].columns);
        ga_columns_write(&columns, &text);
        assert_string_equal(ga_text_get(&text), terminals[i].words);
        ga_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands_are_complete),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_lost_commands),
        cmocka_unit_test(test_topics),
        cmocka_unit_test(test_log_fields),
        cmocka_unit_test(test_print_subjects),
        cmocka_unit_test(test_completion),
        cmocka_unit_test(test_manual_page),
        cmocka_unit_test(test_columns_of_a_terminal),
    };
    return ga_test_main(tests);
}
