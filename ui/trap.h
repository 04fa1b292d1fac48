/*
 * Signals. The orderly ones (INT, TERM, HUP, WINCH, TSTP, CONT) become bytes in a pipe that the
 * loop polls. The deadly ones (SEGV, BUS, FPE, ILL, ABRT, QUIT, and USR1, USR2, XCPU, SYS, which
 * end a process as well) put the terminal back with prepared bytes, hand out what libraries had
 * written, and are raised again as if nobody had caught them. A terminal that takes no bytes loses
 * those that wait in it.
 *
 * After TERM and HUP the loop has GA_TRAP_PATIENCE_NS to end in order; then the terminal is put
 * back from the handler and the signal raised again, so a loop that is stuck cannot keep the
 * process.
 *
 * Handlers have no caller's data: what they need is kept inside, one set for the process. Opened
 * and closed by the thread of the loop; handlers run on any thread and call nothing that is not
 * async-signal-safe.
 */
#ifndef GA_UI_TRAP_H
#define GA_UI_TRAP_H

#include <stdint.h>

#include "ui/term.h"

#define GA_TRAP_PATIENCE_NS INT64_C(1500000000)

int ga_trap_open(void);   /* a descriptor to poll, or a negative code */
void ga_trap_close(void); /* handlers as they were */
int ga_trap_take(void);   /* the next orderly signal; 0: none */

/* What the deadly ones put back; NULL: nothing, the terminal is as it was. `caught_fd` is the pipe
 * of capture.h and `error_fd` where its bytes go; -1: none. */
void ga_trap_rescue(const struct ga_term_rescue *rescue, int caught_fd, int error_fd);

/* Stops this process and its group, as ctrl-Z does; returns when it goes on. In a group that no
 * shell would continue it returns at once. */
void ga_trap_stop(void);

/* The usual end by a signal. */
void ga_trap_raise(int number);

#endif
