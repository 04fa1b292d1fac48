#include "storage/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "storage/record_text.h"

struct ga_export {
    struct ga_writer *writer;
    const struct ga_record_form *form;
    struct ga_text line;
    char *path;
    int code; /* of the first record that was not written */
};

static const struct ga_record_form *form_of(const char *path)
{
    const size_t length = strlen(path);
    const bool csv = length >= 4 && strcmp(path + length - 4, ".csv") == 0;
    return csv ? &ga_record_csv : &ga_record_jsonl;
}

/* Writes what was appended to the line and empties it. */
static int put(struct ga_export *export)
{
    if (ga_text_failed(&export->line))
        return ga_fail(GA_ENOMEM, "%s: no memory for a line", export->path);
    const int code =
        ga_writer_write(export->writer, ga_text_get(&export->line), export->line.length);
    ga_text_clear(&export->line);
    return code;
}

int ga_export_open(struct ga_export **out, const char *path)
{
    struct ga_export *export = ga_alloc(1, sizeof *export);
    if (!export)
        return ga_error_code();
    export->form = form_of(path);
    export->path = ga_copy_string(path);
    int code = export->path ? ga_writer_open(&export->writer, path) : ga_error_code();
    if (!code) {
        export->form->head(0, &export->line);
        code = put(export);
    }
    if (code) {
        ga_export_abandon(export);
        return code;
    }
    *out = export;
    return GA_OK;
}

int ga_export_record(const struct ga_update_record *record, void *export)
{
    struct ga_export *self = export;
    self->form->line(record, &ga_record_no_seats, &self->line);
    const int code = put(self);
    if (!self->code)
        self->code = code;
    return code;
}

static void release(struct ga_export *export)
{
    ga_text_free(&export->line);
    free(export->path);
    free(export);
}

int ga_export_commit(struct ga_export *export)
{
    int code = export->code;
    if (code) {
        ga_fail(code, "%s: not written, a record of it is missing", export->path);
        ga_export_abandon(export);
        return code;
    }
    code = ga_writer_commit(export->writer);
    release(export);
    return code;
}

void ga_export_abandon(struct ga_export *export)
{
    if (!export)
        return;
    ga_writer_abandon(export->writer);
    release(export);
}
