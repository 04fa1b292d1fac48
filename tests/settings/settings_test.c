/* Values: every row's forms, edges and round trip; rules between settings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "settings/settings.h"
#include "settings/values.h"
#include "support/support.h"

static const struct ga_setting *row_of(const char *name)
{
    const struct ga_setting *row = ga_setting_find(name);
    if (!row)
        fail_msg("%s: %s", name, ga_error_text());
    return row;
}

static void assert_written(const char *name, const struct ga_settings *from, const char *want)
{
    struct ga_text text = GA_TEXT_INIT;
    ga_setting_write(row_of(name), from, &text);
    assert_string_equal(ga_text_get(&text), want);
    ga_text_free(&text);
}

static void assert_refused(const char *name, const char *text, const char *part)
{
    struct ga_settings draft;
    ga_settings_default(&draft);
    const struct ga_settings before = draft;
    if (ga_setting_read(row_of(name), &draft, text) >= 0)
        fail_msg("%s accepted %s", name, text);
    assert_memory_equal(&draft, &before, sizeof(draft));
    if (!strstr(ga_error_text(), part))
        fail_msg("%s %s: '%s' does not say '%s'", name, text, ga_error_text(), part);
}

/* Reads, writes, reads what was written: both drafts and both texts are the same. */
static void assert_round_trip(const struct ga_setting *row, const char *text)
{
    struct ga_settings first;
    struct ga_settings second;
    ga_settings_default(&first);
    ga_settings_default(&second);
    if (ga_setting_read(row, &first, text) < 0)
        fail_msg("%s %s: %s", row->name, text, ga_error_text());
    struct ga_text written = GA_TEXT_INIT;
    struct ga_text again = GA_TEXT_INIT;
    ga_setting_write(row, &first, &written);
    if (ga_setting_read(row, &second, ga_text_get(&written)) < 0)
        fail_msg("%s %s wrote %s: %s", row->name, text, ga_text_get(&written), ga_error_text());
    ga_setting_write(row, &second, &again);
    assert_string_equal(ga_text_get(&written), ga_text_get(&again));
    assert_null(strchr(ga_text_get(&written), ' '));
    assert_memory_equal(&first, &second, sizeof(first));
    assert_true(ga_setting_same(row, &first, &second));
    ga_text_free(&written);
    ga_text_free(&again);
}

static const struct {
    const char *name;
    const char *text;    /* as typed */
    const char *written; /* as shown */
} forms[] = {
    {"replicas", "1", "1"},
    {"replicas", "4096", "4096"},
    {"accum", "1", "1"},
    {"accum", "262144", "262144"},
    {"batch", "262144", "262144"},
    {"global", "50", "50"},
    {"global", "262144", "262144"},
    {"global", "0", "off"},
    {"global", "off", "off"},
    {"mode", "sync", "sync"},
    {"mode", "ddp", "sync"},
    {"mode", "all_reduce", "sync"},
    {"mode", "multi-worker-mirrored", "sync"},
    {"mode", "delay", "delay"},
    {"mode", "async", "async"},
    {"mode", "parameter_server", "async"},
    {"mode", "ps", "async"},
    {"mode", "ssp", "ssp"},
    {"mode", "buffered", "buffered"},
    {"mode", "softsync", "buffered"},
    {"mode", "local", "local"},
    {"mode", "local-sgd", "local"},
    {"mode", "fedavg", "local"},
    {"mode", "hogwild", "hogwild"},
    {"backup", "4095", "4095"},
    {"late", "finish", "finish"},
    {"lag", "0", "0"},
    {"lag", "4096", "4096"},
    {"bound", "0", "0"},
    {"bound", "1000000", "1000000"},
    {"bound", "none", "none"},
    {"bound", "off", "none"},
    {"bound", "-", "none"},
    {"buffer", "1", "1"},
    {"buffer", "4096", "4096"},
    {"buffer", "P", "P"},
    {"period", "4096", "4096"},
    {"outer", "none", "none"},
    {"outer", "sgd(0.7,0.9)", "sgd(0.7,0.9)"},
    {"outer", "sgd 1 0", "sgd(1,0)"},
    {"outer", "sgd( 0 , -0 )", "sgd(0,0)"},
    {"outer", "nesterov 0.7 0.9", "nesterov(0.7,0.9)"},
    {"outer", "nesterov(1000000,0)", "nesterov(1000000,0)"},
    {"scale", "full", "full"},
    {"scale", "share", "share"},
    {"scale", "staleness", "staleness"},
    {"scale", "sqrt", "sqrt"},
    {"scale", "rescaled", "rescaled"},
    {"writes", "atomic", "atomic"},
    {"writes", "lossy", "lossy"},
    {"failure", "continue", "continue"},
    {"reduce", "sum", "sum"},
    {"optimizer", "adamw", "adamw"},
    {"lr", "1e-3", "0.001"},
    {"lr", "0", "0"},
    {"lr", "-0", "0"},
    {"lr", "1000000", "1000000"},
    {"momentum", "0.9", "0.9"},
    {"momentum", "0.9999999999999999", "0.9999999999999999"},
    {"nesterov", "on", "on"},
    {"beta1", "0", "0"},
    {"beta2", "0.99", "0.99"},
    {"epsilon", "1", "1"},
    {"weight-decay", "1000", "1000"},
    {"clip", "1", "1"},
    {"clip", "0", "off"},
    {"clip", "off", "off"},
    {"schedule", "constant", "constant"},
    {"schedule", "step 100 0.5", "step(100,0.5)"},
    {"schedule", "step(100,0.5)", "step(100,0.5)"},
    {"schedule", "step( 100 , .5 )", "step(100,0.5)"},
    {"schedule", "cosine 1000", "cosine(1000,0)"},
    {"schedule", "cosine(1000)", "cosine(1000,0)"},
    {"schedule", "cosine 1000 1e-4", "cosine(1000,0.0001)"},
    {"warmup", "1000000000000000", "1000000000000000"},
    {"model", "64-32-10", "64-32-10"},
    {"model", "65536-1", "65536-1"},
    {"model", "1-2-3-4-5-6-7-8-9-8-7-6-5-4-3-2-1", "1-2-3-4-5-6-7-8-9-8-7-6-5-4-3-2-1"},
    {"activation", "gelu", "gelu"},
    {"bias", "off", "off"},
    {"loss", "xent", "xent"},
    {"init", "file", "file"},
    {"seed", "18446744073709551615", "18446744073709551615"},
    {"order", "shuffle", "shuffle"},
    {"sharding", "strided", "strided"},
    {"tail", "wrap", "wrap"},
    {"clock", "virtual", "virtual"},
    {"clock", "real", "real"},
    {"pace", "max", "max"},
    {"pace", "40", "40"},
    {"pace", "x1", "x1"},
    {"pace", "x0.5", "x0.5"},
    {"base", "0", "0"},
    {"base", "2.5 s", "2.5s"},
    {"base", "1000s", "1000s"},
    {"per-example", "13us", "13us"},
    {"jitter", "constant", "constant"},
    {"jitter", "exponential", "exponential"},
    {"jitter", "uniform(0.5,1.5)", "uniform(0.5,1.5)"},
    {"jitter", "uniform 1 1", "uniform(1,1)"},
    {"jitter", "lognormal 0.5", "lognormal(0.5)"},
    {"jitter", "shifted(1)", "shifted(1)"},
    {"jitter", "straggler(0.1, 10)", "straggler(0.1,10)"},
    {"latency", "7ns", "7ns"},
    {"bandwidth", "inf", "inf"},
    {"bandwidth", "10 GB/s", "10GB/s"},
    {"bandwidth", "1 B/s", "1B/s"},
    {"bandwidth", "1500 KB", "1500KB/s"},
    {"bandwidth", "1000TB/s", "1000TB/s"},
    {"server-time", "10us", "10us"},
    {"numerics", "exact", "exact"},
    {"device", "cpu", "cpu"},
    {"device", "cuda", "cuda"},
    {"device", "auto", "auto"},
    {"devices", "all", "all"},
    {"devices", "cuda:0", "cuda:0"},
    {"devices", "cuda:1,cuda:0,cuda:1", "cuda:1,cuda:0,cuda:1"},
    {"nonfinite", "apply", "apply"},
    {"memory", "off", "off"},
    {"memory", "8 MiB", "8MiB"},
    {"history-budget", "1 GiB", "1GiB"},
    {"history-budget", "0", "0"},
    {"history-budget", "1000", "1000B"},
    {"log-every", "50", "50"},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const struct ga_setting *row = row_of(forms[i].name);
        struct ga_settings draft;
        ga_settings_default(&draft);
        if (ga_setting_read(row, &draft, forms[i].text) < 0)
            fail_msg("%s %s: %s", row->name, forms[i].text, ga_error_text());
        assert_written(row->name, &draft, forms[i].written);
        assert_round_trip(row, forms[i].text);
    }
}

static void test_every_row_has_a_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        bool tried = false;
        for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++)
            tried = tried || strcmp(forms[k].name, row->name) == 0;
        if (!tried)
            fail_msg("%s has no row in forms[]", row->name);
        assert_round_trip(row, row->initial);
    }
}

static const struct {
    const char *name;
    const char *text;
    const char *part; /* of the message */
} refusals[] = {
    {"replicas", "0", "1..4096"},
    {"replicas", "4097", "1..4096"},
    {"accum", "0", "accum 0: expected 1..262144 micro-batches"},
    {"accum", "-1", "1..262144"},
    {"accum", "1.5", "1..262144"},
    {"accum", "1000000000", "1..262144"},
    {"accum", "262145", "1..262144"},
    {"accum", "4x", "1..262144"},
    {"accum", "", "1..262144"},
    {"accum", " 4", "1..262144"},
    {"accum", "99999999999999999999", "1..262144"},
    {"batch", "0", "1..262144"},
    {"global", "-1", "1..262144 examples per window, or off"},
    {"global", "none", "1..262144 examples per window, or off"},
    {"mode", "asinc", "expected sync | delay | async | ssp | buffered | local | hogwild"},
    {"mode", "asinc", "did you mean async?"},
    {"lag", "-1", "lag -1: expected 0..4096 updates"},
    {"lag", "none", "0..4096"},
    {"bound", "-1", "bound -1: expected 0..1000000 items, or none"},
    {"bound", "1000001", "0..1000000 items, or none"},
    {"bound", "0.5", "0..1000000 items, or none"},
    {"bound", "None", "0..1000000 items, or none"},
    {"bound", "", "0..1000000 items, or none"},
    {"buffer", "0", "buffer 0: expected 1..4096 pushes, or P"},
    {"buffer", "4097", "1..4096 pushes, or P"},
    {"buffer", "p", "1..4096 pushes, or P"},
    {"buffer", "", "1..4096 pushes, or P"},
    {"period", "0", "period 0: expected 1..4096 private steps"},
    {"period", "4097", "1..4096"},
    {"outer", "", "none, sgd(LR,M) or nesterov(LR,M)"},
    {"outer", "none()", "none, sgd(LR,M)"},
    {"outer", "none 1", "none, sgd(LR,M)"},
    {"outer", "sgd", "none, sgd(LR,M)"},
    {"outer", "sgd(0.7)", "none, sgd(LR,M)"},
    {"outer", "sgd(0.7,0.9,1)", "none, sgd(LR,M)"},
    {"outer", "sgd(0.7,1)", "1 excluded"},
    {"outer", "sgd(0.7,-0.1)", "1 excluded"},
    {"outer", "sgd(-0.7,0.9)", "LR 0..1000000"},
    {"outer", "sgd(1e7,0.9)", "LR 0..1000000"},
    {"outer", "sgd(nan,0.9)", "LR 0..1000000"},
    {"outer", "adam(0.7,0.9)", "none, sgd(LR,M)"},
    {"scale", "half", "expected full | share | staleness | sqrt | rescaled"},
    {"writes", "lost", "expected lossy | atomic"},
    {"failure", "stop", "expected wait | continue"},
    {"clock", "wall", "expected virtual | real"},
    {"backup", "-1", "0..4095"},
    {"late", "cancelled", "did you mean cancel?"},
    {"reduce", "average", "expected mean | sum"},
    {"lr", "nan", "0..1000000"},
    {"lr", "inf", "0..1000000"},
    {"lr", "-0.1", "0..1000000"},
    {"lr", "1e7", "0..1000000"},
    {"lr", "0x10", "0..1000000"},
    {"lr", "0.1,", "0..1000000"},
    {"momentum", "1", "1 excluded"},
    {"beta1", "1", "1 excluded"},
    {"beta2", "1", "1 excluded"},
    {"epsilon", "-1e-8", "0..1"},
    {"weight-decay", "-1", "0..1000"},
    {"nesterov", "yes", "on | off"},
    {"clip", "-1", "or off"},
    {"schedule", "", "step(EVERY,FACTOR)"},
    {"schedule", "step", "step(EVERY,FACTOR)"},
    {"schedule", "step 100", "step(EVERY,FACTOR)"},
    {"schedule", "step 0 0.5", "step(EVERY,FACTOR)"},
    {"schedule", "step 100 0.5 1", "step(EVERY,FACTOR)"},
    {"schedule", "step(100,0.5", "step(EVERY,FACTOR)"},
    {"schedule", "step(100,0.5)x", "step(EVERY,FACTOR)"},
    {"schedule", "step(100,,0.5)", "step(EVERY,FACTOR)"},
    {"schedule", "step(1.5,0.5)", "step(EVERY,FACTOR)"},
    {"schedule", "step 100, 0.5", "step(EVERY,FACTOR)"},
    {"schedule", "constant 1", "constant"},
    {"schedule", "constant()", "constant"},
    {"schedule", "cosine(10,-1)", "cosine(TOTAL[,MINIMUM])"},
    {"schedule", "linear 5", "cosine(TOTAL[,MINIMUM])"},
    {"warmup", "-1", "updates"},
    {"model", "1", "1-5-1"},
    {"model", "", "1-5-1"},
    {"model", "1-0-1", "1..65536"},
    {"model", "1--1", "1-5-1"},
    {"model", "1-5-", "1-5-1"},
    {"model", "-1-5", "1-5-1"},
    {"model", "1-65537", "1..65536"},
    {"model", "1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1", "2 to 17 numbers"},
    {"seed", "-1", "18446744073709551615"},
    {"seed", "18446744073709551616", "18446744073709551615"},
    {"pace", "x", "xF"},
    {"pace", "x0", "xF"},
    {"pace", "0", "xF"},
    {"pace", "fast", "max"},
    {"base", "1", "0..1000 s"},
    {"base", "1001s", "0..1000 s"},
    {"base", "-1ms", "0..1000 s"},
    {"per-example", "1 week", "0..1000 s"},
    {"jitter", "uniform(0.5,1)", "a + b = 2"},
    {"jitter", "uniform(1.5,0.5)", "a <= b"},
    {"jitter", "uniform(-1,3)", "expected constant, uniform(a,b)"},
    {"jitter", "lognormal", "lognormal(s)"},
    {"jitter", "lognormal(6)", "s <= 5"},
    {"jitter", "shifted(1.1)", "d <= 1"},
    {"jitter", "straggler(2,3)", "p <= 1"},
    {"jitter", "straggler(0.5,0.5)", "1 <= k"},
    {"jitter", "straggler(nan,2)", "straggler(p,k)"},
    {"bandwidth", "0", "or inf"},
    {"bandwidth", "1001TB/s", "or inf"},
    {"bandwidth", "/s", "or inf"},
    {"history-budget", "2 TiB", "0..1 TiB"},
    {"history-budget", "much", "0..1 TiB"},
    {"log-every", "0", "1.."},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        assert_refused(refusals[i].name, refusals[i].text, refusals[i].part);
}

static void test_number_edges(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        if (row->read != ga_value_read_int32 && row->read != ga_value_read_int64)
            continue;
        char text[GA_NUMBER_TEXT];
        snprintf(text, sizeof(text), "%lld", (long long)row->low);
        assert_round_trip(row, text);
        snprintf(text, sizeof(text), "%lld", (long long)row->high);
        assert_round_trip(row, text);
        snprintf(text, sizeof(text), "%lld", (long long)row->low - 1);
        assert_refused(row->name, text, row->values);
        snprintf(text, sizeof(text), "%lld", (long long)row->high + 1);
        assert_refused(row->name, text, row->values);
    }
}

static void test_defaults(void **state)
{
    (void)state;
    struct ga_settings defaults;
    memset(&defaults, 0xff, sizeof(defaults));
    ga_settings_default(&defaults);
    assert_int_equal(defaults.replicas, 2);
    assert_int_equal(defaults.accum, 5);
    assert_int_equal(defaults.batch, 5);
    assert_int_equal(defaults.global, 0);
    assert_close(defaults.lr, 0.01, 0);
    assert_close(defaults.epsilon, 1e-8, 0);
    assert_int_equal(defaults.model.layers, 2);
    assert_int_equal(defaults.model.widths[1], 5);
    assert_int_equal(defaults.per_example_ns, 1000000);
    assert_int_equal(defaults.history_budget, 268435456);
    assert_int_equal(defaults.lag, 1);
    assert_int_equal(defaults.bound, -1);
    assert_int_equal(defaults.buffer, 0);
    assert_int_equal(defaults.period, 1);
    assert_true(defaults.bias);
    assert_int_equal(ga_settings_check(&defaults), 0);
    for (size_t i = 0; i < ga_setting_count(); i++)
        assert_written(ga_setting_at(i)->name, &defaults, ga_setting_at(i)->initial);
}

static void set(struct ga_settings *draft, const char *name, const char *value)
{
    if (ga_setting_read(row_of(name), draft, value) < 0)
        fail_msg("%s %s: %s", name, value, ga_error_text());
}

static void test_last_of_batch_and_global_rules(void **state)
{
    (void)state;
    struct ga_settings draft;
    ga_settings_default(&draft);
    set(&draft, "global", "50");
    assert_int_equal(draft.batch, 5);
    assert_int_equal(draft.global, 50);
    set(&draft, "batch", "3");
    assert_int_equal(draft.global, 0);
    set(&draft, "global", "60");
    set(&draft, "global", "off");
    assert_int_equal(draft.batch, 3);
}

static void test_replicas_to_aggregate(void **state)
{
    (void)state;
    struct ga_settings draft;
    ga_settings_default(&draft);
    set(&draft, "replicas", "5");
    set(&draft, "replicas_to_aggregate", "4");
    assert_int_equal(draft.backup, 1);
    assert_string_equal(row_of("replicas_to_aggregate")->name, "backup");
    assert_true(ga_setting_read(row_of("replicas-to-aggregate"), &draft, "6") < 0);
    assert_non_null(strstr(ga_error_text(), "1..5"));
    assert_true(ga_setting_read(row_of("replicas-to-aggregate"), &draft, "0") < 0);
    assert_int_equal(draft.backup, 1);
}

static void assert_check(const char *const *pairs, const char *part)
{
    struct ga_settings draft;
    ga_settings_default(&draft);
    for (; *pairs; pairs += 2)
        set(&draft, pairs[0], pairs[1]);
    const int code = ga_settings_check(&draft);
    if (!part) {
        assert_int_equal(code, 0);
        return;
    }
    assert_int_equal(code, GA_ERANGE);
    if (!strstr(ga_error_text(), part))
        fail_msg("'%s' does not say '%s'", ga_error_text(), part);
}

static void test_rules_between_settings(void **state)
{
    (void)state;
    assert_check((const char *[]){"replicas", "4", "backup", "3", NULL}, NULL);
    assert_check((const char *[]){"replicas", "4", "backup", "4", NULL}, "0..3");
    assert_check((const char *[]){"replicas", "1", "backup", "1", NULL}, "0..0");
    assert_check((const char *[]){"nesterov", "on", NULL}, "momentum above 0");
    assert_check((const char *[]){"nesterov", "on", "momentum", "0.9", NULL}, NULL);
    assert_check((const char *[]){"replicas", "1", "accum", "1", "batch", "262144", NULL}, NULL);
    assert_check((const char *[]){"replicas", "2", "accum", "1", "batch", "262144", NULL},
                 "524288 examples per window: expected at most 262144");
    assert_check((const char *[]){"replicas", "4096", "accum", "262144", "batch", "262144", NULL},
                 "281474976710656 examples");
    assert_check((const char *[]){"replicas", "4096", "accum", "262144", "global", "7", NULL},
                 NULL);
}

/* A replica of a push mode finds a piece in each window; other modes have empty parts. */
static void test_push_modes_need_a_piece_each(void **state)
{
    (void)state;
    static const char *const push[] = {"async", "ssp", "buffered", "hogwild"};
    static const char *const other[] = {"sync", "delay", "local"};
    for (size_t i = 0; i < sizeof(push) / sizeof(push[0]); i++) {
        assert_check((const char *[]){"mode", push[i], "replicas", "4", "global", "3", NULL},
                     "global 3 and 4 replicas: expected at least one example each, so global 4");
        assert_check((const char *[]){"mode", push[i], "replicas", "4", "global", "4", NULL}, NULL);
        assert_check((const char *[]){"mode", push[i], "replicas", "4", "batch", "1", NULL}, NULL);
    }
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        assert_check((const char *[]){"mode", other[i], "replicas", "4", "global", "3", NULL},
                     NULL);
}

static void test_rules_of_modes(void **state)
{
    (void)state;
    assert_check((const char *[]){"outer", "nesterov(0.7,0)", NULL}, "momentum above 0");
    assert_check((const char *[]){"outer", "nesterov(0.7,0.9)", NULL}, NULL);
    assert_check((const char *[]){"outer", "sgd(0.7,0)", NULL}, NULL);
    assert_check((const char *[]){"mode", "hogwild", NULL}, NULL);
    assert_check((const char *[]){"mode", "hogwild", "momentum", "0.9", NULL},
                 "expected optimizer sgd with momentum 0");
    assert_check((const char *[]){"mode", "hogwild", "optimizer", "adam", NULL},
                 "expected optimizer sgd with momentum 0");
    assert_check((const char *[]){"optimizer", "adam", "momentum", "0.9", NULL}, NULL);
}

/* What one update adds up, and what one round keeps, is bounded. */
static void test_bounds_of_a_buffer_and_a_round(void **state)
{
    (void)state;
    assert_check((const char *[]){"mode", "buffered", "replicas", "4", "global", "262144", NULL},
                 NULL);
    assert_check((const char *[]){"mode", "buffered", "replicas", "4", "global", "262144", "buffer",
                                  "5", NULL},
                 "buffer 5 x 65536 examples of an item: expected at most 262144");
    assert_check((const char *[]){"mode", "buffered", "replicas", "3", "global", "262144", NULL},
                 "buffer 3 x 87382 examples of an item");
    assert_check(
        (const char *[]){"mode", "async", "replicas", "4", "global", "262144", "buffer", "5", NULL},
        NULL);
    assert_check((const char *[]){"mode", "local", "global", "262144", "period", "64", NULL}, NULL);
    assert_check((const char *[]){"mode", "local", "global", "262144", "period", "65", NULL},
                 "period 65 x 262144 examples of a window: expected at most 16777216 in a round");
    assert_check((const char *[]){"mode", "sync", "global", "262144", "period", "65", NULL}, NULL);
}

static void test_jitter_from_elsewhere_is_checked(void **state)
{
    (void)state;
    struct ga_settings draft;
    ga_settings_default(&draft);
    draft.jitter.kind = GA_JITTER_UNIFORM;
    draft.jitter.a = NAN;
    draft.jitter.b = NAN;
    assert_int_equal(ga_settings_check(&draft), GA_ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_every_row_has_a_form),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_number_edges),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_last_of_batch_and_global_rules),
        cmocka_unit_test(test_replicas_to_aggregate),
        cmocka_unit_test(test_rules_between_settings),
        cmocka_unit_test(test_push_modes_need_a_piece_each),
        cmocka_unit_test(test_rules_of_modes),
        cmocka_unit_test(test_bounds_of_a_buffer_and_a_round),
        cmocka_unit_test(test_jitter_from_elsewhere_is_checked),
    };
    return ga_test_main(tests);
}
