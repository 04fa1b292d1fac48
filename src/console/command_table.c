#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "console/command.h"
#include "settings/words.h"

#define MANY GA_MANY_WORDS

static const struct ga_command commands[] = {
    {"run", "", "[N | N epochs | TIME] [all]", GA_GROUP_MOVING, GA_COMMAND_MOVES, 0, 3, ga_exec_run,
     GA_COMPLETE_NOTHING, "all",
     "Trains N updates, N epochs or a span of virtual time (run 10 ms). Without a number it goes "
     "on until `pause`, a breakpoint or an error; a script must say how far. With `all` every run "
     "goes on, each to its own end."},
    {"pause", "", "", GA_GROUP_MOVING, GA_COMMAND_MIDWAY, 0, 0, ga_exec_pause, GA_COMPLETE_NOTHING,
     "", "Stops a move between two events, wherever it is. ctrl-C does the same."},
    {"next", "step", "[N]", GA_GROUP_MOVING, GA_COMMAND_MOVES, 0, 1, ga_exec_next,
     GA_COMPLETE_NOTHING, "",
     "Goes on to the end of the window, N times (1): micro-batches, reduction, update. A skipped "
     "window counts."},
    {"micro", "", "[N]", GA_GROUP_MOVING, GA_COMMAND_MOVES, 0, 1, ga_exec_micro,
     GA_COMPLETE_NOTHING, "",
     "One micro-batch: a replica adds the gradients of its next examples to its accumulator."},
    {"event", "", "[N]", GA_GROUP_MOVING, GA_COMMAND_MOVES, 0, 1, ga_exec_event,
     GA_COMPLETE_NOTHING, "",
     "The smallest step there is: open, micro, push, drop, reduce, check, clip, apply, skip, "
     "clear."},
    {"back", "", "[N [updates | micros | events]]", GA_GROUP_MOVING, GA_COMMAND_MOVES, 0, 2,
     ga_exec_back, GA_COMPLETE_NOTHING, "",
     "Goes back N updates (1), to identical bits; from the middle of a window the first one leads "
     "to its start. What was recorded beyond is kept until something is changed."},
    {"goto", "", "U", GA_GROUP_MOVING, GA_COMMAND_MOVES, 1, 1, ga_exec_goto, GA_COMPLETE_NOTHING,
     "",
     "Goes to the boundary after update U, backwards or forwards. Where that takes long, as `back` "
     "and `replay` may, the run can be looked at on its way, `pause` stops it there, and what "
     "changes it waits for the end."},
    {"until", "", "CONDITION", GA_GROUP_MOVING, GA_COMMAND_MOVES, 1, MANY, ga_exec_until,
     GA_COMPLETE_CONDITION, "",
     "Trains until the condition holds after an update; not at all when it holds already. `help "
     "condition` has the forms."},
    {"break", "", "CONDITION", GA_GROUP_MOVING, 0, 1, MANY, ga_exec_break, GA_COMPLETE_CONDITION,
     "", "Sets a breakpoint: a move stops after the update at which the condition becomes true."},
    {"breaks", "", "", GA_GROUP_MOVING, GA_COMMAND_MIDWAY, 0, 0, ga_exec_breaks,
     GA_COMPLETE_NOTHING, "", "Lists the breakpoints with their numbers."},
    {"delete", "", "N | all", GA_GROUP_MOVING, 0, 1, 1, ga_exec_delete, GA_COMPLETE_NOTHING, "all",
     "Removes a breakpoint, or all of them."},
    {"flush", "", "", GA_GROUP_MOVING, 0, 0, 0, ga_exec_flush, GA_COMPLETE_NOTHING, "",
     "Closes the window now: the update averages what is accumulated, the window's other examples "
     "are spent and counted unused."},
    {"discard", "", "", GA_GROUP_MOVING, 0, 0, 0, ga_exec_discard, GA_COMPLETE_NOTHING, "",
     "Drops the open window without an update; it is counted as skipped."},
    {"reset", "", "[seed N]", GA_GROUP_MOVING, GA_COMMAND_MOVES | GA_COMMAND_RESTARTS, 0, 2,
     ga_exec_reset, GA_COMPLETE_NOTHING, "seed",
     "Starts over at update 0 with the same start, or with another seed. Settings that wait for a "
     "start take effect."},

    {"set", "", "NAME VALUE ...", GA_GROUP_CHANGING, 0, 2, MANY, ga_exec_set, GA_COMPLETE_SETTINGS,
     "",
     "Changes settings, all of them or none. The answer says from which update they hold; what is "
     "accumulated is never thrown away. `settings` lists the names."},
    {"mode", "", "NAME [N]", GA_GROUP_CHANGING, 0, 1, 2, ga_exec_mode, GA_COMPLETE_MODE, "",
     "Short for `set mode NAME` and the number that belongs to it: sync backup, delay lag, ssp "
     "bound, buffered buffer, local period. `help modes` compares them."},
    {"show", "", "[NAME | data | changed]", GA_GROUP_CHANGING, GA_COMMAND_MIDWAY, 0, 1,
     ga_exec_show, GA_COMPLETE_SETTING, "changed data",
     "Shows the settings in force and what is pending, one setting in full, or what was changed as "
     "commands that reproduce it."},
    {"fit", "", "B", GA_GROUP_CHANGING, 0, 1, 1, ga_exec_fit, GA_COMPLETE_NOTHING, "",
     "Fits windows of B examples into the setting memory: the largest micro-batch that a replica "
     "has room for, and the accumulation that makes the window B. `print memory` shows what a "
     "replica takes."},
    {"settings", "", "", GA_GROUP_CHANGING, GA_COMMAND_MIDWAY, 0, 0, ga_exec_settings,
     GA_COMPLETE_NOTHING, "", "Lists every setting with its values, default and meaning."},
    {"init-from", "", "FILE", GA_GROUP_CHANGING, GA_COMMAND_RESTARTS, 1, 1, ga_exec_init_from,
     GA_COMPLETE_FILE, "",
     "Takes the initial weights from a safetensors file with tensors layers.K.weight and "
     "layers.K.bias. The run starts over."},
    {"data", "", "parabola | quadratic | FILE | FOLDER [KEY=VALUE ...]", GA_GROUP_CHANGING,
     GA_COMMAND_RESTARTS, 1, MANY, ga_exec_data, GA_COMPLETE_FILE, "parabola quadratic",
     "Opens a data set; the run starts over. parabola [n=50 range=-2,2 noise=0 seed=1]; quadratic "
     "lambda=1,4 [c=0,0] [n=1]; a CSV, IDX (MNIST), NPY or NPZ file [target=COL] [weight=COL] "
     "[kind=value|class] [scale=X] [train=ROWS] [test=ROWS|FRACTION] [shuffle=SEED] ...: `help "
     "data-files` has all options."},

    {"print", "", "EXPRESSION", GA_GROUP_LOOKING, GA_COMMAND_MIDWAY, 1, MANY, ga_exec_print,
     GA_COMPLETE_EXPRESSION, "",
     "Prints a figure: any metric (loss, dataset_loss, replica 1 loss), a setting, hash, memory, "
     "counters, window, replicas, events N, accum R TENSOR, weights TENSOR, grad TENSOR, state "
     "TENSOR. A TENSOR may have indices: layers.0.weight[2,0]."},
    {"explain", "", "[TENSOR[INDEX]]", GA_GROUP_LOOKING, GA_COMMAND_MIDWAY, 0, 1, ga_exec_explain,
     GA_COMPLETE_TENSOR, "",
     "The arithmetic of the last event for one weight: every replica's sum and count, the total, "
     "the division, clip, rate, old and new value."},
    {"eval", "", "", GA_GROUP_LOOKING, GA_COMMAND_MIDWAY, 0, 0, ga_exec_eval, GA_COMPLETE_NOTHING,
     "", "Loss, and accuracy for classes, over all training rows and all held-out rows."},
    {"devices", "", "", GA_GROUP_LOOKING, GA_COMMAND_MIDWAY, 0, 0, ga_exec_devices,
     GA_COMPLETE_NOTHING, "",
     "What computes here, with which kernels, and how busy it is; the GPUs that NVML lists, with "
     "their place on the PCI bus, or why there are none in its own words."},
    {"history", "", "", GA_GROUP_LOOKING, GA_COMMAND_MIDWAY, 0, 0, ga_exec_history,
     GA_COMPLETE_NOTHING, "",
     "How far back and forth `back` and `goto` reach, and the memory that takes."},
    {"staleness", "", "[N]", GA_GROUP_LOOKING, GA_COMMAND_MIDWAY, 0, 1, ga_exec_staleness,
     GA_COMPLETE_NOTHING, "",
     "How stale the gradients of the last N updates were, as a histogram, with the law beside it; "
     "without a number since the settings changed."},
    {"law", "", "[N]", GA_GROUP_LOOKING, GA_COMMAND_MIDWAY, 0, 1, ga_exec_law, GA_COMPLETE_NOTHING,
     "",
     "What theory predicts for the present mode and settings, beside what was measured over the "
     "last N updates, and whether it is exact, holds in the mean, is a bound or a guide."},
    {"columns", "", "[FIGURE ... | default]", GA_GROUP_LOOKING, 0, 0, MANY, ga_exec_columns,
     GA_COMPLETE_COLUMNS, "default",
     "Which figures a logged line has: metrics, replica R METRIC, hash; default: those that fit "
     "into "
     "the terminal. The setting log-every says how often there is one."},

    {"fork", "", "NAME", GA_GROUP_COMPARING, 0, 1, 1, ga_exec_fork, GA_COMPLETE_NOTHING, "",
     "Copies the current run with all it has, history included, under a name. The copy goes its "
     "own way; the current run stays current."},
    {"use", "", "NAME", GA_GROUP_COMPARING, GA_COMMAND_RESTARTS, 1, 1, ga_exec_use, GA_COMPLETE_RUN,
     "", "Makes a run current: all other commands are about that one."},
    {"runs", "", "", GA_GROUP_COMPARING, GA_COMMAND_MIDWAY, 0, 0, ga_exec_runs, GA_COMPLETE_NOTHING,
     "",
     "Lists the runs: mode, shape, update, last loss, hash, virtual time. A star marks the current "
     "one."},
    {"drop", "", "NAME", GA_GROUP_COMPARING, GA_COMMAND_RESTARTS, 1, 1, ga_exec_drop,
     GA_COMPLETE_RUN, "", "Forgets a run that is not the current one."},
    {"compare", "", "A B [by updates|examples|time|bytes]", GA_GROUP_COMPARING, GA_COMMAND_MIDWAY,
     2, 4, ga_exec_compare, GA_COMPLETE_RUN, "",
     "The losses of two runs at the same updates, examples, virtual times or bytes sent, and where "
     "each one stands."},
    {"replay", "", "", GA_GROUP_COMPARING, 0, 0, 0, ga_exec_replay, GA_COMPLETE_NOTHING, "",
     "Does again, in virtual order, all that the history has recorded, a race of the real clock "
     "included, and compares the hashes; exit status 1 when they differ."},

    {"save", "", "FILE", GA_GROUP_KEEPING, GA_COMMAND_WRITES, 1, 1, ga_exec_save, GA_COMPLETE_FILE,
     "",
     "Writes the whole run as a safetensors file: weights, optimizer, accumulators, counters, "
     "position, settings. An existing file is replaced at once or not at all."},
    {"load", "", "FILE", GA_GROUP_KEEPING, GA_COMMAND_RESTARTS, 1, 1, ga_exec_load,
     GA_COMPLETE_FILE, "",
     "Takes up a saved run, also in the middle of a window, to the same bits."},
    {"export", "", "weights | history | svg | code tensorflow|pytorch FILE", GA_GROUP_KEEPING,
     GA_COMMAND_WRITES, 2, 3, ga_exec_export, GA_COMPLETE_FILE, "weights history svg code",
     "weights: a safetensors file under PyTorch's names. history: every recorded update, as CSV "
     "for a name in .csv, else as JSON lines. svg: charts of the run by updates, a picture for "
     "browsers and papers. code: a short program for that framework that trains "
     "the same in mode sync, and with PyTorch in mode local."},
    {"log", "", "[jsonl | csv | tensorboard PATH [every N] [devices] | cast PATH | off [PATH]]",
     GA_GROUP_KEEPING, GA_COMMAND_WRITES, 0, 5, ga_exec_log, GA_COMPLETE_FILE,
     "jsonl csv tensorboard cast off",
     "Logs every update of the current run, or every N-th, as training goes on; `log` lists the "
     "logs, `log off` closes them. tensorboard: PATH is a folder of event files, of the windows "
     "and of each replica. With devices each line also says how busy the seat of each replica "
     "was: replica_0_util, replica_0_memory, replica_0_temperature, replica_0_power, ...; null "
     "(csv: nan) where nobody knows. `help log-fields` has all fields. cast records the "
     "screen itself, as an asciicast."},
    {"save-display", "", "FILE", GA_GROUP_KEEPING, GA_COMMAND_WRITES | GA_COMMAND_MIDWAY, 1, 1,
     ga_exec_save_display, GA_COMPLETE_FILE, "",
     "Writes the screen as it is: as a picture for a name in .svg, else as text."},

    {"slow", "", "R FACTOR", GA_GROUP_REPLICAS, 0, 2, 2, ga_exec_slow, GA_COMPLETE_NOTHING, "",
     "Makes replica R (from 0) take FACTOR times as long from its next item, in virtual time."},
    {"kill", "", "R", GA_GROUP_REPLICAS, 0, 1, 1, ga_exec_kill, GA_COMPLETE_NOTHING, "",
     "Replica R fails: its item is dropped and it starts no more. Windows wait for it or go on, as "
     "the setting failure says; under pushes the others go on."},
    {"restore", "", "R", GA_GROUP_REPLICAS, 0, 1, 1, ga_exec_restore, GA_COMPLETE_NOTHING, "",
     "A killed replica is back: it pulls fresh weights and starts, with an empty optimizer state "
     "of its own."},

    {"source", "", "FILE", GA_GROUP_SCRIPTS, 0, 1, 1, ga_exec_source, GA_COMPLETE_FILE, "",
     "Runs a script; the first line that fails ends it."},
    {"resume", "", "", GA_GROUP_SCRIPTS, 0, 0, 0, ga_exec_resume, GA_COMPLETE_NOTHING, "",
     "Goes on with the script that was left, at the question or pause where it stood."},
    {"say", "", "TEXT", GA_GROUP_SCRIPTS, 0, 0, MANY, ga_exec_say, GA_COMPLETE_NOTHING, "",
     "Prints the text."},
    {"ask", "", "\"QUESTION\" answer=TEXT [choices=A|B|C] [reveal=TEXT]", GA_GROUP_SCRIPTS, 0, 2, 4,
     ga_exec_ask, GA_COMPLETE_NOTHING, "",
     "Asks until the answer is right or an empty line gives up, then shows the answer and the "
     "reveal text, and waits for a key. A choice is named by its number or letter, in full, or by "
     "how it begins; numbers are compared as numbers. In batch it does not wait."},
    {"expect", "", "CONDITION", GA_GROUP_SCRIPTS, 0, 1, MANY, ga_exec_expect, GA_COMPLETE_CONDITION,
     "", "Fails with what was found when the condition does not hold; the exit status is then 1."},
    {"refused", "", "COMMAND ...", GA_GROUP_SCRIPTS, 0, 1, MANY, ga_exec_refused,
     GA_COMPLETE_NOTHING, "",
     "Tries a command that changes something and must be refused: says why it was, and goes on. "
     "When it is not refused this fails as `expect` does."},
    {"wait", "", "key", GA_GROUP_SCRIPTS, 0, 1, 1, ga_exec_wait, GA_COMPLETE_NOTHING, "key",
     "Waits for a key; does nothing in batch."},
    {"view", "",
     "[panel NAME | zoom [on|off] | y log|linear | x AXIS | smoothing W | glyphs G | theme T]",
     GA_GROUP_SCRIPTS, GA_COMMAND_MIDWAY, 0, 2, ga_exec_view, GA_COMPLETE_NOTHING,
     "panel zoom y x smoothing glyphs theme",
     "What the screen shows, and how: a word without a value takes the next one, `view` alone "
     "prints the present view as commands. Without a screen it does nothing."},
    {"quit", "", "", GA_GROUP_SCRIPTS, GA_COMMAND_MIDWAY, 0, 0, ga_exec_quit, GA_COMPLETE_NOTHING,
     "", "Ends the session."},
    {"help", "", "[WORD]", GA_GROUP_SCRIPTS, GA_COMMAND_MIDWAY, 0, MANY, ga_exec_help,
     GA_COMPLETE_HELP, "",
     "Help on a command, a setting, a metric or a topic; alone it lists them."},
};

#define COUNT (sizeof(commands) / sizeof(commands[0]))

size_t ga_command_count(void)
{
    return COUNT;
}

const struct ga_command *ga_command_at(size_t position)
{
    return position < COUNT ? &commands[position] : NULL;
}

const char *ga_command_group_name(enum ga_command_group group)
{
    static const char *const names[GA_GROUPS] = {"moving",  "changing", "looking", "comparing",
                                                 "keeping", "replicas", "scripts"};
    return names[group];
}

const struct ga_command *ga_command_named(const char *word)
{
    for (size_t i = 0; i < COUNT; i++)
        if (ga_word_same(commands[i].name, word) ||
            (*commands[i].alias && ga_word_same(commands[i].alias, word)))
            return &commands[i];
    return NULL;
}

static void fail_unknown(const char *word)
{
    struct ga_word_nearest nearest = {word, NULL, 0};
    for (size_t i = 0; i < COUNT; i++) {
        ga_word_consider(&nearest, commands[i].name);
        if (*commands[i].alias)
            ga_word_consider(&nearest, commands[i].alias);
    }
    if (nearest.name)
        ga_fail(GA_EINPUT, "no command is called %.64s: did you mean %s? `help` lists them", word,
                nearest.name);
    else
        ga_fail(GA_EINPUT, "no command is called %.64s: expected one of those that `help` lists",
                *word ? word : "''");
}

const struct ga_command *ga_command_find(const char *word)
{
    const struct ga_command *found = ga_command_named(word);
    if (found)
        return found;
    struct ga_text names = GA_TEXT_INIT;
    size_t count = 0;
    for (size_t i = 0; *word && i < COUNT; i++) {
        if (!ga_word_starts(commands[i].name, word))
            continue;
        found = &commands[i];
        ga_text_printf(&names, "%s%s", count++ ? ", " : "", found->name);
    }
    if (count == 0)
        fail_unknown(word);
    if (count > 1)
        ga_fail(GA_EINPUT, "command %s could be %s: expected more letters", word,
                ga_text_get(&names));
    ga_text_free(&names);
    return count == 1 ? found : NULL;
}
