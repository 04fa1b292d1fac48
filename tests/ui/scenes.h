/*
 * Fixed scenes for the tests of the screen: what a run could have published, made from formulas, so
 * that a picture is the same on every machine and needs no engine.
 */
#ifndef GA_TESTS_SCENES_H
#define GA_TESTS_SCENES_H

#include "ui/log_lines.h"
#include "ui/panel.h"
#include "ui/samples.h"
#include "ui/screen.h"

enum test_scene_kind {
    TEST_SCENE_EMPTY,   /* no run yet */
    TEST_SCENE_SYNC,    /* two replicas, in mid-window, a change pending */
    TEST_SCENE_ASYNC,   /* eight replicas, stale pushes beside their law */
    TEST_SCENE_CLASSES, /* digits: what was read as what */
    TEST_SCENE_STOPPED, /* not finite from update 70 on, 100 replicas */
    TEST_SCENES
};

struct test_scene {
    struct ga_scene scene;
    struct ga_view view;
    struct ga_closeup closeup;
    struct ga_samples *samples, *other;
    struct ga_log_lines *log;
    struct ga_scene_run run[2];
};

/* Fails the test when it cannot be made. */
struct test_scene *test_scene_open(enum test_scene_kind kind);
void test_scene_close(struct test_scene *test);

/* The keys of a bottom line. */
extern const struct ga_hint test_hints[];
size_t test_hint_count(void);

#endif
