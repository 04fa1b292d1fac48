#include "storage/export_svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "storage/svg.h"
#include "train/state.h"

/* The curves, in the order of their panels. */
enum curve {
    LOSS,
    LOSS_SMOOTH,
    GRAD_NORM,
    UPDATE_NORM,
    STALENESS,
    STALENESS_MEAN,
    LR,
    NOISE_SCALE,
    CURVES
};

#define SMOOTHING  0.95 /* weight of what came before */
#define MOST_MARKS 32

struct ga_export_svg {
    size_t count, capacity;
    double *x;
    double *y[CURVES];
    size_t capacities[CURVES];
    double mean, weight; /* of the smoothed loss, so far */
    uint8_t mode;
    size_t marks;
    struct ga_svg_mark mark[MOST_MARKS];
};

static const struct {
    const char *title, *unit;
    bool logarithmic;
    bool constant_too; /* shown also where nothing moves */
    size_t count;
    struct {
        enum curve curve;
        const char *name;
        bool faint;
    } curve[2];
} panels[] = {
    {"Loss", "", true, true, 2, {{LOSS, "window", true}, {LOSS_SMOOTH, "smoothed over 20", false}}},
    {"Norms", "", true, true, 2, {{GRAD_NORM, "gradient", false}, {UPDATE_NORM, "update", false}}},
    {"Staleness",
     "updates",
     false,
     false,
     2,
     {{STALENESS, "largest in the window", true}, {STALENESS_MEAN, "mean so far", false}}},
    {"Learning rate", "", true, false, 1, {{LR, "after schedule and scale", false}}},
    {"Noise scale", "examples", true, false, 1, {{NOISE_SCALE, "smoothed", false}}},
};
#define PANELS (sizeof panels / sizeof panels[0])

int ga_export_svg_open(struct ga_export_svg **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : ga_error_code();
}

void ga_export_svg_close(struct ga_export_svg *export)
{
    if (!export)
        return;
    for (size_t i = 0; i < CURVES; i++)
        free(export->y[i]);
    free(export->x);
    free(export);
}

static int grow(struct ga_export_svg *export)
{
    void *x = export->x;
    int code = ga_grow(&x, &export->capacity, export->count + 1, sizeof *export->x);
    export->x = x;
    for (size_t i = 0; !code && i < CURVES; i++) {
        void *y = export->y[i];
        code = ga_grow(&y, &export->capacities[i], export->count + 1, sizeof **export->y);
        export->y[i] = y;
    }
    return code;
}

/* A moving mean that is right from the first value on. */
static double smooth(struct ga_export_svg *export, double loss)
{
    if (isfinite(loss)) {
        export->mean = SMOOTHING * export->mean + (1 - SMOOTHING) * loss;
        export->weight = SMOOTHING * export->weight + (1 - SMOOTHING);
    }
    return export->mean / export->weight;
}

static void mark_mode(struct ga_export_svg *export, const struct ga_update_record *record)
{
    const char *word = ga_choice_word("mode", record->mode);
    if ((export->count > 0 && record->mode == export->mode) || export->marks == MOST_MARKS || !word)
        return;
    export->mode = record->mode;
    export->mark[export->marks++] = (struct ga_svg_mark){(double)record->update, word};
}

int ga_export_svg_record(const struct ga_update_record *record, void *export)
{
    struct ga_export_svg *self = export;
    const size_t k = self->count;
    const int code = grow(self);
    if (code)
        return code;
    mark_mode(self, record);
    self->x[k] = (double)record->update;
    self->y[LOSS][k] = record->loss;
    self->y[LOSS_SMOOTH][k] = smooth(self, record->loss);
    self->y[GRAD_NORM][k] = record->grad_norm;
    self->y[UPDATE_NORM][k] = record->applied ? record->update_norm : NAN;
    self->y[STALENESS][k] = record->pushes ? record->staleness : 0;
    self->y[STALENESS_MEAN][k] =
        record->pushes ? (double)record->stale / (double)record->pushes : 0;
    self->y[LR][k] = record->lr;
    self->y[NOISE_SCALE][k] = record->noise_trace / record->noise_signal;
    self->count++;
    return GA_OK;
}

/* Whether a curve has two values that differ. */
static bool moves(const struct ga_export_svg *export, enum curve curve)
{
    const double *y = export->y[curve];
    double first = NAN;
    for (size_t i = 0; i < export->count; i++) {
        if (!isfinite(y[i]))
            continue;
        if (isfinite(first) && y[i] != first)
            return true;
        first = y[i];
    }
    return false;
}

static size_t choose_panels(const struct ga_export_svg *export, struct ga_svg_panel *out)
{
    size_t count = 0;
    for (size_t p = 0; p < PANELS; p++) {
        if (!panels[p].constant_too && !moves(export, panels[p].curve[0].curve))
            continue;
        struct ga_svg_panel *panel = &out[count++];
        *panel = (struct ga_svg_panel){.title = panels[p].title,
                                       .unit = panels[p].unit,
                                       .logarithmic = panels[p].logarithmic,
                                       .count = panels[p].count};
        for (size_t s = 0; s < panel->count; s++)
            panel->series[s] =
                (struct ga_svg_series){panels[p].curve[s].name, export->y[panels[p].curve[s].curve],
                                       panels[p].curve[s].faint};
    }
    return count;
}

static int write_text(const struct ga_text *text, const char *path)
{
    struct ga_writer *writer = NULL;
    if (ga_text_failed(text))
        return ga_fail(GA_ENOMEM, "%s: no memory for the picture", path);
    int code = ga_writer_open(&writer, path);
    if (code)
        return code;
    code = ga_writer_write(writer, ga_text_get(text), text->length);
    if (!code)
        return ga_writer_commit(writer);
    ga_writer_abandon(writer);
    return code;
}

int ga_export_svg_write(const struct ga_export_svg *export, const char *path, const char *title,
                        const char *subtitle)
{
    struct ga_svg_panel panel[PANELS];
    struct ga_text text = GA_TEXT_INIT;
    if (export->count == 0)
        return ga_fail(GA_ESTATE, "%s: no updates to draw, expected some: `run 100`", path);
    const struct ga_svg_chart chart = {.title = title,
                                       .subtitle = subtitle,
                                       .x_label = "updates",
                                       .points = export->count,
                                       .x = export->x,
                                       .panels = choose_panels(export, panel),
                                       .panel = panel,
                                       .marks = export->marks > 1 ? export->marks : 0,
                                       .mark = export->mark};
    ga_svg_write(&chart, &text);
    const int code = write_text(&text, path);
    ga_text_free(&text);
    return code;
}
