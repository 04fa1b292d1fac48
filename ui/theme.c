#include "ui/theme.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define OWN                                                                                        \
    {                                                                                              \
        GA_COLOR_DEFAULT, GA_COLOR_DEFAULT, GA_COLOR_DEFAULT                                       \
    }
#define INK(rgb, index256, index16, attributes)                                                    \
    {                                                                                              \
        {rgb, index256, index16}, OWN, attributes                                                  \
    }
#define PLAIN(attributes)                                                                          \
    {                                                                                              \
        OWN, OWN, attributes                                                                       \
    }

/* In the order of ga_replica_role(): sky blue, orange, green, yellow, vermillion, purple, blue, and
 * grey for black, which a dark screen cannot show. */
static const struct ga_style styles[GA_THEMES][GA_ROLE_COUNT] =
    {
        [GA_THEME_DARK] =
            {
                [GA_ROLE_DIM] = INK(0x9a9a9a, 247, 7, 0),
                [GA_ROLE_TITLE] = PLAIN(GA_ATTR_BOLD),
                [GA_ROLE_BORDER] = INK(0x767676, 243, 8, 0),
                [GA_ROLE_FOCUS] = INK(0xf0e442, 227, 11, 0),
                [GA_ROLE_GOOD] = INK(0x00b383, 36, 2, 0),
                [GA_ROLE_WARN] = INK(0xe69f00, 214, 3, 0),
                [GA_ROLE_BAD] = INK(0xff6a2b, 202, 9, 0),
                [GA_ROLE_WINDOW] = PLAIN(GA_ATTR_BOLD),
                [GA_ROLE_LAW] = INK(0xf0e442, 227, 11, 0),
                [GA_ROLE_KEY] = INK(0x56b4e9, 74, 14, GA_ATTR_BOLD),
                [GA_ROLE_REPLICA + 0] = INK(0x56b4e9, 74, 14, 0),
                [GA_ROLE_REPLICA + 1] = INK(0xe69f00, 214, 3, 0),
                [GA_ROLE_REPLICA + 2] = INK(0x009e73, 36, 2, 0),
                [GA_ROLE_REPLICA + 3] = INK(0xf0e442, 227, 11, 0),
                [GA_ROLE_REPLICA + 4] = INK(0xe0660a, 202, 9, 0),
                [GA_ROLE_REPLICA + 5] = INK(0xcc79a7, 175, 13, 0),
                [GA_ROLE_REPLICA + 6] = INK(0x4f83e0, 68, 12, 0),
                [GA_ROLE_REPLICA + 7] = INK(0xbbbbbb, 250, 7, 0),
            },
        [GA_THEME_LIGHT] =
            {
                [GA_ROLE_DIM] = INK(0x5f5f5f, 59, 8, 0),
                [GA_ROLE_TITLE] = PLAIN(GA_ATTR_BOLD),
                [GA_ROLE_BORDER] = INK(0x808080, 244, 8, 0),
                [GA_ROLE_FOCUS] = INK(0x0072b2, 25, 4, 0),
                [GA_ROLE_GOOD] = INK(0x00704f, 23, 2, 0),
                [GA_ROLE_WARN] = INK(0x8a5a00, 94, 3, 0),
                [GA_ROLE_BAD] = INK(0xb03a00, 124, 1, 0),
                [GA_ROLE_WINDOW] = PLAIN(GA_ATTR_BOLD),
                [GA_ROLE_LAW] = INK(0x8f3f6f, 89, 5, 0),
                [GA_ROLE_KEY] = INK(0x0072b2, 25, 4, GA_ATTR_BOLD),
                [GA_ROLE_REPLICA + 0] = INK(0x0072b2, 25, 4, 0),
                [GA_ROLE_REPLICA + 1] = INK(0xa06400, 130, 3, 0),
                [GA_ROLE_REPLICA + 2] = INK(0x007a58, 29, 2, 0),
                [GA_ROLE_REPLICA + 3] = INK(0x7d7400, 58, 11, 0),
                [GA_ROLE_REPLICA + 4] = INK(0xc04e00, 160, 1, 0),
                [GA_ROLE_REPLICA + 5] = INK(0xa04f7c, 126, 5, 0),
                [GA_ROLE_REPLICA + 6] = INK(0x5a5fb0, 61, 12, 0),
                [GA_ROLE_REPLICA + 7] = INK(0x5a5a5a, 240, 8, 0),
            },
        [GA_THEME_CONTRAST] =
            {
                [GA_ROLE_DIM] = INK(0xd0d0d0, 252, 7, 0),
                [GA_ROLE_TITLE] = PLAIN(GA_ATTR_BOLD),
                [GA_ROLE_BORDER] = INK(0xd0d0d0, 252, 7, 0),
                [GA_ROLE_FOCUS] = INK(0xffff5f, 227, 11, GA_ATTR_BOLD),
                [GA_ROLE_GOOD] = INK(0x3fe0b0, 79, 10, GA_ATTR_BOLD),
                [GA_ROLE_WARN] = INK(0xffb82e, 214, 11, GA_ATTR_BOLD),
                [GA_ROLE_BAD] = INK(0xff9a66, 209, 9, GA_ATTR_BOLD),
                [GA_ROLE_WINDOW] = PLAIN(GA_ATTR_BOLD),
                [GA_ROLE_LAW] = INK(0xffff5f, 227, 11, 0),
                [GA_ROLE_KEY] = INK(0x8fd0ff, 117, 14, GA_ATTR_BOLD | GA_ATTR_UNDERLINE),
                [GA_ROLE_REPLICA + 0] = INK(0x7cc8f5, 117, 14, 0),
                [GA_ROLE_REPLICA + 1] = INK(0xffb82e, 214, 3, 0),
                [GA_ROLE_REPLICA + 2] = INK(0x3fe0b0, 79, 10, 0),
                [GA_ROLE_REPLICA + 3] = INK(0xffff5f, 227, 11, 0),
                [GA_ROLE_REPLICA + 4] = INK(0xff9a66, 209, 9, 0),
                [GA_ROLE_REPLICA + 5] = INK(0xe6a3c8, 182, 13, 0),
                [GA_ROLE_REPLICA + 6] = INK(0x9fb8ff, 147, 12, 0),
                [GA_ROLE_REPLICA + 7] = INK(0xffffff, 231, 15, 0),
            },
        [GA_THEME_MONO] =
            {
                [GA_ROLE_DIM] = PLAIN(GA_ATTR_DIM),
                [GA_ROLE_TITLE] = PLAIN(GA_ATTR_BOLD),
                [GA_ROLE_BORDER] = PLAIN(GA_ATTR_DIM),
                [GA_ROLE_FOCUS] = PLAIN(GA_ATTR_BOLD),
                [GA_ROLE_WARN] = PLAIN(GA_ATTR_UNDERLINE),
                [GA_ROLE_BAD] = PLAIN(GA_ATTR_BOLD | GA_ATTR_REVERSE),
                [GA_ROLE_WINDOW] = PLAIN(GA_ATTR_BOLD),
                [GA_ROLE_LAW] = PLAIN(GA_ATTR_BOLD),
                [GA_ROLE_KEY] = PLAIN(GA_ATTR_BOLD),
            },
};

/* Roles that a table leaves out: the terminal's own colours. */
static const struct ga_style own = PLAIN(0);

static const struct {
    const char *name;
    uint32_t paper, ink;
} themes[GA_THEMES] = {
    [GA_THEME_DARK] = {"dark", 0x101216, 0xe4e4e4},
    [GA_THEME_LIGHT] = {"light", 0xffffff, 0x1c1c1c},
    [GA_THEME_CONTRAST] = {"contrast", 0x000000, 0xffffff},
    [GA_THEME_MONO] = {"mono", 0x101216, 0xe4e4e4},
};

const char *ga_theme_name(enum ga_theme theme)
{
    return themes[(unsigned)theme < GA_THEMES ? theme : 0].name;
}

int ga_theme_find(const char *name)
{
    char quoted[GA_QUOTE_TEXT];

    for (int i = 0; i < GA_THEMES; i++)
        if (strcmp(themes[i].name, name) == 0)
            return i;
    ga_fail(GA_EINPUT, "there is no theme %s: expected dark, light, contrast or mono",
            ga_quote(quoted, name));
    return -1;
}

const struct ga_style *ga_theme_style(enum ga_theme theme, unsigned role)
{
    const struct ga_style *style;

    if ((unsigned)theme >= GA_THEMES || role >= GA_ROLE_COUNT)
        return &own;
    style = &styles[theme][role];
    return style->foreground.rgb == 0 ? &own : style;
}

uint32_t ga_theme_paper(enum ga_theme theme)
{
    return themes[(unsigned)theme < GA_THEMES ? theme : 0].paper;
}

uint32_t ga_theme_ink(enum ga_theme theme)
{
    return themes[(unsigned)theme < GA_THEMES ? theme : 0].ink;
}

unsigned ga_replica_role(uint32_t replica)
{
    return GA_ROLE_REPLICA + replica % GA_REPLICA_ROLES;
}

uint32_t ga_replica_mark(uint32_t replica, enum ga_glyphs glyphs)
{
    static const uint16_t shapes[GA_REPLICA_ROLES] = {0x25cf, 0x25b2, 0x25a0, 0x25c6,
                                                      0x25cb, 0x25b3, 0x25a1, 0x25c7};
    static const char letters[GA_REPLICA_ROLES + 1] = "ox+*#@%&";

    if (glyphs == GA_GLYPHS_ASCII)
        return (unsigned char)letters[replica % GA_REPLICA_ROLES];
    return shapes[replica % GA_REPLICA_ROLES];
}

static double linear(uint32_t channel)
{
    double c = (double)(channel & 0xff) / 255;

    return c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(uint32_t rgb)
{
    return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8) + 0.0722 * linear(rgb);
}

double ga_color_contrast(uint32_t rgb, uint32_t other)
{
    double a = luminance(rgb), b = luminance(other);

    return a > b ? (a + 0.05) / (b + 0.05) : (b + 0.05) / (a + 0.05);
}
