/*
 * Structs as JSON objects by table: one row a field says its name, place, kind and range, and both
 * directions follow it. Reading is strict: every field once, none that the table lacks, each of its
 * kind and in its range. Private to storage.
 *
 * In JSON: integers of 8 bytes are strings (JSON numbers lose bits above 2^53 in many readers),
 * smaller ones are numbers; reals are strings in the shortest form that reads back exactly, or
 * "nan", "inf", "-inf"; enumerations are words.
 */
#ifndef GA_STORAGE_FIELDS_H
#define GA_STORAGE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

enum ga_field_kind {
    GA_FIELD_BOOL,
    GA_FIELD_SIGNED,   /* of 4 or 8 bytes, low..high */
    GA_FIELD_UNSIGNED, /* of 1, 4 or 8 bytes, 0..high */
    GA_FIELD_REAL,     /* any double */
    GA_FIELD_FINITE,   /* a double, low..high */
    GA_FIELD_WORD,     /* an enumeration of 1 or 4 bytes */
    GA_FIELD_GROUP     /* a struct inside, by its own table */
};

struct json_t; /* of jansson, which only .c files include */
struct ga_fields;

struct ga_field {
    const char *name;
    enum ga_field_kind kind;
    size_t offset;
    size_t bytes;                   /* of one element */
    size_t list;                    /* elements; 0: a single value, not a list */
    double low, high;               /* whole and below 2^63 for integers */
    const char *(*word)(int value); /* NULL beyond the last */
    const struct ga_fields *group;
};

struct ga_fields {
    const struct ga_field *field;
    size_t count;
};

#define GA_FIELDS(array)                                                                           \
    {                                                                                              \
        array, sizeof(array) / sizeof((array)[0])                                                  \
    }

/* A new object, or NULL when there is no memory. */
struct json_t *ga_fields_write(const struct ga_fields *table, const void *from);

/* Fills `to`; on failure it may be filled in part, and the error names the field. */
int ga_fields_read(const struct ga_fields *table, struct json_t *object, void *to);

/* A string that holds a whole number, low..high. */
int ga_fields_read_integer(struct json_t *value, int64_t low, int64_t high, int64_t *out);

#endif
