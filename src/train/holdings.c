#include "train/holdings.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

#define FIRST_PLACES 64

/* Blocks lie at multiples of 16: the multiplication spreads what differs over the high bits. */
static size_t home_of(const struct ga_holdings *holdings, const struct ga_version *version)
{
    uint64_t spread = (uint64_t)(uintptr_t)version * 0x9e3779b97f4a7c15U;

    return (size_t)(spread >> 32) & (holdings->places - 1);
}

static size_t next_of(const struct ga_holdings *holdings, size_t at)
{
    return (at + 1) & (holdings->places - 1);
}

/* Where the version is, or the free place where it would be. */
static size_t find(const struct ga_holdings *holdings, const struct ga_version *version)
{
    size_t at = home_of(holdings, version);

    while (holdings->place[at].version && holdings->place[at].version != version)
        at = next_of(holdings, at);
    return at;
}

void ga_holdings_fini(struct ga_holdings *holdings)
{
    free(holdings->place);
    *holdings = (struct ga_holdings){0};
}

static void move_all(struct ga_holdings *to, const struct ga_holdings *from)
{
    for (size_t k = 0; k < from->places; k++)
        if (from->place[k].version)
            to->place[find(to, from->place[k].version)] = from->place[k];
}

int ga_holdings_room(struct ga_holdings *holdings, size_t more)
{
    struct ga_holdings wider = *holdings;

    wider.places = holdings->places > 0 ? holdings->places : FIRST_PLACES;
    while (wider.places / 2 < holdings->versions + more)
        wider.places *= 2;
    if (wider.places == holdings->places)
        return GA_OK;
    wider.place = ga_alloc(wider.places, sizeof *wider.place);
    if (!wider.place)
        return ga_error_code();
    move_all(&wider, holdings);
    free(holdings->place);
    *holdings = wider;
    return GA_OK;
}

void ga_holdings_hold(struct ga_holdings *holdings, const struct ga_version *version)
{
    struct ga_holding *place = &holdings->place[find(holdings, version)];

    if (place->count++ > 0)
        return;
    place->version = version;
    holdings->versions++;
    holdings->bytes += ga_version_bytes(version);
}

/* Whoever stands behind a place that gets free, and would be looked for in it, moves up. */
static void close_gap(struct ga_holdings *holdings, size_t gap)
{
    size_t mask = holdings->places - 1;

    for (size_t at = next_of(holdings, gap); holdings->place[at].version;
         at = next_of(holdings, at)) {
        size_t home = home_of(holdings, holdings->place[at].version);

        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        holdings->place[gap] = holdings->place[at];
        gap = at;
    }
    holdings->place[gap] = (struct ga_holding){NULL, 0};
}

void ga_holdings_release(struct ga_holdings *holdings, const struct ga_version *version)
{
    size_t at = find(holdings, version);

    if (--holdings->place[at].count > 0)
        return;
    holdings->versions--;
    holdings->bytes -= ga_version_bytes(version);
    close_gap(holdings, at);
}
