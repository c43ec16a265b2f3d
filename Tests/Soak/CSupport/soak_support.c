#include "soak_support.h"

#include <malloc.h>

int64_t httpdns_soak_heap_octets(void) {
    struct mallinfo2 all = mallinfo2();
    return (int64_t)(all.uordblks + all.hblkhd);
}

void httpdns_soak_trim(void) { malloc_trim(0); }
