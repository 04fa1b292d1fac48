/* Tensors as text: a range of parameters, tensor by tensor and row by row. */
#ifndef GA_CONSOLE_TENSOR_TEXT_H
#define GA_CONSOLE_TENSOR_TEXT_H

#include "base/text.h"
#include "train/run.h"

/* Appends value `position` of what is printed, shortest exact form. */
struct ga_tensor_source {
    void (*append)(const void *self, size_t position, struct ga_text *out);
    const void *self;
};

struct ga_tensor_source ga_tensor_floats(const float *value);   /* (parameters) */
struct ga_tensor_source ga_tensor_doubles(const double *value); /* (parameters) */

/* One parameter: "layers.0.weight[2,0] = -0.5"; more: the tensor's name and shape, then its rows.
 */
void ga_tensor_write(const struct ga_net *net, size_t first, size_t count,
                     const struct ga_tensor_source *source, struct ga_text *out);

/* "layers.0.weight[2,0]" */
void ga_parameter_name(const struct ga_net *net, size_t position, struct ga_text *out);

#endif
