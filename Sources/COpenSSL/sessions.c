#include "chttpdns_openssl.h"

void chttpdns_context_remember_sessions(
    SSL_CTX *context, int (*keep)(SSL *connection, SSL_SESSION *session)) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    // libcurl sets it, which would leave TLS 1.2 with session identifiers alone.
    SSL_CTX_clear_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_sess_set_new_cb(context, keep);
}

int chttpdns_session_is_single_use(const SSL_SESSION *session) {
    return SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION;
}
