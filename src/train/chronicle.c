#include "train/chronicle.h"

#include "base/error.h"

struct chronicle_record {
    uint64_t events; /* the run's counter when the window closed */
    struct ga_update_record record;
    size_t rows;     /* of the burst that followed it */
    int64_t span_ns; /* of its updates */
};

/* A place among the records, and that of its rows; rows before the first one kept count below 0. */
struct place {
    size_t record;
    int64_t row;
};

void ga_chronicle_init(struct ga_chronicle *chronicle)
{
    ga_tape_init(&chronicle->events, sizeof(struct ga_event), 0);
    ga_tape_init(&chronicle->records, sizeof(struct chronicle_record), 0);
    ga_tape_init(&chronicle->rows, sizeof(struct ga_burst_row), 0);
}

void ga_chronicle_fini(struct ga_chronicle *chronicle)
{
    ga_tape_fini(&chronicle->events);
    ga_tape_fini(&chronicle->records);
    ga_tape_fini(&chronicle->rows);
}

/* Rows of a chunk: a burst at its longest, but so few that several chunks stay when the oldest is
 * let go. */
static size_t rows_of_chunk(uint64_t limit_bytes)
{
    size_t rows = GA_BURST_MOST;

    while (rows > GA_TAPE_CHUNK && 8 * rows * sizeof(struct ga_burst_row) > limit_bytes)
        rows /= 2;
    return rows;
}

/* Rows are a sixth of a record, and in a run of bursts there is little else. */
void ga_chronicle_limit(struct ga_chronicle *chronicle, uint64_t events_bytes,
                        uint64_t records_bytes)
{
    chronicle->events.limit_bytes = events_bytes;
    chronicle->records.limit_bytes = records_bytes / 2;
    chronicle->rows.limit_bytes = records_bytes / 2;
    if (chronicle->rows.chunks == 0)
        ga_tape_size(&chronicle->rows, rows_of_chunk(records_bytes / 2));
}

int ga_chronicle_event(struct ga_chronicle *chronicle, const struct ga_event *event)
{
    struct ga_event *kept = ga_tape_push(&chronicle->events);

    if (!kept)
        return ga_error_code();
    *kept = *event;
    return GA_OK;
}

int ga_chronicle_record(struct ga_chronicle *chronicle, const struct ga_update_record *record,
                        uint64_t events)
{
    struct chronicle_record *kept = ga_tape_push(&chronicle->records);

    if (!kept)
        return ga_error_code();
    kept->events = events;
    kept->record = *record;
    kept->rows = 0;
    kept->span_ns = 0;
    return GA_OK;
}

static struct chronicle_record *record_at(const struct ga_chronicle *chronicle, size_t k)
{
    return ga_tape_at(&chronicle->records, k);
}

static const struct ga_event *event_at(const struct ga_chronicle *chronicle, size_t k)
{
    return ga_tape_at(&chronicle->events, k);
}

bool ga_chronicle_takes_burst(const struct ga_chronicle *chronicle, uint64_t events)
{
    const struct chronicle_record *last = NULL;

    if (chronicle->records.count == 0)
        return false;
    last = record_at(chronicle, chronicle->records.count - 1);
    return last->events == events && last->rows == 0;
}

struct ga_burst_row *ga_chronicle_rows(struct ga_chronicle *chronicle, size_t *count)
{
    return ga_tape_room(&chronicle->rows, count);
}

int ga_chronicle_burst(struct ga_chronicle *chronicle, const struct ga_burst_rows *rows)
{
    struct chronicle_record *before = NULL;

    if (chronicle->records.count == 0)
        return ga_fail(GA_EINTERNAL, "a burst without the update before it");
    before = record_at(chronicle, chronicle->records.count - 1);
    before->span_ns = rows->span_ns;
    before->rows = rows->count;
    ga_tape_take(&chronicle->rows, rows->count);
    return GA_OK;
}

static void cut_rows(struct ga_chronicle *chronicle, size_t count)
{
    size_t kept = chronicle->rows.count;

    ga_tape_cut(&chronicle->rows, kept > count ? kept - count : 0);
}

static void cut_records(struct ga_chronicle *chronicle, uint64_t events)
{
    struct chronicle_record *last = NULL;
    size_t count = chronicle->records.count;

    while (count > 0 && record_at(chronicle, count - 1)->events > events)
        cut_rows(chronicle, record_at(chronicle, --count)->rows);
    ga_tape_cut(&chronicle->records, count);
    if (count == 0)
        return;
    last = record_at(chronicle, count - 1);
    if (events - last->events < last->rows * GA_BURST_EVENTS) {
        size_t rows = (size_t)((events - last->events) / GA_BURST_EVENTS);

        cut_rows(chronicle, last->rows - rows);
        last->rows = rows;
    }
}

void ga_chronicle_cut(struct ga_chronicle *chronicle, uint64_t events)
{
    size_t count = chronicle->events.count;

    while (count > 0 && event_at(chronicle, count - 1)->sequence > events)
        count--;
    ga_tape_cut(&chronicle->events, count);
    cut_records(chronicle, events);
}

int ga_chronicle_copy(struct ga_chronicle *to, const struct ga_chronicle *from)
{
    if (ga_tape_copy(&to->events, &from->events) < 0 ||
        ga_tape_copy(&to->records, &from->records) < 0 || ga_tape_copy(&to->rows, &from->rows) < 0)
        return ga_error_code();
    return GA_OK;
}

/* Behind the last record. */
static struct place place_at_end(const struct ga_chronicle *chronicle)
{
    return (struct place){chronicle->records.count, (int64_t)chronicle->rows.count};
}

static void step_back(const struct ga_chronicle *chronicle, struct place *place)
{
    place->record--;
    place->row -= (int64_t)record_at(chronicle, place->record)->rows;
}

/* The first record behind which nothing is missing. */
static struct place place_at_beginning(const struct ga_chronicle *chronicle)
{
    struct place place = place_at_end(chronicle);

    while (place.record > 0) {
        struct place before = place;

        step_back(chronicle, &before);
        if (before.row < 0)
            break;
        place = before;
    }
    return place;
}

static const struct ga_burst_row *row_at(const struct ga_chronicle *chronicle, int64_t row)
{
    return ga_tape_at(&chronicle->rows, (size_t)row);
}

static int each_row(const struct ga_chronicle *chronicle, const struct place *place,
                    uint64_t windows, int (*each)(const struct ga_update_record *record, void *arg),
                    void *arg)
{
    const struct chronicle_record *from = record_at(chronicle, place->record);
    uint64_t closed = from->record.update + from->record.skipped;
    int code = GA_OK;

    for (size_t k = 0; code == GA_OK && k < from->rows && closed + k < windows; k++) {
        struct ga_update_record record;

        ga_burst_record(&from->record, k + 1, from->span_ns,
                        row_at(chronicle, place->row + (int64_t)k), &record);
        code = each(&record, arg);
    }
    return code;
}

int ga_chronicle_each_record(const struct ga_chronicle *chronicle, uint64_t windows,
                             int (*each)(const struct ga_update_record *record, void *arg),
                             void *arg)
{
    struct place place = place_at_beginning(chronicle);
    int code = GA_OK;

    while (code == GA_OK && place.record < chronicle->records.count) {
        const struct chronicle_record *at = record_at(chronicle, place.record);

        if (at->record.update + at->record.skipped > windows)
            break;
        code = each(&at->record, arg);
        if (code == GA_OK)
            code = each_row(chronicle, &place, windows, each, arg);
        place.row += (int64_t)at->rows;
        place.record++;
    }
    return code;
}

/*
 * Events are told from `first` of those kept, and from number `from` of those that bursts stand
 * for, both up to number `end`.
 */
struct telling {
    const struct ga_chronicle *chronicle;
    size_t first;
    uint64_t from, end;
    struct place place; /* of the first record that matters */
    int (*each)(const struct ga_event *event, void *arg);
    void *arg;
};

/* Events of the record's burst that can be told; `after`: the first one kept behind it. */
static uint64_t burst_events(const struct telling *telling, const struct place *place, size_t after)
{
    const struct chronicle_record *at = record_at(telling->chronicle, place->record);
    uint64_t count = at->rows * GA_BURST_EVENTS;

    if (place->row < 0 || after < GA_BURST_EVENTS || telling->end <= at->events ||
        event_at(telling->chronicle, after - GA_BURST_EVENTS)->sequence !=
            at->events - GA_BURST_EVENTS + 1)
        return 0;
    return telling->end - at->events < count ? telling->end - at->events : count;
}

/* Goes back from `end` until `most` events lie ahead, or there are no more. */
static void find_beginning(struct telling *telling, size_t most)
{
    const struct ga_chronicle *chronicle = telling->chronicle;
    size_t first = chronicle->events.count;
    uint64_t left = most;

    while (first > 0 && event_at(chronicle, first - 1)->sequence > telling->end)
        first--;
    telling->from = UINT64_MAX;
    telling->place = place_at_end(chronicle);
    while (left > 0 && telling->place.record > 0) {
        const struct chronicle_record *at = record_at(chronicle, telling->place.record - 1);
        uint64_t count = 0;

        for (; left > 0 && first > 0 && event_at(chronicle, first - 1)->sequence > at->events;
             left--)
            first--;
        if (left == 0)
            break;
        step_back(chronicle, &telling->place);
        if (at->rows > 0 && at->events < telling->end) {
            count = burst_events(telling, &telling->place, first);
            if (count == 0)
                break;
        }
        if (count > 0)
            telling->from = at->events + 1 + (count > left ? count - left : 0);
        left -= count < left ? count : left;
    }
    if (telling->place.record > 0)
        left = 0;
    telling->first = first > left ? first - (size_t)left : 0;
}

/* Those kept up to number `end`. */
static int tell_kept(struct telling *telling, uint64_t end)
{
    const struct ga_chronicle *chronicle = telling->chronicle;
    int code = GA_OK;

    while (code == GA_OK && telling->first < chronicle->events.count &&
           event_at(chronicle, telling->first)->sequence <= end)
        code = telling->each(event_at(chronicle, telling->first++), telling->arg);
    return code;
}

static int tell_burst(const struct telling *telling)
{
    const struct ga_chronicle *chronicle = telling->chronicle;
    const struct chronicle_record *at = record_at(chronicle, telling->place.record);
    uint64_t count = burst_events(telling, &telling->place, telling->first);
    uint64_t k = telling->from > at->events + 1 ? telling->from - at->events - 1 : 0;
    int code = GA_OK;

    for (; code == GA_OK && k < count; k++) {
        int64_t row = telling->place.row + (int64_t)(k / GA_BURST_EVENTS);
        size_t model = telling->first - GA_BURST_EVENTS + (size_t)(k % GA_BURST_EVENTS);
        struct ga_event event;

        ga_burst_event(event_at(chronicle, model), k / GA_BURST_EVENTS + 1, at->span_ns,
                       row_at(chronicle, row), &event);
        code = telling->each(&event, telling->arg);
    }
    return code;
}

int ga_chronicle_each_event(const struct ga_chronicle *chronicle, size_t most, uint64_t end,
                            int (*each)(const struct ga_event *event, void *arg), void *arg)
{
    struct telling telling = {.chronicle = chronicle, .end = end, .each = each, .arg = arg};
    int code = GA_OK;

    find_beginning(&telling, most);
    while (code == GA_OK && telling.place.record < chronicle->records.count) {
        const struct chronicle_record *at = record_at(chronicle, telling.place.record);

        if (at->rows > 0) {
            code = tell_kept(&telling, at->events < end ? at->events : end);
            if (code == GA_OK)
                code = tell_burst(&telling);
        }
        telling.place.row += (int64_t)at->rows;
        telling.place.record++;
    }
    return code == GA_OK ? tell_kept(&telling, end) : code;
}

size_t ga_chronicle_events(const struct ga_chronicle *chronicle)
{
    return chronicle->events.count + chronicle->rows.count * GA_BURST_EVENTS;
}

size_t ga_chronicle_records(const struct ga_chronicle *chronicle)
{
    struct place first = place_at_beginning(chronicle);

    return chronicle->records.count - first.record + chronicle->rows.count - (size_t)first.row;
}

uint64_t ga_chronicle_bytes(const struct ga_chronicle *chronicle)
{
    return ga_tape_bytes(&chronicle->events) + ga_tape_bytes(&chronicle->records) +
           ga_tape_bytes(&chronicle->rows);
}
