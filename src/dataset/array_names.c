#include "dataset/array_names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

bool ga_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Hands the text over, when a file of that name is there. */
static int take_if_there(struct ga_text *text, char **out)
{
    int code = ga_text_failed(text) ? (int)GA_ENOMEM : 0;
    if (code == 0 && access(ga_text_get(text), F_OK) == 0) {
        *out = text->data;
        return 0;
    }
    ga_text_free(text);
    return code;
}

int ga_mnist_images(const char *folder, const char *part, char **out)
{
    static const char *const forms[] = {"-images-idx3-ubyte", "-images-idx3-ubyte.gz",
                                        "-images.idx3-ubyte", "-images.idx3-ubyte.gz"};
    int code = 0;
    *out = NULL;
    for (size_t i = 0; code == 0 && !*out && i < sizeof forms / sizeof forms[0]; i++) {
        struct ga_text text = GA_TEXT_INIT;
        ga_text_printf(&text, "%s/%s%s", folder, part, forms[i]);
        code = take_if_there(&text, out);
    }
    return code;
}

static const char *last_slash(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* `path` with the first `from` in its last part replaced by `to`; as it is when there is none. */
static void replace(struct ga_text *path, const char *from, const char *to)
{
    struct ga_text whole = GA_TEXT_INIT;
    const char *old = ga_text_get(path);
    const char *at = strstr(last_slash(old), from);
    if (!at) {
        return;
    }
    ga_text_append(&whole, old, (size_t)(at - old));
    ga_text_printf(&whole, "%s%s", to, at + strlen(from));
    ga_text_free(path);
    *path = whole;
}

int ga_mnist_labels(const char *images, char **out)
{
    int code = 0;
    *out = NULL;
    if (!strstr(last_slash(images), "images")) {
        return 0;
    }
    for (int other = 0; code == 0 && !*out && other < 2; other++) {
        struct ga_text text = GA_TEXT_INIT;
        ga_text_puts(&text, images);
        replace(&text, "images", "labels");
        replace(&text, "idx3", "idx1");
        const bool gz = text.length > 3 && strcmp(text.data + text.length - 3, ".gz") == 0;
        if (other && gz) {
            text.length -= 3;
            text.data[text.length] = '\0';
        } else if (other) {
            ga_text_puts(&text, ".gz");
        }
        code = take_if_there(&text, out);
    }
    return code;
}

int ga_beside(const char *file, const char *name, char **out)
{
    struct ga_text text = GA_TEXT_INIT;
    *out = NULL;
    if (name[0] != '/') {
        ga_text_append(&text, file, (size_t)(last_slash(file) - file));
        ga_text_puts(&text, name);
        int code = take_if_there(&text, out);
        if (code != 0 || *out) {
            return code;
        }
    }
    *out = ga_copy_string(name);
    return *out ? 0 : GA_ENOMEM;
}
