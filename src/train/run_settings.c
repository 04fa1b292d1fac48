/* Settings of a run: what they mean for the stream, the optimizer and the replicas. */
#include <string.h>

#include "train/plan.h"
#include "train/run_internal.h"

void ga_run_stream_spec(const struct ga_settings *settings, size_t rows, struct ga_stream_spec *out)
{
    static const enum ga_stream_order order_of[] = {
        [GA_ORDER_FILE] = GA_STREAM_FILE,
        [GA_ORDER_SHUFFLE] = GA_STREAM_SHUFFLE,
    };
    static const enum ga_stream_sharding sharding_of[] = {
        [GA_SHARD_STREAM] = GA_STREAM_SHARED,
        [GA_SHARD_CONTIGUOUS] = GA_STREAM_CONTIGUOUS,
        [GA_SHARD_STRIDED] = GA_STREAM_STRIDED,
    };
    static const enum ga_stream_tail tail_of[] = {
        [GA_TAIL_SHORT] = GA_STREAM_SHORT,
        [GA_TAIL_DROP] = GA_STREAM_DROP,
        [GA_TAIL_WRAP] = GA_STREAM_WRAP,
    };

    *out = (struct ga_stream_spec){
        .rows = rows,
        .order = order_of[settings->order],
        .sharding = sharding_of[settings->sharding],
        .tail = tail_of[settings->tail],
        .seed = settings->seed,
        .replicas = (size_t)settings->replicas,
    };
}

static enum ga_step_kind step_kind(const struct ga_settings *settings)
{
    static const enum ga_step_kind kind_of[] = {
        [GA_SGD] = GA_STEP_SGD,
        [GA_ADAM] = GA_STEP_ADAM,
        [GA_ADAMW] = GA_STEP_ADAMW,
    };

    return kind_of[settings->optimizer];
}

void ga_run_optimizer_spec(const struct ga_settings *settings, struct ga_optimizer_spec *out)
{
    *out = (struct ga_optimizer_spec){
        .kind = step_kind(settings),
        .momentum = settings->momentum,
        .beta1 = settings->beta1,
        .beta2 = settings->beta2,
        .epsilon = settings->epsilon,
        .weight_decay = settings->weight_decay,
        .nesterov = settings->nesterov,
    };
}

size_t ga_run_private_blocks(const struct ga_settings *settings)
{
    return ga_step_state_blocks(step_kind(settings), (float)settings->momentum);
}

/* In local mode the server holds the outer optimizer's state and replicas hold the private one's.
 */
size_t ga_run_state_blocks(const struct ga_settings *settings)
{
    if (settings->mode != GA_MODE_LOCAL)
        return ga_run_private_blocks(settings);
    return settings->outer.kind != GA_OUTER_NONE && settings->outer.momentum > 0 ? 1 : 0;
}

/* A new optimizer starts with empty state of its own; the weights stay. */
static int renew_optimizer(struct ga_run *run, const struct ga_settings *settings)
{
    struct ga_version *version = NULL;
    size_t blocks = ga_run_state_blocks(settings);
    bool local = settings->mode == GA_MODE_LOCAL;
    bool same_kind = settings->optimizer == run_set(run)->optimizer &&
                     local == (run_set(run)->mode == GA_MODE_LOCAL);

    if (same_kind && blocks == run->server->state_blocks)
        return GA_OK;
    if (ga_version_open(&version, run->net.parameters, blocks) < 0)
        return ga_error_code();
    version->number = run->server->number;
    memcpy(version->weights, ga_version_weights(run->server), run->net.parameters * sizeof(float));
    if (same_kind)
        version->scalars = run->server->scalars;
    ga_version_close(run->server);
    run->server = version;
    return GA_OK;
}

int ga_run_adopt(struct ga_run *run, const struct ga_settings *settings)
{
    const struct ga_policy *policy = ga_policy_find(ga_choice_word("mode", (int)settings->mode));
    struct ga_stream_spec spec;

    ga_parts_settle(run);
    ga_run_stream_spec(settings, run->table->train, &spec);
    if (!policy || ga_stream_change(run->stream, &spec) < 0 ||
        ga_run_resize(run, (size_t)settings->replicas) < 0 || renew_optimizer(run, settings) < 0)
        return ga_error_code();
    run->policy = policy;
    return GA_OK;
}

int ga_run_apply_pending(struct ga_run *run)
{
    if (ga_run_adopt(run, &run->pending->value) < 0)
        return ga_error_code();
    ga_settings_share_close(run->settings);
    run->settings = run->pending;
    run->pending = NULL;
    ga_run_choose_lanes(run);
    return GA_OK;
}

/* A device that is asked for must be there, with every card named. */
static int check_device(const struct ga_settings *settings, const struct ga_dataset *data)
{
    const struct ga_compute *compute = NULL;
    struct ga_net net;
    size_t places = 0;

    if (settings->device == GA_DEVICE_CPU)
        return GA_OK;
    if (ga_run_net(settings, data, &net) < 0)
        return ga_error_code();
    compute = ga_run_compute(settings, &net);
    return compute ? ga_run_find_places(settings, compute, &places) : ga_error_code();
}

int ga_run_check_settings(const struct ga_settings *settings, const struct ga_dataset *data)
{
    struct ga_stream_spec spec;

    if (ga_settings_check(settings) < 0)
        return ga_error_code();
    if (!data)
        return GA_OK;
    if (check_device(settings, data) < 0)
        return ga_error_code();
    ga_run_stream_spec(settings, ga_dataset_table(data)->train, &spec);
    if (ga_stream_check(&spec, (size_t)ga_plan_window(settings)) < 0)
        return ga_error_code();
    return ga_run_check_memory(settings, data);
}

/* Copies the rows of one kind; both sides are valid, so reading back cannot fail. */
int ga_run_copy_settings(struct ga_settings *to, const struct ga_settings *from, enum ga_when when)
{
    struct ga_text text = GA_TEXT_INIT;
    int code = GA_OK;

    for (size_t i = 0; code == GA_OK && i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);

        if (row->when != when || ga_setting_same(row, to, from))
            continue;
        ga_text_clear(&text);
        ga_setting_write(row, from, &text);
        code = ga_text_failed(&text)
                   ? ga_fail(GA_ENOMEM, "no memory to copy the setting %s", row->name)
                   : ga_setting_read(row, to, ga_text_get(&text));
    }
    ga_text_free(&text);
    return code;
}

/* NOW settings change the snapshots in place of a new one: they never reach the numbers. */
static int change_now(struct ga_settings_share **share, const struct ga_settings *draft)
{
    struct ga_settings_share *fresh = NULL;

    if (!*share)
        return GA_OK;
    if (ga_settings_share_open(&fresh, &(*share)->value, (*share)->epoch) < 0)
        return ga_error_code();
    if (ga_run_copy_settings(&fresh->value, draft, GA_WHEN_NOW) < 0) {
        ga_settings_share_close(fresh);
        return ga_error_code();
    }
    ga_settings_share_close(*share);
    *share = fresh;
    return GA_OK;
}

static bool same_settings(const struct ga_settings *a, const struct ga_settings *b)
{
    for (size_t i = 0; i < ga_setting_count(); i++)
        if (!ga_setting_same(ga_setting_at(i), a, b))
            return false;
    return true;
}

int ga_run_change(struct ga_run *run, const struct ga_settings *draft)
{
    struct ga_settings wanted = *draft;
    struct ga_settings_share *pending = NULL;

    if (ga_run_check_settings(draft, run->data) < 0 ||
        ga_run_copy_settings(&wanted, run_set(run), GA_WHEN_START) < 0 ||
        change_now(&run->settings, draft) < 0)
        return ga_error_code();
    if (!same_settings(&wanted, run_set(run)) &&
        ga_settings_share_open(&pending, &wanted, run->settings->epoch + 1) < 0)
        return ga_error_code();
    ga_settings_share_close(run->pending);
    run->pending = pending;
    run->asked = false; /* items that were not started before a change may be started now */
    return GA_OK;
}

int ga_run_settle_draft(struct ga_run *run, struct ga_settings *draft)
{
    struct ga_settings settled = *ga_run_pending(run);

    if (change_now(&run->settings, draft) < 0 || change_now(&run->pending, draft) < 0 ||
        ga_run_copy_settings(&settled, draft, GA_WHEN_NOW) < 0 ||
        ga_run_copy_settings(&settled, draft, GA_WHEN_START) < 0)
        return ga_error_code();
    *draft = settled;
    return GA_OK;
}

uint64_t ga_run_settings_epoch(const struct ga_run *run)
{
    return run->settings->epoch;
}
