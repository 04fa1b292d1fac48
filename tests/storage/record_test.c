#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "storage/export.h"
#include "storage/record_text.h"
#include "support/support.h"
#include "train/state.h"

static const struct ga_update_record sample = {
    .update = 12,
    .epoch = 3,
    .examples = 600,
    .micros = 120,
    .skipped = 1,
    .dropped = 7,
    .bytes = UINT64_MAX,
    .time_ns = 12000000340,
    .window_examples = 50,
    .window_micros = 10,
    .window_weight = 49.5,
    .loss = 0.1,
    .grad_norm = 1e-300,
    .clip_scale = 1,
    .lr = 0.01,
    .update_norm = NAN,
    .param_norm = -INFINITY,
    .noise_trace = 3,
    .noise_signal = 2,
    .scale = 0.25,
    .pushes = 8,
    .stale = 36,
    .lost = 5,
    .staleness = 6,
    .replica = 3,
    .applied = true,
    .mode = GA_MODE_BUFFERED,
};

static const char csv_names[] =
    "update,applied,epoch,micro_batches,examples,skipped,examples_dropped,bytes,time,window,"
    "window_micros,window_weight,loss,grad_norm,clip_scale,lr,update_norm,param_norm,noise_scale,"
    "noise_trace,noise_signal,mode,replica,scale,pushes,staleness,staleness_mean,lost\n";
static const char csv_sample[] =
    "12,true,3,120,600,1,7,18446744073709551615,12.00000034,50,10,49.5,"
    "0.1,1e-300,1,0.01,nan,-inf,1.5,3,2,buffered,3,0.25,8,6,4.5,5\n";
static const char jsonl_sample[] =
    "{\"update\":12,\"applied\":true,\"epoch\":3,\"micro_batches\":120,\"examples\":600,"
    "\"skipped\":1,"
    "\"examples_dropped\":7,\"bytes\":18446744073709551615,\"time\":12.00000034,\"window\":50,"
    "\"window_micros\":10,\"window_weight\":49.5,\"loss\":0.1,\"grad_norm\":1e-300,\"clip_scale\":"
    "1,"
    "\"lr\":0.01,\"update_norm\":null,\"param_norm\":null,\"noise_scale\":1.5,\"noise_trace\":3,"
    "\"noise_signal\":2,\"mode\":\"buffered\",\"replica\":3,\"scale\":0.25,\"pushes\":8,"
    "\"staleness\":6,\"staleness_mean\":4.5,\"lost\":5}\n";

static void assert_form(const struct ga_record_form *form, const char *head, const char *line)
{
    struct ga_text text = GA_TEXT_INIT;
    form->head(0, &text);
    assert_string_equal(ga_text_get(&text), head);
    ga_text_clear(&text);
    form->line(&sample, &ga_record_no_seats, &text);
    assert_string_equal(ga_text_get(&text), line);
    ga_text_free(&text);
}

static void records_have_their_documented_form(void **unused)
{
    (void)unused;
    assert_form(&ga_record_jsonl, "", jsonl_sample);
    assert_form(&ga_record_csv, csv_names, csv_sample);
}

static void a_locale_changes_nothing(void **unused)
{
    (void)unused;
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE",
                                          "ru_RU.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof locales / sizeof locales[0] && !found; i++)
        found = setlocale(LC_ALL, locales[i]);
    if (!found)
        ga_test_skip("no locale with a decimal comma is installed");
    assert_form(&ga_record_jsonl, "", jsonl_sample);
    assert_form(&ga_record_csv, csv_names, csv_sample);
    setlocale(LC_ALL, "C");
}

/* A window that nobody pushed into. */
static void what_is_not_there_has_a_form(void **unused)
{
    (void)unused;
    static const struct ga_update_record none = {.replica = -1, .staleness = UINT32_MAX};
    struct ga_text text = GA_TEXT_INIT;
    ga_record_jsonl.line(&none, &ga_record_no_seats, &text);
    assert_non_null(strstr(ga_text_get(&text), "\"mode\":\"sync\",\"replica\":-1,"));
    assert_non_null(strstr(ga_text_get(&text), "\"staleness\":4294967295,"));
    assert_non_null(strstr(ga_text_get(&text), "\"staleness_mean\":null,"));
    ga_text_clear(&text);
    ga_record_csv.line(&none, &ga_record_no_seats, &text);
    assert_non_null(strstr(ga_text_get(&text), ",sync,-1,0,0,4294967295,nan,0\n"));
    ga_text_free(&text);
}

/* Behind all else, and only where a log asks for it. */
static void seats_are_more_columns(void **unused)
{
    (void)unused;
    const struct ga_readings readings[] = {{.utilisation = 0.97,
                                            .memory_used = 4294967296.0,
                                            .temperature = 41,
                                            .power = 120.5,
                                            .work = 0.25},
                                           ga_readings_unknown()};
    const struct ga_record_seats seats = {2, readings};
    struct ga_text text = GA_TEXT_INIT;
    ga_record_jsonl.head(2, &text);
    assert_string_equal(ga_text_get(&text), "");
    ga_record_jsonl.line(&sample, &seats, &text);
    assert_non_null(strstr(ga_text_get(&text),
                           "\"lost\":5,\"replica_0_util\":0.97,\"replica_0_memory\":4294967296,"
                           "\"replica_0_temperature\":41,\"replica_0_power\":120.5,\"replica_0_"
                           "device_time\":0.25,\"replica_1_util\":null,"
                           "\"replica_1_memory\":null,\"replica_1_temperature\":null,\"replica_1_"
                           "power\":null,\"replica_1_device_time\":null}\n"));
    ga_text_clear(&text);
    ga_record_csv.head(2, &text);
    assert_non_null(strstr(ga_text_get(&text),
                           ",lost,replica_0_util,replica_0_memory,replica_0_temperature,replica_0_"
                           "power,replica_0_device_time,"
                           "replica_1_util,replica_1_memory,replica_1_temperature,replica_1_power,"
                           "replica_1_device_time\n"));
    ga_text_clear(&text);
    ga_record_csv.line(&sample, &seats, &text);
    assert_non_null(
        strstr(ga_text_get(&text), ",5,0.97,4294967296,41,120.5,0.25,nan,nan,nan,nan,nan\n"));
    ga_text_free(&text);
}

static void times_are_exact(void **unused)
{
    (void)unused;
    static const struct {
        int64_t time_ns;
        const char *text;
    } times[] = {{0, ",0,"},
                 {1, ",0.000000001,"},
                 {1500000000, ",1.5,"},
                 {INT64_MAX, ",9223372036.854775807,"},
                 {INT64_MIN, ",-9223372036.854775808,"}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct ga_update_record record = sample;
        struct ga_text text = GA_TEXT_INIT;
        record.time_ns = times[i].time_ns;
        ga_record_csv.line(&record, &ga_record_no_seats, &text);
        assert_non_null(strstr(ga_text_get(&text), times[i].text));
        ga_text_free(&text);
    }
}

/* Every line of a csv text is the next update. */
static void assert_updates(const char *text, uint64_t first, uint64_t last)
{
    const char *line = strchr(text, '\n');
    assert_non_null(line);
    for (uint64_t update = first; update <= last; update++) {
        char want[32];
        snprintf(want, sizeof want, "\n%llu,", (unsigned long long)update);
        assert_memory_equal(line, want, strlen(want));
        line = strchr(line + 1, '\n');
        assert_non_null(line);
    }
    assert_string_equal(line, "\n");
}

static void assert_file_updates(const char *path, uint64_t first, uint64_t last)
{
    size_t length = 0;
    char *text = ga_test_read_file(path, &length);
    assert_updates(text, first, last);
    free(text);
}

static void export_history(const char *path, uint64_t count)
{
    struct ga_export *export = NULL;
    struct ga_update_record record = sample;
    assert_int_equal(ga_export_open(&export, path), GA_OK);
    for (record.update = 1; record.update <= count; record.update++)
        assert_int_equal(ga_export_record(&record, export), GA_OK);
    assert_int_equal(ga_export_commit(export), GA_OK);
}

static void history_is_exported_by_extension(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *csv = ga_test_path(folder, "h.csv");
    char *jsonl = ga_test_path(folder, "csv");
    size_t length = 0;
    export_history(csv, 1000);
    assert_file_updates(csv, 1, 1000);
    export_history(jsonl, 1);
    char *text = ga_test_read_file(jsonl, &length);
    assert_memory_equal(text, "{\"update\":1,\"applied\":true,", 27);
    free(text);
    free(jsonl);
    free(csv);
    ga_test_folder_remove(folder);
}

static void an_abandoned_export_keeps_the_old_file(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "h.csv");
    struct ga_export *export = NULL;
    export_history(path, 3);
    assert_int_equal(ga_export_open(&export, path), GA_OK);
    assert_int_equal(ga_export_record(&sample, export), GA_OK);
    ga_export_abandon(export);
    ga_export_abandon(NULL);
    assert_file_updates(path, 1, 3);
    assert_int_equal(ga_export_open(&export, path), GA_OK);
    ga_test_allocation_limit(0);
    const int code = ga_export_record(&sample, export);
    ga_test_allocation_free();
    if (code) {
        assert_int_equal(code, GA_ENOMEM);
        assert_int_equal(ga_export_record(&sample, export), GA_OK);
        assert_int_equal(ga_export_commit(export), GA_ENOMEM);
        assert_file_updates(path, 1, 3);
    } else {
        ga_export_abandon(export);
    }
    assert_true(ga_export_open(&export, folder) < 0);
    free(path);
    ga_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_have_their_documented_form),
        cmocka_unit_test(a_locale_changes_nothing),
        cmocka_unit_test(what_is_not_there_has_a_form),
        cmocka_unit_test(seats_are_more_columns),
        cmocka_unit_test(times_are_exact),
        cmocka_unit_test(history_is_exported_by_extension),
        cmocka_unit_test(an_abandoned_export_keeps_the_old_file),
    };
    return ga_test_main(tests);
}
