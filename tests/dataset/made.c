#include "dataset/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "dataset/opened.h"
#include "support/support.h"

void ga_made_idx(struct ga_text *out, unsigned char type, size_t dimensions, const uint32_t *shape)
{
    const char head[4] = {0, 0, (char)type, (char)dimensions};
    ga_text_append(out, head, sizeof head);
    for (size_t i = 0; i < dimensions; i++) {
        const char size[4] = {(char)(shape[i] >> 24), (char)(shape[i] >> 16), (char)(shape[i] >> 8),
                              (char)shape[i]};
        ga_text_append(out, size, sizeof size);
    }
}

void ga_made_npy(struct ga_text *out, int version, const char *header, const void *bytes,
                 size_t count)
{
    const size_t size_bytes = version == 1 ? 2 : 4;
    const size_t length = (strlen(header) + 1 + 63) / 64 * 64;
    const char magic[8] = {'\x93', 'N', 'U', 'M', 'P', 'Y', (char)version, 0};
    ga_text_append(out, magic, sizeof magic);
    for (size_t i = 0; i < size_bytes; i++) {
        const char byte = (char)(length >> (8 * i));
        ga_text_append(out, &byte, 1);
    }
    ga_text_puts(out, header);
    for (size_t i = strlen(header); i + 1 < length; i++) {
        ga_text_puts(out, " ");
    }
    ga_text_puts(out, "\n");
    ga_text_append(out, bytes, count);
}

void ga_made_array(struct ga_text *out, const char *descr, const char *shape, const void *bytes,
                   size_t count)
{
    char header[256];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr,
             shape);
    ga_made_npy(out, 1, header, bytes, count);
}

void ga_made_file(const char *name, struct ga_text *text)
{
    char *path = ga_test_path(ga_test_here, name);
    assert_false(ga_text_failed(text));
    ga_test_write_file(path, ga_text_get(text), text->length);
    ga_text_free(text);
    free(path);
}

void ga_made_member(const char *archive, const char *name, struct ga_text *text, int deflate)
{
    char entry[64];
    char *path = ga_test_path(ga_test_here, archive);
    zip_t *zip = zip_open(path, ZIP_CREATE, NULL);
    assert_non_null(zip);
    snprintf(entry, sizeof entry, "%s.npy", name);
    zip_source_t *source = zip_source_buffer(zip, ga_text_get(text), text->length, 0);
    const zip_int64_t place = zip_file_add(zip, entry, source, 0);
    assert_true(place >= 0);
    assert_int_equal(zip_set_file_compression(zip, (zip_uint64_t)place,
                                              deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0),
                     0);
    assert_int_equal(zip_close(zip), 0);
    ga_text_free(text);
    free(path);
}
