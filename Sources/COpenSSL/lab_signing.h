// How the laboratory's C files sign; not for Swift.
#ifndef CHTTPDNS_LAB_SIGNING_H
#define CHTTPDNS_LAB_SIGNING_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stddef.h>

/// The digest of a HTTPDNS_LAB_DIGEST_ number; NULL for a key that takes none.
const EVP_MD *httpdns_lab_digest_for(EVP_PKEY *key, int digest);
/// Signs the certificate. Equal certificates and keys give equal signatures: with ECDSA, whose
/// signatures are random otherwise, by RFC 6979.
int httpdns_lab_sign_certificate(X509 *certificate, EVP_PKEY *key, int digest);

/// The DER of an ECDSA signature by RFC 6979; its length, or 0.
int httpdns_lab_sign_digest(
    EVP_PKEY *key, const EVP_MD *md, const unsigned char *digest, unsigned int count,
    unsigned char **der);

EVP_PKEY *httpdns_lab_key_from(const unsigned char *der, size_t count);
X509 *httpdns_lab_certificate_from(const unsigned char *der, size_t count);

#endif
