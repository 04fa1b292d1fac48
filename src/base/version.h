/* What this build is. Constant text, any thread. */
#ifndef GA_BASE_VERSION_H
#define GA_BASE_VERSION_H

const char *ga_version(void); /* "0.1.0" */
const char *ga_build(void);   /* "gcc 12.2.0, Release" */

#endif
