// What benchmarks ask of the system.
#ifndef BENCH_SUPPORT_H
#define BENCH_SUPPORT_H

#include <stdint.h>

/// Memory of this process that is resident, in octets; from /proc.
int64_t httpdns_bench_resident_octets(void);
/// The largest it ever was.
int64_t httpdns_bench_peak_resident_octets(void);
/// Gives free memory back, so that what is resident is what is used.
void httpdns_bench_trim(void);
/// Calls of malloc, calloc, realloc and aligned_alloc so far, on all threads.
int64_t httpdns_bench_allocations(void);
/// CPU time of this process so far, user and system.
int64_t httpdns_bench_cpu_nanoseconds(void);
/// CPU time of this thread so far.
int64_t httpdns_bench_thread_nanoseconds(void);
/// Runs `work` on so many threads of their own at once, each told its number; returns when all have ended.
void httpdns_bench_on_threads(int count, void *context, void (*work)(void *context, int number));

#endif
