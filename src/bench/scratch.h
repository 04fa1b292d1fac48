/*
 * The files that a benchmark makes and reads: in a folder of its own under TMPDIR, or /tmp where
 * that is not set.
 */
#ifndef GA_BENCH_SCRATCH_H
#define GA_BENCH_SCRATCH_H

#define GA_SCRATCH_FOLDER 256 /* bytes, the terminating zero among them */
#define GA_SCRATCH_PATH   320

/* Makes the folder. GA_EINPUT where TMPDIR is too long, GA_EIO where it cannot be made; then
 * `folder` is "". */
int ga_scratch_open(char folder[GA_SCRATCH_FOLDER]);

/* The path of a file in it; `name` is below 60 bytes. */
void ga_scratch_path(const char *folder, const char *name, char path[GA_SCRATCH_PATH]);

/* Removes the files that are there, their names ended by NULL, and the folder; "" is fine. */
void ga_scratch_close(const char *folder, const char *const *names);

#endif
