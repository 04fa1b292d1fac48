#include "support/support.h"

#include <fcntl.h>
#include <locale.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder;

static void write_source(const char *path)
{
    static const char source[] = "LC_NUMERIC\n"
                                 "decimal_point \",\"\n"
                                 "thousands_sep \".\"\n"
                                 "grouping 3;3\n"
                                 "END LC_NUMERIC\n";
    ga_test_write_file(path, source, sizeof source - 1);
}

/* A character map of our own: not every machine has those of the C library. */
static void write_map(const char *path)
{
    char map[8192];
    int length = snprintf(map, sizeof map,
                          "<code_set_name> ANSI_X3.4-1968\n<comment_char> %%\n<escape_char> /\n"
                          "CHARMAP\n");
    for (int i = 0; i < 128; i++)
        length += snprintf(map + length, sizeof map - (size_t)length, "<U%04X> /x%02x X\n",
                           (unsigned)i, (unsigned)i);
    length += snprintf(map + length, sizeof map - (size_t)length, "END CHARMAP\n");
    ga_test_write_file(path, map, (size_t)length);
}

/* localedef complains about the categories left out and makes the rest all the same (-c). */
static void run_localedef(char *source, char *map, char *result)
{
    char *arguments[] = {"localedef", "-c", "-i", source, "-f", map, result, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ) == 0)
        waitpid(child, NULL, 0);
    posix_spawn_file_actions_destroy(&actions);
}

bool ga_test_comma_locale(void)
{
    char text[16];
    folder = ga_test_folder();
    char *source = ga_test_path(folder, "source");
    char *map = ga_test_path(folder, "map");
    char *result = ga_test_path(folder, "comma");
    write_source(source);
    write_map(map);
    run_localedef(source, map, result);
    free(source);
    free(map);
    free(result);
    setenv("LOCPATH", folder, 1);
    const char *name = setlocale(LC_NUMERIC, "comma");
    snprintf(text, sizeof text, "%.1f", 1.5);
    if (name && strcmp(text, "1,5") == 0)
        return true;
    ga_test_comma_locale_end();
    return false;
}

void ga_test_comma_locale_end(void)
{
    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    ga_test_folder_remove(folder);
    folder = NULL;
}
