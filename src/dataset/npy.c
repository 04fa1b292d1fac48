/*
 * NPY, versions 1 to 3: "\x93NUMPY", major, minor, the length of the header (2 bytes, from version
 * 2 on 4, little-endian), and the header: a Python dictionary with descr, fortran_order and shape.
 * (NEP 1, A Simple File Format for NumPy Arrays.)
 */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "dataset/array.h"

#define HEADER_MOST 65536 /* bytes */

static const struct {
    const char *word;
    enum ga_element element;
} types[] = {
    {"|b1", GA_ELEMENT_U8},  {"|u1", GA_ELEMENT_U8},  {"|i1", GA_ELEMENT_I8},
    {"<u2", GA_ELEMENT_U16}, {"<i2", GA_ELEMENT_I16}, {"<u4", GA_ELEMENT_U32},
    {"<i4", GA_ELEMENT_I32}, {"<u8", GA_ELEMENT_U64}, {"<i8", GA_ELEMENT_I64},
    {"<f4", GA_ELEMENT_F32}, {"<f8", GA_ELEMENT_F64},
};
#define TYPES (sizeof types / sizeof types[0])

/* The header while it is read; `at` never passes `end`, where a NUL stands. */
struct header {
    struct ga_array *array;
    const char *at, *end;
    bool has_descr, has_order, has_shape;
    bool fortran;
};

bool ga_npy_is(const unsigned char *head, size_t count)
{
    return count >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static int refuse(const struct header *header, const char *expected)
{
    char quoted[GA_QUOTE_TEXT];
    return ga_fail(GA_EINPUT, "%s: the NPY header has %s, expected %s", header->array->bytes->name,
                   ga_quote_n(quoted, header->at, (size_t)(header->end - header->at)), expected);
}

static void skip_blanks(struct header *header)
{
    while (*header->at == ' ' || *header->at == '\n' || *header->at == '\t') {
        header->at++;
    }
}

static bool take(struct header *header, const char *word)
{
    skip_blanks(header);
    const size_t length = strlen(word);
    if (strncmp(header->at, word, length) != 0) {
        return false;
    }
    header->at += length;
    return true;
}

/* A string in either kind of quotes, without escapes; false when there is none. */
static bool take_string(struct header *header, const char **text, size_t *length)
{
    skip_blanks(header);
    const char quote = *header->at;
    if (quote != '\'' && quote != '"') {
        return false;
    }
    *text = header->at + 1;
    const char *end = strchr(*text, quote);
    if (!end) {
        return false;
    }
    *length = (size_t)(end - *text);
    header->at = end + 1;
    return true;
}

static int read_descr(struct header *header)
{
    static const char expected[] =
        "one little-endian number type: |u1 |i1 |b1 <u2 <i2 <u4 <i4 <u8 <i8 <f4 or <f8";
    const char *text = NULL;
    size_t length = 0;
    skip_blanks(header);
    const char *start = header->at;
    if (!take_string(header, &text, &length)) {
        return refuse(header, expected);
    }
    for (size_t i = 0; i < TYPES; i++) {
        const char *word = types[i].word;
        /* bytes have no order, and some writers give them one */
        const bool byte = length == 3 && word[2] == '1' && (*text == '<' || *text == '=');
        if (length == 3 && strncmp(text + 1, word + 1, 2) == 0 && (*text == *word || byte)) {
            header->array->element = types[i].element;
            header->has_descr = true;
            return 0;
        }
    }
    header->at = start;
    return refuse(header, expected);
}

static int read_order(struct header *header)
{
    header->fortran = take(header, "True");
    header->has_order = header->fortran || take(header, "False");
    return header->has_order ? 0 : refuse(header, "True or False behind fortran_order");
}

static int read_size(struct header *header, uint64_t *out)
{
    uint64_t size = 0;
    const char *start = header->at;
    for (; *header->at >= '0' && *header->at <= '9'; header->at++) {
        if (__builtin_mul_overflow(size, UINT64_C(10), &size) ||
            __builtin_add_overflow(size, (uint64_t)(*header->at - '0'), &size)) {
            header->at = start;
            return refuse(header, "a shape whose sizes fit 64 bits");
        }
    }
    *out = size;
    if (header->at > start && *header->at == 'L') {
        header->at++; /* as Python 2 wrote long integers */
    }
    return header->at > start ? 0 : refuse(header, "a shape such as (60000, 784)");
}

static int read_shape(struct header *header)
{
    struct ga_array *array = header->array;
    bool more = take(header, "(");
    if (!more) {
        return refuse(header, "a shape such as (60000, 784)");
    }
    while (more && !take(header, ")")) {
        if (array->dimensions == GA_ARRAY_DIMENSIONS) {
            return refuse(header, "at most 8 dimensions");
        }
        int code = read_size(header, &array->shape[array->dimensions++]);
        if (code != 0) {
            return code;
        }
        more = take(header, ",");
        if (!more && !take(header, ")")) {
            return refuse(header, "a comma or ) in the shape");
        }
    }
    header->has_shape = true;
    return 0;
}

static const struct {
    const char *name;
    size_t offset; /* of the flag that says it was there */
    int (*read)(struct header *header);
} entries[] = {
    {"descr", offsetof(struct header, has_descr), read_descr},
    {"fortran_order", offsetof(struct header, has_order), read_order},
    {"shape", offsetof(struct header, has_shape), read_shape},
};
#define ENTRIES (sizeof entries / sizeof entries[0])

static int read_entry(struct header *header)
{
    const char *name = NULL;
    size_t length = 0;
    skip_blanks(header);
    const char *start = header->at;
    bool named = take_string(header, &name, &length) && take(header, ":");
    for (size_t i = 0; named && i < ENTRIES; i++) {
        const bool *seen = (const bool *)((const char *)header + entries[i].offset);
        if (strlen(entries[i].name) == length && strncmp(entries[i].name, name, length) == 0 &&
            !*seen) {
            return entries[i].read(header);
        }
    }
    header->at = start;
    return refuse(header, "'descr', 'fortran_order' and 'shape', each once");
}

static int read_entries(struct header *header)
{
    int code = take(header, "{") ? 0 : refuse(header, "a dictionary in braces");
    while (code == 0 && !take(header, "}")) {
        code = read_entry(header);
        if (code == 0 && !take(header, ",")) {
            code = take(header, "}") ? 0 : refuse(header, "a comma or } behind an entry");
            break;
        }
    }
    skip_blanks(header);
    if (code == 0 && header->at != header->end) {
        code = refuse(header, "nothing but blanks behind it");
    }
    return code;
}

static int check_entries(const struct header *header)
{
    const struct ga_array *array = header->array;
    if (!header->has_descr || !header->has_order || !header->has_shape) {
        return ga_fail(GA_EINPUT,
                       "%s: the NPY header is incomplete, expected descr, fortran_order and shape",
                       array->bytes->name);
    }
    if (array->dimensions == 0) {
        return ga_fail(GA_EINPUT, "%s: a single number, expected rows of numbers",
                       array->bytes->name);
    }
    if (header->fortran && array->dimensions > 1) {
        return ga_fail(GA_EUNSUPPORTED,
                       "%s: the array is in Fortran order, expected C order "
                       "(numpy.ascontiguousarray)",
                       array->bytes->name);
    }
    return 0;
}

static int read_length(struct ga_bytes *bytes, size_t *out)
{
    unsigned char start[8];
    unsigned char length[4] = {0};
    int code = ga_bytes_read_all(bytes, start, sizeof start, "the NPY header");
    if (code == 0 && !ga_npy_is(start, sizeof start)) {
        return ga_fail(GA_EINPUT, "%s is no array, expected an NPY file", bytes->name);
    }
    if (code == 0 && (start[6] < 1 || start[6] > 3)) {
        return ga_fail(GA_EUNSUPPORTED, "%s: NPY version %d.%d, expected 1, 2 or 3", bytes->name,
                       start[6], start[7]);
    }
    if (code == 0) {
        code = ga_bytes_read_all(bytes, length, start[6] == 1 ? 2 : 4, "the NPY header");
    }
    *out = (size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 |
           (size_t)length[3] << 24;
    if (code == 0 && *out > HEADER_MOST) {
        return ga_fail(GA_ERANGE, "%s: an NPY header of %zu bytes, expected at most %d",
                       bytes->name, *out, HEADER_MOST);
    }
    return code;
}

int ga_npy_header(struct ga_array *array)
{
    char text[HEADER_MOST + 1];
    size_t length = 0;
    int code = read_length(array->bytes, &length);
    if (code == 0) {
        code = ga_bytes_read_all(array->bytes, text, length, "the NPY header");
    }
    if (code != 0) {
        return code;
    }
    text[length] = '\0';
    struct header header = {.array = array, .at = text, .end = text + length};
    code = read_entries(&header);
    if (code == 0) {
        code = check_entries(&header);
    }
    return code == 0 ? ga_array_shape(array) : code;
}
