#include "ui/curve.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/samples.h"

#define STRETCH 16 /* values under a block of the lowest level */

/* A quiet NaN that no arithmetic makes. */
#define MISSING_BITS 0x7fc5ab1eu

/* What a stretch holds; low > high: no finite value. */
struct block {
    float low, high;
    float positive; /* least value above 0; infinite: none */
    uint32_t nonfinite;
};

void ga_store_init(struct ga_store *store, size_t element_bytes, unsigned chunk_shift)
{
    memset(store, 0, sizeof *store);
    store->element_bytes = element_bytes;
    store->chunk_shift = chunk_shift;
}

void ga_store_fini(struct ga_store *store)
{
    for (size_t i = 0; i < store->chunks; i++)
        free(store->chunk[i]);
    free(store->chunk);
    store->chunk = NULL;
    store->chunks = store->capacity = 0;
}

int ga_store_reserve(struct ga_store *store, size_t index)
{
    while (store->chunks <= index >> store->chunk_shift) {
        void *list = store->chunk;
        void *chunk = NULL;

        if (ga_grow(&list, &store->capacity, store->chunks + 1, sizeof *store->chunk) < 0)
            return GA_ENOMEM;
        store->chunk = list;
        chunk = ga_alloc((size_t)1 << store->chunk_shift, store->element_bytes);
        if (!chunk)
            return GA_ENOMEM;
        store->chunk[store->chunks++] = chunk;
    }
    return GA_OK;
}

size_t ga_store_bytes(const struct ga_store *store)
{
    return (store->chunks << store->chunk_shift) * store->element_bytes +
           store->capacity * sizeof *store->chunk;
}

void ga_curve_init(struct ga_curve *curve)
{
    curve->start = GA_CURVE_NOWHERE;
    curve->count = 0;
    ga_store_init(&curve->value, sizeof(float), 12);
    for (size_t k = 0; k < GA_CURVE_LEVELS; k++)
        ga_store_init(&curve->level[k], sizeof(struct block), k < 4 ? 8 : 4);
}

void ga_curve_fini(struct ga_curve *curve)
{
    ga_store_fini(&curve->value);
    for (size_t k = 0; k < GA_CURVE_LEVELS; k++)
        ga_store_fini(&curve->level[k]);
    curve->start = GA_CURVE_NOWHERE;
    curve->count = 0;
}

size_t ga_curve_bytes(const struct ga_curve *curve)
{
    size_t bytes = ga_store_bytes(&curve->value);

    for (size_t k = 0; k < GA_CURVE_LEVELS; k++)
        bytes += ga_store_bytes(&curve->level[k]);
    return bytes;
}

float ga_curve_missing(void)
{
    const uint32_t bits = MISSING_BITS;
    float value = 0;

    memcpy(&value, &bits, sizeof value);
    return value;
}

bool ga_curve_is_missing(float value)
{
    uint32_t bits = 0;

    memcpy(&bits, &value, sizeof bits);
    return bits == MISSING_BITS;
}

float ga_curve_narrow(double value)
{
    if (!isfinite(value))
        return isnan(value) ? NAN : value > 0 ? INFINITY : -INFINITY;
    if (fabs(value) > (double)FLT_MAX)
        return value > 0 ? FLT_MAX : -FLT_MAX;
    return (float)value;
}

static float value_at(const struct ga_curve *curve, size_t index)
{
    return *(const float *)ga_store_at(&curve->value, index);
}

static const struct block *block_at(const struct ga_curve *curve, unsigned level, size_t index)
{
    return ga_store_at(&curve->level[level], index);
}

static void add_value(struct block *block, float value)
{
    if (ga_curve_is_missing(value))
        return;
    if (!isfinite(value)) {
        block->nonfinite++;
        return;
    }
    block->low = value < block->low ? value : block->low;
    block->high = value > block->high ? value : block->high;
    if (value > 0 && value < block->positive)
        block->positive = value;
}

static void add_block(struct block *to, const struct block *from)
{
    to->low = from->low < to->low ? from->low : to->low;
    to->high = from->high > to->high ? from->high : to->high;
    to->positive = from->positive < to->positive ? from->positive : to->positive;
    to->nonfinite += from->nonfinite;
}

static struct block nothing(void)
{
    return (struct block){INFINITY, -INFINITY, INFINITY, 0};
}

/* Blocks that the newest value completes, lowest level first. */
static int complete_blocks(struct ga_curve *curve, size_t count)
{
    struct block block = nothing();
    size_t index = count / STRETCH - 1;

    for (size_t i = count - STRETCH; i < count; i++)
        add_value(&block, value_at(curve, i));
    for (unsigned k = 0; k < GA_CURVE_LEVELS; k++) {
        if (ga_store_reserve(&curve->level[k], index) < 0)
            return GA_ENOMEM;
        *(struct block *)ga_store_at(&curve->level[k], index) = block;
        if (index % 2 == 0)
            break;
        add_block(&block, block_at(curve, k, index - 1));
        index /= 2;
    }
    return GA_OK;
}

int ga_curve_append(struct ga_curve *curve, size_t row, float value)
{
    if (curve->start == GA_CURVE_NOWHERE) {
        if (ga_curve_is_missing(value))
            return GA_OK;
        curve->start = row;
    }
    if (ga_store_reserve(&curve->value, curve->count) < 0)
        return GA_ENOMEM;
    *(float *)ga_store_at(&curve->value, curve->count) = value;
    if ((curve->count + 1) % STRETCH == 0 && complete_blocks(curve, curve->count + 1) < 0)
        return GA_ENOMEM;
    curve->count++;
    return GA_OK;
}

void ga_curve_truncate(struct ga_curve *curve, size_t rows)
{
    if (curve->start == GA_CURVE_NOWHERE)
        return;
    if (rows <= curve->start) {
        curve->start = GA_CURVE_NOWHERE;
        curve->count = 0;
    } else if (rows - curve->start < curve->count) {
        curve->count = rows - curve->start;
    }
}

float ga_curve_get(const struct ga_curve *curve, size_t row)
{
    if (row < curve->start || row - curve->start >= curve->count)
        return ga_curve_missing();
    return value_at(curve, row - curve->start);
}

static bool counts(float value, bool positive)
{
    return isfinite(value) && (!positive || value > 0);
}

static bool holds(const struct block *block, bool positive)
{
    return positive ? isfinite(block->positive) : block->low <= block->high;
}

/* First value that counts in first .. end-1, or end. */
static size_t find_first(const struct ga_curve *curve, size_t first, size_t end, bool positive)
{
    while (first < end) {
        if (first % STRETCH == 0 && first + STRETCH <= end &&
            !holds(block_at(curve, 0, first / STRETCH), positive))
            first += STRETCH;
        else if (counts(value_at(curve, first), positive))
            break;
        else
            first++;
    }
    return first;
}

/* One behind the last value that counts, or first. */
static size_t find_last(const struct ga_curve *curve, size_t first, size_t end, bool positive)
{
    while (first < end) {
        if (end % STRETCH == 0 && first + STRETCH <= end &&
            !holds(block_at(curve, 0, end / STRETCH - 1), positive))
            end -= STRETCH;
        else if (counts(value_at(curve, end - 1), positive))
            break;
        else
            end--;
    }
    return end;
}

/* The largest block that begins at `index` and ends by `end`: its level; -1: none. */
static int level_at(size_t index, size_t end)
{
    int level = -1;

    while (level + 1 < GA_CURVE_LEVELS) {
        size_t size = (size_t)STRETCH << (level + 1);

        if (index % size != 0 || end - index < size)
            break;
        level++;
    }
    return level;
}

static struct block sum_up(const struct ga_curve *curve, size_t index, size_t end)
{
    struct block sum = nothing();

    while (index < end) {
        int level = level_at(index, end);

        if (level < 0) {
            add_value(&sum, value_at(curve, index++));
            continue;
        }
        add_block(&sum, block_at(curve, (unsigned)level, index / ((size_t)STRETCH << level)));
        index += (size_t)STRETCH << level;
    }
    return sum;
}

struct ga_extent ga_curve_extent(const struct ga_curve *curve, size_t first, size_t end,
                                 bool positive)
{
    struct ga_extent extent = GA_EXTENT_NONE;

    if (curve->start == GA_CURVE_NOWHERE || end <= curve->start)
        return extent;
    end = end - curve->start < curve->count ? end - curve->start : curve->count;
    first = first < curve->start ? 0 : first - curve->start;
    if (first >= end)
        return extent;
    struct block sum = sum_up(curve, first, end);
    extent.nonfinite = sum.nonfinite;
    if (!holds(&sum, positive))
        return extent;
    extent.low = (double)(positive ? sum.positive : sum.low);
    extent.high = (double)sum.high;
    extent.first = (double)value_at(curve, find_first(curve, first, end, positive));
    extent.last = (double)value_at(curve, find_last(curve, first, end, positive) - 1);
    return extent;
}

/* Bits of the rows of eight that stay, at least four. */
static unsigned choose(const float value[8])
{
    int least = -1, greatest = -1, strange = -1;
    unsigned chosen = 0x80;

    for (int i = 0; i < 8; i++) {
        if (ga_curve_is_missing(value[i]))
            continue;
        if (!isfinite(value[i]))
            strange = i;
        else if (least < 0 || value[i] < value[least])
            least = i;
        if (isfinite(value[i]) && (greatest < 0 || value[i] > value[greatest]))
            greatest = i;
    }
    chosen |= least >= 0 ? 1u << least : 0;
    chosen |= greatest >= 0 ? 1u << greatest : 0;
    chosen |= strange >= 0 ? 1u << strange : 0;
    for (int i = 7; i >= 0 && __builtin_popcount(chosen) < 4; i -= 2)
        chosen |= 1u << i;
    for (int i = 6; i >= 0 && __builtin_popcount(chosen) < 4; i -= 2)
        chosen |= 1u << i;
    return chosen;
}

void ga_curve_thin(struct ga_curve *curve, size_t rows)
{
    size_t first = curve->start, total = curve->count;
    struct ga_curve old = *curve;

    if (first == GA_CURVE_NOWHERE)
        return;
    curve->start = first / 8 * 4;
    curve->count = 0;
    for (size_t row = first / 8 * 8; row + 8 <= rows; row += 8) {
        float value[8];

        for (size_t i = 0; i < 8; i++)
            value[i] = row + i >= first && row + i - first < total ? value_at(&old, row + i - first)
                                                                   : ga_curve_missing();
        unsigned chosen = choose(value);
        /* The new rows lie before the old ones that are still to be read, in memory that is there:
         * appending cannot fail. */
        for (size_t i = 0; i < 8; i++)
            if (chosen & 1u << i)
                ga_curve_append(curve, curve->start + curve->count, value[i]);
    }
}
