#include "dataset/array_fill.h"

#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "dataset/cell.h"
#include "dataset/room.h"
#include "dataset/split.h"

#define MAX_SCALE 1e30
#define BLOCK     4096 /* elements at a time */

/* One array on its way into a block of the data set. */
struct filling {
    struct ga_dataset *dataset;
    double scale;
    size_t classes;
    int32_t largest;
};

void ga_array_part_fini(struct ga_array_part *part)
{
    ga_array_fini(&part->inputs);
    ga_array_fini(&part->targets);
    ga_array_fini(&part->weights);
}

typedef const char *(*store_fn)(struct filling *, double, size_t, char *);

static const char *store_input(struct filling *filling, double value, size_t place, char *text)
{
    (void)text;
    return ga_cell_float(value * filling->scale, &filling->dataset->inputs[place]);
}

static const char *store_target(struct filling *filling, double value, size_t place, char *text)
{
    (void)text;
    return ga_cell_float(value, &filling->dataset->targets[place]);
}

static const char *store_label(struct filling *filling, double value, size_t place, char *text)
{
    int32_t *label = &filling->dataset->labels[place];
    const char *expected = ga_cell_label(value, filling->classes, label, text);
    if (!expected && *label > filling->largest) {
        filling->largest = *label;
    }
    return expected;
}

static const char *store_weight(struct filling *filling, double value, size_t place, char *text)
{
    (void)text;
    return ga_cell_weight(value, &filling->dataset->weights[place]);
}

static int refuse_value(const struct ga_array *array, size_t element, double value,
                        const char *expected)
{
    char number[GA_NUMBER_TEXT];
    ga_format_double(number, value);
    return ga_fail(GA_ERANGE, "%s: row %zu, number %zu: %s, expected %s", array->bytes->name,
                   element / array->width + 1, element % array->width + 1, number, expected);
}

/* All of an array, to where `first` elements stand already. */
static int fill(struct filling *filling, struct ga_array *array, store_fn store, size_t first)
{
    double block[BLOCK];
    char text[GA_CELL_TEXT];
    const size_t total = array->rows * array->width;
    while (array->at < total) {
        const size_t begin = array->at;
        const size_t count = total - begin < BLOCK ? total - begin : BLOCK;
        int code = ga_array_read(array, block, count);
        for (size_t i = 0; code == 0 && i < count; i++) {
            const char *expected = store(filling, block[i], first + begin + i, text);
            if (expected) {
                return refuse_value(array, begin + i, block[i], expected);
            }
        }
        if (code != 0) {
            return code;
        }
    }
    return ga_array_end(array);
}

static int fill_part(struct filling *filling, struct ga_array_part *part, size_t first_row)
{
    const bool classes = filling->dataset->table.kind == GA_TARGET_CLASS;
    int code = fill(filling, &part->inputs, store_input, first_row * part->inputs.width);
    if (code == 0) {
        code = fill(filling, &part->targets, classes ? store_label : store_target,
                    first_row * part->targets.width);
    }
    if (code == 0 && part->weights.bytes) {
        code = fill(filling, &part->weights, store_weight, first_row);
    }
    for (size_t i = 0; filling->dataset->weights && !part->weights.bytes && i < part->inputs.rows;
         i++) {
        filling->dataset->weights[first_row + i] = 1.0f;
    }
    return code;
}

static int refuse_rows(const struct ga_array *array, const struct ga_array *inputs)
{
    return ga_fail(GA_EINPUT, "%s: %zu rows, expected %zu as in %s", array->bytes->name,
                   array->rows, inputs->rows, inputs->bytes->name);
}

static int check_part(const struct ga_array_part *part)
{
    if (part->targets.rows != part->inputs.rows) {
        return refuse_rows(&part->targets, &part->inputs);
    }
    if (part->weights.bytes && part->weights.rows != part->inputs.rows) {
        return refuse_rows(&part->weights, &part->inputs);
    }
    if (part->weights.bytes && part->weights.width != 1) {
        return ga_fail(GA_EINPUT, "%s: %zu numbers a row, expected one weight",
                       part->weights.bytes->name, part->weights.width);
    }
    return 0;
}

static int check_same_width(const struct ga_array *held_out, const struct ga_array *train)
{
    if (held_out->width == train->width) {
        return 0;
    }
    return ga_fail(GA_EINPUT, "%s: %zu numbers a row, expected %zu as in %s", held_out->bytes->name,
                   held_out->width, train->width, train->bytes->name);
}

static int check_parts(const struct ga_array_part *train, const struct ga_array_part *held_out)
{
    int code = check_part(train);
    if (code == 0 && held_out) {
        code = check_part(held_out);
    }
    if (code == 0 && held_out) {
        code = check_same_width(&held_out->inputs, &train->inputs);
    }
    if (code == 0 && held_out) {
        code = check_same_width(&held_out->targets, &train->targets);
    }
    if (code == 0 && held_out && train->inputs.rows + held_out->inputs.rows > UINT32_MAX) {
        code = ga_fail(GA_ERANGE, "%s: too many rows, expected at most %lu",
                       held_out->inputs.bytes->name, (unsigned long)UINT32_MAX);
    }
    return code;
}

/* kind=, from the targets where it is not given. */
static int read_kind(struct ga_dataset *dataset, const struct ga_options *options,
                     const struct ga_array *targets)
{
    static const char *const kinds[] = {"value", "class", NULL};
    size_t kind = targets->width == 1 && ga_element_is_whole(targets->element) ? GA_TARGET_CLASS
                                                                               : GA_TARGET_VALUE;
    int code = ga_options_choice(options, "kind", kinds, &kind);
    dataset->table.kind = (enum ga_target_kind)kind;
    if (code == 0 && kind == GA_TARGET_CLASS && targets->width != 1) {
        return ga_fail(GA_EINPUT, "%s: %zu numbers a row, expected one for kind=class",
                       targets->bytes->name, targets->width);
    }
    if (code == 0 && kind == GA_TARGET_VALUE && ga_options_get(options, "classes")) {
        return ga_fail(GA_EINPUT,
                       "data %s: classes= does not go with kind=value, expected it left out",
                       options->subject);
    }
    return code;
}

static int read_numbers(struct filling *filling, const struct ga_options *options,
                        const struct ga_array *inputs)
{
    filling->scale = inputs->element == GA_ELEMENT_U8 ? 1.0 / 255.0 : 1.0;
    filling->classes = GA_CELL_CLASSES;
    int code = ga_options_double(options, "scale", -MAX_SCALE, MAX_SCALE, &filling->scale);
    if (code == 0) {
        code = ga_options_count(options, "classes", 1, GA_CELL_CLASSES, &filling->classes);
    }
    if (code == 0 && filling->scale == 0.0) {
        code = ga_fail(GA_ERANGE, "data %s: scale=0 makes all inputs 0, expected another number",
                       options->subject);
    }
    return code;
}

/* All of what the rows take must have room before any of it is asked for. */
static int check_room(const struct ga_options *options, const struct ga_array_part *part,
                      size_t rows)
{
    struct ga_room room;
    uint64_t width = part->weights.bytes ? 1 : 0;
    const bool over = __builtin_add_overflow(width, (uint64_t)part->inputs.width, &width) ||
                      __builtin_add_overflow(width, (uint64_t)part->targets.width, &width);
    const int code = ga_room_read(options, &room);
    return code == 0
               ? ga_room_check(&room, part->inputs.bytes->name, rows, over ? UINT64_MAX : width)
               : code;
}

/* `width` numbers of 4 bytes a row, which have room. */
static int reserve(void **out, size_t rows, size_t width)
{
    *out = ga_alloc(rows * width, sizeof(float));
    return *out ? 0 : GA_ENOMEM;
}

static int reserve_all(struct ga_dataset *dataset, const struct ga_options *options,
                       const struct ga_array_part *part, size_t rows)
{
    void *inputs = NULL;
    void *targets = NULL;
    void *weights = NULL;
    int code = check_room(options, part, rows);
    if (code == 0) {
        code = reserve(&inputs, rows, part->inputs.width);
    }
    if (code == 0) {
        code = reserve(&targets, rows, part->targets.width);
    }
    if (code == 0 && part->weights.bytes) {
        code = reserve(&weights, rows, 1);
    }
    dataset->inputs = inputs;
    dataset->weights = weights;
    if (dataset->table.kind == GA_TARGET_CLASS) {
        dataset->labels = targets;
    } else {
        dataset->targets = targets;
    }
    return code;
}

static void set_shape(const struct filling *filling, const struct ga_options *options,
                      const struct ga_array_part *part, struct ga_table *out)
{
    out->input_width = part->inputs.width;
    out->target_width = part->targets.width;
    if (out->kind == GA_TARGET_CLASS) {
        const bool told = ga_options_get(options, "classes") != NULL;
        out->target_width = told ? filling->classes : (size_t)filling->largest + 1;
    }
}

int ga_array_fill(struct ga_dataset *dataset, const struct ga_options *options,
                  struct ga_array_part *train, struct ga_array_part *held_out)
{
    struct filling filling = {.dataset = dataset};
    const size_t behind = held_out ? held_out->inputs.rows : 0;
    int code = check_parts(train, held_out);
    if (code == 0) {
        code = read_kind(dataset, options, &train->targets);
    }
    if (code == 0) {
        code = read_numbers(&filling, options, &train->inputs);
    }
    if (code == 0) {
        code = reserve_all(dataset, options, train, train->inputs.rows + behind);
    }
    if (code == 0) {
        code = fill_part(&filling, train, 0);
    }
    if (code == 0 && held_out) {
        code = fill_part(&filling, held_out, train->inputs.rows);
    }
    if (code != 0) {
        return code;
    }
    set_shape(&filling, options, train, &dataset->table);
    return held_out ? ga_dataset_split_parts(dataset, train->inputs.rows, behind, options)
                    : ga_dataset_split(dataset, train->inputs.rows, options);
}
