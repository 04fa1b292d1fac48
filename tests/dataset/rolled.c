#include "dataset/rolled.h"

#include "base/random.h"

size_t ga_test_roll(struct ga_test_dice *dice, size_t low, size_t high)
{
    uint32_t words[4];
    ga_draw(dice->number, dice->drawn++, 0, GA_DRAW_SPLIT, words);
    return low + words[0] % (high - low + 1);
}

struct ga_stream_spec ga_test_roll_spec(struct ga_test_dice *dice)
{
    return (struct ga_stream_spec){
        .rows = ga_test_roll(dice, 1, MAX_ROWS),
        .order = (enum ga_stream_order)ga_test_roll(dice, 0, 1),
        .sharding = (enum ga_stream_sharding)ga_test_roll(dice, 0, 2),
        .tail = (enum ga_stream_tail)ga_test_roll(dice, 0, 2),
        .seed = ga_test_roll(dice, 0, 1000),
        .replicas = ga_test_roll(dice, 1, MAX_REPLICAS),
    };
}

size_t ga_test_roll_window(struct ga_test_dice *dice, const struct ga_stream_spec *spec)
{
    size_t low = 1;
    size_t high = spec->tail == GA_STREAM_DROP ? spec->rows : MAX_WINDOW;
    if (spec->sharding != GA_STREAM_SHARED) {
        low = spec->replicas < spec->rows ? spec->replicas : spec->rows;
    }
    if (ga_test_roll(dice, 0, 1) == 1 && high > low + 8) {
        high = low + 8;
    }
    return ga_test_roll(dice, low, high);
}
