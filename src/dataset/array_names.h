/*
 * Names of files that belong together: MNIST's four files in a folder, the labels of a file of
 * images, a file that an option names. All are to be freed.
 */
#ifndef GA_DATASET_ARRAY_NAMES_H
#define GA_DATASET_ARRAY_NAMES_H

#include <stdbool.h>

bool ga_is_folder(const char *path);

/* The images of `part` ("train" or "t10k") in a folder: PART-images-idx3-ubyte or
 * PART-images.idx3-ubyte, plain or .gz. `*out` is NULL when there is none. */
int ga_mnist_images(const char *folder, const char *part, char **out);

/* The labels of a file of images: "images" and "idx3" in its name replaced, plain or .gz. `*out` is
 * NULL when there is none. */
int ga_mnist_labels(const char *images, char **out);

/* What an option names: beside `file` when it is there, else as it stands. */
int ga_beside(const char *file, const char *name, char **out);

#endif
