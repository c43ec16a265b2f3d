// What the DNS programs of this folder share: time, percentiles, the one line of JSON.
#ifndef HTTPDNS_BENCH_MEASURE_H
#define HTTPDNS_BENCH_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline int64_t measure_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int64_t measure_now(void) { return measure_clock(CLOCK_MONOTONIC); }

static inline int measure_order(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

// Latencies in nanoseconds of the look-ups that were answered.
static inline void measure_report(
    const char *name, int64_t *latencies, long answered, long failed, int64_t took, int64_t computed) {
    qsort(latencies, (size_t)answered, sizeof *latencies, measure_order);
    if (answered == 0) answered = 1;
    printf(
        "{\"name\":\"%s\",\"lookups_per_s\":%.0f,\"cpu_us\":%.3f,\"p50_us\":%.2f,\"p99_us\":%.2f,"
        "\"failed\":%ld}\n",
        name, (double)answered * 1e9 / (double)took, (double)computed / (double)answered / 1000,
        (double)latencies[answered / 2] / 1000, (double)latencies[answered * 99 / 100] / 1000, failed);
}

#endif
