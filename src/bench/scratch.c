#include "bench/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"

int ga_scratch_open(char folder[GA_SCRATCH_FOLDER])
{
    const char *base = getenv("TMPDIR");
    int length = 0;

    base = base && *base ? base : "/tmp";
    length = snprintf(folder, GA_SCRATCH_FOLDER, "%s/gaconsole-XXXXXX", base);
    if (length >= GA_SCRATCH_FOLDER) {
        folder[0] = '\0';
        return ga_fail(GA_EINPUT, "TMPDIR is %d bytes long: expected a path below %d", length,
                       GA_SCRATCH_FOLDER - 18);
    }
    if (!mkdtemp(folder)) {
        int failed = errno;

        folder[0] = '\0';
        return ga_fail_errno(GA_EIO, failed, "cannot make a folder in %s", base);
    }
    return GA_OK;
}

void ga_scratch_path(const char *folder, const char *name, char path[GA_SCRATCH_PATH])
{
    snprintf(path, GA_SCRATCH_PATH, "%s/%s", folder, name);
}

void ga_scratch_close(const char *folder, const char *const *names)
{
    char path[GA_SCRATCH_PATH];

    if (!folder[0])
        return;
    for (; *names; names++) {
        ga_scratch_path(folder, *names, path);
        unlink(path);
    }
    rmdir(folder);
}
