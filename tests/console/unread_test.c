/* Output that nobody reads holds a session only until a signal asks it to end. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "support/support.h"

#define PATIENT INT64_C(60000000000) /* ns: a test that waits so long has failed */

struct session {
    pid_t child;
    int in, out; /* what it reads, and what it writes and nobody reads */
};

static void run_child(char *const *argv, const int in[2], const int out[2])
{
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(out[1], STDERR_FILENO);
    close(in[1]);
    close(out[0]);
    execv(GA_PROGRAM, argv);
    _exit(127);
}

static struct session start(char *const *argv, const char *input)
{
    struct session session;
    int in[2], out[2];

    assert_true(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    session.child = fork();
    assert_true(session.child >= 0);
    if (session.child == 0)
        run_child(argv, in, out);
    close(in[0]);
    close(out[1]);
    session.in = in[1];
    session.out = out[0];
    assert_int_equal(write(session.in, input, strlen(input)), strlen(input));
    return session;
}

/* Until the pipe is as full as it gets. */
static void fill_up(const struct session *session)
{
    const int64_t deadline_ns = ga_now_ns() + PATIENT;
    int waiting = 0, before = -1, same = 0;

    while (same < 20 && ga_now_ns() < deadline_ns) {
        assert_int_equal(ioctl(session->out, FIONREAD, &waiting), 0);
        same = waiting > 0 && waiting == before ? same + 1 : 0;
        before = waiting;
        usleep(5000);
    }
    assert_true(waiting > 4096);
}

/* The signal that ended it; 0: none did. */
static int end_by(const struct session *session, int number)
{
    const int64_t deadline_ns = ga_now_ns() + PATIENT;
    int status = 0;

    assert_int_equal(kill(session->child, number), 0);
    while (waitpid(session->child, &status, WNOHANG) == 0) {
        if (ga_now_ns() > deadline_ns) {
            kill(session->child, SIGKILL);
            waitpid(session->child, &status, 0);
            return 0;
        }
        usleep(5000);
    }
    close(session->in);
    close(session->out);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_signals_end_a_write(void **state)
{
    static char *const batch[] = {"gaconsole", "--batch", "-e", "run 1000000", NULL};
    static char *const plain[] = {"gaconsole", "--plain", NULL};
    static const int numbers[] = {SIGTERM, SIGHUP, SIGINT};

    (void)state;
    for (size_t k = 0; k < 2 * sizeof numbers / sizeof numbers[0]; k++) {
        const struct session session =
            k % 2 == 0 ? start(batch, "") : start(plain, "run 1000000\nrun 1000000\n");

        fill_up(&session);
        assert_int_equal(end_by(&session, numbers[k / 2]), numbers[k / 2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals_end_a_write),
    };

    return ga_test_main(tests);
}
