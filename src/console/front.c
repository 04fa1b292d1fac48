#include "console/front.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

void ga_run_configuration(struct ga_console *console)
{
    char *path = ga_user_path("XDG_CONFIG_HOME", ".config", "config");
    if (path && access(path, R_OK) == 0)
        ga_console_script(console, path);
    free(path);
}

void ga_run_sources(struct ga_console *console, const struct ga_arguments *arguments, bool strict)
{
    int code = 0;
    struct ga_origin origin = {"--seed", 1};
    if (arguments->seed) {
        char line[64];
        const int length = snprintf(line, sizeof(line), "set seed %.40s", arguments->seed);
        code = ga_console_line(console, line, (size_t)length, &origin);
    }
    origin = (struct ga_origin){"-e", 0};
    for (size_t i = 0; i < arguments->sources; i++) {
        const struct ga_source *source = &arguments->source[i];
        const bool ends = ga_console_quits(console) || ga_console_interrupted(console);
        if (ends || (code < 0 && strict))
            return;
        origin.line += !source->script;
        code = source->script
                   ? ga_console_script(console, source->text)
                   : ga_console_line(console, source->text, strlen(source->text), &origin);
    }
}

/* For the handler, which gets no pointer of ours. */
static struct {
    volatile sig_atomic_t number; /* TERM or HUP has come */
    bool terminal;
    struct termios usual;
} ending;

static void end_now(int number)
{
    (void)number;
    if (ending.terminal)
        tcsetattr(STDIN_FILENO, TCSANOW, &ending.usual);
    ga_signals_raise(ending.number);
}

static void begin_ending(int number)
{
    const struct itimerval patience = {.it_value = {1, 500000}};
    const struct sigaction action = {.sa_handler = end_now};
    if (ending.number)
        return;
    ending.number = number;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &patience, NULL);
}

int ga_signals_open(bool resize)
{
    ending.number = 0;
    ending.terminal = tcgetattr(STDIN_FILENO, &ending.usual) == 0;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    if (resize) {
        sigaddset(&set, SIGWINCH);
        sigaddset(&set, SIGTSTP);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error of its write */
    sigprocmask(SIG_BLOCK, &set, NULL);
    const int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        return ga_fail_errno(GA_EIO, errno, "cannot watch for signals");
    return fd;
}

int ga_signals_take(int fd)
{
    struct signalfd_siginfo info;
    if (read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return 0;
    if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP)
        begin_ending((int)info.ssi_signo);
    return (int)info.ssi_signo;
}

void ga_signals_raise(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int ga_finish(struct ga_stream *stream, int status)
{
    if (ga_stream_flush(stream) == 0)
        return status;
    if (stream->system_error == EPIPE)
        ga_signals_raise(SIGPIPE);
    return ga_stream_flush(stream);
}

char *ga_user_path(const char *variable, const char *under_home, const char *name)
{
    const char *base = getenv(variable);
    const char *home = getenv("HOME");
    struct ga_text path = GA_TEXT_INIT;
    if (base && *base == '/')
        ga_text_puts(&path, base);
    else if (home && *home == '/')
        ga_text_printf(&path, "%s/%s", home, under_home);
    else
        return NULL;
    ga_text_printf(&path, "/gaconsole/%s", name);
    if (!ga_text_failed(&path))
        return path.data;
    ga_text_free(&path);
    return NULL;
}
