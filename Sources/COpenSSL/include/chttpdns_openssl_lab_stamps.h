// The promises of logs (Certificate Transparency, RFC 6962) for tests: time stamps in certificates, in
// handshakes and in OCSP responses, right and wrong.
#ifndef CHTTPDNS_OPENSSL_LAB_STAMPS_H
#define CHTTPDNS_OPENSSL_LAB_STAMPS_H

#include "chttpdns_openssl_lab.h"

/// A log in the act of promising.
typedef struct {
    /// Its EC key on P-256, PKCS#8.
    httpdns_lab_der key;
    int64_t at_milliseconds;
    /// The signature is over another moment.
    int is_wrong;
} httpdns_lab_log;

/// The certificate with one more time stamp of the log embedded, signed anew by its issuer.
httpdns_lab_octets httpdns_lab_embed_stamp(
    const httpdns_lab_der *_Nonnull certificate, const httpdns_lab_der *_Nonnull issuer,
    const httpdns_lab_der *_Nonnull issuer_key, const httpdns_lab_log *_Nonnull log);
/// A time stamp about the whole certificate, as it stands in a list.
httpdns_lab_octets httpdns_lab_sent_stamp(
    const httpdns_lab_der *_Nonnull certificate, const httpdns_lab_log *_Nonnull log);
/// The time stamps of a SignedCertificateTimestampList (without its own length before it) as an
/// extension of the one answer in an OCSP response, which is signed anew.
httpdns_lab_octets httpdns_lab_stamp_response(
    const httpdns_lab_der *_Nonnull response, const httpdns_lab_der *_Nonnull signer,
    const httpdns_lab_der *_Nonnull signer_key, const httpdns_lab_der *_Nonnull stamps);
/// SubjectPublicKeyInfo of a private key, DER.
httpdns_lab_octets httpdns_lab_public_key_of(const httpdns_lab_der *_Nonnull key);

/// The SignedCertificateTimestampList that the server sends to clients that ask for it. 1 or 0.
int httpdns_lab_context_stamps(
    SSL_CTX *_Nonnull context, const unsigned char *_Nonnull list, size_t count);

#endif
