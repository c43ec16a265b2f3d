// What is known of a certificate besides its chain: stapled OCSP responses, revocation lists and the
// signed time stamps of Certificate Transparency. Facts only; what they are worth is decided elsewhere.
#ifndef CHTTPDNS_OPENSSL_REVOCATION_H
#define CHTTPDNS_OPENSSL_REVOCATION_H

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>

/// No such moment. In Swift: Int64.min.
#define CHTTPDNS_NO_TIME INT64_MIN

enum {
    CHTTPDNS_STAPLE_GOOD = 0,
    CHTTPDNS_STAPLE_REVOKED = 1,
    CHTTPDNS_STAPLE_UNKNOWN = 2,
    /// It does not parse, or a time in it is none.
    CHTTPDNS_STAPLE_MALFORMED = 3,
    /// The responder has no answer; detail is its OCSP response status.
    CHTTPDNS_STAPLE_UNSUCCESSFUL = 4,
    /// It speaks of other certificates.
    CHTTPDNS_STAPLE_OTHER = 5,
    /// The signature is wrong, or the signer is not there.
    CHTTPDNS_STAPLE_UNSIGNED = 6,
    /// The signer is neither the issuer nor one that the issuer made for this (RFC 6960 §4.2.2.2).
    CHTTPDNS_STAPLE_UNAUTHORIZED = 7,
    /// The signer's certificate is not valid now.
    CHTTPDNS_STAPLE_SIGNER_ENDED = 8,
    /// Signed with SHA-1 or MD5, or with a key below 112 bits of security.
    CHTTPDNS_STAPLE_WEAK = 9,
};

typedef struct {
    int outcome;
    /// The reason of a revocation (RFC 5280 §5.3.1), -1 for none; a response status.
    int detail;
    /// Seconds since 1970, or CHTTPDNS_NO_TIME.
    int64_t this_update, next_update, revoked_at;
} chttpdns_staple;

/// Reads an OCSP response about `leaf`, whose verified issuer is `issuer`. The response's own times are
/// only read; those of a delegated signer are held against `now`. Leaves OpenSSL's error queue dirty.
void chttpdns_staple_read(
    const unsigned char *_Nonnull octets, size_t count, X509 *_Nonnull leaf, X509 *_Nonnull issuer,
    int64_t now, chttpdns_staple *_Nonnull facts);

/// OpenSSL's word for the detail; static.
const char *_Nonnull chttpdns_staple_word(const chttpdns_staple *_Nonnull facts);

/// The OCSP response that came in the handshake; NULL when none did.
const unsigned char *_Nullable chttpdns_connection_staple(
    SSL *_Nonnull connection, size_t *_Nonnull count);
/// Asks peers for a staple; `judge` is called once in each handshake, after the certificates, whether
/// one came or not. It answers 1 to go on, 0 to break off. 1, or 0 when it cannot be set.
int chttpdns_context_ask_staple(
    SSL_CTX *_Nonnull context, int (*_Nonnull judge)(SSL *_Nullable, void *_Nullable),
    void *_Nullable argument);
/// 1 when the TLS feature extension names status_request, or cannot be read. Source: RFC 7633.
int chttpdns_demands_staple(X509 *_Nonnull certificate);

/// Revocation lists, not changed after they were added.
typedef struct chttpdns_lists chttpdns_lists;

chttpdns_lists *_Nullable chttpdns_lists_new(void);
void chttpdns_lists_free(chttpdns_lists *_Nonnull lists);
/// Adds the lists of a PEM text. Their number; -n when the n-th is malformed; 0 when there is none.
int chttpdns_lists_add(
    chttpdns_lists *_Nonnull lists, const char *_Nonnull pem, size_t count);

enum {
    CHTTPDNS_LIST_NONE = 0,
    CHTTPDNS_LIST_GOOD = 1,
    CHTTPDNS_LIST_REVOKED = 2,
    /// The error (X509_V_ERR_*) says why.
    CHTTPDNS_LIST_UNUSABLE = 3,
};

/// An error that OpenSSL has no number for: a list without nextUpdate.
enum { CHTTPDNS_LIST_HAS_NO_END = -1 };

typedef struct {
    int state;
    int error;
    /// The nextUpdate of what was consulted, or CHTTPDNS_NO_TIME.
    int64_t until;
} chttpdns_list_finding;

/// What a version 2 list among them lacks of what it has to have; NULL: nothing. Source: RFC 5280
/// §5.2.1, §5.2.3.
const char *_Nullable chttpdns_lists_fault(const chttpdns_lists *_Nonnull lists);

/// What kind of list that is not judged here is among the last `added` ones, and which of them (from
/// 1); NULL: none.
const char *_Nullable chttpdns_lists_unjudged(
    const chttpdns_lists *_Nonnull lists, int added, int *_Nonnull number);

/// What the lists say of each certificate of a verified chain. The number of findings written; -1 when
/// OpenSSL refuses.
int chttpdns_lists_check(
    const chttpdns_lists *_Nonnull lists, STACK_OF(X509) *_Nonnull chain, int64_t now,
    chttpdns_list_finding *_Nonnull findings, int capacity);

/// The known logs of Certificate Transparency.
typedef struct ctlog_store_st chttpdns_logs;

/// Reads logs in the form of CTLOG_STORE_new(3); NULL when it is malformed.
chttpdns_logs *_Nullable chttpdns_logs_new(const char *_Nonnull configuration, size_t count);
void chttpdns_logs_free(chttpdns_logs *_Nullable logs);

enum {
    CHTTPDNS_STAMP_VALID = 0,
    CHTTPDNS_STAMP_UNKNOWN_LOG = 1,
    CHTTPDNS_STAMP_INVALID = 2,
};

enum {
    CHTTPDNS_STAMP_EMBEDDED = 0,
    /// In the TLS extension signed_certificate_timestamp.
    CHTTPDNS_STAMP_IN_HANDSHAKE = 1,
    /// In the stapled OCSP response.
    CHTTPDNS_STAMP_IN_STAPLE = 2,
};

typedef struct {
    int state;
    int source;
    unsigned char log[32];
    int64_t at_milliseconds;
} chttpdns_stamp;

/// The time stamps embedded in `leaf`, checked. Their number, of which at most `capacity` are written;
/// -1 when the extension is malformed.
int chttpdns_stamps_check(
    X509 *_Nonnull leaf, X509 *_Nonnull issuer, const chttpdns_logs *_Nonnull logs,
    int64_t now_seconds, chttpdns_stamp *_Nonnull stamps, int capacity);

/// Asks peers to send time stamps in the handshake as well; of no effect on what is accepted. 1, or 0
/// when it cannot be set.
int chttpdns_context_ask_stamps(SSL_CTX *_Nonnull context);
/// The time stamps about `leaf` that the peer sent beside its certificate, checked. Their number, of
/// which at most `capacity` are checked and written; -1 when what came is malformed.
int chttpdns_sent_stamps_check(
    SSL *_Nonnull connection, X509 *_Nonnull leaf, X509 *_Nonnull issuer,
    const chttpdns_logs *_Nonnull logs, int64_t now_seconds, chttpdns_stamp *_Nonnull stamps,
    int capacity);

/// A private key in PEM. The passphrase is used when the key is encrypted; nobody is asked for one.
/// NULL when it cannot be read; `lacks_passphrase` is then 1 when it needs one and got none.
EVP_PKEY *_Nullable chttpdns_private_key(
    const char *_Nonnull pem, size_t count, const char *_Nullable passphrase,
    int *_Nonnull lacks_passphrase);

/// A slot for application data on certificates.
int chttpdns_certificate_index(CRYPTO_EX_dup *_Nullable duplicate, CRYPTO_EX_free *_Nullable release);

/// How many octets ``chttpdns_chain_octets`` writes; 0 when OpenSSL refuses.
size_t chttpdns_chain_count(X509 *_Nonnull leaf, const STACK_OF(X509) *_Nullable others);
/// Each certificate's DER after its length in four octets: `leaf`, then `others` but for `leaf` itself.
/// `room` is their count. How many were written; 0 when OpenSSL refuses.
size_t chttpdns_chain_octets(
    X509 *_Nonnull leaf, const STACK_OF(X509) *_Nullable others, unsigned char *_Nonnull octets,
    size_t room);
/// Whether two runs of octets are the same; for such as are no secret. 1 or 0.
int chttpdns_are_equal(const void *_Nonnull one, const void *_Nonnull other, size_t count);
/// SHA-256 of a certificate's DER. 1 or 0.
int chttpdns_certificate_digest(
    const X509 *_Nonnull certificate, unsigned char digest[_Nonnull 32]);
/// SHA-256 of octets. 1 or 0.
int chttpdns_sha256(
    const void *_Nonnull octets, size_t count, unsigned char digest[_Nonnull 32]);

#endif
