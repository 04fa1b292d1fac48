#include "train/support/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"
#include "storage/safetensors.h"
#include "support/support.h"
#include "train/support/start.h"

static void full_path(char out[4096], const char *name)
{
    assert_true(snprintf(out, 4096, "%s/tests/data/reference/%s", GA_TOP_DIR, name) < 4096);
}

static size_t count_char(const char *text, const char *end, char c)
{
    size_t count = 0;

    for (; text < end; text++)
        count += *text == c;
    return count;
}

static void read_line(const char *line, size_t columns, double *out)
{
    for (size_t k = 0; k < columns; k++) {
        out[k] = strtod(line, NULL);
        line += strcspn(line, ",\n");
        line += *line == ',';
    }
}

void ga_test_numbers_read(struct ga_test_numbers *out, const char *name)
{
    char path[4096];
    size_t length = 0;
    char *text = NULL, *line = NULL;

    full_path(path, name);
    text = ga_test_read_file(path, &length);
    line = strchr(text, '\n');
    assert_non_null(line);
    line++;
    out->columns = count_char(text, line, ',') + 1;
    out->rows = count_char(line, text + length, '\n');
    assert_true(out->rows > 0);
    out->value = ga_alloc(out->rows * out->columns, sizeof *out->value);
    assert_non_null(out->value);
    for (size_t row = 0; row < out->rows; row++) {
        read_line(line, out->columns, out->value + row * out->columns);
        line = strchr(line, '\n') + 1;
    }
    free(text);
}

void ga_test_numbers_free(struct ga_test_numbers *numbers)
{
    free(numbers->value);
}

double ga_test_number(const struct ga_test_numbers *numbers, size_t row, size_t column)
{
    assert_true(row < numbers->rows && column < numbers->columns);
    return numbers->value[row * numbers->columns + column];
}

static void build(struct ga_net *out, const int32_t *widths, enum ga_net_activation activation,
                  enum ga_net_loss loss)
{
    struct ga_model_spec spec = {
        .kind = GA_NET_MLP,
        .layers = 2,
        .widths = widths,
        .activation = activation,
        .loss = loss,
        .bias = true,
    };

    ga_test_ok(ga_net_build(out, &spec));
}

void ga_test_parabola_net(struct ga_net *out)
{
    build(out, (const int32_t[]){1, 5, 1}, GA_ACT_TANH, GA_LOSS_MSE);
}

void ga_test_digits_net(struct ga_net *out)
{
    build(out, (const int32_t[]){64, 32, 10}, GA_ACT_RELU, GA_LOSS_XENT);
}

float *ga_test_reference_weights(const char *name, const struct ga_net *net)
{
    char path[4096];
    struct ga_safetensors *file = NULL;
    float *out = ga_alloc(net->parameters, sizeof *out);

    assert_non_null(out);
    full_path(path, name);
    ga_test_ok(ga_safetensors_open(&file, path));
    for (size_t k = 0; k < net->tensors; k++) {
        const struct ga_tensor *tensor = &net->tensor[k];
        const size_t shape[2] = {tensor->rows, tensor->columns};

        ga_test_ok(ga_safetensors_read_float(file, tensor->name, tensor->dimensions, shape,
                                             out + tensor->offset));
    }
    ga_safetensors_close(file);
    return out;
}

double ga_test_distance(const float *a, const float *b, size_t count)
{
    double difference = 0, size = 0;

    for (size_t i = 0; i < count; i++) {
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += (double)b[i] * (double)b[i];
    }
    return sqrt(difference / size);
}
