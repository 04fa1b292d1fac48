#include "support/support.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *ga_test_folder(void)
{
    const char *parent = getenv("TMPDIR");
    char *name = ga_test_path(parent && *parent ? parent : "/tmp", "ga_test_XXXXXX");
    if (!mkdtemp(name))
        fail_msg("%s: %s", name, strerror(errno));
    return name;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

void ga_test_folder_remove(char *folder)
{
    if (!folder)
        return;
    if (nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
        fail_msg("%s: %s", folder, strerror(errno));
    free(folder);
}

char *ga_test_path(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    assert_non_null(path);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

char *ga_test_read_file(const char *path, size_t *length_bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    char *bytes = NULL;
    size_t length = 0;
    size_t got = 0;
    do {
        char *more = realloc(bytes, length + 65536 + 1);
        assert_non_null(more);
        bytes = more;
        got = fread(bytes + length, 1, 65536, file);
        length += got;
    } while (got > 0);
    assert_false(ferror(file));
    fclose(file);
    bytes[length] = '\0';
    if (length_bytes)
        *length_bytes = length;
    return bytes;
}

void ga_test_write_file(const char *path, const void *bytes, size_t length_bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(fwrite(bytes, 1, length_bytes, file), length_bytes);
    assert_int_equal(fclose(file), 0);
}
