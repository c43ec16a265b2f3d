#include "chttpdns_openssl_lab.h"
#include "lab_signing.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void httpdns_lab_release(httpdns_lab_octets octets) { OPENSSL_free(octets.octets); }

void httpdns_lab_last_error(char *text, size_t capacity) {
    unsigned long code = ERR_peek_last_error();
    if (code) ERR_error_string_n(code, text, capacity);
    else if (capacity) text[0] = 0;
    ERR_clear_error();
}

static httpdns_lab_octets none(void) {
    httpdns_lab_octets octets = {NULL, 0};
    return octets;
}

static httpdns_lab_octets taken(unsigned char *octets, int count) {
    httpdns_lab_octets result = {octets, count > 0 ? (size_t)count : 0};
    return count > 0 ? result : none();
}

struct httpdns_lab_certificate {
    X509 *certificate;
    GENERAL_NAMES *names;
    int digest;
    struct extension {
        char *name, *value;
        struct extension *next;
    } *extensions, **last;
};

httpdns_lab_certificate *httpdns_lab_certificate_new(void) {
    httpdns_lab_certificate *making = calloc(1, sizeof *making);
    if (!making) return NULL;
    making->last = &making->extensions;
    making->certificate = X509_new();
    making->names = GENERAL_NAMES_new();
    unsigned char serial[16];
    BIGNUM *number = NULL;
    int ready = making->certificate && making->names && RAND_bytes(serial, sizeof serial) == 1;
    if (ready) {
        // A positive number that does not begin with a zero octet. Source: RFC 5280 §4.1.2.2.
        serial[0] = (serial[0] & 0x7F) | 0x40;
        number = BN_bin2bn(serial, sizeof serial, NULL);
        ready = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(making->certificate))
            && X509_set_version(making->certificate, X509_VERSION_3);
    }
    BN_free(number);
    if (ready) return making;
    httpdns_lab_certificate_free(making);
    return NULL;
}

void httpdns_lab_certificate_free(httpdns_lab_certificate *making) {
    X509_free(making->certificate);
    GENERAL_NAMES_free(making->names);
    for (struct extension *each = making->extensions, *next; each; each = next) {
        next = each->next;
        free(each->name);
        free(each->value);
        free(each);
    }
    free(making);
}

void httpdns_lab_certificate_digest(httpdns_lab_certificate *making, int digest) {
    making->digest = digest;
}

int httpdns_lab_certificate_serial(
    httpdns_lab_certificate *making, const unsigned char *octets, size_t count) {
    if (count > INT_MAX) return 0;
    BIGNUM *number = BN_bin2bn(octets, (int)count, NULL);
    int done =
        number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(making->certificate)) != NULL;
    BN_free(number);
    return done;
}

int httpdns_lab_certificate_subject(
    httpdns_lab_certificate *making, const unsigned char *name, size_t count) {
    if (count > INT_MAX) return 0;
    return X509_NAME_add_entry_by_NID(
        X509_get_subject_name(making->certificate), NID_commonName, MBSTRING_UTF8, name, (int)count,
        -1, 0);
}

int httpdns_lab_certificate_validity(
    httpdns_lab_certificate *making, int64_t not_before, int64_t not_after) {
    return ASN1_TIME_set(X509_getm_notBefore(making->certificate), (time_t)not_before)
        && ASN1_TIME_set(X509_getm_notAfter(making->certificate), (time_t)not_after);
}

int httpdns_lab_certificate_name(
    httpdns_lab_certificate *making, int is_address, const unsigned char *octets, size_t count) {
    if (count > INT_MAX) return 0;
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = is_address ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
    if (!name || !value || !ASN1_STRING_set(value, count ? octets : (const void *)"", (int)count)) {
        GENERAL_NAME_free(name);
        ASN1_STRING_free(value);
        return 0;
    }
    GENERAL_NAME_set0_value(name, is_address ? GEN_IPADD : GEN_DNS, value);
    if (sk_GENERAL_NAME_push(making->names, name)) return 1;
    GENERAL_NAME_free(name);
    return 0;
}

int httpdns_lab_certificate_extension(
    httpdns_lab_certificate *making, const char *name, const char *value) {
    struct extension *extension = calloc(1, sizeof *extension);
    if (!extension) return 0;
    extension->name = strdup(name);
    extension->value = strdup(value);
    *making->last = extension;
    making->last = &extension->next;
    return extension->name && extension->value;
}

// Extensions are made last: the key identifiers need the subject's and the issuer's keys in place.
// The configuration is empty, but some extensions are not made without one.
static int add_texts(httpdns_lab_certificate *making, X509 *issuer) {
    CONF *nothing = NCONF_new(NULL);
    if (!nothing) return 0;
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, making->certificate, NULL, NULL, 0);
    X509V3_set_nconf(&context, nothing);
    int added = 1;
    for (struct extension *each = making->extensions; added && each; each = each->next) {
        X509_EXTENSION *made = X509V3_EXT_nconf(nothing, &context, each->name, each->value);
        added = made && X509_add_ext(making->certificate, made, -1);
        X509_EXTENSION_free(made);
    }
    NCONF_free(nothing);
    return added;
}

static int add_extensions(httpdns_lab_certificate *making, X509 *issuer) {
    if (!add_texts(making, issuer)) return 0;
    if (sk_GENERAL_NAME_num(making->names) == 0) return 1;
    // Critical when it is all that names the subject. Source: RFC 5280 §4.2.1.6.
    int critical = X509_NAME_entry_count(X509_get_subject_name(making->certificate)) == 0;
    return X509_add1_ext_i2d(
               making->certificate, NID_subject_alt_name, making->names, critical, 0) == 1;
}

httpdns_lab_octets httpdns_lab_certificate_sign(
    httpdns_lab_certificate *making, const unsigned char *key, size_t key_count,
    const unsigned char *issuer, size_t issuer_count, const unsigned char *issuer_key,
    size_t issuer_key_count) {
    X509 *certificate = making->certificate;
    X509 *above = issuer ? httpdns_lab_certificate_from(issuer, issuer_count) : NULL;
    EVP_PKEY *own = httpdns_lab_key_from(key, key_count);
    EVP_PKEY *signer = httpdns_lab_key_from(issuer_key, issuer_key_count);
    unsigned char *der = NULL;
    int count = 0;
    X509 *parent = issuer ? above : certificate;
    if (parent && own && signer && X509_set_pubkey(certificate, own)
        && X509_set_issuer_name(certificate, X509_get_subject_name(parent))
        && add_extensions(making, parent) && httpdns_lab_sign_certificate(certificate, signer, making->digest))
        count = i2d_X509(certificate, &der);
    X509_free(above);
    EVP_PKEY_free(own);
    EVP_PKEY_free(signer);
    return taken(der, count);
}

int httpdns_lab_key_digest(
    const unsigned char *certificate, size_t count, unsigned char digest[32]) {
    X509 *parsed = httpdns_lab_certificate_from(certificate, count);
    if (!parsed) return 0;
    unsigned char *info = NULL;
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(parsed), &info);
    X509_free(parsed);
    if (length <= 0) return 0;
    int done = EVP_Digest(info, (size_t)length, digest, NULL, EVP_sha256(), NULL);
    OPENSSL_free(info);
    return done;
}

httpdns_lab_octets httpdns_lab_pem(const char *label, const unsigned char *der, size_t count) {
    BIO *text = BIO_new(BIO_s_mem());
    if (!text || count > LONG_MAX) return none();
    httpdns_lab_octets result = none();
    if (PEM_write_bio(text, label, "", der, (long)count) > 0) {
        char *octets = NULL;
        long length = BIO_get_mem_data(text, &octets);
        if (length > 0) result.octets = OPENSSL_memdup(octets, (size_t)length);
        if (result.octets) result.count = (size_t)length;
    }
    BIO_free(text);
    return result;
}

int httpdns_lab_md5(const unsigned char *octets, size_t count, unsigned char digest[16]) {
    return EVP_Digest(octets, count, digest, NULL, EVP_md5(), NULL);
}
