#include "settings/words.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 31

static char fold(char letter)
{
    return letter == '_' ? '-' : letter;
}

static char fold_case(char letter)
{
    return fold((char)tolower((unsigned char)letter));
}

bool ga_word_same(const char *a, const char *b)
{
    while (*a && fold(*a) == fold(*b)) {
        a++;
        b++;
    }
    return fold(*a) == fold(*b);
}

bool ga_word_starts(const char *name, const char *prefix)
{
    while (*prefix && fold(*name) == fold(*prefix)) {
        name++;
        prefix++;
    }
    return *prefix == '\0';
}

bool ga_word_in_list(const char *word, const char *list)
{
    const size_t length = strlen(word);
    while (length && *list) {
        const size_t span = strcspn(list, " ");
        size_t i = 0;
        while (i < span && i < length && fold(list[i]) == fold(word[i]))
            i++;
        if (i == span && i == length)
            return true;
        list += span;
        list += strspn(list, " ");
    }
    return false;
}

static int smallest(int a, int b, int c)
{
    const int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Optimal string alignment: three rows of the table of distances between prefixes. */
int ga_word_distance(const char *typed, const char *name)
{
    const size_t rows = strlen(typed);
    const size_t columns = strlen(name);
    if (rows > LONGEST || columns > LONGEST)
        return 99;
    int row[3][LONGEST + 1] = {{0}};
    for (size_t j = 0; j <= columns; j++)
        row[0][j] = (int)j;
    for (size_t i = 1; i <= rows; i++) {
        int *now = row[i % 3];
        const int *above = row[(i + 2) % 3];
        const int *twice = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            const char a = fold_case(typed[i - 1]);
            const char b = fold_case(name[j - 1]);
            now[j] = smallest(above[j] + 1, now[j - 1] + 1, above[j - 1] + (a != b));
            const bool swapped =
                i > 1 && j > 1 && a == fold_case(name[j - 2]) && b == fold_case(typed[i - 2]);
            if (swapped && twice[j - 2] + 1 < now[j])
                now[j] = twice[j - 2] + 1;
        }
    }
    return row[rows % 3][columns];
}

void ga_word_consider(struct ga_word_nearest *nearest, const char *name)
{
    const int distance = ga_word_distance(nearest->typed, name);
    const int worth = (int)(strlen(nearest->typed) + 2) / 3;
    if (distance > worth || (nearest->name && distance >= nearest->distance))
        return;
    nearest->name = name;
    nearest->distance = distance;
}
