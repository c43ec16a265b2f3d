#include "library.h"

#include <string.h>

#define curl httpdns_curl

void *httpdns_curl_easy_init(void) { return curl.curl_easy_init(); }
void httpdns_curl_easy_cleanup(void *easy) { curl.curl_easy_cleanup(easy); }
CURLcode httpdns_curl_easy_pause(void *easy, int directions) {
    return curl.curl_easy_pause(easy, directions);
}
const char *httpdns_curl_easy_text(CURLcode code) { return curl.curl_easy_strerror(code); }

CURLcode httpdns_curl_set_long(void *easy, CURLoption option, long value) {
    return curl.curl_easy_setopt(easy, option, value);
}
CURLcode httpdns_curl_set_offset(void *easy, CURLoption option, int64_t value) {
    return curl.curl_easy_setopt(easy, option, (curl_off_t)value);
}
CURLcode httpdns_curl_set_text(void *easy, CURLoption option, const char *value) {
    return curl.curl_easy_setopt(easy, option, value);
}
CURLcode httpdns_curl_set_list(void *easy, CURLoption option, struct curl_slist *value) {
    return curl.curl_easy_setopt(easy, option, value);
}
CURLcode httpdns_curl_set_error_buffer(void *easy, char *buffer) {
    return curl.curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, buffer);
}

CURLcode httpdns_curl_set_callbacks(
    void *easy, httpdns_curl_callbacks callbacks, void *context) {
#define SET(option, value)                                              \
    do {                                                                \
        CURLcode code = curl.curl_easy_setopt(easy, option, value);     \
        if (code != CURLE_OK) return code;                              \
    } while (0)
#define PAIR(function, data, value) SET(function, value); SET(data, context)
    SET(CURLOPT_PRIVATE, context);
    PAIR(CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA, callbacks.body);
    PAIR(CURLOPT_HEADERFUNCTION, CURLOPT_HEADERDATA, callbacks.header);
    PAIR(CURLOPT_READFUNCTION, CURLOPT_READDATA, callbacks.read);
    PAIR(CURLOPT_SEEKFUNCTION, CURLOPT_SEEKDATA, callbacks.seek);
    PAIR(CURLOPT_OPENSOCKETFUNCTION, CURLOPT_OPENSOCKETDATA, callbacks.open_socket);
    PAIR(CURLOPT_RESOLVER_START_FUNCTION, CURLOPT_RESOLVER_START_DATA, callbacks.resolve);
    PAIR(CURLOPT_PREREQFUNCTION, CURLOPT_PREREQDATA, callbacks.before_request);
    if (callbacks.tls_context) {
        PAIR(CURLOPT_SSL_CTX_FUNCTION, CURLOPT_SSL_CTX_DATA, callbacks.tls_context);
    }
    if (callbacks.log) {
        PAIR(CURLOPT_DEBUGFUNCTION, CURLOPT_DEBUGDATA, callbacks.log);
    }
#undef PAIR
#undef SET
    return CURLE_OK;
}

int64_t httpdns_curl_get_long(void *easy, CURLINFO which) {
    long value = 0;
    return curl.curl_easy_getinfo(easy, which, &value) == CURLE_OK ? value : 0;
}
int64_t httpdns_curl_get_offset(void *easy, CURLINFO which) {
    curl_off_t value = 0;
    return curl.curl_easy_getinfo(easy, which, &value) == CURLE_OK ? value : 0;
}
const char *httpdns_curl_get_text(void *easy, CURLINFO which) {
    char *value = NULL;
    return curl.curl_easy_getinfo(easy, which, &value) == CURLE_OK ? value : NULL;
}
void *httpdns_curl_get_ssl(void *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl.curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK) return NULL;
    if (!session || session->backend != CURLSSLBACKEND_OPENSSL) return NULL;
    return session->internals;
}
const char *httpdns_curl_tls_version(void *ssl) {
    return curl.SSL_get_version ? curl.SSL_get_version(ssl) : NULL;
}
bool httpdns_curl_is_http2(void *ssl) {
    const unsigned char *name = NULL;
    unsigned int length = 0;
    if (!curl.SSL_get0_alpn_selected) return false;
    curl.SSL_get0_alpn_selected(ssl, &name, &length);
    return name && length == 2 && memcmp(name, "h2", 2) == 0;
}
bool httpdns_curl_has_pending(void *ssl) {
    return !curl.SSL_has_pending || curl.SSL_has_pending(ssl) != 0;
}

struct curl_slist *httpdns_curl_list_append(struct curl_slist *list, const char *text) {
    return curl.curl_slist_append(list, text);
}
void httpdns_curl_list_free(struct curl_slist *list) { curl.curl_slist_free_all(list); }

void *httpdns_curl_multi_init(void) { return curl.curl_multi_init(); }
void httpdns_curl_multi_cleanup(void *multi) { curl.curl_multi_cleanup(multi); }
CURLMcode httpdns_curl_multi_set_long(void *multi, CURLMoption option, long value) {
    return curl.curl_multi_setopt(multi, option, value);
}
CURLMcode httpdns_curl_multi_watch(
    void *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context) {
#define SET(option, value)                                               \
    do {                                                                 \
        CURLMcode code = curl.curl_multi_setopt(multi, option, value);   \
        if (code != CURLM_OK) return code;                               \
    } while (0)
    SET(CURLMOPT_SOCKETFUNCTION, socket);
    SET(CURLMOPT_SOCKETDATA, context);
    SET(CURLMOPT_TIMERFUNCTION, timer);
    SET(CURLMOPT_TIMERDATA, context);
#undef SET
    return CURLM_OK;
}
CURLMcode httpdns_curl_multi_add(void *multi, void *easy) {
    return curl.curl_multi_add_handle(multi, easy);
}
CURLMcode httpdns_curl_multi_remove(void *multi, void *easy) {
    return curl.curl_multi_remove_handle(multi, easy);
}
CURLMcode httpdns_curl_multi_act(void *multi, curl_socket_t socket, int readiness) {
    int running = 0;
    return curl.curl_multi_socket_action(multi, socket, readiness, &running);
}
void *httpdns_curl_multi_next_done(void *multi, CURLcode *code) {
    int left = 0;
    for (;;) {
        CURLMsg *message = curl.curl_multi_info_read(multi, &left);
        if (!message) return NULL;
        if (message->msg != CURLMSG_DONE) continue;
        *code = message->data.result;
        char *context = NULL;
        curl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
        if (context) return context;
    }
}
void *httpdns_curl_context(void *easy) {
    char *context = NULL;
    return curl.curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context) == CURLE_OK ? context : NULL;
}
const char *httpdns_curl_multi_text(CURLMcode code) { return curl.curl_multi_strerror(code); }
