/*
 * Files from arbitrary bytes, packed or not. The first byte says in what pieces they are read, the
 * rest is the file. Read at once, in pieces and ahead by a thread they give the same bytes and the
 * same answer, and no more than they announced.
 */
#include "support/replay.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "dataset/bytes.h"

#define MOST ((size_t)1 << 20) /* bytes looked at; what unpacks to more is not read to its end */

struct content {
    char *bytes;
    size_t count;
    int code;
    bool ended;
};

static void must(bool promise)
{
    if (!promise) {
        abort();
    }
}

static struct content read_all(const char *path, size_t piece, bool ahead)
{
    struct content out = {.bytes = malloc(MOST)};
    struct ga_bytes *bytes = NULL;
    must(out.bytes != NULL);
    out.code = ga_bytes_open(&bytes, path);
    if (out.code == 0 && ahead) {
        out.code = ga_bytes_ahead(&bytes, bytes);
    }
    while (out.code == 0 && !out.ended && out.count < MOST) {
        size_t got = 0;
        const size_t wanted = piece < MOST - out.count ? piece : MOST - out.count;
        out.code = ga_bytes_read(bytes, out.bytes + out.count, wanted, &got);
        must(got <= wanted);
        out.ended = out.code == 0 && got < wanted;
        out.count += out.code == 0 ? got : 0;
    }
    must(out.code <= 0 && (out.code == 0 || ga_error_text()[0]));
    must(!bytes || out.count <= bytes->most);
    ga_bytes_close(bytes);
    return out;
}

/* A piece that fails is not counted, so of a damaged file only the answer is the same. */
static void check_same(const struct content *a, const struct content *b)
{
    must(a->code == b->code);
    must(a->code != 0 || (a->count == b->count && a->ended == b->ended));
    must(memcmp(a->bytes, b->bytes, a->count < b->count ? a->count : b->count) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[64];
    if (size == 0) {
        return 0;
    }
    const int file = memfd_create("fuzz", MFD_CLOEXEC);
    must(file >= 0 && write(file, bytes + 1, size - 1) == (ssize_t)(size - 1));
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct content whole = read_all(path, MOST, false);
    struct content pieces = read_all(path, 1 + 37 * (size_t)bytes[0], false);
    struct content ahead = read_all(path, 1 + 4099 * (size_t)bytes[0], true);
    /* a file whose bytes are all looked at; the others' damage may lie behind them */
    if (whole.ended || whole.code != 0) {
        check_same(&whole, &pieces);
        check_same(&whole, &ahead);
    }
    free(whole.bytes);
    free(pieces.bytes);
    free(ahead.bytes);
    close(file);
    return 0;
}
