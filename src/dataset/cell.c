#include "dataset/cell.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

const char *ga_cell_float(double value, float *out)
{
    if (!isfinite(value))
        return "a finite number";
    if (!(value >= -FLT_MAX && value <= FLT_MAX))
        return "at most 3.4028234663852886e+38, the largest float";
    *out = (float)value;
    return NULL;
}

const char *ga_cell_label(double value, size_t classes, int32_t *out, char text[GA_CELL_TEXT])
{
    if (!(value >= 0.0 && value < (double)classes) || value != (double)(int32_t)value) {
        snprintf(text, GA_CELL_TEXT, "a class, a whole number 0..%zu", classes - 1);
        return text;
    }
    *out = (int32_t)value;
    return NULL;
}

const char *ga_cell_weight(double value, float *out)
{
    if (value != 0.0 && !(value >= 0x1p-20 && value <= 0x1p20)) {
        return "a weight of 0 or from 9.5367431640625e-07 (2^-20) to 1048576 (2^20)";
    }
    *out = value != 0.0 ? (float)value : 0.0f;
    return NULL;
}
