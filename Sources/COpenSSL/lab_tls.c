#include "chttpdns_openssl_lab.h"

#include "lab_signing.h"

#include <limits.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// The server name is kept with the connection from the ClientHello on, because the laboratory stops
// there: to choose an identity, to stall, or to reset before a byte is answered.
struct hello {
    int seen;
    int asks_for_status;
    int name_count;
    char name[256];
};

static int hello_index = -1;
static int staple_index = -1;
static pthread_once_t hello_once = PTHREAD_ONCE_INIT;

static void free_plain(
    void *parent, void *memory, CRYPTO_EX_DATA *data, int index, long argument, void *pointer) {
    (void)parent, (void)data, (void)index, (void)argument, (void)pointer;
    free(memory);
}

static void make_index(void) {
    hello_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_plain);
    staple_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_plain);
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
    const unsigned char *octets;
    size_t count;
    hello->asks_for_status =
        SSL_client_hello_get0_ext(connection, TLSEXT_TYPE_status_request, &octets, &count);
    return SSL_CLIENT_HELLO_RETRY;
}

// What the server speaks, by HTTPDNS_LAB_PROTOCOL_ number; a list as ALPN has it.
static const char *const protocols[] = {"\x08http/1.1", "\x02h2", "\x03" "dot", NULL,
                                        "\x02h2\x08http/1.1"};

static int on_protocols(
    SSL *connection, const unsigned char **chosen, unsigned char *chosen_count,
    const unsigned char *offered, unsigned int offered_count, void *argument) {
    (void)connection;
    const unsigned char *spoken = argument;
    if (spoken == NULL) return SSL_TLSEXT_ERR_ALERT_FATAL;
    unsigned char *choice;
    if (SSL_select_next_proto(
            &choice, chosen_count, spoken, (unsigned int)strlen((const char *)spoken), offered,
            offered_count)
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

// Everything: what a server of the laboratory offers is chosen by its scenario, and a weak one is the
// client's to refuse. Security level 0 alone would still refuse small Diffie-Hellman groups.
static int allow_all(
    const SSL *connection, const SSL_CTX *context, int operation, int bits, int number, void *other,
    void *argument) {
    (void)connection, (void)context, (void)operation, (void)bits, (void)number, (void)other,
        (void)argument;
    return 1;
}

SSL_CTX *httpdns_lab_context_new(
    const unsigned char *key, size_t count, const unsigned char *leaf, size_t leaf_count) {
    pthread_once(&hello_once, make_index);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *parsed = context ? httpdns_lab_key_from(key, count) : NULL;
    X509 *certificate = httpdns_lab_certificate_from(leaf, leaf_count);
    if (context) {
        SSL_CTX_set_security_level(context, 0);
        SSL_CTX_set_security_callback(context, allow_all);
    }
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
    X509 *parsed = httpdns_lab_certificate_from(certificate, count);
    if (!parsed) return 0;
    if (SSL_CTX_add0_chain_cert(context, parsed) == 1) return 1;
    X509_free(parsed);
    return 0;
}

int httpdns_lab_context_versions(SSL_CTX *context, int minimum, int maximum) {
    if (maximum < TLS1_2_VERSION && !SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0")) return 0;
    return SSL_CTX_set_min_proto_version(context, minimum)
        && SSL_CTX_set_max_proto_version(context, maximum);
}

int httpdns_lab_context_ciphers(SSL_CTX *context, const char *list) {
    ERR_clear_error();
    return SSL_CTX_set_cipher_list(context, list);
}

// A safe prime of 512 bits, found by `openssl prime -generate -bits 512 -safe`.
static const char small_prime[] =
    "E3FE769F4B34D7A8A9F6B40DBB2AE8027BA659AA99A57354F613FDA3C04FA0E0"
    "ADC99189170F33391624618FCD994EA979924A9F1ADFE6FBC72D7BB985D5A81B";

static BIGNUM *group_prime(int bits) {
    BIGNUM *prime = NULL;
    switch (bits) {
    case 512: return BN_hex2bn(&prime, small_prime) ? prime : NULL;
    case 1024: return BN_get_rfc2409_prime_1024(NULL);
    case 2048: return BN_get_rfc3526_prime_2048(NULL);
    default: return NULL;
    }
}

int httpdns_lab_context_group(SSL_CTX *context, int bits) {
    ERR_clear_error();
    EVP_PKEY *group = NULL;
    OSSL_PARAM *parameters = NULL;
    BIGNUM *prime = group_prime(bits), *generator = BN_new();
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *making = EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL);
    int done = prime && generator && builder && making && BN_set_word(generator, 2)
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_FFC_P, prime)
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_FFC_G, generator)
        && (parameters = OSSL_PARAM_BLD_to_param(builder)) && EVP_PKEY_fromdata_init(making) == 1
        && EVP_PKEY_fromdata(making, &group, EVP_PKEY_KEY_PARAMETERS, parameters) == 1;
    if (done && SSL_CTX_set0_tmp_dh_pkey(context, group) != 1) {
        EVP_PKEY_free(group);
        done = 0;
    }
    OSSL_PARAM_free(parameters);
    EVP_PKEY_CTX_free(making);
    OSSL_PARAM_BLD_free(builder);
    BN_free(generator);
    BN_free(prime);
    return done;
}

struct staple {
    size_t count;
    unsigned char octets[];
};

// Called only for a client that asks. OpenSSL frees the copy.
static int on_status(SSL *connection, void *argument) {
    (void)argument;
    struct staple *staple = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), staple_index);
    unsigned char *copy = staple ? OPENSSL_memdup(staple->octets, staple->count) : NULL;
    if (!copy) return SSL_TLSEXT_ERR_NOACK;
    SSL_set_tlsext_status_ocsp_resp(connection, copy, (long)staple->count);
    return SSL_TLSEXT_ERR_OK;
}

int httpdns_lab_context_staple(SSL_CTX *context, const unsigned char *octets, size_t count) {
    pthread_once(&hello_once, make_index);
    struct staple *staple = count <= LONG_MAX ? malloc(sizeof *staple + count) : NULL;
    if (!staple) return 0;
    staple->count = count;
    memcpy(staple->octets, octets, count);
    struct staple *old = SSL_CTX_get_ex_data(context, staple_index);
    if (SSL_CTX_set_ex_data(context, staple_index, staple) != 1) {
        free(staple);
        return 0;
    }
    free(old);
    return SSL_CTX_set_tlsext_status_cb(context, on_status) == 1;
}

void httpdns_lab_context_resumption(SSL_CTX *context, int is_on) {
    static const unsigned char name[] = "lab";
    if (is_on) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_SERVER);
        SSL_CTX_set_session_id_context(context, name, sizeof name - 1);
    } else {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
        SSL_CTX_set_num_tickets(context, 0);
    }
}

static int take_any(int ok, X509_STORE_CTX *context) {
    (void)ok, (void)context;
    return 1;
}

void httpdns_lab_context_client(SSL_CTX *context, int demands) {
    SSL_CTX_set_verify(
        context, SSL_VERIFY_PEER | (demands ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), take_any);
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

httpdns_lab_agreed httpdns_lab_what_was_agreed(SSL *connection) {
    httpdns_lab_agreed agreed = {0};
    struct hello *hello = SSL_get_ex_data(connection, hello_index);
    const unsigned char *protocol;
    unsigned int count;
    SSL_get0_alpn_selected(connection, &protocol, &count);
    agreed.is_http2 = count == 2 && memcmp(protocol, "h2", 2) == 0;
    agreed.is_resumed = SSL_session_reused(connection);
    agreed.asks_for_status = hello && hello->asks_for_status;
    agreed.has_client_certificate = SSL_get0_peer_certificate(connection) != NULL;
    return agreed;
}
