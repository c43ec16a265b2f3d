// The floor of G1: an answer cache in C, as small as it can be. Open addressing over fixed entries,
// keys in one arena, behind one pthread mutex, the clock read for each look-up.
//
//     cache_table NAMES LOOKUPS THREADS mutex|bare
//
// Prints one line of JSON: ns is the time of a look-up in one thread, cpu_ns what of it was computing.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    uint32_t key_at;
    uint32_t key_octets;
    int64_t expires_ns;
    uint32_t hash;
    uint8_t count;
    uint8_t addresses[4][16];
} entry;

typedef struct {
    uint32_t addresses[4];
    uint32_t count;
    uint32_t seconds_left;
} found;

static entry *table;
static uint32_t table_mask;
static char *arena;
static size_t arena_octets, arena_capacity;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int with_mutex = 1;

static int64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t now_ns(void) { return read_clock(CLOCK_MONOTONIC); }

// FNV-1a would cost one multiplication an octet; this takes eight at a time, as ours does.
static uint64_t hash_of(const char *key, size_t count) {
    uint64_t state = 0x9E3779B97F4A7C15u ^ count;
    while (count > 0) {
        uint64_t word = 0;
        size_t step = count < 8 ? count : 8;
        memcpy(&word, key, step);
        unsigned __int128 product = (unsigned __int128)(state ^ word) * 0xBF58476D1CE4E5B9u;
        state = (uint64_t)product ^ (uint64_t)(product >> 64);
        key += step;
        count -= step;
    }
    return state;
}

static void put(const char *key, uint32_t address) {
    size_t count = strlen(key);
    uint64_t hash = hash_of(key, count);
    uint32_t at = (uint32_t)hash & table_mask;
    while (table[at].key_octets) at = (at + 1) & table_mask;
    if (arena_octets + count > arena_capacity) {
        arena_capacity = arena_capacity * 2 + count;
        arena = realloc(arena, arena_capacity);
    }
    memcpy(arena + arena_octets, key, count);
    entry *new = &table[at];
    new->key_at = (uint32_t)arena_octets;
    new->key_octets = (uint32_t)count;
    new->hash = (uint32_t)(hash >> 32);
    new->expires_ns = now_ns() + (int64_t)3600 * 1000000000;
    new->count = 1;
    memcpy(new->addresses[0], &address, 4);
    arena_octets += count;
}

static int find(const char *key, size_t count, found *result) {
    int64_t now = now_ns();
    uint64_t hash = hash_of(key, count);
    int is_found = 0;
    if (with_mutex) pthread_mutex_lock(&mutex);
    uint32_t at = (uint32_t)hash & table_mask;
    while (table[at].key_octets) {
        const entry *here = &table[at];
        if (here->hash == (uint32_t)(hash >> 32) && here->key_octets == count
            && memcmp(arena + here->key_at, key, count) == 0) {
            if (here->expires_ns > now) {
                result->count = here->count;
                result->seconds_left = (uint32_t)((here->expires_ns - now + 999999999) / 1000000000);
                for (int each = 0; each < here->count; each++)
                    memcpy(&result->addresses[each], here->addresses[each], 4);
                is_found = 1;
            }
            break;
        }
        at = (at + 1) & table_mask;
    }
    if (with_mutex) pthread_mutex_unlock(&mutex);
    return is_found;
}

typedef struct {
    char (*names)[40];
    size_t *lengths;
    int count;
    long lookups;
    double ns;
    double cpu_ns;
    uint64_t sum;
} work;

static void *read_all(void *context) {
    work *mine = context;
    int64_t start = now_ns(), cpu_start = read_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t sum = 0;
    int next = 0;
    for (long done = 0; done < mine->lookups; done++) {
        found result;
        if (find(mine->names[next], mine->lengths[next], &result)) sum += result.addresses[0];
        if (++next == mine->count) next = 0;
    }
    mine->ns = (double)(now_ns() - start) / (double)mine->lookups;
    mine->cpu_ns = (double)(read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu_start) / (double)mine->lookups;
    mine->sum = sum;
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 5) return fprintf(stderr, "usage: cache_table NAMES LOOKUPS THREADS mutex|bare\n"), 2;
    int names_count = atoi(arguments[1]);
    long lookups = atol(arguments[2]);
    int threads = atoi(arguments[3]);
    with_mutex = strcmp(arguments[4], "bare") != 0;
    if (names_count < 1 || threads < 1 || threads > 16) return 2;
    uint32_t places = 16;
    while (places < 2 * (uint32_t)names_count) places *= 2;
    table = calloc(places, sizeof *table);
    table_mask = places - 1;
    char(*names)[40] = calloc((size_t)names_count, sizeof *names);
    size_t *lengths = calloc((size_t)names_count, sizeof *lengths);
    for (int each = 0; each < names_count; each++) {
        snprintf(names[each], sizeof names[each], "host-%05d.a.test", each);
        lengths[each] = strlen(names[each]);
        put(names[each], 0x0A000000u + (uint32_t)each);
    }
    work works[16] = {0};
    pthread_t ids[16];
    for (int each = 0; each < threads; each++) {
        works[each] = (work){names, lengths, names_count, lookups, 0, 0, 0};
        pthread_create(&ids[each], NULL, read_all, &works[each]);
    }
    double ns = 0, cpu_ns = 0;
    uint64_t sum = 0;
    for (int each = 0; each < threads; each++) {
        pthread_join(ids[each], NULL);
        ns += works[each].ns / threads;
        cpu_ns += works[each].cpu_ns / threads;
        sum += works[each].sum;
    }
    if (sum == 0) return 1;
    printf("{\"name\":\"c-table-%s\",\"threads\":%d,\"ns\":%.2f,\"cpu_ns\":%.2f}\n", arguments[4], threads, ns,
        cpu_ns);
    return 0;
}
