/*
 * How fast a CSV file becomes a table: against libcsv, which only cuts the same bytes into fields,
 * and packed with gzip against unpacking alone. A round runs each once, on files made here.
 */
#include <csv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "bench/benchmark.h"
#include "bench/scratch.h"
#include "dataset/bytes.h"
#include "dataset/dataset.h"

#define COLUMNS         9
#define ROWS_PER_UPDATE 500 /* 1,000,000 rows unless asked otherwise */
#define BLOCK_BYTES     65536

enum contender { LIBCSV, TABLE, UNPACK, PACKED, CONTENDERS };

static const char *const files[] = {"numbers.csv", "numbers.csv.gz", NULL};

static const char *const names[CONTENDERS] = {"libcsv", "table", "unpacking", "packed table"};

struct csv_bench {
    struct ga_bench_options options;
    size_t rows;
    uint64_t bytes;
    char folder[GA_SCRATCH_FOLDER], plain[GA_SCRATCH_PATH], packed[GA_SCRATCH_PATH];
    uint64_t fingerprint; /* of the first table; 0: none yet */
    size_t fields;
    struct ga_samples seconds[CONTENDERS];
};

static int write_lines(struct csv_bench *bench, FILE *plain, gzFile packed)
{
    char line[COLUMNS * 16];
    for (size_t row = 0; row < bench->rows; row++) {
        int used = 0;
        for (int i = 0; i < COLUMNS; i++)
            used += snprintf(line + used, sizeof line - (size_t)used, "%s%.6g", i ? "," : "",
                             sin((double)row * 12.9898 + i * 78.233) * pow(10, i - 4));
        line[used++] = '\n';
        bench->bytes += (uint64_t)used;
        if (fwrite(line, 1, (size_t)used, plain) != (size_t)used ||
            gzwrite(packed, line, (unsigned)used) != used)
            return ga_fail(GA_EIO, "bench csv: cannot write %s", bench->plain);
    }
    return GA_OK;
}

static int make_files(struct csv_bench *bench)
{
    if (ga_scratch_open(bench->folder) < 0)
        return ga_error_code();
    ga_scratch_path(bench->folder, files[0], bench->plain);
    ga_scratch_path(bench->folder, files[1], bench->packed);
    FILE *plain = fopen(bench->plain, "wb");
    if (!plain)
        return ga_fail(GA_EIO, "bench csv: cannot write %s", bench->plain);
    gzFile packed = gzopen(bench->packed, "wb1");
    int code = packed ? write_lines(bench, plain, packed)
                      : ga_fail(GA_EIO, "bench csv: cannot write %s", bench->packed);
    if (packed && gzclose(packed) != Z_OK && !code)
        code = ga_fail(GA_EIO, "bench csv: cannot write %s", bench->packed);
    if (fclose(plain) != 0 && !code)
        code = ga_fail(GA_EIO, "bench csv: cannot write %s", bench->plain);
    return code;
}

static void count_field(void *field, size_t length, void *count)
{
    (void)field;
    (void)length;
    ++*(size_t *)count;
}

static void end_row(int end, void *count)
{
    (void)end;
    (void)count;
}

static int run_libcsv(struct csv_bench *bench)
{
    static const unsigned char options = CSV_STRICT | CSV_STRICT_FINI;
    struct csv_parser parser;
    char block[BLOCK_BYTES];
    size_t fields = 0;
    size_t got = 0;
    FILE *file = fopen(bench->plain, "rb");
    if (!file || csv_init(&parser, options) != 0) {
        if (file)
            fclose(file);
        return ga_fail(GA_EIO, "bench csv: cannot read %s", bench->plain);
    }
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        csv_parse(&parser, block, got, count_field, end_row, &fields);
    csv_fini(&parser, count_field, end_row, &fields);
    csv_free(&parser);
    fclose(file);
    bench->fields = fields;
    return fields == bench->rows * COLUMNS
               ? GA_OK
               : ga_fail(GA_EINTERNAL, "bench csv: libcsv found %zu fields", fields);
}

static int run_table(struct csv_bench *bench, const char *path)
{
    struct ga_dataset *data = NULL;
    const int code = ga_dataset_open(&data, 1, &path, "");
    if (code)
        return code;
    const uint64_t fingerprint = ga_dataset_fingerprint(data);
    const bool same = bench->fingerprint == 0 || bench->fingerprint == fingerprint;
    bench->fingerprint = fingerprint;
    ga_dataset_close(data);
    return same ? GA_OK : ga_fail(GA_EINTERNAL, "bench csv: two tables differ");
}

static int run_plain(struct csv_bench *bench)
{
    return run_table(bench, bench->plain);
}

static int run_packed(struct csv_bench *bench)
{
    return run_table(bench, bench->packed);
}

static int run_unpacking(struct csv_bench *bench)
{
    struct ga_bytes *bytes = NULL;
    char block[BLOCK_BYTES];
    size_t got = 1;
    uint64_t total = 0;
    int code = ga_bytes_open(&bytes, bench->packed);
    while (!code && got > 0) {
        code = ga_bytes_read(bytes, block, sizeof block, &got);
        total += got;
    }
    ga_bytes_close(bytes);
    if (!code && total != bench->bytes)
        code = ga_fail(GA_EINTERNAL, "bench csv: %llu bytes unpacked", (unsigned long long)total);
    return code;
}

static int run_round(struct csv_bench *bench)
{
    static int (*const run[CONTENDERS])(struct csv_bench * bench) = {run_libcsv, run_plain,
                                                                     run_unpacking, run_packed};
    for (size_t i = 0; i < CONTENDERS; i++) {
        const int64_t began_ns = ga_now_ns();
        const int code = run[i](bench);
        if (code)
            return code;
        ga_samples_add(&bench->seconds[i], (double)(ga_now_ns() - began_ns) * 1e-9);
    }
    return GA_OK;
}

static double median(const struct csv_bench *bench, enum contender which)
{
    return ga_samples_median(&bench->seconds[which]);
}

static void report_text(const struct csv_bench *bench, struct ga_text *out)
{
    const double megabytes = (double)bench->bytes * 1e-6;
    ga_text_printf(out, "csv: %zu rows of %d numbers, %.1f MB, %lld rounds\n\n", bench->rows,
                   COLUMNS, megabytes, (long long)bench->options.rounds);
    ga_text_printf(out, "  %-14s %10s %10s %8s\n", "", "median s", "best s", "MB/s");
    for (size_t i = 0; i < CONTENDERS; i++)
        ga_text_printf(out, "  %-14s %10.4f %10.4f %8.0f\n", names[i],
                       median(bench, (enum contender)i), ga_samples_least(&bench->seconds[i]),
                       megabytes / median(bench, (enum contender)i));
    ga_text_printf(out,
                   "\ntable against libcsv: %.2f of its speed\n"
                   "packed table: %.2f of the time of unpacking and then reading\n",
                   median(bench, LIBCSV) / median(bench, TABLE),
                   median(bench, PACKED) / (median(bench, UNPACK) + median(bench, TABLE)));
}

static void report_json(const struct csv_bench *bench, struct ga_text *out)
{
    ga_text_printf(out, "{\"benchmark\":\"csv\",\"rows\":%zu,\"bytes\":%llu,\"rounds\":%lld",
                   bench->rows, (unsigned long long)bench->bytes, (long long)bench->options.rounds);
    static const char *const keys[CONTENDERS] = {"libcsv", "table", "unpacking", "packed_table"};
    for (size_t i = 0; i < CONTENDERS; i++) {
        ga_text_printf(out, ",\"%s\":", keys[i]);
        ga_text_number(out, median(bench, (enum contender)i));
    }
    ga_text_puts(out, ",\"speed_of_libcsv\":");
    ga_text_number(out, median(bench, LIBCSV) / median(bench, TABLE));
    ga_text_puts(out, ",\"packed_to_sum\":");
    ga_text_number(out, median(bench, PACKED) / (median(bench, UNPACK) + median(bench, TABLE)));
    ga_text_puts(out, "}\n");
}

static void release(struct csv_bench *bench)
{
    for (size_t i = 0; i < CONTENDERS; i++)
        free(bench->seconds[i].value);
    ga_scratch_close(bench->folder, files);
}

static int run(const struct ga_bench_options *options, struct ga_text *out)
{
    struct csv_bench bench = {.options = *options,
                              .rows = (size_t)options->updates * ROWS_PER_UPDATE};
    int code = GA_OK;
    for (size_t i = 0; !code && i < CONTENDERS; i++) {
        bench.seconds[i].value = ga_alloc((size_t)options->rounds, sizeof(double));
        code = bench.seconds[i].value ? GA_OK : (int)GA_ENOMEM;
    }
    if (!code)
        code = make_files(&bench);
    for (int64_t round = 0; !code && round < options->rounds; round++)
        code = run_round(&bench);
    if (!code)
        (options->json ? report_json : report_text)(&bench, out);
    release(&bench);
    return code;
}

const struct ga_benchmark ga_benchmark_csv = {
    "csv", "a CSV file into a table, against libcsv alone; --updates N makes 500 N rows", run};
