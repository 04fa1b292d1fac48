/* Breakpoints: a list for all runs; each run knows which held when it was looked at last. */
#include <string.h>

#include "train/engine_internal.h"

static uint64_t bit_of(size_t slot)
{
    return UINT64_C(1) << slot;
}

static void forget(struct ga_engine *engine, size_t slot)
{
    for (size_t k = 0; k < engine->slots; k++)
        engine->slot[k]->held &= ~bit_of(slot);
}

static bool holds(struct ga_engine *engine, const struct engine_break *b)
{
    return b->number && b->condition.holds(b->condition.self, engine->at->run);
}

struct engine_break *ga_engine_break_hit(struct ga_engine *engine)
{
    struct engine_break *hit = NULL;
    uint64_t held = 0;

    for (size_t i = 0; engine->at->run && i < engine->break_slots; i++) {
        if (!holds(engine, &engine->breaks[i]))
            continue;
        held |= bit_of(i);
        if (!(engine->at->held & bit_of(i)) && !hit)
            hit = &engine->breaks[i];
    }
    engine->at->held = held;
    return hit;
}

/* A breakpoint that holds already when it is set stops nothing until it held no longer. */
static void look_at_new(struct ga_engine *engine, size_t slot)
{
    struct engine_slot *at = engine->at;

    for (size_t k = 0; k < engine->slots; k++) {
        engine->at = engine->slot[k];
        if (engine->at->run && holds(engine, &engine->breaks[slot]))
            engine->at->held |= bit_of(slot);
    }
    engine->at = at;
}

static int break_add_call(struct ga_engine *engine, void *arg)
{
    for (size_t i = 0; i < ENGINE_BREAKS; i++) {
        struct engine_break *b = &engine->breaks[i];

        if (b->number)
            continue;
        b->condition = *(const struct ga_condition *)arg;
        b->number = engine->next_break++;
        if (i >= engine->break_slots)
            engine->break_slots = i + 1;
        look_at_new(engine, i);
        return b->number;
    }
    return ga_fail(GA_ERANGE, "there are %d breakpoints already: delete one first", ENGINE_BREAKS);
}

int ga_engine_break_add(struct ga_engine *engine, const struct ga_condition *condition)
{
    struct ga_condition copy = *condition;

    return ga_engine_ask(engine, break_add_call, &copy);
}

static int break_delete_call(struct ga_engine *engine, void *arg)
{
    int number = *(const int *)arg;

    for (size_t i = 0; number > 0 && i < ENGINE_BREAKS; i++) {
        struct engine_break *b = &engine->breaks[i];

        if (b->number != number)
            continue;
        if (b->condition.close)
            b->condition.close(b->condition.self);
        memset(b, 0, sizeof *b);
        forget(engine, i);
        return GA_OK;
    }
    return ga_fail(GA_EINPUT, "there is no breakpoint %d: `breaks` lists them", number);
}

int ga_engine_break_delete(struct ga_engine *engine, int number)
{
    return ga_engine_ask(engine, break_delete_call, &number);
}

struct break_request {
    size_t k;
    int number;
    char *text;
};

static int break_at_call(struct ga_engine *engine, void *arg)
{
    struct break_request *request = arg;
    size_t k = 0;

    for (size_t i = 0; i < ENGINE_BREAKS; i++) {
        const struct engine_break *b = &engine->breaks[i];

        if (!b->number || k++ != request->k)
            continue;
        request->number = b->number;
        memcpy(request->text, b->condition.text, sizeof b->condition.text);
    }
    return GA_OK;
}

bool ga_engine_break_at(struct ga_engine *engine, size_t k, int *number, char text[128])
{
    struct break_request request = {.k = k, .text = text};

    ga_engine_ask(engine, break_at_call, &request);
    *number = request.number;
    return request.number > 0;
}
