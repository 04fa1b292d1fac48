/*
 * Runs a fuzz target once over each file named, and over each file of each folder named, in order
 * of name. Stands in for libFuzzer's main() so that a corpus is also an ordinary test.
 */
#include "support/replay.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int complain(const char *path)
{
    perror(path);
    return -1;
}

/* The block is exactly as long as the file, so that reading past the input is a reading past the
 * heap. */
static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    int answer = -1;
    if (!file || !bytes || fread(bytes, 1, size, file) != size) {
        complain(path);
    } else {
        LLVMFuzzerTestOneInput(bytes, size);
        answer = 1;
    }
    free(bytes);
    if (file)
        fclose(file);
    return answer;
}

static int replay(const char *path);

static int replay_entry(const char *folder, const char *name)
{
    char path[4096];
    if (name[0] == '.')
        return 0;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
        fprintf(stderr, "%s/%s: name too long\n", folder, name);
        return -1;
    }
    return replay(path);
}

static int replay_folder(const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0)
        return complain(folder);
    int total = 0;
    for (int i = 0; i < count; i++) {
        const int ran = total < 0 ? 0 : replay_entry(folder, entries[i]->d_name);
        total = ran < 0 ? -1 : total + ran;
        free(entries[i]);
    }
    free(entries);
    return total;
}

/* Returns the number of inputs run, or -1. */
static int replay(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return complain(path);
    return S_ISDIR(status.st_mode) ? replay_folder(path)
                                   : replay_file(path, (size_t)status.st_size);
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        const int ran = replay(argv[i]);
        if (ran < 0)
            return EXIT_FAILURE;
        total += ran;
    }
    printf("%d inputs\n", total);
    if (total == 0)
        fputs("no input was found: expected files or folders of them\n", stderr);
    return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
