/* Thousands of sizes and keys in any order, typed at the program while it trains. */
#include "pseudo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "support/support.h"

static uint64_t seed = 88172645463325252u;

static size_t below(size_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed % limit);
}

/* Not ctrl-\, which ends it as it should. */
static const char *const keys[] = {
    " ",
    "m",
    "n",
    "e",
    "b",
    "B",
    "a",
    "A",
    "+",
    "-",
    "t",
    "<",
    ">",
    "R",
    "y",
    "f",
    "c",
    "l",
    "x",
    "w",
    "W",
    "\t",
    "\x1b[Z",
    "z",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "g",
    "T",
    "/",
    "?",
    ":",
    "\x1b",
    "\x0c",
    "\x1a",
    "\x03",
    "q",
    "n",
    "\r",
    "\x7f",
    "\x12",
    "\x1b[A",
    "\x1b[B",
    "\x1b[C",
    "\x1b[D",
    "\x1b[5~",
    "\x1b[6~",
    "\x1b[H",
    "\x1b[F",
    "\x1b[3~",
    "\x01",
    "\x05",
    "\x0b",
    "\x15",
    "\x17",
    "\x04",
    "\033b",
    "\x1b[1;5C",
    "\xc3\xa9",
    "\xe4\xb8\xad",
    "\xff",
    "\x1b[200~next\nmicro\x1b[201~",
    "\x1b[200~half",
    "\x1b[201~",
    ":set replicas 3\r",
    ":set accum 7 batch 3\r",
    ":mode async\r",
    ":mode sync\r",
    ":mode ssp 2\r",
    ":reset\r",
    ":set lr 1e9\r",
    ":set lr 0.01\r",
    ":run 50\r",
    ":back 20\r",
    ":goto 3\r",
    ":data quadratic lambda=1,4\r",
    ":data parabola\r",
    ":set model 1-8-8-1\r",
    ":use main\r",
    ":fork x\r",
    ":drop x\r",
    ":until loss < 0.01\r",
    ":break update == 30\r",
    ":set pace 200\r",
    ":set pace max\r",
    ":view panel log\r",
    ":help set\r",
    ":settings\r",
    ":set clock real\r",
    ":slow 0 5\r",
    ":kill 1\r",
    ":restore 1\r",
    ":set m\t",
    ":ex\t",
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

static void start(struct pty *pty)
{
    static const char *const argv[] = {"gaconsole", "--readonly", NULL};
    pty_open(pty, &(struct pty_options){.argv = argv});
    pty_expect(pty, "PAUSED");
}

/* It may have been told to quit, which is fine; nothing else ends it. */
static void expect_alive(struct pty *pty, size_t step)
{
    while (pty_pump(pty, 0))
        continue;
    if (!pty->ended)
        return;
    if (!WIFEXITED(pty->status) || WEXITSTATUS(pty->status) != 0) {
        char *screen = pty_screen(pty);
        fprintf(stderr, "wait status %#x after step %zu; the screen is\n%s\n", pty->status, step,
                screen);
        free(screen);
        fail();
    }
    pty_expect_restored(pty);
    start(pty);
}

/* Waits where the key may end it: what is typed behind would be the terminal's own. */
static void type_any(struct pty *pty)
{
    const char *key = keys[below(KEYS)];
    pty_type(pty, key);
    if (below(3) == 0 || strpbrk(key, "qy\x03\x04\r"))
        pty_settle(pty);
}

static void nothing_ends_it_but_quit(void **state)
{
    struct pty *pty = *state;
    const size_t steps = ga_test_count(2000);
    start(pty);
    for (size_t i = 0; i < steps; i++) {
        if (below(3) == 0)
            pty_resize(pty, 1 + (int)below(below(4) ? 60 : 100),
                       1 + (int)below(below(4) ? 160 : 300));
        else
            type_any(pty);
        expect_alive(pty, i);
    }
    /* What is left of it still answers. */
    pty_resize(pty, 36, 120);
    pty_type(pty, "\x1b[201~n\x03"); /* a paste that is open, a question, a line */
    pty_settle(pty);
    expect_alive(pty, steps);
    for (int i = 0; i < 4; i++) {
        pty_type(pty, "\x1b");
        pty_settle(pty);
        expect_alive(pty, steps);
    }
    pty_type(pty, ":say it is still here\r");
    pty_expect(pty, "it is still here");
}

static const struct CMUnitTest tests[] = {PTY_TEST(nothing_ends_it_but_quit)};

int main(void)
{
    return ga_test_main(tests);
}
