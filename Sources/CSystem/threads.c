#define _GNU_SOURCE
#include "chttpdns_system.h"

void httpdns_mutex_init_brief(pthread_mutex_t *mutex) {
#ifdef __GLIBC__
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
#else
    pthread_mutex_init(mutex, NULL);
#endif
}

void httpdns_condition_init_monotonic(pthread_cond_t *condition) {
#ifdef __APPLE__
    pthread_cond_init(condition, NULL);
#else
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
#endif
}

void httpdns_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds) {
#ifdef __APPLE__
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = nanoseconds - ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    if (left < 0) left = 0;
    struct timespec interval = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    pthread_cond_timedwait_relative_np(condition, mutex, &interval);
#else
    if (nanoseconds < 0) nanoseconds = 0;
    struct timespec moment = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    pthread_cond_timedwait(condition, mutex, &moment);
#endif
}

int httpdns_thread_start_detached(void *(*body)(void *), void *context) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&thread, &attributes, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return result;
}

void httpdns_thread_set_name(const char *name) {
    char cut[16];
    strncpy(cut, name, sizeof cut - 1);
    cut[sizeof cut - 1] = 0;
#ifdef __APPLE__
    pthread_setname_np(cut);
#else
    pthread_setname_np(pthread_self(), cut);
#endif
}

static __thread void *loop;

void *httpdns_thread_loop(void) { return loop; }
void httpdns_thread_set_loop(void *place) { loop = place; }

static __thread int64_t allowance = INT64_MAX;

int64_t httpdns_thread_allowance(void) { return allowance; }
void httpdns_thread_set_allowance(int64_t octets) { allowance = octets; }
