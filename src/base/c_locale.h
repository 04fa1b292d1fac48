/*
 * The calling thread uses the C locale between enter and leave, so that printf() and strtod() write
 * and read a decimal point. With no memory for a locale object, enter gives 0 and changes nothing.
 */
#ifndef GA_BASE_C_LOCALE_H
#define GA_BASE_C_LOCALE_H

#include <locale.h>

static inline locale_t ga_c_locale_enter(void)
{
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c_locale ? uselocale(c_locale) : (locale_t)0;
}

static inline void ga_c_locale_leave(locale_t old)
{
    if (old)
        freelocale(uselocale(old));
}

#endif
