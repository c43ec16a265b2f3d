#define _GNU_SOURCE
#include "chttpdns_system.h"

#ifdef __GLIBC__
#include <resolv.h>

// glibc keeps the state of its resolver per thread. It is read anew each time: once changed it is the
// caller's own, and no longer follows /etc/resolv.conf.
void httpdns_search_list(int applies) {
    if (res_init() != 0 || applies) return;
    _res.options &= ~(unsigned long)(RES_DEFNAMES | RES_DNSRCH);
}

int httpdns_search_list_applies(void) { return (_res.options & (RES_DEFNAMES | RES_DNSRCH)) != 0; }
#else
void httpdns_search_list(int applies) { (void)applies; }
int httpdns_search_list_applies(void) { return 1; }
#endif

int httpdns_address_lookup_meaning(int code) {
    switch (code) {
    case 0: return HTTPDNS_LOOKUP_ANSWERED;
    case EAI_NONAME: return HTTPDNS_LOOKUP_NO_NAME;
#ifdef EAI_NODATA
    case EAI_NODATA: return HTTPDNS_LOOKUP_NO_DATA;
#endif
#ifdef EAI_ADDRFAMILY
    case EAI_ADDRFAMILY: return HTTPDNS_LOOKUP_NO_DATA;
#endif
    case EAI_AGAIN:
    case EAI_FAIL:
    case EAI_MEMORY: return HTTPDNS_LOOKUP_FAILED;
    case EAI_SYSTEM: return HTTPDNS_LOOKUP_SYSTEM_ERROR;
    default: return HTTPDNS_LOOKUP_MISUSED;
    }
}

int httpdns_errno(void) { return errno; }

void httpdns_error_text(int error, char *text, size_t capacity) {
    char buffer[128];
    const char *word = strerror_r(error, buffer, sizeof buffer);
    if (capacity == 0) return;
    strncpy(text, word, capacity - 1);
    text[capacity - 1] = 0;
}
