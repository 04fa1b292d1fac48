#include "base/error.h"
#include "base/memory.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static bool all_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static void test_blocks_are_zero_and_aligned(void **state)
{
    (void)state;
    for (size_t count = 0; count < 200; count += 7) {
        unsigned char *plain = ga_alloc(count, 3);
        unsigned char *aligned = ga_alloc_aligned(count, 3);
        assert_non_null(plain);
        assert_non_null(aligned);
        assert_int_equal((uintptr_t)aligned % 64, 0);
        assert_true(all_zero(plain, count * 3) && all_zero(aligned, count * 3));
        memset(aligned, 0xff, count * 3);
        free(plain);
        free(aligned);
    }
}

static void test_overflow_is_refused(void **state)
{
    (void)state;
    const size_t sizes[][2] = {{SIZE_MAX, 2},
                               {SIZE_MAX / 2 + 1, 2},
                               {SIZE_MAX, 1},
                               {(size_t)1 << 32, (size_t)1 << 32},
                               {PTRDIFF_MAX, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_null(ga_alloc(sizes[i][0], sizes[i][1]));
        assert_int_equal(ga_error_code(), GA_ENOMEM);
        assert_null(ga_alloc_aligned(sizes[i][0], sizes[i][1]));
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    void *blocks[3];
    ga_test_allocation_limit(0);
    blocks[0] = ga_alloc(1, 1);
    blocks[1] = ga_alloc_aligned(1, 1);
    blocks[2] = ga_copy_string("x");
    ga_test_allocation_free();
    for (size_t i = 0; i < 3; i++)
        assert_null(blocks[i]);
    assert_int_equal(ga_error_code(), GA_ENOMEM);
    assert_string_equal(ga_error_text(), "out of memory: 2 bytes were asked for");
}

static void test_grow(void **state)
{
    (void)state;
    int32_t *array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        void *block = array;
        assert_int_equal(ga_grow(&block, &capacity, i + 1, sizeof *array), GA_OK);
        array = block;
        assert_true(capacity > i && capacity <= 2 * (i + 8));
        array[i] = (int32_t)i;
    }
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    free(array);
}

static void test_grow_failing_changes_nothing(void **state)
{
    (void)state;
    void *array = ga_alloc(4, 8);
    void *const before = array;
    size_t capacity = 4;
    assert_int_equal(ga_grow(&array, &capacity, SIZE_MAX, 8), GA_ENOMEM);
    assert_int_equal(ga_grow(&array, &capacity, SIZE_MAX / 2 + 2, 1), GA_ENOMEM);
    ga_test_allocation_limit(0);
    const int answer = ga_grow(&array, &capacity, 5, 8);
    ga_test_allocation_free();
    assert_int_equal(answer, GA_ENOMEM);
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, 4);
    free(array);
}

static void test_copy_string(void **state)
{
    (void)state;
    char *copy = ga_copy_string("accum");
    assert_string_equal(copy, "accum");
    free(copy);
    copy = ga_copy_string("");
    assert_string_equal(copy, "");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_zero_and_aligned),
        cmocka_unit_test(test_overflow_is_refused),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_grow_failing_changes_nothing),
        cmocka_unit_test(test_copy_string),
    };
    return ga_test_main(tests);
}
