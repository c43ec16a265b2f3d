// What the soak asks of the allocator.
#ifndef SOAK_SUPPORT_H
#define SOAK_SUPPORT_H

#include <stdint.h>

/// What was allocated and not freed, in octets; 0 where the allocator does not say, under a sanitizer.
int64_t httpdns_soak_heap_octets(void);
/// Gives free memory back, so that what is resident is what is used.
void httpdns_soak_trim(void);

#endif
