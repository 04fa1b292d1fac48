/*
 * Event files, read by a reader of its own: the framing of records, CRC-32C from its definition bit
 * by bit, protocol buffers field by field.
 */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/crc32c.h"
#include "storage/log.h"
#include "storage/run_support.h"
#include "support/support.h"

#define MOST_SCALARS 32

/* What one record says. */
struct read_event {
    double time;
    uint64_t step;
    char version[32];
    bool restart;
    size_t scalars;
    struct {
        char tag[32];
        float value;
    } scalar[MOST_SCALARS];
};

/* Remainder by the polynomial x^32 + x^28 + ... + 1 (0x1edc6f41), bits lowest first. */
static uint32_t crc_by_definition(const uint8_t *bytes, size_t count)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < 8 * count; i++) {
        const uint32_t bit = (uint32_t)(bytes[i / 8] >> (i % 8)) & 1u;
        const bool carry = ((crc ^ bit) & 1u) != 0;
        crc >>= 1;
        for (int power = 0; carry && power < 32; power++)
            crc ^= (0x1edc6f41u >> power & 1u) << (31 - power);
    }
    return crc ^ 0xffffffffu;
}

static uint64_t little_endian(const uint8_t *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static uint32_t masked(uint32_t crc)
{
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

struct field {
    unsigned number, wire;
    uint64_t value; /* varint, fixed */
    const uint8_t *bytes;
    size_t count;
};

static uint64_t read_varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        assert_true(*at < end && shift < 64);
        const uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

static struct field read_field(const uint8_t **at, const uint8_t *end)
{
    const uint64_t key = read_varint(at, end);
    struct field field = {.number = (unsigned)(key >> 3), .wire = (unsigned)(key & 7)};
    if (field.wire == 0) {
        field.value = read_varint(at, end);
        return field;
    }
    assert_true(field.wire == 1 || field.wire == 2 || field.wire == 5);
    field.count = field.wire == 1 ? 8 : field.wire == 5 ? 4 : (size_t)read_varint(at, end);
    assert_true(field.count <= (size_t)(end - *at));
    field.bytes = *at;
    if (field.wire != 2)
        field.value = little_endian(*at, (int)field.count);
    *at += field.count;
    return field;
}

static void read_value(struct read_event *event, struct field of)
{
    const uint8_t *at = of.bytes, *end = at + of.count;
    const size_t k = event->scalars++;
    assert_true(k < MOST_SCALARS);
    while (at < end) {
        const struct field field = read_field(&at, end);
        const uint32_t bits = (uint32_t)field.value;
        if (field.number == 1)
            snprintf(event->scalar[k].tag, sizeof event->scalar[k].tag, "%.*s", (int)field.count,
                     (const char *)field.bytes);
        else if (field.number == 2)
            memcpy(&event->scalar[k].value, &bits, sizeof bits);
        else
            fail_msg("Value has field %u", field.number);
    }
}

static void read_event(struct read_event *event, const uint8_t *at, size_t count)
{
    const uint8_t *end = at + count;
    memset(event, 0, sizeof *event);
    while (at < end) {
        const struct field field = read_field(&at, end);
        const uint8_t *in = field.bytes;
        if (field.number == 1 && field.wire == 1)
            memcpy(&event->time, &field.value, sizeof event->time);
        else if (field.number == 2 && field.wire == 0)
            event->step = field.value;
        else if (field.number == 3 && field.wire == 2)
            snprintf(event->version, sizeof event->version, "%.*s", (int)field.count,
                     (const char *)field.bytes);
        else if (field.number == 5 && field.wire == 2)
            while (in < field.bytes + field.count)
                read_value(event, read_field(&in, field.bytes + field.count));
        else if (field.number == 7 && field.wire == 2)
            event->restart = field.count == 2 && in[0] == 8 && in[1] == 1;
        else
            fail_msg("Event has field %u of kind %u", field.number, field.wire);
    }
}

/* All records of the one event file of a folder, to be freed. */
static struct read_event *read_folder(const char *folder, size_t *count)
{
    char pattern[4096];
    glob_t found;
    size_t length = 0;
    snprintf(pattern, sizeof pattern, "%s/events.out.tfevents.*", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    uint8_t *bytes = (uint8_t *)ga_test_read_file(found.gl_pathv[0], &length);
    struct read_event *events = calloc(length / 16 + 1, sizeof *events);
    assert_non_null(events);
    *count = 0;
    for (size_t at = 0; at < length;) {
        assert_true(length - at >= 16);
        const uint64_t size = little_endian(bytes + at, 8);
        assert_int_equal(little_endian(bytes + at + 8, 4),
                         masked(crc_by_definition(bytes + at, 8)));
        assert_true(size <= length - at - 16);
        assert_int_equal(little_endian(bytes + at + 12 + size, 4),
                         masked(crc_by_definition(bytes + at + 12, size)));
        read_event(&events[(*count)++], bytes + at + 12, size);
        at += 16 + size;
    }
    globfree(&found);
    free(bytes);
    return events;
}

/* NaN when the record has no such tag. */
static float scalar_of(const struct read_event *event, const char *tag)
{
    for (size_t i = 0; i < event->scalars; i++)
        if (strcmp(event->scalar[i].tag, tag) == 0)
            return event->scalar[i].value;
    return NAN;
}

static void crc_is_the_one_of_its_definition(void **unused)
{
    (void)unused;
    uint8_t bytes[300];
    assert_int_equal(ga_crc32c("123456789", 9), 0xe3069283); /* the check value of CRC-32C */
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * i * 7 + i);
        assert_int_equal(ga_crc32c(bytes, i), crc_by_definition(bytes, i));
    }
}

struct seen {
    struct ga_log *log;
    struct ga_run *run;
    size_t count;
    struct ga_update_record record[64];
    double replica_loss[64][3];
};

static void on_record(void *self, const struct ga_update_record *record)
{
    struct seen *seen = self;
    for (size_t r = 0; r < 3; r++)
        seen->replica_loss[seen->count][r] = ga_run_replica(seen->run, r)->loss;
    seen->record[seen->count++] = *record;
    ga_log_record_run(seen->log, seen->run, record);
}

static struct ga_log *open_log(const char *folder)
{
    struct ga_log *log = NULL;
    const struct ga_log_options options = {.format = ga_log_format_find("tensorboard")};
    assert_non_null(options.format);
    if (ga_log_open(&log, folder, &options))
        fail_msg("%s", ga_error_text());
    return log;
}

static void train(struct seen *seen, const char *folder)
{
    struct ga_run_start start = {.data = run_open_data("parabola")};
    assert_non_null(start.data);
    ga_settings_default(&start.settings);
    assert_int_equal(run_set_words(&start.settings, "replicas=3 mode=async"), 0);
    assert_int_equal(ga_run_open(&seen->run, &start), 0);
    seen->log = open_log(folder);
    ga_run_watch(seen->run, NULL, on_record, seen);
    while (seen->count < 40)
        assert_int_equal(ga_run_event(seen->run), 0);
    assert_int_equal(ga_log_close(seen->log), GA_OK);
    ga_run_close(seen->run);
    ga_dataset_close(start.data);
}

static void assert_windows(const char *folder, const struct seen *seen)
{
    size_t count = 0;
    struct read_event *events = read_folder(folder, &count);
    assert_int_equal(count, seen->count + 2);
    assert_string_equal(events[0].version, "brain.Event:2");
    assert_true(events[1].restart);
    assert_int_equal(events[1].step, 1);
    for (size_t i = 0; i < seen->count; i++) {
        const struct read_event *event = &events[i + 2];
        const struct ga_update_record *record = &seen->record[i];
        assert_int_equal(event->step, record->update);
        assert_true(event->time >= events[0].time && event->time > 1.5e9);
        assert_true(scalar_of(event, "loss") == (float)record->loss);
        assert_true(scalar_of(event, "grad_norm") == (float)record->grad_norm);
        assert_true(scalar_of(event, "lr") == (float)record->lr);
        assert_true(scalar_of(event, "window") == (float)record->window_examples);
        assert_true(scalar_of(event, "time") == (float)((double)record->time_ns / 1e9));
        assert_true(scalar_of(event, "staleness") == (float)record->staleness);
    }
    free(events);
}

static void assert_replica(const char *folder, const struct seen *seen, size_t replica)
{
    size_t count = 0;
    struct read_event *events = read_folder(folder, &count);
    assert_string_equal(events[0].version, "brain.Event:2");
    assert_true(events[1].restart);
    for (size_t i = 2; i < count; i++) {
        const uint64_t update = events[i].step;
        assert_true(update >= 1 && update <= seen->count);
        const float loss = scalar_of(&events[i], "loss");
        const double want = seen->replica_loss[update - 1][replica];
        assert_true(isnan(want) ? isnan(loss) : loss == (float)want);
    }
    assert_int_equal(events[count - 1].step, seen->count);
    free(events);
}

static void a_run_reads_back(void **unused)
{
    (void)unused;
    struct seen seen = {0};
    char *top = ga_test_folder(), *folder = ga_test_path(top, "run");
    train(&seen, folder);
    assert_windows(folder, &seen);
    for (size_t r = 0; r < 3; r++) {
        char name[32];
        snprintf(name, sizeof name, "run/replica-%zu", r);
        char *of_replica = ga_test_path(top, name);
        assert_replica(of_replica, &seen, r);
        free(of_replica);
    }
    free(folder);
    ga_test_folder_remove(top);
}

/* Where update numbers fall a restart says what no longer counts; what is not finite is kept for
 * the loss and left out elsewhere. */
static void going_back_is_a_restart(void **unused)
{
    (void)unused;
    struct ga_update_record record = {
        .update = 5, .loss = INFINITY, .noise_trace = NAN, .update_norm = NAN, .applied = true};
    char *folder = ga_test_folder();
    struct ga_log *log = open_log(folder);
    ga_log_record(log, &record);
    record.update = 6;
    ga_log_record(log, &record);
    record.update = 3;
    record.loss = 1;
    ga_log_record(log, &record);
    assert_int_equal(ga_log_close(log), GA_OK);
    size_t count = 0;
    struct read_event *events = read_folder(folder, &count);
    assert_int_equal(count, 6);
    static const struct {
        uint64_t step;
        bool restart;
    } want[] = {{0, false}, {5, true}, {5, false}, {6, false}, {3, true}, {3, false}};
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(events[i].step, want[i].step);
        assert_int_equal(events[i].restart, want[i].restart);
    }
    assert_true(isinf(scalar_of(&events[2], "loss")));
    assert_true(isnan(scalar_of(&events[2], "noise_scale")));
    for (size_t i = 0; i < events[2].scalars; i++)
        assert_string_not_equal(events[2].scalar[i].tag, "update_norm");
    free(events);
    ga_test_folder_remove(folder);
}

/* A second log into the same folder gets a file of its own. */
static void files_are_never_overwritten(void **unused)
{
    (void)unused;
    char pattern[4096];
    glob_t found;
    char *folder = ga_test_folder();
    for (int i = 0; i < 3; i++)
        assert_int_equal(ga_log_close(open_log(folder)), GA_OK);
    snprintf(pattern, sizeof pattern, "%s/events.out.tfevents.*", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 3);
    globfree(&found);
    ga_test_folder_remove(folder);
}

static void assert_open_refused(const char *path, const char *text)
{
    struct ga_log *log = NULL;
    const struct ga_log_options options = {.format = ga_log_format_find("tensorboard")};
    assert_int_equal(ga_log_open(&log, path, &options), GA_EIO);
    assert_null(log);
    assert_non_null(strstr(ga_error_text(), text));
}

static void a_wrong_folder_is_refused(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *file = ga_test_path(folder, "file");
    char *below = ga_test_path(folder, "none/run");
    ga_test_write_file(file, "", 0);
    assert_open_refused(file, "not a directory, expected a folder");
    assert_open_refused(below, "cannot make the folder of log ");
    free(below);
    free(file);
    ga_test_folder_remove(folder);
}

static void a_lack_of_memory_is_an_error(void **unused)
{
    (void)unused;
    const struct ga_log_options options = {.format = ga_log_format_find("tensorboard")};
    const struct ga_update_record record = {.update = 1, .loss = 1, .applied = true};
    int code = GA_ENOMEM;
    for (int64_t limit = 0; code; limit++) {
        struct ga_log *log = NULL;
        char *folder = ga_test_folder();
        ga_test_allocation_limit(limit);
        code = ga_log_open(&log, folder, &options);
        if (!code)
            ga_log_record(log, &record);
        const int closed = ga_log_close(log);
        ga_test_allocation_free();
        assert_true(closed == GA_OK || closed == GA_ENOMEM);
        assert_true(code == GA_OK || code == GA_ENOMEM);
        code = code ? code : closed;
        ga_test_folder_remove(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_is_the_one_of_its_definition),
        cmocka_unit_test(a_run_reads_back),
        cmocka_unit_test(going_back_is_a_restart),
        cmocka_unit_test(files_are_never_overwritten),
        cmocka_unit_test(a_wrong_folder_is_refused),
        cmocka_unit_test(a_lack_of_memory_is_an_error),
    };
    return ga_test_main(tests);
}
