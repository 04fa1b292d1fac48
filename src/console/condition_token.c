#include "console/condition_token.h"

#include <ctype.h>
#include <string.h>

static bool is_letter(char byte)
{
    return isalpha((unsigned char)byte) || byte == '_';
}

static bool is_digit(char byte)
{
    return isdigit((unsigned char)byte) != 0;
}

static bool starts_number(const char *text)
{
    if (strncmp(text, "-inf", 4) == 0)
        return true;
    if (*text == '-' || *text == '+')
        text++;
    return is_digit(*text) || (*text == '.' && is_digit(text[1]));
}

static size_t word_length(const char *text)
{
    size_t length = 1;
    while (is_letter(text[length]) || is_digit(text[length]) ||
           (text[length] == '-' && is_letter(text[length + 1])))
        length++;
    return length;
}

/* Letters belong to it, so that 4x is one wrong number and 3f9a27c1 one hash. */
static size_t number_length(const char *text)
{
    size_t length = 1;
    while (is_letter(text[length]) || is_digit(text[length]) || text[length] == '.' ||
           ((text[length] == '-' || text[length] == '+') &&
            (text[length - 1] == 'e' || text[length - 1] == 'E')))
        length++;
    return length;
}

static size_t sign_length(const char *text)
{
    if (strchr("<>=!", *text))
        return text[1] == '=' ? 2 : 1;
    return 1;
}

const char *ga_token_read(struct ga_token *token, const char *text)
{
    text += strspn(text, " \t");
    *token = (struct ga_token){GA_TOKEN_OTHER, text, 1};
    if (!*text) {
        token->kind = GA_TOKEN_END;
        token->length = 0;
    } else if (strncmp(text, "|g|", 3) == 0) {
        token->kind = GA_TOKEN_WORD;
        token->length = 3;
    } else if (is_letter(*text)) {
        token->kind = GA_TOKEN_WORD;
        token->length = word_length(text);
    } else if (starts_number(text)) {
        token->kind = GA_TOKEN_NUMBER;
        token->length = number_length(text);
    } else if (strchr("<>=!()", *text)) {
        token->kind = GA_TOKEN_SIGN;
        token->length = sign_length(text);
    }
    return text + token->length;
}

bool ga_token_is(const struct ga_token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

bool ga_token_copy(const struct ga_token *token, char *out, size_t size)
{
    if (token->length >= size)
        return false;
    memcpy(out, token->text, token->length);
    out[token->length] = '\0';
    return true;
}
