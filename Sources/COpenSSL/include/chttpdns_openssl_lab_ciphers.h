// The ciphers, digests and codes of HTTP-DNS vendors as the test laboratory computes them, apart
// from those of the library, so that one checks the other.
#ifndef CHTTPDNS_OPENSSL_LAB_CIPHERS_H
#define CHTTPDNS_OPENSSL_LAB_CIPHERS_H

#include <stddef.h>

enum {
    HTTPDNS_LAB_DES_ECB = 0,
    HTTPDNS_LAB_AES128_CBC = 1,
    HTTPDNS_LAB_AES256_ECB = 2,
};

/// 1 when OpenSSL's legacy provider, which has DES, could be loaded. It lives in a library context of
/// its own: nothing else in the process gains a weak cipher by it.
int httpdns_lab_has_des(void);

/// Encrypts (1) or decrypts (0) whole blocks; padding is the caller's. `output` takes `count` octets.
/// The key has 8, 16 or 32 octets, the vector 16 (CBC only). 1, or 0 when it cannot be done.
int httpdns_lab_blocks(
    int cipher, int encrypting, const unsigned char *_Nonnull key,
    const unsigned char *_Nullable vector, const unsigned char *_Nonnull input, size_t count,
    unsigned char *_Nonnull output);

/// AES-128-GCM with a vector of 12 octets and no additional data. The tag is written when encrypting
/// and checked when decrypting. 1, or 0 when it cannot be done or the tag is wrong.
int httpdns_lab_gcm(
    int encrypting, const unsigned char key[_Nonnull 16], const unsigned char vector[_Nonnull 12],
    const unsigned char *_Nullable input, size_t count, unsigned char *_Nonnull output,
    unsigned char tag[_Nonnull 16]);

/// 1 or 0.
int httpdns_lab_random(unsigned char *_Nonnull octets, size_t count);

/// 1 or 0.
int httpdns_lab_sha256(
    const unsigned char *_Nullable octets, size_t count, unsigned char digest[_Nonnull 32]);

/// 1 or 0.
int httpdns_lab_hmac_sha256(
    const unsigned char *_Nonnull key, size_t key_count, const unsigned char *_Nullable octets,
    size_t count, unsigned char code[_Nonnull 32]);

#endif
