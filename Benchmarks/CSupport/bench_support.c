#define _GNU_SOURCE
#include "bench_support.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

int64_t httpdns_bench_resident_octets(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

int64_t httpdns_bench_peak_resident_octets(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

void httpdns_bench_trim(void) { malloc_trim(0); }

static int64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t httpdns_bench_cpu_nanoseconds(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
int64_t httpdns_bench_thread_nanoseconds(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

typedef struct {
    void *context;
    void (*work)(void *, int);
    int number;
} errand;

static void *run_errand(void *context) {
    errand *mine = context;
    mine->work(mine->context, mine->number);
    return NULL;
}

void httpdns_bench_on_threads(int count, void *context, void (*work)(void *, int)) {
    pthread_t threads[64];
    errand errands[64];
    if (count > 64) count = 64;
    for (int each = 0; each < count; each++) {
        errands[each] = (errand){context, work, each};
        pthread_create(&threads[each], NULL, run_errand, &errands[each]);
    }
    for (int each = 0; each < count; each++) pthread_join(threads[each], NULL);
}

// Stand before those of the C library, count, and pass on: glibc keeps its own under these names.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic int64_t allocations;

static void count_one(void) { atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed); }

int64_t httpdns_bench_allocations(void) { return atomic_load(&allocations); }

void *malloc(size_t octets) { return count_one(), __libc_malloc(octets); }
void *calloc(size_t count, size_t octets) { return count_one(), __libc_calloc(count, octets); }
void *realloc(void *old, size_t octets) { return count_one(), __libc_realloc(old, octets); }
void *aligned_alloc(size_t alignment, size_t octets) { return count_one(), __libc_memalign(alignment, octets); }
int posix_memalign(void **place, size_t alignment, size_t octets) {
    count_one();
    *place = __libc_memalign(alignment, octets);
    return *place ? 0 : 12;
}
