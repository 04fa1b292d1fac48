/*
 * Bytes of a data file, in order and once: a plain file, one packed with gzip or zlib (told by its
 * first bytes), or anything else behind the same few functions. Packed data are checked to their
 * end: a checksum that differs, a member cut short and what is no gzip data behind the last member
 * are refused. Not thread-safe; one owner.
 */
#ifndef GA_DATASET_BYTES_H
#define GA_DATASET_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ga_bytes {
    /* Up to `most` bytes, fewer only at the end. Errors name the file. */
    int (*read)(struct ga_bytes *bytes, void *out, size_t most, size_t *got);
    void (*close)(struct ga_bytes *bytes);
    const char *name; /* for messages; owned by the kind of bytes */
    uint64_t most;    /* no more bytes than these can come, packed or not */
    bool packed;
};

/* No more than this many bytes come out of one that deflate packed. */
#define GA_BYTES_PACKED_MOST 1032

/* Opens for reading; only regular files, since a pipe or a device could keep the caller waiting for
 * ever. */
int ga_bytes_regular(const char *path, int *fd, uint64_t *size_bytes);

int ga_bytes_open(struct ga_bytes **out, const char *path);

/*
 * The same bytes, read ahead by a thread of their own: for packed files, where unpacking takes as
 * long as what is done with the bytes. `bytes` is taken, also on failure; plain ones come back as
 * they are, since the system reads files ahead by itself.
 */
int ga_bytes_ahead(struct ga_bytes **out, struct ga_bytes *bytes);

/* The first bytes of a file, unpacked; `*count` is smaller when it has fewer. */
#define GA_BYTES_HEAD 8
int ga_bytes_peek(const char *path, unsigned char head[GA_BYTES_HEAD], size_t *count);

int ga_bytes_read(struct ga_bytes *bytes, void *out, size_t most, size_t *got);
void ga_bytes_close(struct ga_bytes *bytes); /* NULL is fine */

/* All of them, or a refusal that says how many there are and how many belong to `what`. */
int ga_bytes_read_all(struct ga_bytes *bytes, void *out, size_t wanted, const char *what);

/* Refuses anything that is left. */
int ga_bytes_end(struct ga_bytes *bytes, const char *what);

#endif
