/*
 * Whole files. Reading gives one block with a NUL behind it; a directory, a missing file or one
 * above the limit is refused by name. Writing is atomic: a temporary file beside the target, fsync,
 * rename, fsync of the folder; until ga_writer_commit() succeeds an existing file keeps its old
 * content, and the new one has its permissions. A symbolic link is followed. Pipes and terminals
 * are read until their end and written directly; a pipe that no one reads is refused. A blocked and
 * pending SIGINT, SIGTERM or SIGHUP ends the wait for a pipe's other end with GA_EIO.
 *
 * Codes: GA_EIO (the system refused), GA_EINPUT (a directory), GA_ERANGE (too long), GA_ENOMEM. The
 * program ignores SIGPIPE and SIGXFSZ, so that both arrive here as errors.
 */
#ifndef GA_BASE_FILE_H
#define GA_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * `*out` becomes the caller's (free()). Gzip content is not unpacked here. What states no size,
 * such as a pipe or device, is refused above 1 GiB too.
 */
int ga_file_read(const char *path, uint64_t limit_bytes, char **out, size_t *length_bytes);

struct ga_writer;

int ga_writer_open(struct ga_writer **out, const char *path);
int ga_writer_write(struct ga_writer *writer, const void *bytes, size_t count_bytes);
int ga_writer_commit(struct ga_writer *writer);   /* frees the writer, whatever the answer */
void ga_writer_abandon(struct ga_writer *writer); /* removes the temporary file; NULL is fine */

#endif
