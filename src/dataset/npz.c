/*
 * Data from an NPZ file: a zip archive with one NPY file an array. libzip finds and unpacks them,
 * and checks each one's CRC-32 at its end.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "dataset/array_fill.h"
#include "dataset/kind.h"

/* Names that people and packages give to arrays that belong together. */
static const struct names {
    const char *inputs, *labels, *held_out, *held_out_labels;
} known[] = {
    {"x_train", "y_train", "x_test", "y_test"},
    {"X_train", "y_train", "X_test", "y_test"},
    {"train_images", "train_labels", "test_images", "test_labels"},
    {"x", "y", NULL, NULL},
    {"X", "y", NULL, NULL},
    {"images", "labels", NULL, NULL},
    {"data", "target", NULL, NULL},
    {"inputs", "targets", NULL, NULL},
};
#define KNOWN (sizeof known / sizeof known[0])

struct archive {
    const char *path;
    const struct ga_options *options;
    zip_t *zip;
};

struct member {
    struct ga_bytes bytes;
    zip_file_t *file;
    uint64_t at; /* bytes read */
};

static bool is_zip(const unsigned char *head, size_t count)
{
    return count >= 4 && memcmp(head, "PK", 2) == 0 &&
           (memcmp(head + 2, "\3\4", 2) == 0 || memcmp(head + 2, "\5\6", 2) == 0);
}

static int read_member(struct ga_bytes *bytes, void *out, size_t most, size_t *got)
{
    struct member *member = (struct member *)bytes;
    zip_int64_t part = 1;
    *got = 0;
    while (part > 0 && *got < most) {
        part = zip_fread(member->file, (char *)out + *got, most - *got);
        *got += part > 0 ? (size_t)part : 0;
    }
    if (part < 0) {
        return ga_fail(GA_EINPUT, "%s: truncated or damaged (%s), expected a whole array",
                       bytes->name, zip_file_strerror(member->file));
    }
    member->at += *got;
    if (*got < most && member->at != bytes->most) {
        return ga_fail(GA_EINPUT, "%s: %" PRIu64 " bytes, expected the %" PRIu64 " of its entry",
                       bytes->name, member->at, bytes->most);
    }
    return 0;
}

static void close_member(struct ga_bytes *bytes)
{
    struct member *member = (struct member *)bytes;
    if (member->file) {
        zip_fclose(member->file);
    }
    free((char *)bytes->name);
    free(member);
}

/* Whether the entry is the array `name`: "NAME.npy", or the bare name. */
static bool is_entry(const struct archive *archive, zip_int64_t place, const char *name)
{
    const size_t length = strlen(name);
    const char *entry = zip_get_name(archive->zip, (zip_uint64_t)place, ZIP_FL_ENC_RAW);
    return entry && strncmp(entry, name, length) == 0 &&
           (!entry[length] || strcmp(entry + length, ".npy") == 0);
}

/* The first place from `from` on of an array, -1: none. */
static zip_int64_t find_from(const struct archive *archive, const char *name, zip_int64_t from)
{
    const zip_int64_t count = zip_get_num_entries(archive->zip, 0);
    for (zip_int64_t i = from; i < count; i++) {
        if (is_entry(archive, i, name)) {
            return i;
        }
    }
    return -1;
}

static zip_int64_t find(const struct archive *archive, const char *name)
{
    return find_from(archive, name, 0);
}

static int refuse_missing(const struct archive *archive, const char *key, const char *name)
{
    enum { SHOWN = 12 };
    char quoted[GA_QUOTE_TEXT];
    struct ga_text names = GA_TEXT_INIT;
    const zip_int64_t count = zip_get_num_entries(archive->zip, 0);
    for (zip_int64_t i = 0; i < count && i < SHOWN; i++) {
        const char *entry = zip_get_name(archive->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        const size_t length = entry ? strlen(entry) : 0;
        const bool npy = length > 4 && strcmp(entry + length - 4, ".npy") == 0;
        ga_text_printf(&names, "%s%s", i ? ", " : "",
                       ga_quote_n(quoted, entry ? entry : "", npy ? length - 4 : length));
    }
    if (name) {
        char asked[GA_QUOTE_TEXT];
        ga_fail(GA_EINPUT, "%s: no array %s, expected %s= one of: %s%s", archive->path,
                ga_quote(asked, name), key, ga_text_get(&names), count > SHOWN ? ", ..." : "");
    } else {
        ga_fail(GA_EINPUT, "%s: expected %s=NAME, one of: %s%s", archive->path, key,
                ga_text_get(&names), count > SHOWN ? ", ..." : "");
    }
    ga_text_free(&names);
    return GA_EINPUT;
}

/* No promise of more bytes than what is stored could give, and methods that numpy writes. */
static int check_stat(const struct ga_bytes *bytes, const zip_stat_t *stat)
{
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    uint64_t most = stat->comp_size;
    if ((stat->valid & wanted) != wanted || stat->encryption_method != ZIP_EM_NONE ||
        (stat->comp_method != ZIP_CM_STORE && stat->comp_method != ZIP_CM_DEFLATE)) {
        return ga_fail(GA_EUNSUPPORTED,
                       "%s: packed in a way that numpy does not, expected stored or deflated "
                       "without a password",
                       bytes->name);
    }
    if (stat->comp_method == ZIP_CM_DEFLATE &&
        __builtin_mul_overflow(stat->comp_size, (uint64_t)GA_BYTES_PACKED_MOST, &most)) {
        most = UINT64_MAX;
    }
    if (stat->size > most) {
        return ga_fail(GA_EINPUT, "%s: %" PRIu64 " bytes out of %" PRIu64 ", more than can be",
                       bytes->name, (uint64_t)stat->size, (uint64_t)stat->comp_size);
    }
    return 0;
}

static int open_member(const struct archive *archive, zip_uint64_t place, struct member *member)
{
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(archive->zip, place, 0, &stat) != 0) {
        return ga_fail(GA_EINPUT, "%s: damaged (%s)", member->bytes.name,
                       zip_strerror(archive->zip));
    }
    int code = check_stat(&member->bytes, &stat);
    if (code != 0) {
        return code;
    }
    member->bytes.most = stat.size;
    member->file = zip_fopen_index(archive->zip, place, 0);
    return member->file ? 0
                        : ga_fail(GA_EINPUT, "%s: damaged (%s)", member->bytes.name,
                                  zip_strerror(archive->zip));
}

static int open_array(const struct archive *archive, const char *key, const char *name,
                      struct ga_array *out)
{
    struct ga_text text = GA_TEXT_INIT;
    char quoted[GA_QUOTE_TEXT];
    const zip_int64_t place = find(archive, name);
    if (place < 0) {
        return refuse_missing(archive, key, name);
    }
    if (find_from(archive, name, place + 1) >= 0) {
        return ga_fail(GA_EINPUT, "%s: %s is there twice, expected one array of that name",
                       archive->path, ga_quote(quoted, name));
    }
    struct member *member = ga_alloc(1, sizeof *member);
    ga_text_printf(&text, "%s: %s", archive->path, ga_quote(quoted, name));
    if (!member || ga_text_failed(&text)) {
        free(member);
        ga_text_free(&text);
        return GA_ENOMEM;
    }
    member->bytes = (struct ga_bytes){read_member, close_member, text.data, 0, false};
    out->bytes = &member->bytes; /* closed by ga_array_fini() */
    int code = open_member(archive, (zip_uint64_t)place, member);
    return code == 0 ? ga_npy_header(out) : code;
}

/* What belongs to `inputs`, or the first known names that are there. */
static const struct names *find_names(const struct archive *archive, const char *inputs)
{
    for (size_t i = 0; i < KNOWN; i++) {
        if (inputs && strcmp(inputs, known[i].inputs) != 0) {
            continue;
        }
        if (find(archive, known[i].inputs) >= 0 && find(archive, known[i].labels) >= 0) {
            return &known[i];
        }
    }
    return NULL;
}

static void read_names(const struct archive *archive, struct names *out)
{
    const struct ga_options *options = archive->options;
    const char *held_out = ga_options_get(options, "heldout");
    const struct names *found = find_names(archive, ga_options_get(options, "inputs"));
    *out = found ? *found : (struct names){NULL, NULL, NULL, NULL};
    if (ga_options_get(options, "inputs")) {
        out->inputs = ga_options_get(options, "inputs");
    }
    if (ga_options_get(options, "labels")) {
        out->labels = ga_options_get(options, "labels");
    }
    if (held_out || (out->held_out && find(archive, out->held_out) < 0)) {
        out->held_out = held_out;
        out->held_out_labels = NULL;
    }
    if (ga_options_get(options, "heldout-labels")) {
        out->held_out_labels = ga_options_get(options, "heldout-labels");
    }
}

static int check_names(const struct archive *archive, const struct names *names)
{
    const bool half = !names->held_out != !names->held_out_labels;
    if (!names->inputs) {
        return refuse_missing(archive, "inputs", NULL);
    }
    if (!names->labels) {
        return refuse_missing(archive, "labels", NULL);
    }
    return half ? refuse_missing(archive, names->held_out ? "heldout-labels" : "heldout", NULL) : 0;
}

static int open_parts(const struct archive *archive, const struct names *names,
                      struct ga_array_part *train, struct ga_array_part *held_out)
{
    const char *weight = ga_options_get(archive->options, "weight");
    int code = open_array(archive, "inputs", names->inputs, &train->inputs);
    if (code == 0) {
        code = open_array(archive, "labels", names->labels, &train->targets);
    }
    if (code == 0 && weight) {
        code = open_array(archive, "weight", weight, &train->weights);
    }
    if (code == 0 && names->held_out) {
        code = open_array(archive, "heldout", names->held_out, &held_out->inputs);
    }
    if (code == 0 && names->held_out) {
        code = open_array(archive, "heldout-labels", names->held_out_labels, &held_out->targets);
    }
    return code;
}

static int open_zip(struct archive *archive)
{
    uint64_t size_bytes = 0;
    int fd = -1;
    int error = 0;
    int code = ga_bytes_regular(archive->path, &fd, &size_bytes);
    if (code != 0) {
        return code;
    }
    archive->zip =
        zip_fdopen(fd, ZIP_CHECKCONS | ZIP_RDONLY, &error); /* takes fd when it succeeds */
    if (!archive->zip) {
        zip_error_t reason;
        zip_error_init_with_code(&reason, error);
        code = ga_fail(error == ZIP_ER_MEMORY ? GA_ENOMEM : GA_EINPUT,
                       "%s: truncated or damaged (%s), expected a whole NPZ file", archive->path,
                       zip_error_strerror(&reason));
        zip_error_fini(&reason);
        close(fd);
    }
    return code;
}

static int open_npz(struct ga_dataset *dataset, const struct ga_options *options, const char *path)
{
    struct archive archive = {.path = path, .options = options};
    struct names names = {NULL, NULL, NULL, NULL};
    struct ga_array_part train = {0};
    struct ga_array_part held_out = {0};
    int code = open_zip(&archive);
    if (code != 0) {
        return code;
    }
    read_names(&archive, &names);
    code = check_names(&archive, &names);
    if (code == 0) {
        code = open_parts(&archive, &names, &train, &held_out);
    }
    if (code == 0) {
        code = ga_array_fill(dataset, options, &train, names.held_out ? &held_out : NULL);
    }
    ga_array_part_fini(&train);
    ga_array_part_fini(&held_out);
    zip_discard(archive.zip);
    return code;
}

static const char *const keys[] = {"kind",           "inputs", "labels", "weight",  "classes",
                                   "scale",          "train",  "test",   "shuffle", "heldout",
                                   "heldout-labels", "limit",  NULL};

const struct ga_dataset_kind ga_dataset_npz = {
    .format = "npz",
    .usage = "FILE [inputs=NAME] [labels=NAME] [weight=NAME] [heldout=NAME] [heldout-labels=NAME] "
             "[kind=class|value] [classes=C] [scale=X] [train=ROWS] [test=ROWS|FRACTION] "
             "[shuffle=SEED] [limit=SIZE]",
    .keys = keys,
    .open = open_npz,
    .is = is_zip,
};
