#include "ui/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/thread.h"
#include "storage/cast.h"
#include "ui/paint.h"

#define TERM   "xterm-256color"
#define CLEAR  "\x1b[m\x1b[H\x1b[2J"
#define HIDE   "\x1b[?25l"
#define REVEAL "\x1b[?25h"

struct ga_recorder {
    struct ga_cast *cast;
    struct ga_paint paint;
    struct ga_cells shown, wanted;
    enum ga_theme theme; /* GA_THEMES: none yet */
    bool stale;
    struct ga_text frame;
};

int ga_recorder_open(struct ga_recorder **out, const char *path, const struct ga_cells *cells,
                     bool utf8, bool colored)
{
    *out = NULL;
    struct ga_recorder *recorder = ga_alloc(1, sizeof(*recorder));
    if (!recorder)
        return GA_ENOMEM;
    recorder->theme = GA_THEMES;
    recorder->stale = true;
    ga_paint_init(&recorder->paint, utf8, colored ? 256 : 0);
    int code = ga_cells_open(&recorder->shown, cells->rows, cells->columns, GA_GLYPHS_ASCII);
    if (code == 0)
        code = ga_cells_open(&recorder->wanted, cells->rows, cells->columns, GA_GLYPHS_ASCII);
    if (code == 0)
        code = ga_cast_open(&recorder->cast, path, cells->columns, cells->rows, TERM, ga_now_ns());
    if (code < 0) {
        struct ga_error error;
        ga_error_take(&error);
        ga_recorder_close(recorder);
        return ga_error_put(&error);
    }
    *out = recorder;
    return 0;
}

static int follow_size(struct ga_recorder *recorder, const struct ga_cells *cells, int64_t now_ns)
{
    if (cells->rows == recorder->shown.rows && cells->columns == recorder->shown.columns)
        return 0;
    int code = ga_cells_resize(&recorder->shown, cells->rows, cells->columns);
    if (code == 0)
        code = ga_cells_resize(&recorder->wanted, cells->rows, cells->columns);
    if (code == 0)
        code = ga_cast_resize(recorder->cast, cells->columns, cells->rows, now_ns);
    recorder->stale = true;
    return code;
}

static void begin_anew(struct ga_recorder *recorder)
{
    ga_cells_clear(&recorder->shown);
    ga_paint_forget(&recorder->paint);
    ga_text_puts(&recorder->frame, CLEAR);
    recorder->stale = false;
}

int ga_recorder_show(struct ga_recorder *recorder, const struct ga_cells *cells,
                     enum ga_theme theme, int cursor_row, int cursor_column)
{
    const int64_t now_ns = ga_now_ns();
    const size_t count = (size_t)cells->rows * (size_t)cells->columns;
    const int code = follow_size(recorder, cells, now_ns);
    struct ga_text *frame = &recorder->frame;
    if (code < 0)
        return code;
    ga_text_clear(frame);
    if (theme != recorder->theme) {
        ga_paint_theme(&recorder->paint, theme);
        recorder->theme = theme;
        recorder->stale = true;
    }
    if (recorder->stale)
        begin_anew(recorder);
    memcpy(recorder->wanted.cell, cells->cell, count * sizeof(*cells->cell));
    for (int row = 0; row < cells->rows; row++)
        ga_paint_prepare(&recorder->paint,
                         recorder->wanted.cell + (size_t)row * (size_t)cells->columns,
                         cells->columns);
    const size_t before = frame->length;
    ga_paint_frame(&recorder->paint, recorder->shown.cell, recorder->wanted.cell, cells->rows,
                   cells->columns, frame);
    memcpy(recorder->shown.cell, recorder->wanted.cell, count * sizeof(*cells->cell));
    if (cursor_row >= 0)
        ga_paint_move(&recorder->paint, cursor_row, cursor_column, frame);
    if (frame->length > before)
        ga_text_puts(frame, cursor_row >= 0 ? REVEAL : HIDE);
    if (ga_text_failed(frame))
        return ga_fail(GA_ENOMEM, "cast %s: no memory for a frame", ga_recorder_path(recorder));
    return ga_cast_output(recorder->cast, ga_text_get(frame), frame->length, now_ns);
}

const char *ga_recorder_path(const struct ga_recorder *recorder)
{
    return ga_cast_path(recorder->cast);
}

int ga_recorder_close(struct ga_recorder *recorder)
{
    if (!recorder)
        return 0;
    const int code = ga_cast_close(recorder->cast);
    ga_cells_close(&recorder->shown);
    ga_cells_close(&recorder->wanted);
    ga_text_free(&recorder->frame);
    free(recorder);
    return code;
}
