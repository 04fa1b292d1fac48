#include "collective/nccl/cards.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/group.h"
#include "compute/cuda/exact_launch.h"

/* One call: who takes part, what it adds up to, and where. */
struct sum {
    struct ga_group *group;
    const void *const *buffers;
    bool everywhere; /* every member gets the sum, in place of its own; else `result` does */
    void *result;
    size_t place; /* of the result */
    size_t count, bytes;
    enum ga_type type;
    void *partial[GA_CUDA_PLACES]; /* by card: where its sum grows; NULL: it has no member */
    size_t card[GA_CUDA_PLACES];   /* cards with members, ascending */
    size_t cards;
    bool by_team; /* the cards met by NCCL */
};

static int cards_open(struct ga_group **out, size_t ranks)
{
    struct ga_group *group = NULL;
    *out = NULL;
    if (ranks == 0)
        return ga_cuda_host()->fail(GA_EINPUT, "a collective needs at least 1 rank");
    group = calloc(1, sizeof *group);
    if (group)
        group->place = calloc(ranks, sizeof *group->place);
    if (!group || !group->place) {
        free(group);
        return ga_cuda_host()->fail(GA_ENOMEM, "no memory for a group of %zu ranks", ranks);
    }
    group->ranks = ranks;
    pthread_mutex_init(&group->parts.lock, NULL);
    *out = group;
    return GA_OK;
}

static void part_close(struct ga_card_part *part)
{
    if (!part->stream)
        return;
    ga_cuda_stream_close(part->stream, part->room.place);
    ga_cuda_room_fini(&part->room);
}

#ifdef GA_CUDA_NCCL
#define PARTS         &ga_cards_parts
#define BETWEEN_CARDS "NCCL"
#else
#define PARTS         NULL
#define BETWEEN_CARDS "copies"
#endif

/* Nothing that was told in parts is under way any more. */
static void drop_parts(struct ga_group *group)
{
    const struct ga_collective_parts *parts = PARTS;
    if (parts)
        parts->drop(group);
}

static void cards_close(struct ga_group *group)
{
    if (!group)
        return;
    drop_parts(group);
    for (size_t place = 0; place < GA_CUDA_PLACES; place++)
        part_close(&group->part[place]);
    ga_team_close(group->team);
    pthread_mutex_destroy(&group->parts.lock);
    free(group->place);
    free(group);
}

static int cards_poll(struct ga_group *group)
{
    if (atomic_load(&group->aborted) || group->spoiled)
        return ga_cuda_host()->fail(GA_ESTATE, "the collective group was aborted");
    return ga_cuda_poll();
}

static void cards_abort(struct ga_group *group)
{
    atomic_store(&group->aborted, true);
}

static size_t type_bytes(enum ga_type type)
{
    return type == GA_FLOAT64 ? sizeof(double) : sizeof(float);
}

static int check(struct ga_group *group, size_t count, enum ga_type type)
{
    if (cards_poll(group) < 0)
        return ga_cuda_host()->error_code();
    if (count > SIZE_MAX / type_bytes(type))
        return ga_cuda_host()->fail(
            GA_ERANGE, "a collective over %zu elements does not fit into memory", count);
    return GA_OK;
}

/* The card is the thread's and has its stream. */
static int part_take(struct ga_group *group, size_t place)
{
    struct ga_card_part *part = &group->part[place];
    part->room.place = place;
    if (ga_cuda_use(place) < 0)
        return ga_cuda_host()->error_code();
    if (part->stream)
        return GA_OK;
    return ga_cuda_check((int)cudaStreamCreateWithFlags(&part->stream, cudaStreamNonBlocking),
                         place, "opening a stream");
}

static int copy(struct ga_group *group, size_t place, void *to, const void *from, size_t bytes)
{
    return ga_cuda_check(
        (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, group->part[place].stream), place,
        "copying between replicas");
}

static int add(struct ga_group *group, size_t place, void *to, const void *from, size_t count,
               enum ga_type type)
{
    const struct ga_k_add doubles = {.threads = count, .to = to, .from = from};
    const struct ga_k_add_float floats = {.threads = count, .to = to, .from = from};
    struct CUstream_st *stream = group->part[place].stream;
    return ga_cuda_check(type == GA_FLOAT64 ? ga_launch_add(&doubles, stream)
                                            : ga_launch_add_float(&floats, stream),
                         place, "adding replicas");
}

void ga_group_write_replicas(const void *self, size_t place, char *out, size_t size)
{
    const struct ga_group *group = self;
    size_t length = 0;
    size_t count = 0;
    char list[96] = "";
    for (size_t rank = 0; rank < group->ranks; rank++) {
        if (group->place[rank] != place)
            continue;
        if (length + 24 < sizeof list)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%zu",
                                       count > 0 ? ", " : "", rank);
        else if (strcmp(list + length - 3, "...") != 0)
            length += (size_t)snprintf(list + length, sizeof list - length, ", ...");
        count++;
    }
    snprintf(out, size, "%s%s", count == 0 ? "" : count == 1 ? "replica " : "replicas ", list);
}

static int wait(struct ga_group *group, size_t place)
{
    char who[128];
    if (ga_cuda_wait(group->part[place].stream, place, "a collective") == GA_OK)
        return GA_OK;
    ga_group_write_replicas(group, place, who, sizeof who);
    return ga_cuda_host()->fail_within(
        who[0] ? "collective %" PRIu64 ", %s" : "collective %" PRIu64, group->number, who);
}

/* The first buffer of a card is where its sum grows, if it may, or is copied to there. */
static int first_of_card(struct sum *s, size_t rank, size_t place)
{
    struct ga_card_part *part = &s->group->part[place];
    if (s->everywhere) {
        memcpy(&s->partial[place], &s->buffers[rank], sizeof s->partial[place]);
        return GA_OK;
    }
    if (place != s->place && ga_cuda_room_grow(&part->room, s->bytes, 0) < 0)
        return ga_cuda_host()->error_code();
    s->partial[place] = place == s->place ? s->result : part->room.device;
    return copy(s->group, place, s->partial[place], s->buffers[rank], s->bytes);
}

/* A rank's buffer joins its card's sum. */
static int join_rank(struct sum *s, size_t rank)
{
    size_t place = 0;
    if (ga_cuda_place_of(s->buffers[rank], &place) < 0 || part_take(s->group, place) < 0)
        return ga_cuda_host()->error_code();
    s->group->place[rank] = (uint8_t)place;
    if (!s->partial[place])
        return first_of_card(s, rank, place);
    return add(s->group, place, s->partial[place], s->buffers[rank], s->count, s->type);
}

/* Each card's own sum, under way in the card's stream. */
static int join_ranks(struct sum *s)
{
    int code = GA_OK;
    memset(s->group->place, AWAY, s->group->ranks);
    for (size_t rank = 0; code == GA_OK && rank < s->group->ranks; rank++)
        if (s->buffers[rank])
            code = join_rank(s, rank);
    for (size_t place = 0; code == GA_OK && place < GA_CUDA_PLACES; place++)
        if (s->partial[place])
            s->card[s->cards++] = place;
    return code;
}

/* Another card's sum joins the result, by way of room on the result's card. */
static int join_card(struct sum *s, size_t place)
{
    struct ga_card_part *part = &s->group->part[s->place];
    int code = GA_OK;
    if (!s->partial[s->place]) {
        s->partial[s->place] = s->result;
        return copy(s->group, s->place, s->result, s->partial[place], s->bytes);
    }
    code = ga_cuda_room_grow(&part->room, s->bytes, 0);
    if (code == GA_OK)
        code = copy(s->group, s->place, part->room.device, s->partial[place], s->bytes);
    if (code == GA_OK)
        code = add(s->group, s->place, s->result, part->room.device, s->count, s->type);
    return code;
}

/* By copies: each card's sum is waited for, the others' join the result's. */
static int join_cards(struct sum *s)
{
    int code = GA_OK;
    for (size_t i = 0; code == GA_OK && i < s->cards; i++)
        code = wait(s->group, s->card[i]);
    if (code == GA_OK)
        code = part_take(s->group, s->place);
    for (size_t i = 0; code == GA_OK && i < s->cards; i++)
        if (s->card[i] != s->place)
            code = join_card(s, s->card[i]);
    if (code == GA_OK && s->cards == 0)
        code = ga_cuda_check(
            (int)cudaMemsetAsync(s->result, 0, s->bytes, s->group->part[s->place].stream), s->place,
            "clearing a sum");
    return code == GA_OK ? wait(s->group, s->place) : code;
}

/* The team of these cards: the last one, or a new one in its place. */
static int find_team(struct sum *s)
{
    struct ga_group *group = s->group;
    if (ga_team_is_on(group->team, s->card, s->cards))
        return GA_OK;
    ga_team_close(group->team);
    group->team = NULL;
    return ga_team_open(&group->team, s->card, s->cards);
}

static int join_by_team(struct sum *s)
{
    void *buffer[GA_CUDA_PLACES];
    struct CUstream_st *stream[GA_CUDA_PLACES];
    size_t root = 0;
    struct ga_team_sum sum = {.buffer = buffer,
                              .stream = stream,
                              .count = s->count,
                              .type = s->type,
                              .number = s->group->number,
                              .who = ga_group_write_replicas,
                              .self = s->group};
    int code = find_team(s);
    for (size_t i = 0; i < s->cards; i++) {
        buffer[i] = s->partial[s->card[i]];
        stream[i] = s->group->part[s->card[i]].stream;
        root = s->card[i] == s->place ? i : root;
    }
    sum.root = s->everywhere ? GA_TEAM_ALL : root;
    if (code == GA_OK)
        code = ga_team_sum(s->group->team, &sum);
    s->by_team = true;
    if (code < 0) {
        ga_team_close(s->group->team);
        s->group->team = NULL;
    }
    if (code == GA_OK && s->cards == s->group->ranks && s->type == GA_FLOAT32) {
        s->group->plain.count = s->count;
        s->group->plain.place = s->place;
    }
    if (code < 0 || s->partial[s->place])
        return code;
    code = part_take(s->group, s->place);
    if (code == GA_OK)
        code = copy(s->group, s->place, s->result, buffer[root], s->bytes);
    return code == GA_OK ? wait(s->group, s->place) : code;
}

int ga_group_settle(struct ga_group *group, int code)
{
    char text[GA_ERROR_TEXT];
    snprintf(text, sizeof text, "%s", ga_cuda_host()->error_text());
    for (size_t place = 0; place < GA_CUDA_PLACES; place++)
        if (group->part[place].stream && !ga_cuda_is_lost(place))
            (void)ga_cuda_wait(group->part[place].stream, place, "a collective that failed");
    return ga_cuda_host()->fail((enum ga_code)code, "%s", text);
}

static int join_all(struct sum *s)
{
    int code = s->everywhere ? GA_OK : ga_cuda_place_of(s->result, &s->place);
    if (code == GA_OK)
        code = join_ranks(s);
    if (code < 0 || (s->everywhere && s->cards == 0))
        return code;
    if (s->everywhere) {
        s->place = s->card[0];
        s->result = s->partial[s->place];
    }
    return s->cards > 1 && ga_team_available() ? join_by_team(s) : join_cards(s);
}

static int sum_up(struct sum *s)
{
    int code = check(s->group, s->count, s->type);
    s->bytes = s->count * type_bytes(s->type);
    s->group->number++;
    s->group->plain.count = 0;
    drop_parts(s->group);
    if (code < 0 || s->count == 0)
        return code;
    code = join_all(s);
    return code < 0 ? ga_group_settle(s->group, code) : GA_OK;
}

static int cards_reduce(struct ga_group *group, const void *const *buffers, void *result,
                        size_t count, enum ga_type type)
{
    struct sum s = {
        .group = group, .buffers = buffers, .result = result, .count = count, .type = type};
    return sum_up(&s);
}

/* Each receiver's card fetches, from `root` or from its own card's entry of `near`. */
static int copy_to_all(struct ga_group *group, void *const *buffers, const void *root,
                       void *const *near, size_t bytes)
{
    int code = GA_OK;
    for (size_t rank = 0; code == GA_OK && rank < group->ranks && bytes > 0; rank++) {
        const void *from = root;
        size_t place = 0;
        if (!buffers[rank])
            continue;
        code = ga_cuda_place_of(buffers[rank], &place);
        group->place[rank] = (uint8_t)place;
        if (code == GA_OK)
            code = part_take(group, place);
        if (near)
            from = near[place];
        if (code == GA_OK && buffers[rank] != from)
            code = copy(group, place, buffers[rank], from, bytes);
    }
    for (size_t place = 0; code == GA_OK && place < GA_CUDA_PLACES; place++)
        if (group->part[place].stream)
            code = wait(group, place);
    return code < 0 ? ga_group_settle(group, code) : GA_OK;
}

static int cards_all_reduce(struct ga_group *group, void *const *buffers, size_t count,
                            enum ga_type type)
{
    struct sum s = {.group = group,
                    .buffers = (const void *const *)buffers,
                    .everywhere = true,
                    .count = count,
                    .type = type};
    const int code = sum_up(&s);
    group->spoiled = group->spoiled || code < 0;
    if (code < 0 || s.cards == 0)
        return code;
    return copy_to_all(group, buffers, s.result, s.by_team ? s.partial : NULL, s.bytes);
}

static int cards_broadcast(struct ga_group *group, void *const *buffers, size_t root, size_t count,
                           enum ga_type type)
{
    if (check(group, count, type) < 0)
        return ga_cuda_host()->error_code();
    if (root >= group->ranks || !buffers[root])
        return ga_cuda_host()->fail(
            GA_EINPUT, "broadcast from rank %zu: expected a member of 0..%zu with a buffer", root,
            group->ranks - 1);
    group->number++;
    group->plain.count = 0;
    drop_parts(group);
    memset(group->place, AWAY, group->ranks);
    return copy_to_all(group, buffers, buffers[root], NULL, count * type_bytes(type));
}

const struct ga_collective ga_collective_cards = {
    .name = "cards",
    .reason = "sums of one card's replicas are added there; then cards meet by " BETWEEN_CARDS,
    .ranks_limit = 0,
    .open = cards_open,
    .close = cards_close,
    .all_reduce = cards_all_reduce,
    .reduce = cards_reduce,
    .broadcast = cards_broadcast,
    .poll = cards_poll,
    .abort = cards_abort,
    .parts = PARTS,
};
