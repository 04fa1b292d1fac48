/*
 * Values with arguments: step(100,0.5), uniform(0.5,1.5), x2.5, 64-32-10. Blanks may stand where
 * the brackets and commas do: "step 100 0.5".
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "settings/values.h"
#include "settings/words.h"

#define FORM_WORD      24
#define FORM_ARGUMENTS 2

struct form {
    char word[FORM_WORD];
    char argument[FORM_ARGUMENTS][GA_NUMBER_TEXT];
    int arguments;
};

static bool copy_word(char *to, size_t size, const char *from, size_t length)
{
    if (length == 0 || length >= size)
        return false;
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}

/* One argument, after "(", "," or a blank; false when it is no word or one too many. */
static bool take_argument(struct form *form, const char **text, const char *ends)
{
    *text += strspn(*text, " ");
    const size_t length = strcspn(*text, ends);
    if (form->arguments == FORM_ARGUMENTS ||
        !copy_word(form->argument[form->arguments], GA_NUMBER_TEXT, *text, length))
        return false;
    form->arguments++;
    *text += length;
    *text += strspn(*text, " ");
    return true;
}

static bool parse_brackets(struct form *form, const char *text)
{
    do {
        text++;
        if (!take_argument(form, &text, " ,)"))
            return false;
    } while (*text == ',');
    return strcmp(text, ")") == 0;
}

static bool parse_form(struct form *form, const char *text)
{
    memset(form, 0, sizeof(*form));
    const size_t length = strcspn(text, " (");
    if (!copy_word(form->word, FORM_WORD, text, length))
        return false;
    text += length;
    if (*text == '(')
        return parse_brackets(form, text);
    text += strspn(text, " ");
    while (*text)
        if (!take_argument(form, &text, " ,()") || *text == ',' || *text == '(' || *text == ')')
            return false;
    return true;
}

static int argument_real(const struct form *form, int position, double low, double high,
                         double *out)
{
    if (ga_read_double(form->argument[position], low, high, out) < 0)
        return ga_error_code();
    *out += 0.0;
    return 0;
}

static int malformed(const struct ga_setting *row, const char *text)
{
    ga_fail(GA_EINPUT, "not of that form");
    return ga_value_refuse(row, text);
}

int ga_value_read_schedule(const struct ga_setting *row, struct ga_settings *draft,
                           const char *text)
{
    struct form form;
    if (!parse_form(&form, text))
        return malformed(row, text);
    const int kind = ga_choice_value("schedule", form.word);
    static const int fewest[] = {0, 2, 1};
    static const int most[] = {0, 2, 2};
    if (kind < 0 || form.arguments < fewest[kind] || form.arguments > most[kind])
        return malformed(row, text);
    int64_t every = 0;
    double value = 0;
    const double high = kind == GA_SCHEDULE_STEP ? 1000 : row->high;
    if (form.arguments > 0 && ga_read_int(form.argument[0], 1, (int64_t)row->high, &every) < 0)
        return ga_value_refuse(row, text);
    if (form.arguments > 1 && argument_real(&form, 1, 0, high, &value) < 0)
        return ga_value_refuse(row, text);
    draft->schedule.kind = (enum ga_schedule)kind;
    draft->schedule.every = every;
    draft->schedule.value = value;
    return 0;
}

void ga_value_write_schedule(const struct ga_setting *row, const struct ga_settings *from,
                             struct ga_text *to)
{
    (void)row;
    ga_text_puts(to, ga_choice_word("schedule", (int)from->schedule.kind));
    if (from->schedule.kind == GA_SCHEDULE_CONSTANT)
        return;
    ga_text_printf(to, "(%lld,", (long long)from->schedule.every);
    ga_text_number(to, from->schedule.value);
    ga_text_puts(to, ")");
}

int ga_value_read_outer(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    struct form form;
    if (!parse_form(&form, text))
        return malformed(row, text);
    const int kind = ga_choice_value("outer", form.word);
    double lr = 0;
    double momentum = 0;
    if (kind < 0 || form.arguments != (kind == GA_OUTER_NONE ? 0 : 2))
        return malformed(row, text);
    if (kind != GA_OUTER_NONE && (argument_real(&form, 0, 0, row->high, &lr) < 0 ||
                                  argument_real(&form, 1, 0, 0x1.fffffffffffffp-1, &momentum) < 0))
        return ga_value_refuse(row, text);
    draft->outer.kind = (enum ga_outer)kind;
    draft->outer.lr = lr;
    draft->outer.momentum = momentum;
    return 0;
}

void ga_value_write_outer(const struct ga_setting *row, const struct ga_settings *from,
                          struct ga_text *to)
{
    (void)row;
    ga_text_puts(to, ga_choice_word("outer", (int)from->outer.kind));
    if (from->outer.kind == GA_OUTER_NONE)
        return;
    ga_text_puts(to, "(");
    ga_text_number(to, from->outer.lr);
    ga_text_puts(to, ",");
    ga_text_number(to, from->outer.momentum);
    ga_text_puts(to, ")");
}

static const int jitter_arguments[] = {0, 2, 1, 0, 1, 2};

int ga_value_check_jitter(const struct ga_settings *settings)
{
    const double a = settings->jitter.a;
    const double b = settings->jitter.b;
    switch (settings->jitter.kind) {
    case GA_JITTER_UNIFORM:
        if (a >= 0 && a <= b && fabs(a + b - 2) <= 1e-12)
            return 0;
        return ga_fail(GA_ERANGE, "jitter uniform(a,b): expected 0 <= a <= b and a + b = 2");
    case GA_JITTER_LOGNORMAL:
        if (a >= 0 && a <= 5)
            return 0;
        return ga_fail(GA_ERANGE, "jitter lognormal(s): expected 0 <= s <= 5");
    case GA_JITTER_SHIFTED:
        if (a >= 0 && a <= 1)
            return 0;
        return ga_fail(GA_ERANGE, "jitter shifted(d): expected 0 <= d <= 1");
    case GA_JITTER_STRAGGLER:
        if (a >= 0 && a <= 1 && b >= 1 && b <= 1e6)
            return 0;
        return ga_fail(GA_ERANGE, "jitter straggler(p,k): expected 0 <= p <= 1, 1 <= k <= 1000000");
    default:
        return 0;
    }
}

int ga_value_read_jitter(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    struct form form;
    if (!parse_form(&form, text))
        return malformed(row, text);
    const int kind = ga_choice_value("jitter", form.word);
    if (kind < 0 || form.arguments != jitter_arguments[kind])
        return malformed(row, text);
    struct ga_settings next = *draft;
    double *slot[FORM_ARGUMENTS] = {&next.jitter.a, &next.jitter.b};
    next.jitter.kind = (enum ga_jitter)kind;
    for (int i = 0; i < FORM_ARGUMENTS; i++) {
        *slot[i] = 0;
        if (i < form.arguments && argument_real(&form, i, row->low, row->high, slot[i]) < 0)
            return ga_value_refuse(row, text);
    }
    const int code = ga_value_check_jitter(&next);
    if (code == 0)
        draft->jitter = next.jitter;
    return code;
}

void ga_value_write_jitter(const struct ga_setting *row, const struct ga_settings *from,
                           struct ga_text *to)
{
    (void)row;
    const int arguments = jitter_arguments[from->jitter.kind];
    ga_text_puts(to, ga_choice_word("jitter", (int)from->jitter.kind));
    if (arguments == 0)
        return;
    ga_text_puts(to, "(");
    ga_text_number(to, from->jitter.a);
    if (arguments == 2) {
        ga_text_puts(to, ",");
        ga_text_number(to, from->jitter.b);
    }
    ga_text_puts(to, ")");
}

int ga_value_read_pace(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    double value = 0;
    const bool factor = *text == 'x';
    const bool most = strcmp(text, "max") == 0;
    if (!most && ga_read_double(text + factor, row->low, row->high, &value) < 0)
        return ga_value_refuse(row, text);
    draft->pace.kind = most ? GA_PACE_MAX : factor ? GA_PACE_FACTOR : GA_PACE_UPDATES;
    draft->pace.value = value;
    return 0;
}

void ga_value_write_pace(const struct ga_setting *row, const struct ga_settings *from,
                         struct ga_text *to)
{
    (void)row;
    if (from->pace.kind == GA_PACE_MAX) {
        ga_text_puts(to, "max");
        return;
    }
    if (from->pace.kind == GA_PACE_FACTOR)
        ga_text_puts(to, "x");
    ga_text_number(to, from->pace.value);
}

int ga_value_read_model(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    int32_t widths[GA_MAX_LAYERS + 1] = {0};
    int count = 0;
    for (const char *at = text;; at++) {
        char number[GA_NUMBER_TEXT];
        int64_t width = 0;
        const size_t length = strcspn(at, "-");
        if (count > GA_MAX_LAYERS || !copy_word(number, sizeof(number), at, length))
            return malformed(row, text);
        if (ga_read_int(number, (int64_t)row->low, (int64_t)row->high, &width) < 0)
            return ga_value_refuse(row, text);
        widths[count++] = (int32_t)width;
        at += length;
        if (*at == '\0')
            break;
    }
    if (count < 2)
        return malformed(row, text);
    draft->model.layers = count - 1;
    memcpy(draft->model.widths, widths, sizeof(widths));
    return 0;
}

void ga_value_write_model(const struct ga_setting *row, const struct ga_settings *from,
                          struct ga_text *to)
{
    (void)row;
    for (int i = 0; i <= from->model.layers; i++)
        ga_text_printf(to, "%s%d", i ? "-" : "", (int)from->model.widths[i]);
}

int ga_value_read_devices(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    int32_t numbers[GA_MAX_DEVICES];
    int32_t count = 0;
    const char *at = strcmp(text, "all") == 0 ? "" : text;
    if (*text == '\0')
        return malformed(row, text);
    while (*at != '\0') {
        char number[GA_NUMBER_TEXT];
        int64_t value = 0;
        const size_t length = strcspn(at, ",");
        const bool named = strncmp(at, "cuda:", 5) == 0;
        if (count == GA_MAX_DEVICES || !named ||
            !copy_word(number, sizeof(number), at + 5, length - 5))
            return malformed(row, text);
        if (ga_read_int(number, (int64_t)row->low, (int64_t)row->high, &value) < 0)
            return ga_value_refuse(row, text);
        numbers[count++] = (int32_t)value;
        at += length;
        if (*at == ',' && *++at == '\0')
            return malformed(row, text);
    }
    for (int32_t i = 0; i < count; i++)
        draft->devices.number[i] = numbers[i];
    for (int32_t i = count; i < GA_MAX_DEVICES; i++)
        draft->devices.number[i] = 0;
    draft->devices.count = count;
    return 0;
}

void ga_value_write_devices(const struct ga_setting *row, const struct ga_settings *from,
                            struct ga_text *to)
{
    (void)row;
    if (from->devices.count == 0)
        ga_text_puts(to, "all");
    for (int32_t i = 0; i < from->devices.count; i++)
        ga_text_printf(to, "%scuda:%d", i > 0 ? "," : "", (int)from->devices.number[i]);
}
