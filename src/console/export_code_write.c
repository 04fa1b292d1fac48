/* Puts a program together: chooses pieces, fills in words. */
#include <string.h>

#include "base/error.h"
#include "console/export_code.h"

#define WORD_TEXT 32

static const struct ga_code_word *find_word(const char *name)
{
    const struct ga_code_word *const lists[] = {ga_code_data_words, ga_code_training_words};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (const struct ga_code_word *word = lists[i]; word->name; word++)
            if (strcmp(word->name, name) == 0)
                return word;
    return NULL;
}

static int put_word(const struct ga_program *program, const char *name, struct ga_text *out)
{
    const struct ga_code_word *word = find_word(name);
    const struct ga_setting *row = word ? NULL : ga_setting_find(name);
    if (word)
        word->write(program, out);
    else if (row)
        ga_setting_write(row, program->settings, out);
    else
        return ga_fail(GA_EINTERNAL,
                       "export code: a template has the word $%s$: expected one that "
                       "is filled in",
                       name);
    return 0;
}

/* The word behind the $ at `text`; returns what follows its second $. */
static const char *read_word(const char *text, char name[WORD_TEXT])
{
    const size_t length = strcspn(text + 1, "$");
    const size_t kept = length < WORD_TEXT ? length : WORD_TEXT - 1;
    memcpy(name, text + 1, kept);
    name[kept] = '\0';
    return text + 1 + length + (text[1 + length] == '$');
}

int ga_code_expand(const struct ga_program *program, const char *text, struct ga_text *out)
{
    int result = 0;
    while (result == 0 && *text) {
        char name[WORD_TEXT];
        const size_t plain = strcspn(text, "$");
        ga_text_append(out, text, plain);
        text += plain;
        if (*text == '\0')
            break;
        text = read_word(text, name);
        result = put_word(program, name, out);
    }
    return result;
}

static int write_list(const struct ga_program *program, const struct ga_code_piece *piece,
                      struct ga_text *out)
{
    int result = 0;
    for (; result == 0 && piece->text; piece++)
        if ((program->facts & piece->with) == piece->with && !(program->facts & piece->without))
            result = ga_code_expand(program, piece->text, out);
    return result;
}

int ga_code_write(const struct ga_program *program, struct ga_text *out)
{
    const struct ga_code_piece *const lists[] = {ga_code_head_pieces, ga_code_data_pieces,
                                                 ga_code_tensorflow_pieces, ga_code_pytorch_pieces};
    int result = 0;
    for (size_t i = 0; result == 0 && i < sizeof(lists) / sizeof(lists[0]); i++)
        result = write_list(program, lists[i], out);
    if (result == 0 && ga_text_failed(out))
        result = ga_fail(GA_ENOMEM, "no memory for the program");
    return result;
}
