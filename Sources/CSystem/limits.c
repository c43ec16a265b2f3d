#include "chttpdns_system.h"

int httpdns_descriptor_limit(struct rlimit *limit) { return getrlimit(RLIMIT_NOFILE, limit); }

void httpdns_descriptor_limit_raise(uint64_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : (rlim_t)wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int httpdns_descriptors_left(int wanted) {
    int taken[64];
    int count = 0;
    int most = wanted < 64 ? wanted : 64;
    while (count < most) {
        int made = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
        if (made < 0) break;
        taken[count++] = made;
    }
    for (int at = 0; at < count; at++) close(taken[at]);
    return count;
}
