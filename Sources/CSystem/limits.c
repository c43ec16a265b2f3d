#include "chttpdns_system.h"

int httpdns_descriptor_limit(struct rlimit *limit) { return getrlimit(RLIMIT_NOFILE, limit); }
