/* CSV files that are refused: what was wrong, where, and what was expected. */
#include "support/support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "dataset/opened.h"

struct refusal {
    const char *text, *options;
    int code;
    const char *message;
};

static const struct refusal refusals[] = {
    {"", "", GA_EINPUT, "t.csv:1: the file is empty, expected at least one row of numbers"},
    {"\n\r\n \n", "", GA_EINPUT, "the file is empty"},
    {"\xef\xbb\xbf", "", GA_EINPUT, "the file is empty"},
    {"x,y\n", "", GA_EINPUT, "t.csv:1: only a header, expected at least one row"},
    {"1,2\n", "header=yes", GA_EINPUT, "only a header"},
    {"1,2\n3\n", "", GA_EINPUT, "t.csv:2: 1 column, expected 2 as in line 1"},
    {"x,y\n1,2\n3,4,5\n", "", GA_EINPUT, "t.csv:3: 3 columns, expected 2 as in line 1"},
    {"1,2\n3,4,\n", "", GA_EINPUT, "t.csv:2: 3 columns, expected 2"},
    {"\n1,2\r\n\r\n3\r\n", "", GA_EINPUT, "t.csv:4: 1 column, expected 2 as in line 2"},
    {"1,2\r3\r", "", GA_EINPUT, "t.csv:2: 1 column"},
    {"1,2\n3,x\n", "", GA_EINPUT,
     "t.csv:2: column 2: \"x\" is not a number, expected a finite number"},
    {"a,b\n3,x\n", "", GA_EINPUT, "t.csv:2: column 2 (\"b\"): \"x\" is not a number"},
    {"a,b\n3,4\n\"5\n6\",7\n", "", GA_EINPUT, "t.csv:3: column 1 (\"a\"): \"5?6\" is not"},
    {"1,2\n3,4x\n", "", GA_EINPUT, "\"4x\" is not a number"},
    {"1,2\n3,4 5\n", "", GA_EINPUT, "\"4 5\" is not a number"},
    {"1,2\n3,0x10\n", "", GA_EINPUT, "\"0x10\" is not a number"},
    {"1;2\n3;4\n", "", GA_EINPUT, "t.csv:1: 1 column, expected at least one input"},
    {"1,2\n3,\n", "", GA_EINPUT, "t.csv:2: column 2: \"\" is not a number"},
    {"1,\n3,4\n", "", GA_EINPUT, "t.csv:1: column 2: \"\" is not a number"},
    {"nan,2\n3,4\n", "", GA_EINPUT, "t.csv:1: column 1: \"nan\" is not a number"},
    {"1,-Inf\n3,4\n", "", GA_EINPUT, "t.csv:1: column 2: \"-Inf\" is not a number"},
    {"1,2\n3,NaN\n", "", GA_EINPUT, "t.csv:2: column 2: \"NaN\" is not a number"},
    {"1,2\n3,infinity\n", "", GA_EINPUT, "\"infinity\" is not a number"},
    {"1,2\n1e400,4\n", "", GA_ERANGE, "t.csv:2: column 1: \"1e400\" is out of range"},
    {"1,2\n1e39,4\n", "", GA_ERANGE, "t.csv:2: column 1: 1e+39, expected at most 3.4028"},
    {"1,2\n3,-1e39\n", "", GA_ERANGE, "t.csv:2: column 2: -1e+39, expected at most"},
    {"1,2\n1e38,4\n", "scale=1e2", GA_ERANGE, "t.csv:2: column 1: 1e+40, expected at most"},
    {"1,2\n\"3,4\n", "", GA_EINPUT, "t.csv:2: the file ends inside a quoted field"},
    {"1,2\n3,4\"5\"\n", "", GA_EINPUT, "t.csv:2: a quote in the middle of a field"},
    {"1,2\n\"3\"4,5\n", "", GA_EINPUT, "t.csv:2: a quote in the middle of a field"},
    {"1\n2\n", "", GA_EINPUT, "t.csv:1: 1 column, expected at least one input beside target"},
    {"1,2\n", "weight=1", GA_EINPUT, "t.csv:1: 2 columns, expected at least one input"},
    {"1,2\n", "target=1,2", GA_EINPUT, "expected at least one input"},
    {"1,2\n", "target=3", GA_EINPUT, "t.csv:1: target=\"3\" is no column, expected 1..2 or -2..-1"},
    {"1,2\n", "target=0", GA_EINPUT, "target=\"0\" is no column"},
    {"1,2\n", "target=", GA_EINPUT, "target=\"\" is no column"},
    {"1,2\n", "target=2,", GA_EINPUT, "target=\"\" is no column"},
    {"1,2\n", "target=y", GA_EINPUT, "target=\"y\" is no column, expected 1..2 or -2..-1"},
    {"x,y\n1,2\n", "target=z", GA_EINPUT, "expected 1..2 or -2..-1, \"x\", \"y\""},
    {"x,y\n1,2\n", "weight=z", GA_EINPUT, "weight=\"z\" is no column"},
    {"x,x,y\n1,2,3\n", "target=x", GA_EINPUT, "target=x names 2 columns, expected the column's"},
    {"1,2,3\n", "target=2,2", GA_EINPUT, "t.csv:1: column 2 is chosen twice"},
    {"1,2,3\n", "target=2 weight=-2", GA_EINPUT, "column 2 is chosen twice"},
    {"1,2,0\n1,2,-1\n", "weight=3", GA_ERANGE, "t.csv:2: column 3: -1, expected a weight of 0 or"},
    {"1,2,1e-7\n", "weight=3", GA_ERANGE, "t.csv:1: column 3: 1e-07, expected a weight"},
    {"1,2,1048577\n", "weight=3", GA_ERANGE, "t.csv:1: column 3: 1048577, expected a weight"},
    {"1,2\n1,1.5\n", "kind=class", GA_ERANGE,
     "t.csv:2: column 2: 1.5, expected a class, a whole number 0..65535"},
    {"1,2\n1,-1\n", "kind=class", GA_ERANGE, "t.csv:2: column 2: -1, expected a class"},
    {"1,2\n1,3\n", "kind=class classes=3", GA_ERANGE,
     "t.csv:2: column 2: 3, expected a class, a "
     "whole number 0..2"},
    {"1,65536\n", "kind=class", GA_ERANGE, "expected a class, a whole number 0..65535"},
    {"1,1e300\n", "kind=class", GA_ERANGE, "expected a class"},
    {"1,cat\n2,dog\n", "kind=class header=no", GA_EINPUT, "t.csv:1: column 2: \"cat\" is not a"},
    {"1,2,3\n", "kind=class target=1,2", GA_EINPUT,
     "2 target columns, expected one for kind=class"},
    {"1,2\n", "kind=klass", GA_EINPUT, "kind=\"klass\": expected one of value, class, quadratic"},
    {"1,2\n", "classes=3", GA_EINPUT, "classes= does not go with kind=value"},
    {"1,2\n", "kind=class classes=0", GA_ERANGE, "expected 1 to 65536"},
    {"1,2\n", "kind=class classes=65537", GA_ERANGE, "expected 1 to 65536"},
    {"1,2\n", "header=maybe", GA_EINPUT, "expected one of auto, yes, no"},
    {"1,2\n", "scale=0", GA_ERANGE, "scale=0 makes all inputs 0"},
    {"1,2\n", "scale=x", GA_EINPUT, "\"x\" is not a number"},
    {"1,2\n", "sale=2", GA_EINPUT, "\"sale=2\" is not understood, expected FILE [kind="},
    {"1,2\n", "scale=2 scale=2", GA_EINPUT, "scale is given twice"},
    {"1,2\n", "shuffle=1", GA_EINPUT, "expected train= or test= with it"},
    {"1,2\n", "test=1", GA_ERANGE, "test=1 of 1 rows, expected at least 1 row to train"},
    {"1,2\n1,2\n", "test=3", GA_ERANGE, "test=3 of 2 rows"},
    {"1,2\n1,2\n", "train=3", GA_ERANGE, "train=3 of 2 rows"},
    {"1,2\n1,2\n", "train=2 test=1", GA_ERANGE, "test=1 of 2 rows"},
    {"1,2\n1,2\n", "train=0", GA_ERANGE, "train=\"0\""},
    {"1,2\n1,2\n", "train=0.5", GA_EINPUT, "\"0.5\" is not a whole number"},
    {"1,2\n1,2\n", "test=1.0", GA_ERANGE, "a fraction between 0 and 1"},
    {"1,2\n1,2\n", "test=0.0", GA_ERANGE, "a fraction between 0 and 1"},
    {"1,2\n1,2\n", "test=0.1", GA_ERANGE, "makes at least one row"},
    {"1,2\n1,2\n", "test=0.9", GA_ERANGE, "at least 1 row to train"},
    {"1,2\n1,2\n", "test=1.x", GA_EINPUT, "\"1.x\" is not a number"},
    {"1,2\n1,2\n", "test=-1", GA_ERANGE, "expected 0 to 4294967295"},
    {"1,2\n1,2\n", "test=1 shuffle=-1", GA_EINPUT, "shuffle=\"-1\""},
    {"1,2,3\n", "kind=quadratic", GA_EINPUT, "3 columns beside the weight, expected pairs"},
    {"1\n", "kind=quadratic weight=1", GA_EINPUT, "0 columns beside the weight"},
    {"lambda_1,c_2\n1,2\n", "kind=quadratic", GA_EINPUT,
     "column 2 (\"c_2\"), expected lambda_1..lambda_1 and c_1..c_1, each once"},
    {"lambda_1,lambda_1,c_1,c_2\n1,2,3,4\n", "kind=quadratic", GA_EINPUT,
     "column 2 (\"lambda_1\")"},
    {"lambda_1,lambda_01,c_1,c_2\n1,2,3,4\n", "kind=quadratic", GA_EINPUT, "(\"lambda_01\")"},
    {"lambda_1,x\n1,2\n", "kind=quadratic", GA_EINPUT, "column 2 (\"x\"), expected lambda_1.."},
    {"1,2\n", "kind=quadratic target=1", GA_EINPUT, "target= does not go with kind=quadratic"},
    {"1,2\n", "kind=quadratic scale=2", GA_EINPUT, "scale= does not go with kind=quadratic"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *refusal = &refusals[i];
        struct ga_dataset *dataset = (struct ga_dataset *)&dataset;
        const int code =
            ga_test_open_bytes(&dataset, refusal->text, strlen(refusal->text), refusal->options);
        assert_null(dataset);
        if (code != refusal->code || !strstr(ga_error_text(), refusal->message)) {
            fail_msg("%s | %s: %d %s, expected %d %s", refusal->text, refusal->options, code,
                     ga_error_text(), refusal->code, refusal->message);
        }
    }
}

/* UTF-16 and other binary content: refused, with the bytes kept out of the message. */
static void test_binary_content(void **state)
{
    (void)state;
    static const char utf16[] = {'\xff', '\xfe', '1', 0, ',', 0, '2', 0,
                                 '\n',   0,      '3', 0, ',', 0, '4', 0};
    static const char zeros[300] = {0};
    struct ga_dataset *dataset = NULL;
    assert_int_equal(ga_test_open_bytes(&dataset, utf16, sizeof utf16, ""), GA_EINPUT);
    for (const char *at = ga_error_text(); *at; at++) {
        assert_true(*at >= ' ' && *at < 127);
    }
    assert_int_equal(ga_test_open_bytes(&dataset, zeros, sizeof zeros, ""), GA_EINPUT);
    assert_int_equal(ga_test_open_bytes(&dataset, "1,2\n3,4\0\n", 10, ""), GA_EINPUT);
    assert_non_null(strstr(ga_error_text(), ":2: column 2"));
}

static void test_no_such_file(void **state)
{
    (void)state;
    struct ga_dataset *dataset = NULL;
    assert_int_equal(ga_test_data(&dataset, "missing.csv", "", ga_test_here), GA_EIO);
    assert_non_null(strstr(ga_error_text(), "cannot open missing.csv"));
    assert_int_equal(ga_test_data(&dataset, ga_test_here, "", ""), GA_EINPUT);
    assert_non_null(strstr(ga_error_text(), "is a directory, expected a file with data"));
    assert_int_equal(ga_test_data(&dataset, "/dev/zero", "", ""), GA_EINPUT);
    assert_non_null(strstr(ga_error_text(), "is not a regular file"));
    char *pipe = ga_test_path(ga_test_here, "pipe.csv");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(ga_test_data(&dataset, pipe, "", ""), GA_EINPUT); /* and does not wait */
    free(pipe);
    char *hidden = ga_test_path(ga_test_here, "hidden.csv");
    ga_test_write_file(hidden, "1,2\n", 4);
    assert_int_equal(chmod(hidden, 0), 0);
    if (geteuid() != 0) {
        assert_int_equal(ga_test_data(&dataset, hidden, "", ""), GA_EIO);
    }
    free(hidden);
    assert_null(dataset);
}

/* `count` times `item`, then `last`. */
static char *repeated(const char *first, const char *item, size_t count, const char *last)
{
    const size_t width = strlen(item);
    char *text = malloc(strlen(first) + count * width + strlen(last) + 1);
    assert_non_null(text);
    char *at = stpcpy(text, first);
    for (size_t i = 0; i < count; i++) {
        memcpy(at, item, width);
        at += width;
    }
    strcpy(at, last);
    return text;
}

static void assert_refused(char *text, int code, const char *message)
{
    struct ga_dataset *dataset = NULL;
    assert_int_equal(ga_test_open_bytes(&dataset, text, strlen(text), ""), code);
    if (!strstr(ga_error_text(), message)) {
        fail_msg("%s, expected %s", ga_error_text(), message);
    }
    free(text);
}

static void test_absurd_sizes(void **state)
{
    (void)state;
    struct ga_dataset *dataset = NULL;
    assert_refused(repeated("", "1,", 65536, "1\n"), GA_ERANGE,
                   ":1: too many columns, expected at "
                   "most 65536");
    assert_refused(repeated("1,2\n\"", "3\n", 70000, ""), GA_EINPUT,
                   ":2: a field of more than 65536 bytes, expected a number and a closing quote");
    assert_refused(repeated("1,2\n", "3", 140000, "\n"), GA_EINPUT,
                   ":2: a field of more than 65536 bytes, expected a number");
    char *wide = repeated("", "1,", 65535, "1\n");
    assert_int_equal(ga_test_open_bytes(&dataset, wide, strlen(wide), ""), 0);
    assert_int_equal(ga_dataset_table(dataset)->input_width, 65535);
    ga_dataset_close(dataset);
    free(wide);
    char *digits = repeated("0.", "1", 60000, ",2\n");
    assert_int_equal(ga_test_open_bytes(&dataset, digits, strlen(digits), ""), 0);
    assert_close((double)ga_dataset_table(dataset)->inputs[0], 1.0 / 9.0, 1e-7);
    ga_dataset_close(dataset);
    free(digits);
}

/* A signal that is blocked, as the console has it, ends what may have no end; a short file is read
 * all the same. */
static void test_signals(void **state)
{
    (void)state;
    struct ga_dataset *dataset = NULL;
    sigset_t one, before;
    int number = 0;
    sigemptyset(&one);
    sigaddset(&one, SIGTERM);
    assert_int_equal(sigprocmask(SIG_BLOCK, &one, &before), 0);
    raise(SIGTERM);
    assert_refused(repeated("", "\n", 1000000, "1,2\n"), GA_EIO,
                   ":65537: interrupted while it was");
    assert_int_equal(ga_test_open_bytes(&dataset, "1,2\n", 4, ""), 0);
    ga_dataset_close(dataset);
    assert_int_equal(sigwait(&one, &number), 0);
    assert_int_equal(number, SIGTERM);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_refusals, ga_test_make_folder, ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_binary_content, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_no_such_file, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_absurd_sizes, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_signals, ga_test_make_folder, ga_test_remove_folder),
    };
    return ga_test_main(tests);
}
