#include "ui/lesson.h"

#include "ui/panels.h"
#include "ui/paragraph.h"

void ga_lesson_fini(struct ga_lesson *lesson)
{
    ga_text_free(&lesson->text);
    *lesson = (struct ga_lesson){.text = GA_TEXT_INIT};
}

void ga_lesson_say(struct ga_lesson *lesson, const char *text)
{
    if (lesson->read) {
        ga_text_clear(&lesson->text);
        lesson->first = lesson->from = lesson->rows = 0;
    }
    lesson->read = false;
    ga_text_puts(&lesson->text, text);
    ga_text_puts(&lesson->text, "\n");
}

void ga_lesson_answer(struct ga_lesson *lesson)
{
    lesson->from = lesson->rows;
}

int ga_lesson_rows(struct ga_lesson *lesson, int columns)
{
    if (lesson->text.length == 0)
        return 0;
    const int rows = ga_paragraph_rows(ga_text_get(&lesson->text), columns);
    if (columns != lesson->columns)
        lesson->most = 0;
    lesson->columns = columns;
    lesson->most = rows > lesson->most ? rows : lesson->most;
    return lesson->most;
}

static int last_first(const struct ga_lesson *lesson)
{
    return lesson->rows > lesson->page ? lesson->rows - lesson->page : 0;
}

void ga_lesson_fit(struct ga_lesson *lesson, int page)
{
    const int rows = ga_paragraph_rows(ga_text_get(&lesson->text), lesson->columns);
    const bool grew = rows > lesson->rows;
    lesson->rows = rows;
    lesson->page = page;
    const int last = last_first(lesson);
    const int reply = lesson->from < last ? lesson->from : last;
    if (grew && reply > lesson->first)
        lesson->first = reply;
    lesson->first = lesson->first < last ? lesson->first : last;
}

int ga_lesson_below(const struct ga_lesson *lesson)
{
    return lesson->page > 0 ? last_first(lesson) - lesson->first : 0;
}

bool ga_lesson_scroll(struct ga_lesson *lesson, int key)
{
    if (lesson->page <= 0 || lesson->text.length == 0)
        return false;
    const int first = ga_scroll(lesson->first, key, lesson->rows, lesson->page);
    if (first < 0 || first == lesson->first)
        return false;
    lesson->first = first;
    return true;
}
