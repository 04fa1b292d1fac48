/* Bytes of files, plain and packed, read at once and ahead; what is no whole file is refused. */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "dataset/bytes.h"
#include "dataset/opened.h"

#define CONTENT 1500000

/* Half of it packs well, half does not. */
static unsigned char *make_content(void)
{
    unsigned char *content = malloc(CONTENT);
    uint32_t state = 1;
    assert_non_null(content);
    for (size_t i = 0; i < CONTENT; i++) {
        state = state * 1664525u + 1013904223u;
        content[i] = (unsigned char)(i / 1000 % 2 ? state >> 24 : i / 100);
    }
    return content;
}

/* `bits` as for deflateInit2(): 15 zlib, 31 gzip. */
static size_t pack(const unsigned char *content, size_t count, int bits, unsigned char *out,
                   size_t room)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)content;
    stream.avail_in = (uInt)count;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return room - stream.avail_out;
}

static struct ga_bytes *must_open(const char *path, bool ahead)
{
    struct ga_bytes *bytes = NULL;
    assert_int_equal(ga_bytes_open(&bytes, path), 0);
    if (ahead) {
        assert_int_equal(ga_bytes_ahead(&bytes, bytes), 0);
    }
    return bytes;
}

/* Reads it to its end in pieces of many sizes; gives the code. */
static int read_through(struct ga_bytes *bytes, const unsigned char *want, size_t count)
{
    static const size_t sizes[] = {1, 7, 65536, 65535, 300000, 3, 4096};
    unsigned char *got = malloc(300000);
    size_t at = 0;
    size_t part = 1;
    int code = 0;
    assert_non_null(got);
    for (size_t i = 0; code == 0 && part > 0; i = (i + 1) % 7) {
        code = ga_bytes_read(bytes, got, sizes[i], &part);
        if (code == 0) {
            assert_true(part == sizes[i] || at + part == count);
            assert_memory_equal(got, want + at, part);
            at += part;
        }
    }
    free(got);
    assert_true(code != 0 || at == count);
    return code;
}

static void assert_file_reads(const char *path, const void *file, size_t size,
                              const unsigned char *want, size_t count)
{
    ga_test_write_file(path, file, size);
    for (int ahead = 0; ahead < 2; ahead++) {
        struct ga_bytes *bytes = must_open(path, ahead == 1);
        assert_true(bytes->most >= count);
        assert_string_equal(bytes->name, path);
        assert_int_equal(read_through(bytes, want, count), 0);
        ga_bytes_close(bytes);
    }
}

static void test_all_forms_give_the_same_bytes(void **state)
{
    (void)state;
    enum { ROOM = 2 * CONTENT };
    unsigned char *content = make_content();
    unsigned char *file = calloc(1, ROOM);
    char *path = ga_test_path(ga_test_here, "f");
    assert_non_null(file);
    assert_file_reads(path, content, CONTENT, content, CONTENT);
    assert_file_reads(path, content, 0, content, 0);
    assert_file_reads(path, content, 1, content, 1);
    assert_file_reads(path, file, pack(content, CONTENT, 15, file, ROOM), content, CONTENT);
    size_t size = pack(content, CONTENT, 31, file, ROOM);
    assert_file_reads(path, file, size, content, CONTENT);
    memset(file + size, 0, 100000); /* as tapes leave behind */
    assert_file_reads(path, file, size + 100000, content, CONTENT);
    size = pack(content, 700001, 31, file, ROOM);
    size += pack(content, 0, 31, file + size, ROOM - size);
    size += pack(content + 700001, CONTENT - 700001, 31, file + size, ROOM - size);
    assert_file_reads(path, file, size, content, CONTENT);
    free(path);
    free(file);
    free(content);
}

static void assert_refused(const char *path, const void *file, size_t size,
                           const unsigned char *want, size_t count, const char *text)
{
    ga_test_write_file(path, file, size);
    for (int ahead = 0; ahead < 2; ahead++) {
        struct ga_bytes *bytes = must_open(path, ahead == 1);
        assert_int_equal(read_through(bytes, want, count), GA_EINPUT);
        assert_non_null(strstr(ga_error_text(), text));
        assert_non_null(strstr(ga_error_text(), path));
        ga_bytes_close(bytes);
    }
}

static void test_damage_is_refused(void **state)
{
    (void)state;
    enum { ROOM = 2 * CONTENT };
    unsigned char *content = make_content();
    unsigned char *file = calloc(1, ROOM);
    char *path = ga_test_path(ga_test_here, "f.gz");
    assert_non_null(file);
    const size_t size = pack(content, CONTENT, 31, file, ROOM);
    static const char cut[] = "unexpected end of file";
    const size_t cuts[] = {2, 3, 10, 11, size / 2, size - 9, size - 8, size - 4, size - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        assert_refused(path, file, cuts[i], content, CONTENT, cut);
    }
    memcpy(file + size, "more", 4);
    assert_refused(path, file, size + 4, content, CONTENT, "other bytes behind it");
    file[size] = 0;
    assert_refused(path, file, size + 4, content, CONTENT, "other bytes behind it");
    file[size] = 0x1f;
    assert_refused(path, file, size + 4, content, CONTENT, "incorrect header check");
    file[size - 1] ^= 1;
    assert_refused(path, file, size, content, CONTENT, "incorrect length check");
    file[size - 8] ^= 1;
    assert_refused(path, file, size, content, CONTENT, "incorrect data check");
    free(path);
    free(file);
    free(content);
}

/* The thread may wait for room, for the reader, or be done. */
static void test_closing_early(void **state)
{
    (void)state;
    enum { ROOM = 2 * CONTENT };
    unsigned char *content = make_content();
    unsigned char *file = calloc(1, ROOM);
    char *path = ga_test_path(ga_test_here, "f.gz");
    assert_non_null(file);
    ga_test_write_file(path, file, pack(content, CONTENT, 31, file, ROOM));
    for (size_t most = 0; most < CONTENT; most = 2 * most + 1) {
        struct ga_bytes *bytes = must_open(path, true);
        size_t got = 0;
        assert_int_equal(ga_bytes_read(bytes, file, most, &got), 0);
        assert_int_equal(got, most);
        assert_memory_equal(file, content, most);
        ga_bytes_close(bytes);
    }
    ga_bytes_close(NULL);
    free(path);
    free(file);
    free(content);
}

static void test_whole_or_refused(void **state)
{
    (void)state;
    char *path = ga_test_path(ga_test_here, "f");
    char got[8];
    ga_test_write_file(path, "0123456789", 10);
    struct ga_bytes *bytes = must_open(path, false);
    assert_int_equal(ga_bytes_read_all(bytes, got, 8, "its header"), 0);
    assert_memory_equal(got, "01234567", 8);
    assert_int_equal(ga_bytes_end(bytes, "its header"), GA_EINPUT);
    assert_non_null(strstr(ga_error_text(), "f: 2 bytes behind its header, expected the end"));
    assert_int_equal(ga_bytes_end(bytes, "its header"), 0);
    assert_int_equal(ga_bytes_read_all(bytes, got, 8, "its header"), GA_EINPUT);
    assert_non_null(strstr(ga_error_text(), "ends within its header, expected 8 more bytes"));
    ga_bytes_close(bytes);
    assert_int_equal(ga_bytes_open(&bytes, ga_test_here), GA_EINPUT);
    assert_null(bytes);
    assert_int_equal(ga_bytes_open(&bytes, "/dev/zero"), GA_EINPUT);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_forms_give_the_same_bytes, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_damage_is_refused, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_closing_early, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_whole_or_refused, ga_test_make_folder,
                                        ga_test_remove_folder),
    };
    return ga_test_main(tests);
}
