// What authorities, responders and logs say about a certificate, made in memory for tests: OCSP
// responses, revocation lists, embedded time stamps; and the server's side of both.
#ifndef CHTTPDNS_OPENSSL_LAB_STATUS_H
#define CHTTPDNS_OPENSSL_LAB_STATUS_H

#include "chttpdns_openssl_lab.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HTTPDNS_LAB_STATUS_GOOD = 0,
    HTTPDNS_LAB_STATUS_REVOKED = 1,
    HTTPDNS_LAB_STATUS_UNKNOWN = 2,
};

/// An OCSP response in the making; times are seconds since 1970.
typedef struct {
    X509 *_Nonnull subject;
    X509 *_Nonnull issuer;
    /// Who signs: the issuer itself or another. A certificate that is not the issuer's is sent along.
    X509 *_Nonnull signer;
    EVP_PKEY *_Nonnull signer_key;
    int status;
    int64_t this_update;
    /// INT64_MIN: none.
    int64_t next_update;
    /// Signed with SHA-1.
    int is_weak;
    /// With the padding PSS; the key has to be one for RSA.
    int is_pss;
} httpdns_lab_ocsp;

httpdns_lab_octets httpdns_lab_status_response(const httpdns_lab_ocsp *_Nonnull making);
/// A response without an answer, for example 3: tryLater.
httpdns_lab_octets httpdns_lab_ocsp_refusal(int status);

/// A revocation list in PEM that names `revoked` (NULL: nobody); `next_update` may be INT64_MIN: none.
httpdns_lab_octets httpdns_lab_list(
    X509 *_Nonnull issuer, EVP_PKEY *_Nonnull issuer_key, X509 *_Nullable revoked,
    int64_t this_update, int64_t next_update);

/// Embeds one more time stamp of the log with this EC key and signs `certificate` anew. 1 or 0.
int httpdns_lab_stamp(
    X509 *_Nonnull certificate, X509 *_Nonnull issuer, EVP_PKEY *_Nonnull issuer_key,
    EVP_PKEY *_Nonnull log_key, int64_t at_milliseconds);
/// SubjectPublicKeyInfo, DER.
httpdns_lab_octets httpdns_lab_public_key(EVP_PKEY *_Nonnull key);
/// PKCS#8 in PEM, encrypted when there is a passphrase.
httpdns_lab_octets httpdns_lab_private_key(
    EVP_PKEY *_Nonnull key, const char *_Nullable passphrase);

/// From now on the server asks clients for a certificate of this authority (DER), and, when it is
/// demanded, takes none without. 1 or 0.
int httpdns_lab_context_ask_clients(
    SSL_CTX *_Nonnull context, const unsigned char *_Nonnull authority, size_t count,
    int is_demanded);

#endif
