/* The text formats: one line a record. */
#include "storage/log_formats.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/log_file.h"
#include "storage/log_seats.h"
#include "storage/record_text.h"

struct ga_log_sink {
    const struct ga_record_form *form;
    struct ga_log_file file;
    struct ga_log_readings readings;
};

static int record_line(struct ga_log_sink *sink, const struct ga_update_record *record)
{
    ga_log_readings_refresh(&sink->readings);
    const struct ga_record_seats seats = {sink->readings.seats.count, sink->readings.readings};
    sink->form->line(record, &seats, &sink->file.text);
    return ga_log_file_write(&sink->file);
}

static int flush(struct ga_log_sink *sink)
{
    return ga_log_file_flush(&sink->file);
}

static int close_sink(struct ga_log_sink *sink)
{
    const int code = ga_log_file_close(&sink->file);
    ga_log_readings_fini(&sink->readings);
    free(sink);
    return code;
}

static int open_form(struct ga_log_sink **out, const char *path,
                     const struct ga_log_options *options, const struct ga_record_form *form)
{
    struct ga_log_sink *sink = ga_alloc(1, sizeof *sink);
    if (!sink)
        return ga_error_code();
    sink->form = form;
    int code = ga_log_readings_init(&sink->readings, &options->seats);
    if (!code)
        code = ga_log_file_open(&sink->file, path, options->patience_ns);
    if (code) {
        ga_log_readings_fini(&sink->readings);
        free(sink);
        return code;
    }
    form->head(options->seats.count, &sink->file.text);
    *out = sink;
    return GA_OK;
}

static int open_jsonl(struct ga_log_sink **out, const char *path,
                      const struct ga_log_options *options)
{
    return open_form(out, path, options, &ga_record_jsonl);
}

static int open_csv(struct ga_log_sink **out, const char *path,
                    const struct ga_log_options *options)
{
    return open_form(out, path, options, &ga_record_csv);
}

const struct ga_log_format ga_log_jsonl = {
    .name = "jsonl",
    .help = "one JSON object a line",
    .open = open_jsonl,
    .record = record_line,
    .flush = flush,
    .close = close_sink,
};
const struct ga_log_format ga_log_csv = {
    .name = "csv",
    .help = "comma-separated values",
    .open = open_csv,
    .record = record_line,
    .flush = flush,
    .close = close_sink,
};
