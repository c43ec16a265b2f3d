#include "chttpdns_openssl_hello.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

typedef struct {
    int outcome;
    char *name;
    size_t capacity;
} reading;

// The list of RFC 6066 §3: its length, and one entry of the type host_name.
static int copied(reading *into, const unsigned char *list, size_t count) {
    if (count < 5 || (size_t)(list[0] << 8 | list[1]) != count - 2 ||
        list[2] != TLSEXT_NAMETYPE_host_name)
        return CHTTPDNS_HELLO_FOREIGN;
    size_t length = (size_t)(list[3] << 8 | list[4]);
    if (length != count - 5 || length == 0 || length >= into->capacity ||
        memchr(list + 5, 0, length))
        return CHTTPDNS_HELLO_FOREIGN;
    memcpy(into->name, list + 5, length);
    into->name[length] = 0;
    return CHTTPDNS_HELLO_NAMED;
}

// Called by OpenSSL once the ClientHello is whole; the connection ends here, it was never to be one.
static int read_hello(SSL *connection, int *alert, void *context) {
    reading *into = context;
    const unsigned char *list = NULL;
    size_t count = 0;
    if (SSL_client_hello_get0_ext(connection, TLSEXT_TYPE_server_name, &list, &count) == 1)
        into->outcome = copied(into, list, count);
    else
        into->outcome = CHTTPDNS_HELLO_UNNAMED;
    *alert = SSL_AD_HANDSHAKE_FAILURE;
    return SSL_CLIENT_HELLO_ERROR;
}

static int accepted(SSL *connection, const uint8_t *octets, size_t count) {
    BIO *in = BIO_new_mem_buf(octets, (int)count);
    BIO *out = BIO_new(BIO_s_mem());
    if (!in || !out) {
        BIO_free(in);
        BIO_free(out);
        return CHTTPDNS_HELLO_FOREIGN;
    }
    // At the end of the octets it is to ask for more.
    BIO_set_mem_eof_return(in, -1);
    SSL_set_bio(connection, in, out);
    SSL_set_accept_state(connection);
    int result = SSL_do_handshake(connection);
    return SSL_get_error(connection, result) == SSL_ERROR_WANT_READ ? CHTTPDNS_HELLO_MORE
                                                                    : CHTTPDNS_HELLO_FOREIGN;
}

int chttpdns_hello_server_name(
    const uint8_t *octets, size_t count, char *name, size_t capacity) {
    reading into = {CHTTPDNS_HELLO_MORE, name, capacity};
    if (count == 0 || count > 1 << 20) return count ? CHTTPDNS_HELLO_FOREIGN : into.outcome;
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    SSL *connection = NULL;
    int outcome = CHTTPDNS_HELLO_FOREIGN;
    if (context) {
        SSL_CTX_set_client_hello_cb(context, read_hello, &into);
        connection = SSL_new(context);
    }
    if (connection) outcome = accepted(connection, octets, count);
    SSL_free(connection);
    SSL_CTX_free(context);
    ERR_clear_error();
    return into.outcome == CHTTPDNS_HELLO_MORE ? outcome : into.outcome;
}
