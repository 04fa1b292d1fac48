/* The environment of the fake libnvidia-ml, which is read when a session is opened. Main thread. */
#ifndef GA_TESTS_FAKE_H
#define GA_TESTS_FAKE_H

/* "GPUS=0000:3B:00.0,0000:5E:00.0" sets FAKE_NVML_GPUS; NULL-terminated. All others are unset. */
void fake_set(const char *const *settings);

#endif
