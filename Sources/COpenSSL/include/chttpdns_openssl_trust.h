// What OpenSSL offers only as macros, and two small things of the system that its loaders need.
#ifndef CHTTPDNS_OPENSSL_TRUST_H
#define CHTTPDNS_OPENSSL_TRUST_H

#include <stddef.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Stacks: the sk_* functions are macros over OPENSSL_sk_*.
int chttpdns_certificates_count(const STACK_OF(X509) *certificates);
X509 *chttpdns_certificates_at(const STACK_OF(X509) *certificates, int index);
STACK_OF(X509) *chttpdns_certificates_new(void);
// Takes a reference of its own. 0 on failure.
int chttpdns_certificates_push(STACK_OF(X509) *certificates, X509 *certificate);
// Releases the stack and a reference of each certificate.
void chttpdns_certificates_free(STACK_OF(X509) *certificates);

int chttpdns_names_count(const GENERAL_NAMES *names);
// The kind (GEN_DNS, GEN_IPADD ...) of an entry; its octets when the kind is one of these two or
// GEN_EMAIL or GEN_URI.
int chttpdns_name_at(
    const GENERAL_NAMES *names, int index, const unsigned char **octets, size_t *count);
// NULL when the entry is of another kind.
const X509_NAME *chttpdns_directory_name_at(const GENERAL_NAMES *names, int index);

// Name constraints: how many permitted or excluded subtrees there are; -1 when there is no list.
int chttpdns_subtrees_count(const NAME_CONSTRAINTS *constraints, int excluded);
// The kind of a subtree, its octets or name as above, and whether it has a minimum or maximum.
int chttpdns_subtree_at(
    const NAME_CONSTRAINTS *constraints, int excluded, int index, const unsigned char **octets,
    size_t *count, const X509_NAME **directory, int *has_distances);

enum {
    CHTTPDNS_EXTENSIONS_SOUND = 0,
    CHTTPDNS_EXTENSION_UNKNOWN = 1,
    CHTTPDNS_EXTENSION_REPEATED = 2,
    CHTTPDNS_EXTENSION_MALFORMED = 3,
};
// The first extension that is critical and unknown, there twice, or (of those that OpenSSL does not
// read while it verifies) malformed; its name.
int chttpdns_extension_fault(const X509 *certificate, char *name, int capacity);
// -1 when it is not there.
int chttpdns_extension_is_critical(const X509 *certificate, int identifier);
// The extension "Netscape cert type": whether it allows servers; -1 when it is not there.
int chttpdns_is_old_server(const X509 *certificate);
// An RSA key's public exponent: odd, at least 3, at most 256 bits.
int chttpdns_key_exponent_is_sound(const EVP_PKEY *key);
// An EC key that spells out its curve's parameters.
int chttpdns_key_has_own_curve(const EVP_PKEY *key);
// An EC key over a field of characteristic two.
int chttpdns_key_is_binary(const EVP_PKEY *key);

// RFC 4514 text of a distinguished name, control and non-ASCII octets escaped.
void chttpdns_distinguished_name_print(BIO *sink, const X509_NAME *name);

int chttpdns_lookup_add_directory(X509_LOOKUP *lookup, const char *directory);

// 0 on failure.
int chttpdns_context_set_minimum_version(SSL_CTX *context, int version);
// No cache, no tickets: every connection is a full handshake, so every connection is judged.
void chttpdns_context_forget_sessions(SSL_CTX *context);

/// Lets connections of `context` be resumed: `keep` is called for each session, and owns it when it
/// returns 1. Nothing is kept in the context itself.
void chttpdns_context_remember_sessions(
    SSL_CTX *context, int (*keep)(SSL *connection, SSL_SESSION *session));

/// Whether the session is for one connection only. Source: RFC 8446 appendix C.4.
int chttpdns_session_is_single_use(const SSL_SESSION *session);
// No second handshake on a connection (TLS 1.2): what was proved is what stays.
void chttpdns_context_refuse_renegotiation(SSL_CTX *context);
int chttpdns_context_index(CRYPTO_EX_dup *duplicate, CRYPTO_EX_free *release);
int chttpdns_connection_index(CRYPTO_EX_dup *duplicate, CRYPTO_EX_free *release);
// 0 on failure.
int chttpdns_connection_set_server_name(SSL *connection, const char *name);

// 1 when the last queued error is "no more PEM blocks", which is how a PEM file ends.
int chttpdns_error_is_end_of_pem(unsigned long code);

// 1 when the directory holds a file named as `openssl rehash` names them (1a2b3c4d.0).
int chttpdns_is_hashed_directory(const char *path);

// Adds the certificates in the folder's files, whatever their names, in PEM or DER, and in those down
// to `depth` levels below it; what cannot be read is passed over. How many there were.
int chttpdns_store_add_folder(X509_STORE *store, const char *path, int depth);

// 1 when exactly this certificate is in the store or its lookup folders.
int chttpdns_store_holds(X509_STORE *store, X509 *certificate);
// The variable's value, or NULL; NULL as well in a set-user-ID program.
const char *chttpdns_environment(const char *name);

// A non-blocking TCP connection begun to a numeric address; -1 with errno set on failure.
int chttpdns_connect_begin(const unsigned char *address, size_t count, unsigned short port);
// Waits until the descriptor is ready. 1 ready, 0 timed out, -1 failed (errno).
int chttpdns_wait(int descriptor, int for_write, int milliseconds);
// SSL_connect, without the SIGPIPE that a peer which has gone away would raise: OpenSSL writes with
// write(2), and the signal's default ends the process.
int chttpdns_connection_shake_hands(SSL *connection);
// The pending error of the socket; 0 when it is connected.
int chttpdns_connect_error(int descriptor);
// The system's words for an errno value; static.
const char *chttpdns_error_text(int error);
void chttpdns_close(int descriptor);

#endif
