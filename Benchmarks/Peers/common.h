// What the DoH programs of this folder share: time, percentiles, the query, the one line of JSON.
#ifndef HTTPDNS_BENCH_COMMON_H
#define HTTPDNS_BENCH_COMMON_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline double cpu_us(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6
        + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static inline int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Latencies are in nanoseconds / 100.
static inline void report(
    const char *name, uint32_t *latencies, size_t count, double seconds, double cpu) {
    qsort(latencies, count, sizeof *latencies, by_value);
    printf(
        "{\"name\":\"%s\",\"lookups_per_s\":%.0f,\"cpu_us\":%.2f,\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
        name, (double)count / seconds, cpu / (double)count, latencies[count / 2] / 10.0,
        latencies[count * 99 / 100] / 10.0);
}

// N.wild.example.test A IN with an OPT record padded to 128 octets, id 0.
static inline size_t make_query(uint8_t *out, unsigned number) {
    memset(out, 0, 128);
    out[2] = 1;
    out[5] = 1;
    out[11] = 1;
    size_t at = 12;
    char label[16];
    int n = snprintf(label, sizeof label, "n%u", number);
    const char *labels[] = {label, "wild", "example", "test"};
    for (int i = 0; i < 4; i++) {
        size_t len = i ? strlen(labels[i]) : (size_t)n;
        out[at++] = (uint8_t)len;
        memcpy(out + at, labels[i], len);
        at += len;
    }
    out[at++] = 0;
    out[at + 1] = 1;
    out[at + 3] = 1;
    at += 4;
    at++;  // root
    out[at + 1] = 41;
    out[at + 2] = 1232 >> 8;
    out[at + 3] = 1232 & 0xFF;
    at += 8;
    size_t option = 128 - at - 2;
    out[at] = (uint8_t)(option >> 8);
    out[at + 1] = (uint8_t)option;
    out[at + 3] = 12;
    out[at + 4] = (uint8_t)((option - 4) >> 8);
    out[at + 5] = (uint8_t)(option - 4);
    return 128;
}

#endif
