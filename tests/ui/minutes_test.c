/* The first five minutes, typed as a person would, each state seen on the screen; and a lesson. */
#include "pseudo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

/* Waits until the status line has an update of at least `least`. */
static void expect_update(struct pty *pty, long least)
{
    const int64_t deadline_ns = pty_deadline_ns();
    for (;;) {
        char *row = pty_row(pty, 0);
        const char *found = strstr(row, "update ");
        const long update = found ? strtol(found + 7, NULL, 10) : -1;
        free(row);
        if (update >= least)
            return;
        if (!pty_pump(pty, deadline_ns))
            fail_msg("update %ld did not come", least);
    }
}

static void one_question_is_answered_in_five_minutes(void **state)
{
    struct pty *pty = *state;
    pty_open(pty, &(struct pty_options){.rows = 50, .columns = 150});

    /* 1: paused at update 0 on all 50 points. */
    pty_expect(pty, "PAUSED   update 0");
    pty_expect(pty, "P 2 \xc3\x97 A 5 \xc3\x97 b 5 = 50");
    pty_expect(pty, "sgd lr 0.01");
    pty_expect(pty, "pace x1");

    /* 2: one micro-batch fills one accumulator; its loss, gradient, sum and count are shown. */
    pty_type(pty, "m");
    pty_expect(pty, "micro 1/5");
    pty_expect(pty, "5/25");
    pty_expect(pty, "examples  0..4 (5)");
    pty_expect(pty, "sum 0 + ");
    pty_expect(pty, "weight 5");

    /* 3: the sums meet and are divided once. */
    pty_type(pty, "n");
    pty_expect(pty, "update 1 ");
    pty_expect(pty, "all-reduce");
    pty_expect(pty, "divide once");
    pty_expect(pty, "/ 50 = ");

    /* 4: training, then a window of 10 of the 50 points, then all of them again. */
    pty_type(pty, " ");
    pty_expect(pty, "RUN");
    expect_update(pty, 40);
    pty_type(pty, "A");
    pty_expect(pty, "accum 5 -> 2 from update ");
    pty_type(pty, "A");
    pty_expect(pty, " -> 1 from update ");
    pty_expect(pty, "P 2 \xc3\x97 A 1 \xc3\x97 b 5 = 10");
    expect_update(pty, 80);
    pty_type(pty, "a");
    pty_expect(pty, "accum 1 -> 2 from update ");
    pty_type(pty, "a");
    pty_expect(pty, " -> 5 from update ");
    pty_expect(pty, "P 2 \xc3\x97 A 5 \xc3\x97 b 5 = 50");
    expect_update(pty, 120);

    /* 5: eight replicas out of step: how stale, and what theory says about it. */
    pty_type(pty, ":set mode async replicas 8 lr 0.05\r");
    pty_expect(pty, "async");
    pty_expect(pty, "P 8, items A 5 \xc3\x97 b 5 = 25, 6-7 now");
    pty_expect(pty, "staleness mean P-1 = 7");
    pty_expect(pty, ": above 1 steps diverge");
    pty_type(pty, "7"); /* the staleness panel */
    pty_expect(pty, "7 staleness");
    pty_expect(pty, "law  7.000");
    pty_expect(pty, " unstable ");
    pty_type(pty, ":set pace max\r");
    expect_update(pty, 800);
    pty_type(pty, ":until loss > 0.1\r"); /* it leaves its minimum again and again */
    pty_expect(pty, "loss > 0.1: at update ");
    pty_expect(pty, "PAUSED");
    pty_type(pty, ":back 500\r");
    pty_expect(pty, "500 updates back: at update ");
    pty_type(pty, ":set scale staleness\r");
    pty_expect(pty, "scale full -> staleness");
    pty_type(pty, ":run 3000\r");
    pty_expect(pty, "async, scale staleness, hash ");
    pty_expect_gone(pty, " unstable ");
    pty_type(pty, ":eval\r");
    pty_expect(pty, "training: 50 examples, loss 0.0"); /* it has converged */

    /* 6: the loop in the user's own framework, which knows replicas in step. */
    pty_type(pty, ":mode sync\r");
    pty_expect(pty, "mode async -> sync");
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "accum.py");
    char line[512];
    snprintf(line, sizeof(line), ":export code pytorch %s\r", path);
    pty_type(pty, line);
    pty_expect(pty, "code for pytorch written");
    char *code = ga_test_read_file(path, NULL);
    assert_non_null(strstr(code, "import torch"));
    free(code);
    free(path);
    ga_test_folder_remove(folder);
    pty_settle(pty);
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
}

static const char lesson[] = "set pace max\n"
                             "say Two replicas, five micro-batches of five.\n"
                             "wait key\n"
                             "say One update later:\n"
                             "next\n"
                             "view zoom off\n"
                             "ask \"How many examples made it?\" answer=50 reveal=\"2 x 5 x 5\"\n"
                             "say Now a thousand more.\n"
                             "run 1000\n"
                             "wait key\n"
                             "expect update == 1001\n"
                             "say The end.\n";

struct course {
    char *folder, *path;
};

static void write_lesson(struct course *course, const char *text)
{
    course->folder = ga_test_folder();
    course->path = ga_test_path(course->folder, "lesson.ga");
    ga_test_write_file(course->path, text, strlen(text));
}

static void remove_lesson(struct course *course)
{
    free(course->path);
    ga_test_folder_remove(course->folder);
}

static void a_lesson_is_shown_and_answered(void **state)
{
    struct pty *pty = *state;
    struct course course;
    write_lesson(&course, lesson);
    const char *const argv[] = {"gaconsole", course.path, NULL};
    pty_open(pty, &(struct pty_options){.argv = argv});
    pty_expect(pty, "Two replicas, five micro-batches of five.");
    pty_expect(pty, "any key goes on");
    pty_type(pty, "11"); /* looking around is not going on */
    pty_settle(pty);
    assert_false(pty_shows(pty, "One update later"));
    pty_resize(pty, 30, 100); /* nor is another size */
    pty_settle(pty);
    assert_false(pty_shows(pty, "One update later"));
    pty_type(pty, " ");
    pty_expect(pty, "One update later");
    pty_expect(pty, "How many examples made it?");
    pty_expect(pty, "answer:");
    pty_settle(pty); /* the cursor comes last */
    assert_true(pty->visible);
    pty_type(pty, "10\r");
    pty_expect(pty, "not yet");
    pty_type(pty, "50\r");
    pty_expect(pty, "right");
    pty_expect(pty, "2 x 5 x 5");
    pty_expect(pty, "any key goes on");
    assert_false(pty_shows(pty, "Now a thousand more."));
    pty_type(pty, " ");
    pty_expect(pty, "Now a thousand more.");
    pty_expect(pty, "update 1001");
    pty_expect(pty, "any key goes on");
    pty_type(pty, "\r");
    pty_expect(pty, "The end.");
    pty_expect(pty, "space run");
    pty_type(pty, "\x1b"); /* closes the lesson */
    pty_expect(pty, " 3 replicas ");
    pty_settle(pty);
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    pty_expect_restored(pty);
    remove_lesson(&course);
}

/* A page that is longer than its panel is read row by row, and to its end before anything else. */
static void a_long_page_is_read_to_its_end(void **state)
{
    struct pty *pty = *state;
    struct course course;
    struct ga_text text = GA_TEXT_INIT;
    for (int i = 1; i <= 18; i++)
        ga_text_printf(&text, "say Row %d of many.\n", i);
    ga_text_puts(&text, "ask \"Which one?\" answer=beta choices=alpha|beta reveal=\"It is beta.\"\n"
                        "say Page two.\n"
                        "wait key\n");
    write_lesson(&course, ga_text_get(&text));
    const char *const argv[] = {"gaconsole", course.path, NULL};
    pty_open(pty, &(struct pty_options){.rows = 24, .columns = 80, .argv = argv});
    pty_expect(pty, "any key the rest");
    assert_true(pty_shows(pty, "Row 1 of many."));
    assert_true(pty_shows(pty, "PgDn: "));
    assert_false(pty_shows(pty, "Which one?"));
    pty_type(pty, " ");
    pty_expect_gone(pty, "\u2502 Row 1 of many.");
    pty_expect(pty, "Row 9 of many.");
    pty_type(pty, "b"); /* back */
    pty_expect(pty, "\u2502 Row 1 of many.");
    pty_type(pty, "\x1b[6~  ");
    pty_expect(pty, "Which one?");
    pty_expect(pty, "1 alpha  2 beta");
    pty_expect(pty, "answer (1-2 or how it begins):");
    pty_type(pty, "\x1b[5~"); /* also where an answer is typed */
    pty_expect_gone(pty, "Which one?");
    pty_type(pty, "1\r");
    pty_expect(pty, "not yet");
    pty_type(pty, "BE\r");
    pty_expect(pty, "right: beta");
    pty_expect(pty, "It is beta.");
    pty_expect(pty, "any key goes on");
    pty_type(pty, "bbbb"); /* up to the first row, and then asks again */
    pty_expect(pty, "any key the rest");
    assert_true(pty_shows(pty, "Row 1 of many."));
    pty_type(pty, "   ");
    pty_expect(pty, "answer (");
    pty_type(pty, "\r");
    pty_expect(pty, "answer: beta");
    pty_type(pty, " ");
    pty_expect(pty, "Page two.");
    assert_false(pty_shows(pty, "Which one?"));
    pty_type(pty, " ");
    pty_expect(pty, "m micro");
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    ga_text_free(&text);
    remove_lesson(&course);
}

/* At each kind of place Esc or ctrl-C leaves a script, and the screen goes on. */
static void a_lesson_can_be_left(void **state)
{
    struct pty *pty = *state;
    static const struct {
        const char *text, *shown, *key;
    } cases[] = {
        {"say here\nwait key\nsay beyond\n", "any key goes on", "\x1b"},
        {"say here\nwait key\nsay beyond\n", "any key goes on", "\x03"},
        {"ask here answer=1\nsay beyond\n", "answer:", "\x1b"},
        {"ask here answer=1\nsay beyond\n", "answer:", "\x03"},
        {"set pace 1\nsay here\nrun 100000\nsay beyond\n", "RUN", "\x1b"},
        {"set pace 1\nsay here\nrun 100000\nsay beyond\n", "RUN", "\x03"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct course course;
        char line[512];
        write_lesson(&course, cases[i].text);
        pty_open(pty, NULL);
        pty_expect(pty, "PAUSED");
        snprintf(line, sizeof(line), ":source %s\r", course.path);
        pty_type(pty, line);
        pty_expect(pty, "here");
        pty_expect(pty, cases[i].shown);
        pty_settle(pty);
        pty_type(pty, cases[i].key);
        pty_expect(pty, "m micro");
        assert_false(pty_shows(pty, "beyond"));
        pty_expect(pty, "PAUSED");
        pty_settle(pty);
        pty_type(pty, "q");
        pty_expect_exit(pty, 0);
        remove_lesson(&course);
    }
}

/* Left and taken up again, and read backwards with the run going back as well. */
static void a_lesson_is_resumed_and_turned_back(void **state)
{
    struct pty *pty = *state;
    struct course course;
    write_lesson(&course, "set pace max\n"
                          "say Page one.\n"
                          "wait key\n"
                          "say Page two.\n"
                          "run 10\n"
                          "set accum 2\n"
                          "ask \"How far?\" answer=10\n"
                          "say Page three.\n"
                          "run 5\n"
                          "wait key\n"
                          "say The end.\n");
    const char *const argv[] = {"gaconsole", course.path, NULL};
    pty_open(pty, &(struct pty_options){.rows = 50, .columns = 120, .argv = argv});
    pty_expect(pty, "Page one.");
    pty_type(pty, "\x1b");
    pty_expect(pty, "`resume` goes on");
    pty_expect(pty, "m micro");
    pty_type(pty, ":resume\r");
    pty_expect(pty, "any key goes on");
    pty_type(pty, " ");
    pty_expect(pty, "How far?");
    pty_expect(pty, "update 10 ");
    pty_type(pty, "\x1b"); /* at a question */
    pty_expect(pty, "m micro");
    pty_settle(pty);
    pty_type(pty, ":resume\r");
    pty_expect(pty, "answer:");
    pty_type(pty, "10\r");
    pty_expect(pty, "Page three.");
    pty_expect(pty, "update 15 ");
    pty_expect(pty, "A 2 ");
    pty_type(pty, "b");
    pty_expect(pty, "answer:");
    pty_expect(pty, "How far?");
    pty_expect(pty, "update 10 ");
    pty_type(pty, "\x7f");
    pty_expect(pty, "Page one.");
    pty_expect(pty, "update 0 ");
    pty_expect(pty, "A 5 ");
    pty_settle(pty);
    pty_type(pty, "\x7f"); /* there is none before it */
    pty_settle(pty);
    pty_expect(pty, "Page one.");
    pty_type(pty, " ");
    pty_expect(pty, "How far?");
    pty_expect(pty, "update 10 ");
    pty_type(pty, "10\r");
    pty_expect(pty, "update 15 ");
    pty_type(pty, " ");
    pty_expect(pty, "The end.");
    pty_expect(pty, "m micro");
    pty_type(pty, ":resume\r");
    pty_expect(pty, "no script was left");
    pty_settle(pty);
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    remove_lesson(&course);
}

/* A script that waits is ended by signals like anything else. */
static void signals_end_a_lesson(void **state)
{
    struct pty *pty = *state;
    static const struct {
        const char *text, *shown;
    } cases[] = {{"say here\nwait key\n", "any key goes on"},
                 {"ask here answer=1\n", "answer:"},
                 {"set pace 1\nsay here\nrun 100000\n", "RUN"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct course course;
        write_lesson(&course, cases[i].text);
        const char *const argv[] = {"gaconsole", course.path, NULL};
        pty_open(pty, &(struct pty_options){.argv = argv});
        pty_expect(pty, cases[i].shown);
        pty_signal(pty, 15);
        pty_expect_signal(pty, 15);
        pty_expect_restored(pty);
        remove_lesson(&course);
    }
}

static const struct CMUnitTest tests[] = {
    PTY_TEST(one_question_is_answered_in_five_minutes), PTY_TEST(a_lesson_is_shown_and_answered),
    PTY_TEST(a_long_page_is_read_to_its_end),           PTY_TEST(a_lesson_can_be_left),
    PTY_TEST(a_lesson_is_resumed_and_turned_back),      PTY_TEST(signals_end_a_lesson),
};

int main(void)
{
    return ga_test_main(tests);
}
