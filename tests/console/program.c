#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/support.h"

static void start(const char *const *argv, const char *folder, const int out[2], const int fail[2])
{
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(fail[1], STDERR_FILENO);
    close(out[0]);
    close(fail[0]);
    if (folder && chdir(folder) < 0)
        _exit(126);
    char *const *words = NULL; /* execv() does not write to them, whatever its type says */
    memcpy(&words, &argv, sizeof(words));
    execv(strchr(argv[0], '/') ? argv[0] : GA_PROGRAM, words);
    _exit(127);
}

/* False at the end of the file. */
static bool take(int fd, struct ga_text *to)
{
    char bytes[4096];
    const ssize_t count = read(fd, bytes, sizeof(bytes));
    if (count > 0)
        ga_text_append(to, bytes, (size_t)count);
    return count > 0 || (count < 0 && errno == EINTR);
}

static void collect(int out, int fail, struct outcome *outcome)
{
    struct pollfd watched[2] = {{.fd = out, .events = POLLIN}, {.fd = fail, .events = POLLIN}};
    while (watched[0].fd >= 0 || watched[1].fd >= 0) {
        poll(watched, 2, -1);
        if (watched[0].revents && !take(out, &outcome->out))
            watched[0].fd = -1;
        if (watched[1].revents && !take(fail, &outcome->fail))
            watched[1].fd = -1;
    }
}

void program_run(const char *const *argv, const char *folder, struct outcome *outcome)
{
    int out[2];
    int fail[2];
    int status = 0;
    memset(outcome, 0, sizeof(*outcome));
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(fail), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        start(argv, folder, out, fail);
    close(out[1]);
    close(fail[1]);
    collect(out[0], fail[0], outcome);
    close(out[0]);
    close(fail[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    outcome->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void outcome_fini(struct outcome *outcome)
{
    ga_text_free(&outcome->out);
    ga_text_free(&outcome->fail);
}
