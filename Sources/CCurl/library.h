// The functions of libcurl that were found at run time. Not part of the module.
#ifndef CHTTPDNS_CURL_LIBRARY_H
#define CHTTPDNS_CURL_LIBRARY_H

#include "chttpdns_curl.h"

// curl/typecheck-gcc.h makes macros of these names.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

/// Every function used, once: the table and its filling are made from this list.
#define HTTPDNS_CURL_FUNCTIONS(EACH)                                                        \
    EACH(curl_global_init)                                                                  \
    EACH(curl_version_info)                                                                 \
    EACH(curl_easy_init)                                                                    \
    EACH(curl_easy_cleanup)                                                                 \
    EACH(curl_easy_pause)                                                                   \
    EACH(curl_easy_strerror)                                                                \
    EACH(curl_easy_setopt)                                                                  \
    EACH(curl_easy_getinfo)                                                                 \
    EACH(curl_slist_append)                                                                 \
    EACH(curl_slist_free_all)                                                               \
    EACH(curl_multi_init)                                                                   \
    EACH(curl_multi_cleanup)                                                                \
    EACH(curl_multi_setopt)                                                                 \
    EACH(curl_multi_add_handle)                                                             \
    EACH(curl_multi_remove_handle)                                                          \
    EACH(curl_multi_socket_action)                                                          \
    EACH(curl_multi_info_read)                                                              \
    EACH(curl_multi_strerror)

typedef struct {
#define FIELD(name) __typeof__(&name) name;
    HTTPDNS_CURL_FUNCTIONS(FIELD)
#undef FIELD
    /// OpenSSL's, found through libcurl's own dependencies; NULL when absent.
    const char *(*SSL_get_version)(const void *);
    void (*SSL_get0_alpn_selected)(const void *, const unsigned char **, unsigned int *);
    int (*SSL_has_pending)(const void *);
} httpdns_curl_library;

/// Written once, before httpdns_curl_open has returned NULL; read only after that.
extern httpdns_curl_library httpdns_curl;

#endif
