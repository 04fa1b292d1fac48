/* Preloaded into the program: a library that writes to standard streams when it is told to. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(int descriptor, const char *text)
{
    if (write(descriptor, text, strlen(text)) < 0)
        abort();
}

static void speak(int number)
{
    (void)number;
    say(STDERR_FILENO, "NOISE on standard error\n");
    say(STDOUT_FILENO, "NOISE on \x1b[31mstandard output\n");
}

static void die(int number)
{
    (void)number;
    say(STDERR_FILENO, "NOISE before the end\n");
    abort();
}

__attribute__((constructor)) static void listen(void)
{
    signal(SIGRTMIN, speak);
    signal(SIGRTMAX, die);
}
