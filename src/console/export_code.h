/*
 * `export code tensorflow|pytorch FILE`: the present run as a short program in another framework.
 * The program is put together from pieces of text: a piece is taken when its facts hold, and the
 * words between $ in it are filled in from the run.
 *
 * What can be written: mode sync in both frameworks, mode local in PyTorch; a net, on the parabola
 * or on a CSV file. Everything else is refused with what would have to be set instead.
 */
#ifndef GA_CONSOLE_EXPORT_CODE_H
#define GA_CONSOLE_EXPORT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "console/lexer.h"
#include "train/run.h"

struct ga_console;

/* Facts about the program, one bit each, by which pieces are chosen. */
enum ga_code_fact {
    GA_CODE_TENSORFLOW = 1 << 0,
    GA_CODE_PYTORCH = 1 << 1,
    GA_CODE_LOCAL = 1 << 2, /* mode local; else sync */
    GA_CODE_OUTER = 1 << 3,
    GA_CODE_SUM = 1 << 4,      /* reduce sum */
    GA_CODE_PARABOLA = 1 << 5, /* else a CSV file */
    GA_CODE_NOISE = 1 << 6,
    GA_CODE_HEADER_AUTO = 1 << 7,
    GA_CODE_HEADER = 1 << 8,    /* header=yes */
    GA_CODE_TARGET = 1 << 9,    /* target= is given */
    GA_CODE_CLASSES = 1 << 10,  /* targets are classes */
    GA_CODE_WEIGHTED = 1 << 11, /* the file has a column of example weights */
    GA_CODE_HELD_OUT = 1 << 12, /* rows are left out of training */
    GA_CODE_DRAWN = 1 << 13,    /* at random */
    GA_CODE_SHUFFLE = 1 << 14,  /* order shuffle */
    GA_CODE_SHARDED = 1 << 15,  /* replicas own rows */
    GA_CODE_DROP = 1 << 16,     /* tail drop */
    GA_CODE_WRAP = 1 << 17,     /* tail wrap */
    GA_CODE_BIAS = 1 << 18,
    GA_CODE_INLINE = 1 << 19,    /* initial weights in the program, */
    GA_CODE_INIT_FILE = 1 << 20, /* or in a file; else drawn by NumPy */
    GA_CODE_ADAM = 1 << 21,      /* adam or adamw */
    GA_CODE_MOMENTUM = 1 << 22,
    GA_CODE_COUPLED = 1 << 23, /* weight decay as part of the gradient */
    GA_CODE_CLIP = 1 << 24,
    GA_CODE_RATE = 1 << 25, /* lr changes: by warm-up, or by one of the schedules */
    GA_CODE_WARMUP = 1 << 26,
    GA_CODE_STEP = 1 << 27,
    GA_CODE_COSINE = 1 << 28,
    GA_CODE_SAME = 1 << 29,   /* the program starts from the run's weights and sees its rows */
    GA_CODE_COLUMNS = 1 << 30 /* the `data` command names columns */
};

/* Initial weights are written into a program up to this many. */
#define GA_CODE_INLINE_PARAMETERS 64

/* What a program is written from. Everything is borrowed. */
struct ga_program {
    unsigned facts;
    const struct ga_settings *settings;
    const struct ga_table *table;
    const struct ga_words *data; /* of the `data` command: the name, then KEY=VALUE */
    const char *init_path;       /* of the initial weights, with init file */
    const struct ga_net *net;
    const float *start; /* initial weights */
    uint64_t updates;   /* that the program makes */
};

/* A part of the program: taken when all of `with` and none of `without` are facts. */
struct ga_code_piece {
    unsigned with, without;
    const char *text;
};

/* Lists of pieces in the order of the program; each ends with text NULL. */
extern const struct ga_code_piece ga_code_head_pieces[], ga_code_data_pieces[],
    ga_code_tensorflow_pieces[], ga_code_pytorch_pieces[];

/* A word between $: what it stands for. Lists end with name NULL. */
struct ga_code_word {
    const char *name;
    void (*write)(const struct ga_program *program, struct ga_text *out);
};
extern const struct ga_code_word ga_code_data_words[], ga_code_training_words[];

/* VALUE of the word KEY=VALUE of the `data` command, else `otherwise`. */
const char *ga_code_option(const struct ga_program *program, const char *key,
                           const char *otherwise);

/* All facts, from the other fields; `framework` is GA_CODE_TENSORFLOW or GA_CODE_PYTORCH. */
unsigned ga_code_facts(const struct ga_program *program, unsigned framework);

/*
 * Appends `text` with each $word$ replaced: by a word of the lists, else by the setting of that
 * name as `set` takes it. GA_EINTERNAL for a word that is neither.
 */
int ga_code_expand(const struct ga_program *program, const char *text, struct ga_text *out);

/* The whole program for program->facts. */
int ga_code_write(const struct ga_program *program, struct ga_text *out);

/* The command: `framework` and `path` are the words behind "code". */
int ga_export_code(struct ga_console *console, const char *framework, const char *path);

#endif
