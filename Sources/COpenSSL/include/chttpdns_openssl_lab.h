// What the test laboratory (HTTPDNSPinLab) asks of OpenSSL: keys and certificates made in memory,
// and the server side of a handshake. Nothing here is called by the library that applications ship.
#ifndef CHTTPDNS_OPENSSL_LAB_H
#define CHTTPDNS_OPENSSL_LAB_H

#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

/// Octets owned by the receiver; release with httpdns_lab_release. NULL when the call failed.
typedef struct {
    unsigned char *_Nullable octets;
    size_t count;
} httpdns_lab_octets;

void httpdns_lab_release(httpdns_lab_octets octets);

/// The newest error of this thread's OpenSSL queue as text, and the queue emptied.
void httpdns_lab_last_error(char *_Nonnull text, size_t capacity);

/// The kind of a key; any other number is RSA with so many bits.
enum {
    HTTPDNS_LAB_KEY_P256 = 0,
    HTTPDNS_LAB_KEY_P384 = 1,
    HTTPDNS_LAB_KEY_ED25519 = 3,
};

/// A new private key as PKCS#8 DER: the one that the seed stands for, or a random one without it.
httpdns_lab_octets httpdns_lab_new_key(
    int kind, const unsigned char *_Nullable seed, size_t count);

enum {
    HTTPDNS_LAB_DIGEST_SHA256 = 0,
    HTTPDNS_LAB_DIGEST_SHA384 = 1,
    HTTPDNS_LAB_DIGEST_SHA512 = 2,
    HTTPDNS_LAB_DIGEST_SHA1 = 3,
    HTTPDNS_LAB_DIGEST_MD5 = 4,
};

/// A certificate in the making. Freed by httpdns_lab_certificate_free; each call answers 1 or 0.
typedef struct httpdns_lab_certificate httpdns_lab_certificate;

httpdns_lab_certificate *_Nullable httpdns_lab_certificate_new(void);
void httpdns_lab_certificate_free(httpdns_lab_certificate *_Nonnull making);
/// The digest that is signed; SHA-256 unless said.
void httpdns_lab_certificate_digest(httpdns_lab_certificate *_Nonnull making, int digest);
/// The serial number, in octets; random unless said.
int httpdns_lab_certificate_serial(
    httpdns_lab_certificate *_Nonnull making, const unsigned char *_Nonnull octets, size_t count);
int httpdns_lab_certificate_subject(
    httpdns_lab_certificate *_Nonnull making, const unsigned char *_Nullable name, size_t count);
/// Seconds since 1970; refused outside the years 0 to 9999 that ASN.1 can write.
int httpdns_lab_certificate_validity(
    httpdns_lab_certificate *_Nonnull making, int64_t not_before, int64_t not_after);
/// A subject alternative name; kind is GEN_DNS (octets as given, NUL and all) or GEN_IPADD.
int httpdns_lab_certificate_name(
    httpdns_lab_certificate *_Nonnull making, int is_address, const unsigned char *_Nullable octets,
    size_t count);
/// An extension by its OpenSSL nid and configuration text, for example "critical,CA:TRUE".
int httpdns_lab_certificate_extension(
    httpdns_lab_certificate *_Nonnull making, const char *_Nonnull name,
    const char *_Nonnull value);
/// Signs and gives the DER. The issuer is the DER of its certificate; without one the certificate
/// signs itself.
httpdns_lab_octets httpdns_lab_certificate_sign(
    httpdns_lab_certificate *_Nonnull making, const unsigned char *_Nonnull key, size_t key_count,
    const unsigned char *_Nullable issuer, size_t issuer_count,
    const unsigned char *_Nonnull issuer_key, size_t issuer_key_count);

/// Octets lent for a call.
typedef struct {
    const unsigned char *_Nonnull octets;
    size_t count;
} httpdns_lab_der;

/// What a responder or a list says; moments in seconds since 1970.
typedef struct {
    /// V_OCSP_CERTSTATUS_: 0 good, 1 revoked, 2 unknown.
    int status;
    int64_t this_update;
    int64_t next_update;
} httpdns_lab_status;

/// An OCSP response about one certificate. Source: RFC 6960.
httpdns_lab_octets httpdns_lab_ocsp_response(
    const httpdns_lab_der *_Nonnull subject, const httpdns_lab_der *_Nonnull issuer,
    const httpdns_lab_der *_Nonnull signer, const httpdns_lab_der *_Nonnull signer_key,
    const httpdns_lab_status *_Nonnull status);
/// A list of revoked certificates. Source: RFC 5280 §5.
httpdns_lab_octets httpdns_lab_revocation_list(
    const httpdns_lab_der *_Nonnull issuer, const httpdns_lab_der *_Nonnull issuer_key,
    const httpdns_lab_der *_Nullable revoked, size_t count,
    const httpdns_lab_status *_Nonnull status);

/// SHA-256 over the SubjectPublicKeyInfo of a DER certificate. 1 or 0.
int httpdns_lab_key_digest(
    const unsigned char *_Nonnull certificate, size_t count, unsigned char digest[_Nonnull 32]);
/// PEM with this label, for example "CERTIFICATE" or "PRIVATE KEY".
httpdns_lab_octets httpdns_lab_pem(
    const char *_Nonnull label, const unsigned char *_Nonnull der, size_t count);
/// 1, or 0 when this OpenSSL offers no MD5.
int httpdns_lab_md5(
    const unsigned char *_Nullable octets, size_t count, unsigned char digest[_Nonnull 16]);

/// A server's identity: a DER private key, then certificates added leaf first. NULL on a bad key.
SSL_CTX *_Nullable httpdns_lab_context_new(
    const unsigned char *_Nonnull key, size_t count, const unsigned char *_Nonnull leaf,
    size_t leaf_count);
int httpdns_lab_context_add(
    SSL_CTX *_Nonnull context, const unsigned char *_Nonnull certificate, size_t count);
/// The protocol versions offered, as TLS1_1_VERSION and so on. Versions below 1.2 need security
/// level 0, which this sets when they are asked for.
int httpdns_lab_context_versions(SSL_CTX *_Nonnull context, int minimum, int maximum);

/// The ciphers up to TLS 1.2, in OpenSSL's words. 0 when this OpenSSL has none of them.
int httpdns_lab_context_ciphers(SSL_CTX *_Nonnull context, const char *_Nonnull list);
/// A Diffie-Hellman group of 512, 1,024 or 2,048 bits. 0 when this OpenSSL does not serve it.
int httpdns_lab_context_group(SSL_CTX *_Nonnull context, int bits);
/// The OCSP response that a client gets when it asks for one. Source: RFC 6066 §8.
int httpdns_lab_context_staple(
    SSL_CTX *_Nonnull context, const unsigned char *_Nonnull octets, size_t count);
/// Whether sessions are resumed, by tickets or identifiers; they are, unless said.
void httpdns_lab_context_resumption(SSL_CTX *_Nonnull context, int is_on);
/// Asks for a client's certificate and takes any that is sent; without one the handshake goes on
/// (`demands` 0) or fails (1).
void httpdns_lab_context_client(SSL_CTX *_Nonnull context, int demands);

enum {
    HTTPDNS_LAB_PROTOCOL_HTTP1 = 0,
    HTTPDNS_LAB_PROTOCOL_HTTP2 = 1,
    HTTPDNS_LAB_PROTOCOL_DOT = 2,
    /// Breaks off with the alert no_application_protocol.
    HTTPDNS_LAB_PROTOCOL_REFUSED = 3,
    /// HTTP/2, or HTTP/1.1 with a client that does not offer it.
    HTTPDNS_LAB_PROTOCOL_HTTP2_OR_1 = 4,
};
/// The application protocol that the server agrees to (ALPN); HTTP/1.1 unless said otherwise.
void httpdns_lab_context_protocol(SSL_CTX *_Nonnull context, int protocol);

/// What a step of a TLS connection ended in. Zero and more: octets moved, or a handshake done.
enum {
    HTTPDNS_LAB_WANTS_READ = -1,
    HTTPDNS_LAB_WANTS_WRITE = -2,
    /// The ClientHello has been read; nothing was sent. Call the handshake again to go on.
    HTTPDNS_LAB_HELLO_READ = -3,
    HTTPDNS_LAB_CLOSED = -4,
    HTTPDNS_LAB_BROKEN = -5,
};

/// The server's end of a connection over a non-blocking socket, which stays the caller's.
SSL *_Nullable httpdns_lab_accept(SSL_CTX *_Nonnull context, int socket);
int httpdns_lab_handshake(SSL *_Nonnull connection);
/// What the handshake agreed on, and what the client sent in its ClientHello.
typedef struct {
    int is_http2;
    int is_resumed;
    /// The ClientHello had status_request.
    int asks_for_status;
    int has_client_certificate;
} httpdns_lab_agreed;
httpdns_lab_agreed httpdns_lab_what_was_agreed(SSL *_Nonnull connection);
int httpdns_lab_read(SSL *_Nonnull connection, unsigned char *_Nonnull octets, int capacity);
int httpdns_lab_write(SSL *_Nonnull connection, const unsigned char *_Nonnull octets, int count);
/// Says goodbye (close_notify) if the connection still can; never waits.
void httpdns_lab_goodbye(SSL *_Nonnull connection);
/// The server name in the ClientHello; its length, or -1 when there was none or it did not fit.
int httpdns_lab_server_name(SSL *_Nonnull connection, char *_Nonnull name, size_t capacity);

#endif
