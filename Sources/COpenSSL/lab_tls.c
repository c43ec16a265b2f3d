#include "chttpdns_openssl_lab.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// The server name is kept with the connection from the ClientHello on, because the laboratory stops
// there: to choose an identity, to stall, or to reset before a byte is answered.
struct hello {
    int seen;
    int name_count;
    char name[256];
};

static int hello_index = -1;
static pthread_once_t hello_once = PTHREAD_ONCE_INIT;

static void free_hello(
    void *parent, void *hello, CRYPTO_EX_DATA *data, int index, long argument, void *pointer) {
    (void)parent, (void)data, (void)index, (void)argument, (void)pointer;
    free(hello);
}

static void make_index(void) {
    hello_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_hello);
}

// The extension is a list length (2 octets), then type (1), length (2) and the name.
// Source: RFC 6066 §3.
static void keep_name(SSL *connection, struct hello *hello) {
    const unsigned char *octets;
    size_t count;
    hello->name_count = -1;
    if (!SSL_client_hello_get0_ext(connection, TLSEXT_TYPE_server_name, &octets, &count)) return;
    if (count < 5 || octets[2] != TLSEXT_NAMETYPE_host_name) return;
    size_t length = (size_t)octets[3] << 8 | octets[4];
    if (length > count - 5 || length >= sizeof hello->name) return;
    memcpy(hello->name, octets + 5, length);
    hello->name_count = (int)length;
}

static int on_hello(SSL *connection, int *alert, void *argument) {
    (void)alert, (void)argument;
    struct hello *hello = SSL_get_ex_data(connection, hello_index);
    if (!hello || hello->seen) return SSL_CLIENT_HELLO_SUCCESS;
    hello->seen = 1;
    keep_name(connection, hello);
    return SSL_CLIENT_HELLO_RETRY;
}

// What the server speaks, by HTTPDNS_LAB_PROTOCOL_ number.
static const unsigned char *const protocols[] = {
    (const unsigned char *)"\x08http/1.1", (const unsigned char *)"\x02h2",
    (const unsigned char *)"\x03" "dot"};

static int on_protocols(
    SSL *connection, const unsigned char **chosen, unsigned char *chosen_count,
    const unsigned char *offered, unsigned int offered_count, void *argument) {
    (void)connection;
    const unsigned char *spoken = argument;
    if (spoken == NULL) return SSL_TLSEXT_ERR_ALERT_FATAL;
    unsigned char *choice;
    if (SSL_select_next_proto(
            &choice, chosen_count, spoken, spoken[0] + 1u, offered, offered_count)
        != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *chosen = choice;
    return SSL_TLSEXT_ERR_OK;
}

void httpdns_lab_context_protocol(SSL_CTX *context, int protocol) {
    int known = protocol >= 0 && protocol < (int)(sizeof protocols / sizeof *protocols);
    SSL_CTX_set_alpn_select_cb(
        context, on_protocols, known ? (void *)(uintptr_t)protocols[protocol] : NULL);
}

static X509 *certificate_from(const unsigned char *der, size_t count) {
    if (count > LONG_MAX) return NULL;
    return d2i_X509(NULL, &der, (long)count);
}

SSL_CTX *httpdns_lab_context_new(
    const unsigned char *key, size_t count, const unsigned char *leaf, size_t leaf_count) {
    pthread_once(&hello_once, make_index);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *parsed =
        context && count <= LONG_MAX ? d2i_AutoPrivateKey(NULL, &key, (long)count) : NULL;
    X509 *certificate = certificate_from(leaf, leaf_count);
    int ready = parsed && certificate && SSL_CTX_use_certificate(context, certificate) == 1
        && SSL_CTX_use_PrivateKey(context, parsed) == 1;
    X509_free(certificate);
    EVP_PKEY_free(parsed);
    if (!ready) {
        SSL_CTX_free(context);
        return NULL;
    }
    SSL_CTX_set_client_hello_cb(context, on_hello, NULL);
    httpdns_lab_context_protocol(context, HTTPDNS_LAB_PROTOCOL_HTTP1);
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
            | SSL_MODE_RELEASE_BUFFERS);
    // A client that closes without a goodbye has closed; that is not an error worth telling apart.
    SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
    return context;
}

int httpdns_lab_context_add(SSL_CTX *context, const unsigned char *certificate, size_t count) {
    X509 *parsed = certificate_from(certificate, count);
    if (!parsed) return 0;
    if (SSL_CTX_add0_chain_cert(context, parsed) == 1) return 1;
    X509_free(parsed);
    return 0;
}

int httpdns_lab_context_versions(SSL_CTX *context, int minimum, int maximum) {
    if (maximum < TLS1_2_VERSION) {
        SSL_CTX_set_security_level(context, 0);
        if (!SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0")) return 0;
    }
    return SSL_CTX_set_min_proto_version(context, minimum)
        && SSL_CTX_set_max_proto_version(context, maximum);
}

SSL *httpdns_lab_accept(SSL_CTX *context, int socket) {
    SSL *connection = SSL_new(context);
    struct hello *hello = calloc(1, sizeof *hello);
    if (!connection || !hello || !SSL_set_ex_data(connection, hello_index, hello)) {
        free(hello);
        SSL_free(connection);
        return NULL;
    }
    hello->name_count = -1;
    if (!SSL_set_fd(connection, socket)) {
        SSL_free(connection);
        return NULL;
    }
    SSL_set_accept_state(connection);
    return connection;
}

static int outcome(SSL *connection, int result) {
    if (result > 0) return result;
    int error = SSL_get_error(connection, result);
    ERR_clear_error();
    switch (error) {
    case SSL_ERROR_WANT_READ: return HTTPDNS_LAB_WANTS_READ;
    case SSL_ERROR_WANT_WRITE: return HTTPDNS_LAB_WANTS_WRITE;
    case SSL_ERROR_WANT_CLIENT_HELLO_CB: return HTTPDNS_LAB_HELLO_READ;
    case SSL_ERROR_ZERO_RETURN: return HTTPDNS_LAB_CLOSED;
    default: return HTTPDNS_LAB_BROKEN;
    }
}

int httpdns_lab_handshake(SSL *connection) {
    ERR_clear_error();
    return outcome(connection, SSL_do_handshake(connection));
}

int httpdns_lab_read(SSL *connection, unsigned char *octets, int capacity) {
    ERR_clear_error();
    return outcome(connection, SSL_read(connection, octets, capacity));
}

int httpdns_lab_write(SSL *connection, const unsigned char *octets, int count) {
    ERR_clear_error();
    return outcome(connection, SSL_write(connection, octets, count));
}

void httpdns_lab_goodbye(SSL *connection) {
    ERR_clear_error();
    if (SSL_is_init_finished(connection)) SSL_shutdown(connection);
    ERR_clear_error();
}

int httpdns_lab_server_name(SSL *connection, char *name, size_t capacity) {
    struct hello *hello = SSL_get_ex_data(connection, hello_index);
    if (!hello || hello->name_count < 0 || (size_t)hello->name_count > capacity) return -1;
    memcpy(name, hello->name, (size_t)hello->name_count);
    return hello->name_count;
}
