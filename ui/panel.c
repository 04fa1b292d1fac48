#include <inttypes.h>
#include <string.h>

#include "ui/decoder.h"
#include "ui/panels.h"

static const struct ga_panel *const panels[GA_PANELS] = {
    [GA_PANEL_LOSS] = &ga_panel_loss,
    [GA_PANEL_FIT] = &ga_panel_fit,
    [GA_PANEL_REPLICAS] = &ga_panel_replicas,
    [GA_PANEL_TIMELINE] = &ga_panel_timeline,
    [GA_PANEL_EXPLAIN] = &ga_panel_explain,
    [GA_PANEL_NORMS] = &ga_panel_norms,
    [GA_PANEL_STALENESS] = &ga_panel_staleness,
    [GA_PANEL_WEIGHTS] = &ga_panel_weights,
    [GA_PANEL_DEVICES] = &ga_panel_devices,
    [GA_PANEL_RUNS] = &ga_panel_runs,
    [GA_PANEL_LOG] = &ga_panel_log,
    [GA_PANEL_LESSON] = &ga_panel_lesson,
};

const struct ga_panel *ga_panel_at(int position)
{
    return position >= 0 && position < GA_PANELS ? panels[position] : NULL;
}

int ga_panel_find(const char *name)
{
    for (int i = 0; i < GA_PANELS; i++)
        if (strcmp(panels[i]->name, name) == 0)
            return i;
    return -1;
}

int ga_scroll(int first, int key, int rows, int page)
{
    int most = rows > page ? rows - page : 0;
    int step = page > 1 ? page - 1 : 1;

    switch (key) {
    case GA_KEY_UP:
        first--;
        break;
    case GA_KEY_DOWN:
        first++;
        break;
    case GA_KEY_PAGE_UP:
        first -= step;
        break;
    case GA_KEY_PAGE_DOWN:
        first += step;
        break;
    case GA_KEY_HOME:
        first = 0;
        break;
    case GA_KEY_END:
        first = most;
        break;
    default:
        return -1;
    }
    return first < 0 ? 0 : first > most ? most : first;
}

void ga_moment_write(const struct ga_scene *scene, struct ga_text *out)
{
    const struct ga_counters *now = &scene->view->counters;
    uint64_t windows = scene->closeup->windows;

    if (!scene->view->running || windows == 0 || windows == now->updates + now->skipped)
        return;
    ga_text_printf(out, "at %s %" PRIu64 "  ", now->skipped > 0 ? "window" : "update", windows);
}
