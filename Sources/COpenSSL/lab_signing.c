#include "lab_signing.h"
#include "chttpdns_openssl_lab.h"

#include <limits.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/hmac.h>
#include <string.h>

EVP_PKEY *httpdns_lab_key_from(const unsigned char *der, size_t count) {
    if (count > LONG_MAX) return NULL;
    return d2i_AutoPrivateKey(NULL, &der, (long)count);
}

X509 *httpdns_lab_certificate_from(const unsigned char *der, size_t count) {
    if (count > LONG_MAX) return NULL;
    return d2i_X509(NULL, &der, (long)count);
}

const EVP_MD *httpdns_lab_digest_for(EVP_PKEY *key, int digest) {
    // Ed25519 hashes by itself and takes no digest. Source: RFC 8410 §3.
    if (EVP_PKEY_get_id(key) == EVP_PKEY_ED25519) return NULL;
    switch (digest) {
    case HTTPDNS_LAB_DIGEST_MD5: return EVP_md5();
    case HTTPDNS_LAB_DIGEST_SHA1: return EVP_sha1();
    case HTTPDNS_LAB_DIGEST_SHA384: return EVP_sha384();
    case HTTPDNS_LAB_DIGEST_SHA512: return EVP_sha512();
    default: return EVP_sha256();
    }
}

// The state of the generator that draws k from the key and the digest. Source: RFC 6979 §3.2; names
// as there.
struct nonces {
    const EVP_MD *md;
    unsigned int length;
    unsigned char k[EVP_MAX_MD_SIZE], v[EVP_MAX_MD_SIZE];
};

static int step_v(struct nonces *state) {
    return HMAC(state->md, state->k, (int)state->length, state->v, state->length, state->v, NULL)
        != NULL;
}

static int step_k(struct nonces *state, unsigned char mark, const unsigned char *more, size_t count) {
    unsigned char input[EVP_MAX_MD_SIZE + 1 + 2 * 66];
    if (count > sizeof input - state->length - 1) return 0;
    memcpy(input, state->v, state->length);
    input[state->length] = mark;
    if (count) memcpy(input + state->length + 1, more, count);
    return HMAC(
               state->md, state->k, (int)state->length, input, state->length + 1 + count, state->k,
               NULL)
        && step_v(state);
}

// The leftmost bits of the octets, as many as the order has. Source: RFC 6979 §2.3.2.
static BIGNUM *number_of(const unsigned char *octets, size_t count, const BIGNUM *order) {
    BIGNUM *number = BN_bin2bn(octets, (int)count, NULL);
    int excess = (int)count * 8 - BN_num_bits(order);
    if (number && excess > 0 && !BN_rshift(number, number, excess)) {
        BN_free(number);
        return NULL;
    }
    return number;
}

static int begin_nonces(
    struct nonces *state, const BIGNUM *private, const BIGNUM *digest, const BIGNUM *order) {
    unsigned char input[2 * 66];
    int width = BN_num_bytes(order);
    BIGNUM *reduced = BN_dup(digest);
    memset(state->k, 0, sizeof state->k);
    memset(state->v, 1, sizeof state->v);
    // Both have the order's bits, so one subtraction reduces.
    int done = reduced && (BN_cmp(reduced, order) < 0 || BN_sub(reduced, reduced, order))
        && BN_bn2binpad(private, input, width) == width
        && BN_bn2binpad(reduced, input + width, width) == width
        && step_k(state, 0, input, 2 * (size_t)width) && step_k(state, 1, input, 2 * (size_t)width);
    BN_free(reduced);
    return done;
}

static BIGNUM *next_nonce(struct nonces *state, const BIGNUM *order) {
    for (;;) {
        unsigned char octets[2 * EVP_MAX_MD_SIZE];
        size_t have = 0, wanted = (size_t)BN_num_bytes(order);
        while (have < wanted) {
            if (!step_v(state)) return NULL;
            memcpy(octets + have, state->v, state->length);
            have += state->length;
        }
        BIGNUM *nonce = number_of(octets, wanted, order);
        if (!nonce || (!BN_is_zero(nonce) && BN_cmp(nonce, order) < 0)) return nonce;
        BN_free(nonce);
        if (!step_k(state, 0, NULL, 0)) return NULL;
    }
}

// s = k^-1 (digest + r * private) mod order, r = x(k * G) mod order. Source: FIPS 186-5 §6.4.1.
static ECDSA_SIG *signature_of(
    const EC_GROUP *group, const BIGNUM *private, const BIGNUM *digest, const BIGNUM *nonce,
    BN_CTX *numbers) {
    const BIGNUM *order = EC_GROUP_get0_order(group);
    EC_POINT *point = EC_POINT_new(group);
    BIGNUM *r = BN_new(), *s = BN_new(), *inverse = BN_mod_inverse(NULL, nonce, order, numbers);
    ECDSA_SIG *signature = ECDSA_SIG_new();
    if (point && r && s && inverse && signature
        && EC_POINT_mul(group, point, nonce, NULL, NULL, numbers)
        && EC_POINT_get_affine_coordinates(group, point, r, NULL, numbers)
        && BN_nnmod(r, r, order, numbers) && BN_mod_mul(s, r, private, order, numbers)
        && BN_mod_add(s, s, digest, order, numbers) && BN_mod_mul(s, s, inverse, order, numbers)
        && ECDSA_SIG_set0(signature, r, s)) {
        r = s = NULL;
    } else {
        ECDSA_SIG_free(signature);
        signature = NULL;
    }
    EC_POINT_free(point);
    BN_free(r);
    BN_free(s);
    BN_free(inverse);
    return signature;
}

int httpdns_lab_sign_digest(
    EVP_PKEY *key, const EVP_MD *md, const unsigned char *digest, unsigned int count,
    unsigned char **der) {
    int length = 0;
    int curve = EVP_PKEY_get_bits(key) > 256 ? NID_secp384r1 : NID_X9_62_prime256v1;
    EC_GROUP *group = EC_GROUP_new_by_curve_name(curve);
    BN_CTX *numbers = BN_CTX_new();
    BIGNUM *private = NULL, *number = NULL, *nonce = NULL;
    struct nonces state = {.md = md, .length = count};
    if (group && numbers && EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &private)) {
        const BIGNUM *order = EC_GROUP_get0_order(group);
        number = number_of(digest, count, order);
        if (number && begin_nonces(&state, private, number, order)) nonce = next_nonce(&state, order);
    }
    ECDSA_SIG *signature = nonce ? signature_of(group, private, number, nonce, numbers) : NULL;
    if (signature) length = i2d_ECDSA_SIG(signature, der);
    ECDSA_SIG_free(signature);
    BN_clear_free(nonce);
    BN_free(number);
    BN_clear_free(private);
    BN_CTX_free(numbers);
    EC_GROUP_free(group);
    return length > 0 ? length : 0;
}

// Puts the signature of RFC 6979 where OpenSSL has put a random one.
static int replace_signature(X509 *certificate, EVP_PKEY *key, const EVP_MD *md) {
    unsigned char digest[EVP_MAX_MD_SIZE], *body = NULL, *der = NULL;
    unsigned int count = 0;
    const ASN1_BIT_STRING *signature = NULL;
    int length = i2d_re_X509_tbs(certificate, &body);
    int done = length > 0 && EVP_Digest(body, (size_t)length, digest, &count, md, NULL);
    int octets = done ? httpdns_lab_sign_digest(key, md, digest, count, &der) : 0;
    X509_get0_signature(&signature, NULL, certificate);
    // The certificate is ours and not shared; there is no other way to set its signature.
    done = octets > 0 && signature && ASN1_STRING_set((ASN1_STRING *)(uintptr_t)signature, der, octets);
    OPENSSL_free(body);
    OPENSSL_free(der);
    return done;
}

int httpdns_lab_sign_certificate(X509 *certificate, EVP_PKEY *key, int digest) {
    const EVP_MD *md = httpdns_lab_digest_for(key, digest);
    if (X509_sign(certificate, key, md) <= 0) return 0;
    if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) return 1;
    return replace_signature(certificate, key, md);
}
