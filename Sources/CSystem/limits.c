#include "chttpdns_system.h"

int httpdns_descriptor_limit(struct rlimit *limit) { return getrlimit(RLIMIT_NOFILE, limit); }

void httpdns_descriptor_limit_raise(uint64_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : (rlim_t)wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}
