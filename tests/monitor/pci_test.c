#include "monitor/pci.h"

#include <string.h>

#include "support/support.h"

static void both_spellings_are_one_place(void **unused)
{
    (void)unused;
    static const char *const same[] = {"0000:3B:00.0", "00000000:3B:00.0", "0:3b:0.0", "3b:00.0",
                                       "3b:0",         "0000:3b:00"};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        const struct ga_pci want = {0, 0x3b, 0, 0};
        struct ga_pci got;
        char text[GA_PCI_TEXT];
        assert_true(ga_pci_read(same[i], &got));
        assert_true(ga_pci_same(&got, &want));
        assert_string_equal(ga_pci_write(text, &got), "0000:3b:00.0");
    }
}

static void every_part_counts(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"0000:3b:00.0", "0001:3b:00.0", "0000:3c:00.0",
                                        "0000:3b:1f.0", "0000:3b:00.7", "ffffffff:ff:1f.7"};
    const size_t count = sizeof(texts) / sizeof(texts[0]);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            struct ga_pci a, b;
            char text[GA_PCI_TEXT];
            assert_true(ga_pci_read(texts[i], &a) && ga_pci_read(texts[k], &b));
            assert_int_equal(ga_pci_same(&a, &b), i == k);
            assert_string_equal(ga_pci_write(text, &a), texts[i]);
        }
}

static void nothing_else_is_a_place(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {"",
                                        "3b",
                                        ":",
                                        "3b:",
                                        ":3b:00.0",
                                        "0000:3b:00.0:1",
                                        "0:0:0:0.0",
                                        "0000:3b:00.",
                                        "0000:3b:00.8",
                                        "0000:3b:00.00",
                                        "0000:3b:20.0",
                                        "0000:100:00.0",
                                        "000000000:3b:00.0",
                                        "0000:3b:00.0 ",
                                        " 0000:3b:00.0",
                                        "0000:3g:00.0",
                                        "0000:-1:00.0",
                                        "0x0:3b:00.0",
                                        "cuda:0x"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct ga_pci got;
        if (ga_pci_read(wrong[i], &got))
            fail_msg("\"%s\" was read", wrong[i]);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(both_spellings_are_one_place),
    cmocka_unit_test(every_part_counts),
    cmocka_unit_test(nothing_else_is_a_place),
};

int main(void)
{
    return ga_test_main(tests);
}
