#include "chttpdns_openssl_lab.h"

#include <limits.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <string.h>

// Octets without end that a seed stands for: SHA-256(seed, counter) for the counter 0, 1, 2 …
struct stream {
    const unsigned char *seed;
    size_t count;
    uint32_t block;
};

static int drawn(struct stream *stream, unsigned char *octets, size_t count) {
    while (count > 0) {
        unsigned char digest[32];
        const unsigned char number[4] = {
            (unsigned char)(stream->block >> 24), (unsigned char)(stream->block >> 16),
            (unsigned char)(stream->block >> 8), (unsigned char)stream->block};
        EVP_MD_CTX *hash = EVP_MD_CTX_new();
        int done = hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL)
            && EVP_DigestUpdate(hash, stream->seed, stream->count)
            && EVP_DigestUpdate(hash, number, sizeof number)
            && EVP_DigestFinal_ex(hash, digest, NULL);
        EVP_MD_CTX_free(hash);
        if (!done) return 0;
        stream->block++;
        size_t piece = count < sizeof digest ? count : sizeof digest;
        memcpy(octets, digest, piece);
        octets += piece;
        count -= piece;
    }
    return 1;
}

static EVP_PKEY *key_of(const char *algorithm, OSSL_PARAM_BLD *builder) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, algorithm, NULL);
    if (!parameters || !context || EVP_PKEY_fromdata_init(context) != 1
        || EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    return key;
}

// A scalar in 1 … order-1, from twice as many octets as the order has, so that none is favoured
// measurably. Source: FIPS 186-5 appendix A.2.1.
static int scalar_of(struct stream *stream, const EC_GROUP *group, BIGNUM *scalar, BN_CTX *numbers) {
    unsigned char octets[2 * 48];
    const BIGNUM *order = EC_GROUP_get0_order(group);
    size_t count = 2 * (size_t)BN_num_bytes(order);
    BIGNUM *limit = BN_dup(order);
    int done = limit && count <= sizeof octets && drawn(stream, octets, count)
        && BN_bin2bn(octets, (int)count, scalar) && BN_sub_word(limit, 1)
        && BN_mod(scalar, scalar, limit, numbers) && BN_add_word(scalar, 1);
    BN_free(limit);
    return done;
}

static EVP_PKEY *seeded_curve_key(struct stream *stream, int curve, const char *name) {
    unsigned char point[1 + 2 * 48];
    EVP_PKEY *key = NULL;
    BN_CTX *numbers = BN_CTX_new();
    EC_GROUP *group = EC_GROUP_new_by_curve_name(curve);
    EC_POINT *public = group ? EC_POINT_new(group) : NULL;
    BIGNUM *scalar = BN_new();
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (numbers && public && scalar && builder && scalar_of(stream, group, scalar, numbers)
        && EC_POINT_mul(group, public, scalar, NULL, NULL, numbers)) {
        size_t count = EC_POINT_point2oct(
            group, public, POINT_CONVERSION_UNCOMPRESSED, point, sizeof point, numbers);
        if (count > 0 && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, name, 0)
            && OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, count)
            && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar))
            key = key_of("EC", builder);
    }
    OSSL_PARAM_BLD_free(builder);
    BN_free(scalar);
    EC_POINT_free(public);
    EC_GROUP_free(group);
    BN_CTX_free(numbers);
    return key;
}

enum { RSA_PRIMES = 5 };

// How many primes a key of so many bits has: the long ones have five, because two primes of 4,096
// bits take many seconds to find, and nobody who sees the public key can tell.
static int prime_count(int bits) { return bits >= 8192 ? RSA_PRIMES : 2; }

// The next prime from the stream's octets. The eight highest bits are set, so that a product of five
// still has all its bits.
static BIGNUM *prime_of(struct stream *stream, int bits, BN_CTX *numbers) {
    unsigned char octets[512];
    int count = (bits + 7) / 8;
    if (count > (int)sizeof octets || !drawn(stream, octets, (size_t)count)) return NULL;
    BIGNUM *prime = BN_bin2bn(octets, count, NULL);
    int done = prime && BN_set_bit(prime, count * 8) && BN_mask_bits(prime, bits) && BN_set_bit(prime, 0);
    for (int bit = bits - 8; done && bit < bits; bit++) done = BN_set_bit(prime, bit);
    // Exponent 65,537 needs an inverse: no factor of it may divide prime - 1.
    while (done && (BN_mod_word(prime, RSA_F4) == 1 || BN_check_prime(prime, numbers, NULL) != 1))
        done = BN_add_word(prime, 2);
    if (done) return prime;
    BN_free(prime);
    return NULL;
}

struct rsa_parts {
    BIGNUM *modulus, *exponent, *private, *primes[RSA_PRIMES], *exponents[RSA_PRIMES],
        *coefficients[RSA_PRIMES];
};

static void free_parts(struct rsa_parts *parts) {
    BN_free(parts->modulus);
    BN_free(parts->exponent);
    BN_free(parts->private);
    for (int index = 0; index < RSA_PRIMES; index++) {
        BN_free(parts->primes[index]);
        BN_free(parts->exponents[index]);
        BN_free(parts->coefficients[index]);
    }
}

// Modulus, private exponent, and for each prime what the Chinese remainder theorem needs.
// Source: RFC 8017 §3.2 (r_i, d_i, t_i).
static int compute_parts(struct rsa_parts *parts, int count, BN_CTX *numbers) {
    BIGNUM *phi = BN_new(), *less = BN_new(), *before = BN_new();
    int done = phi && less && before && BN_one(phi) && BN_one(parts->modulus);
    for (int index = 0; done && index < count; index++) {
        done = BN_copy(before, parts->modulus)
            && BN_mul(parts->modulus, parts->modulus, parts->primes[index], numbers)
            && BN_copy(less, parts->primes[index]) && BN_sub_word(less, 1)
            && BN_mul(phi, phi, less, numbers);
        if (!done || index == 0) continue;
        // The first coefficient is q^-1 mod p, the others are (r_1 … r_i-1)^-1 mod r_i.
        const BIGNUM *inverted = index == 1 ? parts->primes[1] : before;
        const BIGNUM *modulus = index == 1 ? parts->primes[0] : parts->primes[index];
        parts->coefficients[index - 1] = BN_mod_inverse(NULL, inverted, modulus, numbers);
        done = parts->coefficients[index - 1] != NULL;
    }
    done = done && BN_mod_inverse(parts->private, parts->exponent, phi, numbers);
    for (int index = 0; done && index < count; index++) {
        parts->exponents[index] = BN_new();
        done = parts->exponents[index] && BN_copy(less, parts->primes[index]) && BN_sub_word(less, 1)
            && BN_mod(parts->exponents[index], parts->private, less, numbers);
    }
    BN_free(phi);
    BN_free(less);
    BN_free(before);
    return done;
}

static EVP_PKEY *key_from_parts(struct rsa_parts *parts, int count) {
    static const char *const factors[RSA_PRIMES] = {
        OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_FACTOR3,
        OSSL_PKEY_PARAM_RSA_FACTOR4, OSSL_PKEY_PARAM_RSA_FACTOR5};
    static const char *const exponents[RSA_PRIMES] = {
        OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_EXPONENT3,
        OSSL_PKEY_PARAM_RSA_EXPONENT4, OSSL_PKEY_PARAM_RSA_EXPONENT5};
    static const char *const coefficients[RSA_PRIMES - 1] = {
        OSSL_PKEY_PARAM_RSA_COEFFICIENT1, OSSL_PKEY_PARAM_RSA_COEFFICIENT2,
        OSSL_PKEY_PARAM_RSA_COEFFICIENT3, OSSL_PKEY_PARAM_RSA_COEFFICIENT4};
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    int done = builder && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, parts->modulus)
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, parts->exponent)
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_D, parts->private);
    for (int index = 0; done && index < count; index++)
        done = OSSL_PARAM_BLD_push_BN(builder, factors[index], parts->primes[index])
            && OSSL_PARAM_BLD_push_BN(builder, exponents[index], parts->exponents[index])
            && (index == count - 1
                || OSSL_PARAM_BLD_push_BN(builder, coefficients[index], parts->coefficients[index]));
    EVP_PKEY *key = done ? key_of("RSA", builder) : NULL;
    OSSL_PARAM_BLD_free(builder);
    return key;
}

static EVP_PKEY *seeded_rsa_key(struct stream *stream, int bits) {
    struct rsa_parts parts = {0};
    int count = prime_count(bits);
    BN_CTX *numbers = BN_CTX_new();
    parts.modulus = BN_new();
    parts.private = BN_new();
    parts.exponent = BN_new();
    int done = numbers && parts.modulus && parts.private && parts.exponent
        && BN_set_word(parts.exponent, RSA_F4);
    for (int index = 0; done && index < count; index++) {
        int share = bits / count + (index < bits % count);
        parts.primes[index] = prime_of(stream, share, numbers);
        done = parts.primes[index] != NULL;
    }
    EVP_PKEY *key = done && compute_parts(&parts, count, numbers) ? key_from_parts(&parts, count) : NULL;
    free_parts(&parts);
    BN_CTX_free(numbers);
    return key;
}

static EVP_PKEY *seeded_edwards_key(struct stream *stream) {
    unsigned char private[32];
    if (!drawn(stream, private, sizeof private)) return NULL;
    return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, private, sizeof private);
}

static EVP_PKEY *random_rsa_key(int bits) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    if (!context || EVP_PKEY_keygen_init(context) != 1
        || EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) != 1
        || EVP_PKEY_CTX_set_rsa_keygen_primes(context, prime_count(bits)) != 1
        || EVP_PKEY_generate(context, &key) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return key;
}

static EVP_PKEY *random_key(int kind) {
    switch (kind) {
    case HTTPDNS_LAB_KEY_P256: return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
    case HTTPDNS_LAB_KEY_P384: return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-384");
    case HTTPDNS_LAB_KEY_ED25519: return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    default: return random_rsa_key(kind);
    }
}

static EVP_PKEY *seeded_key(int kind, struct stream *stream) {
    switch (kind) {
    case HTTPDNS_LAB_KEY_P256: return seeded_curve_key(stream, NID_X9_62_prime256v1, "P-256");
    case HTTPDNS_LAB_KEY_P384: return seeded_curve_key(stream, NID_secp384r1, "P-384");
    case HTTPDNS_LAB_KEY_ED25519: return seeded_edwards_key(stream);
    default: return seeded_rsa_key(stream, kind);
    }
}

httpdns_lab_octets httpdns_lab_new_key(int kind, const unsigned char *seed, size_t count) {
    httpdns_lab_octets made = {NULL, 0};
    struct stream stream = {seed, count, 0};
    EVP_PKEY *key = seed ? seeded_key(kind, &stream) : random_key(kind);
    if (!key) return made;
    PKCS8_PRIV_KEY_INFO *wrapped = EVP_PKEY2PKCS8(key);
    EVP_PKEY_free(key);
    if (!wrapped) return made;
    int length = i2d_PKCS8_PRIV_KEY_INFO(wrapped, &made.octets);
    PKCS8_PRIV_KEY_INFO_free(wrapped);
    if (length > 0) made.count = (size_t)length;
    return made;
}
