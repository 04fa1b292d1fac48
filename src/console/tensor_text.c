#include "console/tensor_text.h"

#include "base/number.h"

static void append_float(const void *self, size_t position, struct ga_text *out)
{
    char number[GA_NUMBER_TEXT];
    ga_format_float(number, ((const float *)self)[position]);
    ga_text_puts(out, number);
}

static void append_double(const void *self, size_t position, struct ga_text *out)
{
    ga_text_number(out, ((const double *)self)[position]);
}

struct ga_tensor_source ga_tensor_floats(const float *value)
{
    return (struct ga_tensor_source){append_float, value};
}

struct ga_tensor_source ga_tensor_doubles(const double *value)
{
    return (struct ga_tensor_source){append_double, value};
}

void ga_parameter_name(const struct ga_net *net, size_t position, struct ga_text *out)
{
    const struct ga_tensor *tensor = ga_net_tensor_at(net, position);
    const size_t at = position - tensor->offset;
    if (tensor->dimensions == 2)
        ga_text_printf(out, "%s[%zu,%zu]", tensor->name, at / tensor->columns,
                       at % tensor->columns);
    else
        ga_text_printf(out, "%s[%zu]", tensor->name, at);
}

static void write_tensor(const struct ga_tensor *tensor, const struct ga_tensor_source *source,
                         struct ga_text *out)
{
    ga_text_printf(out, tensor->dimensions == 2 ? "%s [%zu, %zu]\n" : "%s [%zu]\n", tensor->name,
                   tensor->rows, tensor->columns);
    const size_t count = tensor->rows * tensor->columns;
    const size_t width = tensor->dimensions == 2 ? tensor->columns : tensor->rows;
    for (size_t i = 0; i < count; i++) {
        ga_text_puts(out, i % width == 0 ? "  " : " ");
        source->append(source->self, tensor->offset + i, out);
        if (i % width == width - 1)
            ga_text_puts(out, "\n");
    }
}

void ga_tensor_write(const struct ga_net *net, size_t first, size_t count,
                     const struct ga_tensor_source *source, struct ga_text *out)
{
    if (count == 1) {
        ga_parameter_name(net, first, out);
        ga_text_puts(out, " = ");
        source->append(source->self, first, out);
        ga_text_puts(out, "\n");
        return;
    }
    for (size_t i = 0; i < net->tensors; i++)
        if (net->tensor[i].offset >= first && net->tensor[i].offset < first + count)
            write_tensor(&net->tensor[i], source, out);
}
