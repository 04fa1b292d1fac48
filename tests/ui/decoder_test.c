/* What the bytes of a terminal mean, in every way that they can be cut. */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include "ui/decoder.h"

#define MS INT64_C(1000000)

static void feed(struct ga_decoder *decoder, const char *bytes, int64_t now_ns)
{
    assert_int_equal(ga_decoder_feed(decoder, bytes, strlen(bytes), now_ns), 0);
}

static void expect_key(struct ga_decoder *decoder, int64_t now_ns, int key, unsigned modifiers)
{
    struct ga_input input;
    assert_true(ga_decoder_next(decoder, now_ns, &input));
    assert_int_equal(input.key, key);
    assert_int_equal(input.modifiers, modifiers);
}

static void expect_nothing(struct ga_decoder *decoder, int64_t now_ns)
{
    struct ga_input input;
    assert_false(ga_decoder_next(decoder, now_ns, &input));
}

static const struct {
    const char *bytes;
    int key;
    unsigned modifiers;
} keys[] = {
    {"a", 'a', 0},
    {"\r", GA_KEY_ENTER, 0},
    {"\n", GA_KEY_ENTER, 0},
    {"\t", GA_KEY_TAB, 0},
    {"\x7f", GA_KEY_BACKSPACE, 0},
    {"\b", GA_KEY_BACKSPACE, 0},
    {"\x0c", GA_CTRL('l'), 0},
    {"\x1a", GA_CTRL('z'), 0},
    {"\xc3\xa9", 0xe9, 0},
    {"\xe2\xa0\xbf", 0x283f, 0},
    {"\xf0\x9f\x99\x82", 0x1f642, 0},
    {"\x1b[A", GA_KEY_UP, 0},
    {"\x1bOB", GA_KEY_DOWN, 0},
    {"\x1b[C", GA_KEY_RIGHT, 0},
    {"\x1bOD", GA_KEY_LEFT, 0},
    {"\x1b[1;5C", GA_KEY_RIGHT, GA_MODIFIER_CTRL},
    {"\x1b[1;2D", GA_KEY_LEFT, GA_MODIFIER_SHIFT},
    {"\x1b[1;3A", GA_KEY_UP, GA_MODIFIER_ALT},
    {"\x1b[H", GA_KEY_HOME, 0},
    {"\x1b[4~", GA_KEY_END, 0},
    {"\x1b[5~", GA_KEY_PAGE_UP, 0},
    {"\x1b[6~", GA_KEY_PAGE_DOWN, 0},
    {"\x1b[6;5~", GA_KEY_PAGE_DOWN, GA_MODIFIER_CTRL},
    {"\x1b[3~", GA_KEY_DELETE, 0},
    {"\x1b[2~", GA_KEY_INSERT, 0},
    {"\x1b[Z", GA_KEY_BACK_TAB, 0},
    {"\x1b"
     "b",
     'b', GA_MODIFIER_ALT},
    {"\x1b\x7f", GA_KEY_BACKSPACE, GA_MODIFIER_ALT},
    {"\x1b\xc3\xa9", 0xe9, GA_MODIFIER_ALT},
};

static void every_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct ga_decoder *decoder = NULL;
        assert_int_equal(ga_decoder_open(&decoder), 0);
        feed(decoder, keys[i].bytes, 0);
        expect_key(decoder, 0, keys[i].key, keys[i].modifiers);
        expect_nothing(decoder, 10 * GA_PASTE_NS);
        ga_decoder_close(decoder);
    }
}

/* Each byte by itself, 20 ms apart: the same keys, and none before the last byte. */
static void every_key_byte_by_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct ga_decoder *decoder = NULL;
        assert_int_equal(ga_decoder_open(&decoder), 0);
        const size_t length = strlen(keys[i].bytes);
        int64_t now_ns = 0;
        for (size_t at = 0; at < length; at++, now_ns += 20 * MS) {
            expect_nothing(decoder, now_ns);
            assert_int_equal(ga_decoder_feed(decoder, keys[i].bytes + at, 1, now_ns), 0);
        }
        expect_key(decoder, now_ns, keys[i].key, keys[i].modifiers);
        expect_nothing(decoder, now_ns + 10 * GA_PASTE_NS);
        ga_decoder_close(decoder);
    }
}

static void a_lone_escape_waits_25_ms(void **state)
{
    (void)state;
    struct ga_decoder *decoder = NULL;
    assert_int_equal(ga_decoder_open(&decoder), 0);
    assert_true(ga_decoder_deadline(decoder) == INT64_MAX);
    feed(decoder, "\x1b", 7 * MS);
    assert_true(ga_decoder_deadline(decoder) == 7 * MS + GA_ESCAPE_NS);
    expect_nothing(decoder, 7 * MS + GA_ESCAPE_NS - 1);
    expect_key(decoder, 7 * MS + GA_ESCAPE_NS, GA_KEY_ESCAPE, 0);
    assert_true(ga_decoder_deadline(decoder) == INT64_MAX);
    feed(decoder, "\x1b\x1b[A", 100 * MS);
    expect_key(decoder, 100 * MS, GA_KEY_ESCAPE, 0);
    expect_key(decoder, 100 * MS, GA_KEY_UP, 0);
    ga_decoder_close(decoder);
}

/* A slow line may cut a sequence anywhere; its rest is no text. */
static void a_late_sequence_is_still_one(void **state)
{
    (void)state;
    struct ga_decoder *decoder = NULL;
    assert_int_equal(ga_decoder_open(&decoder), 0);
    feed(decoder, "\x1b[", 0);
    expect_nothing(decoder, 200 * MS);
    feed(decoder, "5~x", 300 * MS);
    expect_key(decoder, 300 * MS, GA_KEY_PAGE_UP, 0);
    expect_key(decoder, 300 * MS, 'x', 0);
    ga_decoder_close(decoder);
}

static void what_means_nothing_is_dropped(void **state)
{
    (void)state;
    static const char *const noise[] = {
        "\x1b[15~",                     /* a function key */
        "\x1b[[A",                      /* one of the Linux console */
        "\x1b[?64;1;2c",                /* what it is */
        "\x1b[24;80R",                  /* where the cursor is */
        "\x1b]11;rgb:0/0/0\a",          /* a colour */
        "\x1bP1+r544e\x1b\\",           /* a capability */
        "\x1b[M !!",                    /* an old mouse report */
        "\x1b[<0;10;10M",               /* a new one */
        "\x1b[I\x1b[O",                 /* the focus came and went */
        "\x1b[201~",                    /* the end of no paste */
        "\xff\xc0\x80\xed\xa0\x80\xf5", /* no UTF-8 */
        "\xc2\x9b",                     /* a control character beyond 127 */
    };
    for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++) {
        struct ga_decoder *decoder = NULL;
        assert_int_equal(ga_decoder_open(&decoder), 0);
        feed(decoder, noise[i], 0);
        feed(decoder, "q", 0);
        expect_key(decoder, 0, 'q', 0);
        expect_nothing(decoder, 10 * GA_PASTE_NS);
        ga_decoder_close(decoder);
    }
}

static void expect_paste(struct ga_decoder *decoder, int64_t now_ns, const char *text)
{
    struct ga_input input;
    assert_true(ga_decoder_next(decoder, now_ns, &input));
    assert_int_equal(input.key, GA_KEY_PASTE);
    assert_int_equal(input.paste_bytes, strlen(text));
    assert_string_equal(input.paste, text);
    assert_false(input.paste_cut);
}

static void a_paste_is_one_text_however_it_is_cut(void **state)
{
    (void)state;
    static const char bytes[] =
        "\x1b[200~run 3\r\nset\taccum 5\rsay \xc3\xa9\x1b[31m\x03\x1b[201~q";
    const size_t length = sizeof(bytes) - 1;
    for (size_t cut = 0; cut <= length; cut++) {
        struct ga_decoder *decoder = NULL;
        struct ga_input input;
        assert_int_equal(ga_decoder_open(&decoder), 0);
        assert_int_equal(ga_decoder_feed(decoder, bytes, cut, 0), 0);
        while (cut < length - 1 && ga_decoder_next(decoder, 0, &input))
            fail_msg("a key after %zu bytes", cut);
        assert_int_equal(ga_decoder_feed(decoder, bytes + cut, length - cut, 0), 0);
        expect_paste(decoder, 0, "run 3\nset accum 5\nsay \xc3\xa9[31m");
        expect_key(decoder, 0, 'q', 0);
        ga_decoder_close(decoder);
    }
}

static void a_paste_without_an_end_ends(void **state)
{
    (void)state;
    struct ga_decoder *decoder = NULL;
    assert_int_equal(ga_decoder_open(&decoder), 0);
    feed(decoder, "\x1b[200~run 3", 0);
    expect_nothing(decoder, GA_PASTE_NS - 1);
    assert_true(ga_decoder_deadline(decoder) == GA_PASTE_NS);
    expect_paste(decoder, GA_PASTE_NS, "run 3");
    feed(decoder, "q", 2 * GA_PASTE_NS);
    expect_key(decoder, 2 * GA_PASTE_NS, 'q', 0);
    ga_decoder_close(decoder);
}

static void a_long_paste_is_cut_and_says_so(void **state)
{
    (void)state;
    struct ga_decoder *decoder = NULL;
    struct ga_input input;
    char block[65536];
    memset(block, 'x', sizeof(block));
    assert_int_equal(ga_decoder_open(&decoder), 0);
    feed(decoder, "\x1b[200~", 0);
    for (size_t i = 0; i < GA_PASTE_LIMIT / sizeof(block) + 2; i++) {
        assert_int_equal(ga_decoder_feed(decoder, block, sizeof(block), 0), 0);
        expect_nothing(decoder, 0);
    }
    feed(decoder, "\x1b[201~", 0);
    assert_true(ga_decoder_next(decoder, 0, &input));
    assert_true(input.paste_cut);
    assert_int_equal(input.paste_bytes, GA_PASTE_LIMIT);
    feed(decoder, "\x1b[200~y\x1b[201~", 0);
    expect_paste(decoder, 0, "y");
    ga_decoder_close(decoder);
}

static void memory_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct ga_decoder *decoder = NULL;
    ga_test_allocation_limit(0);
    const int code = ga_decoder_open(&decoder);
    ga_test_allocation_free();
    assert_true(code < 0);
    assert_null(decoder);
    assert_int_equal(ga_decoder_open(&decoder), 0);
    ga_test_allocation_limit(0);
    const int fed = ga_decoder_feed(decoder, "a", 1, 0);
    ga_test_allocation_free();
    assert_true(fed < 0);
    feed(decoder, "b", 0);
    expect_key(decoder, 0, 'b', 0);
    ga_decoder_close(decoder);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_key),
    cmocka_unit_test(every_key_byte_by_byte),
    cmocka_unit_test(a_lone_escape_waits_25_ms),
    cmocka_unit_test(a_late_sequence_is_still_one),
    cmocka_unit_test(what_means_nothing_is_dropped),
    cmocka_unit_test(a_paste_is_one_text_however_it_is_cut),
    cmocka_unit_test(a_paste_without_an_end_ends),
    cmocka_unit_test(a_long_paste_is_cut_and_says_so),
    cmocka_unit_test(memory_that_is_not_there_is_an_error),
};

int main(void)
{
    return ga_test_main(tests);
}
