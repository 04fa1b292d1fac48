#include "storage/tensorboard.h"

#include <string.h>

#include "storage/crc32c.h"

/* Kinds of fields of a protocol buffer. */
enum wire { VARINT = 0, FIXED_64 = 1, BYTES = 2, FIXED_32 = 5 };

/* Field numbers of tensorflow.Event, Summary, Summary.Value and SessionLog. */
enum event_field {
    EVENT_WALL_TIME = 1,
    EVENT_STEP = 2,
    EVENT_FILE_VERSION = 3,
    EVENT_SUMMARY = 5,
    EVENT_SESSION_LOG = 7
};
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_SIMPLE = 2, SESSION_STATUS = 1, SESSION_START = 1 };

static void put_little_endian(struct ga_text *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const char byte = (char)(value >> (8 * i) & 0xff);
        ga_text_append(to, &byte, 1);
    }
}

static void put_varint(struct ga_text *to, uint64_t value)
{
    while (value > 127) {
        put_little_endian(to, (value & 127) | 128, 1);
        value >>= 7;
    }
    put_little_endian(to, value, 1);
}

static void put_key(struct ga_text *to, int field, enum wire wire)
{
    put_varint(to, (uint64_t)field << 3 | (uint64_t)wire);
}

static void put_number(struct ga_text *to, int field, uint64_t value)
{
    put_key(to, field, VARINT);
    put_varint(to, value);
}

static void put_double(struct ga_text *to, int field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(to, field, FIXED_64);
    put_little_endian(to, bits, 8);
}

static void put_float(struct ga_text *to, int field, double value)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_key(to, field, FIXED_32);
    put_little_endian(to, bits, 4);
}

static void put_bytes(struct ga_text *to, int field, const char *bytes, size_t count)
{
    put_key(to, field, BYTES);
    put_varint(to, count);
    ga_text_append(to, bytes, count);
}

/* A message within a message; out of memory is handed on. */
static void put_message(struct ga_text *to, int field, const struct ga_text *message)
{
    to->failed = to->failed || ga_text_failed(message);
    put_bytes(to, field, ga_text_get(message), message->length);
}

/* As TFRecord stores it, so that a sum over data with sums in them stays a good one. */
static uint32_t masked_crc(const void *bytes, size_t count)
{
    const uint32_t crc = ga_crc32c(bytes, count);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void put_record(struct ga_text *to, const struct ga_text *event)
{
    const size_t start = to->length;
    to->failed = to->failed || ga_text_failed(event);
    put_little_endian(to, event->length, 8);
    if (ga_text_failed(to))
        return;
    put_little_endian(to, masked_crc(to->data + start, 8), 4);
    ga_text_append(to, ga_text_get(event), event->length);
    put_little_endian(to, masked_crc(ga_text_get(event), event->length), 4);
}

void ga_event_version(struct ga_text *to, double time)
{
    static const char version[] = "brain.Event:2";
    struct ga_text event = GA_TEXT_INIT;
    put_double(&event, EVENT_WALL_TIME, time);
    put_bytes(&event, EVENT_FILE_VERSION, version, sizeof version - 1);
    put_record(to, &event);
    ga_text_free(&event);
}

void ga_event_restart(struct ga_text *to, double time, uint64_t step)
{
    struct ga_text event = GA_TEXT_INIT;
    struct ga_text session = GA_TEXT_INIT;
    put_number(&session, SESSION_STATUS, SESSION_START);
    put_double(&event, EVENT_WALL_TIME, time);
    put_number(&event, EVENT_STEP, step);
    put_message(&event, EVENT_SESSION_LOG, &session);
    put_record(to, &event);
    ga_text_free(&session);
    ga_text_free(&event);
}

void ga_event_scalars(struct ga_text *to, double time, uint64_t step,
                      const struct ga_scalar *scalar, size_t count)
{
    struct ga_text event = GA_TEXT_INIT;
    struct ga_text summary = GA_TEXT_INIT;
    struct ga_text value = GA_TEXT_INIT;
    for (size_t i = 0; i < count; i++) {
        ga_text_clear(&value);
        put_bytes(&value, VALUE_TAG, scalar[i].tag, strlen(scalar[i].tag));
        put_float(&value, VALUE_SIMPLE, scalar[i].value);
        put_message(&summary, SUMMARY_VALUE, &value);
    }
    put_double(&event, EVENT_WALL_TIME, time);
    put_number(&event, EVENT_STEP, step);
    put_message(&event, EVENT_SUMMARY, &summary);
    put_record(to, &event);
    ga_text_free(&value);
    ga_text_free(&summary);
    ga_text_free(&event);
}
