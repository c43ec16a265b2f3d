#include "chttpdns_openssl.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

// Four full records: what a server that coalesces sends at once.
#define READ_BUFFER (4 * (SSL3_RT_MAX_PLAIN_LENGTH + SSL3_RT_MAX_ENCRYPTED_OVERHEAD + 5))

void chttpdns_context_prepare_stream(SSL_CTX *context) {
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, READ_BUFFER);
}

int chttpdns_last_error(void) { return errno; }

void chttpdns_stream_no_delay(int descriptor) {
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int outcome(SSL *connection, int result) {
    if (result > 0) return result;
    int error = errno;
    switch (SSL_get_error(connection, result)) {
    case SSL_ERROR_WANT_READ: return CHTTPDNS_STREAM_WANTS_READ;
    case SSL_ERROR_WANT_WRITE: return CHTTPDNS_STREAM_WANTS_WRITE;
    case SSL_ERROR_ZERO_RETURN: return CHTTPDNS_STREAM_ENDED;
    case SSL_ERROR_SYSCALL:
        errno = error;
        return error == 0 && ERR_peek_last_error() == 0 ? CHTTPDNS_STREAM_ENDED
                                                        : CHTTPDNS_STREAM_BROKEN;
    default:
        errno = 0;
        if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
            return CHTTPDNS_STREAM_ENDED;
        return CHTTPDNS_STREAM_BROKEN;
    }
}

int chttpdns_stream_handshake(SSL *connection) {
    ERR_clear_error();
    errno = 0;
    return outcome(connection, SSL_do_handshake(connection));
}

int chttpdns_stream_read(SSL *connection, void *octets, int capacity) {
    ERR_clear_error();
    errno = 0;
    return outcome(connection, SSL_read(connection, octets, capacity));
}

int chttpdns_stream_write(SSL *connection, const void *octets, int count) {
    ERR_clear_error();
    errno = 0;
    return outcome(connection, SSL_write(connection, octets, count));
}

int chttpdns_stream_trouble(int result, char *text, size_t capacity) {
    unsigned long code = ERR_peek_last_error();
    int error = errno;
    int no_protocol = 0;
    if (result == CHTTPDNS_STREAM_ENDED) {
        strncpy(text, "the peer closed the connection", capacity - 1);
    } else if (code != 0) {
        const char *reason = ERR_reason_error_string(code);
        if (reason == NULL) ERR_error_string_n(code, text, capacity);
        else strncpy(text, reason, capacity - 1);
        no_protocol = ERR_GET_LIB(code) == ERR_LIB_SSL
            && ERR_GET_REASON(code) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL;
    } else {
        strncpy(text, chttpdns_error_text(error), capacity - 1);
    }
    text[capacity - 1] = 0;
    ERR_clear_error();
    return no_protocol;
}

void chttpdns_stream_goodbye(SSL *connection) {
    ERR_clear_error();
    if (SSL_is_init_finished(connection)) SSL_shutdown(connection);
    ERR_clear_error();
}
