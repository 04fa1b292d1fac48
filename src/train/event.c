/* Names of events. */
#include "train/event.h"

static const char *const names[GA_EVENT_KINDS] = {
    [GA_EVENT_NONE] = "none",   [GA_EVENT_OPEN] = "open",       [GA_EVENT_MICRO] = "micro",
    [GA_EVENT_PUSH] = "push",   [GA_EVENT_DROP] = "drop",       [GA_EVENT_REDUCE] = "reduce",
    [GA_EVENT_CHECK] = "check", [GA_EVENT_CLIP] = "clip",       [GA_EVENT_APPLY] = "apply",
    [GA_EVENT_SKIP] = "skip",   [GA_EVENT_SEND] = "send",       [GA_EVENT_FLUSH] = "flush",
    [GA_EVENT_CLEAR] = "clear", [GA_EVENT_PRIVATE] = "private",
};

const char *ga_event_name(enum ga_event_kind kind)
{
    return (unsigned)kind < GA_EVENT_KINDS ? names[kind] : "?";
}
