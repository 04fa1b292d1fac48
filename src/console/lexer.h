/*
 * Cuts a command line into words: blanks separate, "..." and '...' hold blanks together, # at the
 * start of a word begins a comment. A quote counts where a word begins and behind the first = of a
 * word (answer="two words"), so that don't stays a word. In "..." \" and \\ stand for " and \.
 *
 * Strict: control characters, bytes that are not UTF-8, quotes without an end and text glued to a
 * closing quote are refused with their column. The words belong to struct ga_words, which is reused
 * from line to line.
 */
#ifndef GA_CONSOLE_LEXER_H
#define GA_CONSOLE_LEXER_H

#include <stddef.h>

#define GA_LINE_LIMIT 65536 /* bytes */

struct ga_words {
    const char **word; /* (count) borrowed from `bytes`, each NUL-terminated */
    size_t count;
    size_t word_capacity;
    char *bytes;
    size_t byte_capacity;
};

#define GA_WORDS_INIT                                                                              \
    {                                                                                              \
        NULL, 0, 0, NULL, 0                                                                        \
    }

/* `length` bytes at `line`, which need no terminator. On failure there are no words. */
int ga_words_read(struct ga_words *words, const char *line, size_t length);
void ga_words_fini(struct ga_words *words);

/*
 * Length in bytes of the character at `text` (at most `length` bytes are looked at); 0 when it is
 * not UTF-8, or is a control character other than the tab.
 */
size_t ga_character_length(const char *text, size_t length);

#endif
