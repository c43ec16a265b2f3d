#include "chttpdns_openssl_lab_stamps.h"
#include "lab_signing.h"

#include <openssl/ct.h>
#include <openssl/ocsp.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *put(unsigned char *at, uint64_t number, int octets) {
    for (int shift = 8 * (octets - 1); shift >= 0; shift -= 8) *at++ = (unsigned char)(number >> shift);
    return at;
}

static unsigned char *copy(unsigned char *at, const void *octets, size_t count) {
    memcpy(at, octets, count);
    return at + count;
}

static int key_hash(EVP_PKEY *key, unsigned char hash[32]) {
    unsigned char *der = NULL;
    int count = i2d_PUBKEY(key, &der);
    int done = count > 0 && EVP_Digest(der, (size_t)count, hash, NULL, EVP_sha256(), NULL);
    OPENSSL_free(der);
    return done;
}

// What is promised: a certificate as it stands, or without its time stamps, with the issuer's key.
struct entry {
    const unsigned char *octets;
    size_t count;
    // NULL for a certificate as it stands.
    const unsigned char *issuer_hash;
};

// A serialized time stamp; its length, or 0. Source: RFC 6962 §3.2.
static size_t stamped(const struct entry *entry, const httpdns_lab_log *log, unsigned char out[512]) {
    unsigned char log_hash[32], digest[32], *made = NULL, *end = out;
    EVP_PKEY *key = httpdns_lab_key_from(log->key.octets, log->key.count);
    unsigned char *whole = malloc(entry->count + 64), *at = whole;
    uint64_t moment = (uint64_t)log->at_milliseconds;
    int length = 0;
    if (key && whole && key_hash(key, log_hash)) {
        // Version 1, certificate_timestamp.
        at = put(at, 0, 2);
        at = put(at, moment + (log->is_wrong ? 1 : 0), 8);
        at = put(at, entry->issuer_hash ? 1 : 0, 2);
        if (entry->issuer_hash) at = copy(at, entry->issuer_hash, 32);
        at = put(at, entry->count, 3);
        at = copy(at, entry->octets, entry->count);
        at = put(at, 0, 2);
        if (EVP_Digest(whole, (size_t)(at - whole), digest, NULL, EVP_sha256(), NULL))
            length = httpdns_lab_sign_digest(key, EVP_sha256(), digest, sizeof digest, &made);
    }
    if (length > 0 && length <= 128) {
        end = put(end, 0, 1);
        end = copy(end, log_hash, sizeof log_hash);
        end = put(end, moment, 8);
        end = put(end, 0, 2);
        // ecdsa_secp256r1_sha256 in the numbers of TLS 1.2. Source: RFC 5246 §7.4.1.4.1.
        end = put(end, 0x0403, 2);
        end = put(end, (uint64_t)length, 2);
        end = copy(end, made, (size_t)length);
    }
    OPENSSL_free(made);
    free(whole);
    EVP_PKEY_free(key);
    return (size_t)(end - out);
}

static STACK_OF(SCT) *take_stamps(X509 *certificate) {
    STACK_OF(SCT) *stamps = X509_get_ext_d2i(certificate, NID_ct_precert_scts, NULL, NULL);
    int place = X509_get_ext_by_NID(certificate, NID_ct_precert_scts, -1);
    if (place >= 0) X509_EXTENSION_free(X509_delete_ext(certificate, place));
    return stamps ? stamps : sk_SCT_new_null();
}

static int push_stamp(STACK_OF(SCT) *stamps, const unsigned char *octets, size_t count) {
    SCT *stamp = count ? o2i_SCT(NULL, &octets, count) : NULL;
    if (stamp && sk_SCT_push(stamps, stamp) > 0) return 1;
    SCT_free(stamp);
    return 0;
}

httpdns_lab_octets httpdns_lab_embed_stamp(
    const httpdns_lab_der *certificate, const httpdns_lab_der *issuer,
    const httpdns_lab_der *issuer_key, const httpdns_lab_log *log) {
    httpdns_lab_octets made = {NULL, 0};
    unsigned char hash[32], octets[512], *body = NULL;
    X509 *leaf = httpdns_lab_certificate_from(certificate->octets, certificate->count);
    X509 *above = httpdns_lab_certificate_from(issuer->octets, issuer->count);
    EVP_PKEY *key = httpdns_lab_key_from(issuer_key->octets, issuer_key->count);
    STACK_OF(SCT) *stamps = leaf ? take_stamps(leaf) : NULL;
    int done = 0;
    int length = above && key && stamps && key_hash(X509_get0_pubkey(above), hash)
        ? i2d_re_X509_tbs(leaf, &body) : 0;
    if (length > 0) {
        struct entry entry = {body, (size_t)length, hash};
        done = push_stamp(stamps, octets, stamped(&entry, log, octets))
            && X509_add1_ext_i2d(leaf, NID_ct_precert_scts, stamps, 0, 0) == 1
            && httpdns_lab_sign_certificate(leaf, key, HTTPDNS_LAB_DIGEST_SHA256);
    }
    length = done ? i2d_X509(leaf, &made.octets) : 0;
    if (length > 0) made.count = (size_t)length;
    OPENSSL_free(body);
    SCT_LIST_free(stamps);
    EVP_PKEY_free(key);
    X509_free(above);
    X509_free(leaf);
    return made;
}

httpdns_lab_octets httpdns_lab_sent_stamp(
    const httpdns_lab_der *certificate, const httpdns_lab_log *log) {
    httpdns_lab_octets made = {NULL, 0};
    unsigned char octets[512];
    struct entry entry = {certificate->octets, certificate->count, NULL};
    size_t count = stamped(&entry, log, octets);
    made.octets = count ? OPENSSL_memdup(octets, count) : NULL;
    if (made.octets) made.count = count;
    return made;
}

httpdns_lab_octets httpdns_lab_stamp_response(
    const httpdns_lab_der *response, const httpdns_lab_der *signer,
    const httpdns_lab_der *signer_key, const httpdns_lab_der *stamps) {
    httpdns_lab_octets made = {NULL, 0};
    unsigned char head[2];
    const unsigned char *octets = response->octets;
    OCSP_RESPONSE *old = d2i_OCSP_RESPONSE(NULL, &octets, (long)response->count), *new = NULL;
    OCSP_BASICRESP *basic = old ? OCSP_response_get1_basic(old) : NULL;
    X509 *responder = httpdns_lab_certificate_from(signer->octets, signer->count);
    EVP_PKEY *key = httpdns_lab_key_from(signer_key->octets, signer_key->count);
    unsigned char *whole = malloc(stamps->count + sizeof head);
    OCSP_SINGLERESP *answer = basic ? OCSP_resp_get0(basic, 0) : NULL;
    STACK_OF(SCT) *list = NULL;
    if (whole && stamps->count < 65536) {
        put(head, stamps->count, 2);
        copy(copy(whole, head, sizeof head), stamps->octets, stamps->count);
        const unsigned char *at = whole;
        list = o2i_SCT_LIST(NULL, &at, stamps->count + sizeof head);
    }
    if (list && answer && responder && key
        && OCSP_SINGLERESP_add1_ext_i2d(answer, NID_ct_cert_scts, list, 0, 0) == 1
        && OCSP_basic_sign(
            basic, responder, key, httpdns_lab_digest_for(key, HTTPDNS_LAB_DIGEST_SHA256), NULL,
            OCSP_NOCERTS))
        new = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
    int length = new ? i2d_OCSP_RESPONSE(new, &made.octets) : 0;
    if (length > 0) made.count = (size_t)length;
    SCT_LIST_free(list);
    free(whole);
    EVP_PKEY_free(key);
    X509_free(responder);
    OCSP_BASICRESP_free(basic);
    OCSP_RESPONSE_free(new);
    OCSP_RESPONSE_free(old);
    return made;
}

httpdns_lab_octets httpdns_lab_public_key_of(const httpdns_lab_der *key) {
    httpdns_lab_octets made = {NULL, 0};
    EVP_PKEY *parsed = httpdns_lab_key_from(key->octets, key->count);
    int length = parsed ? i2d_PUBKEY(parsed, &made.octets) : 0;
    if (length > 0) made.count = (size_t)length;
    EVP_PKEY_free(parsed);
    return made;
}

int httpdns_lab_context_stamps(SSL_CTX *context, const unsigned char *list, size_t count) {
    // Source: SSL_CTX_use_serverinfo_ex(3): the messages, the extension's number, its length.
    unsigned char *info = count < 65534 ? malloc(count + 10) : NULL;
    if (!info) return 0;
    unsigned char *end = put(
        info,
        SSL_EXT_CLIENT_HELLO | SSL_EXT_TLS1_2_SERVER_HELLO | SSL_EXT_TLS1_3_CERTIFICATE
            | SSL_EXT_IGNORE_ON_RESUMPTION,
        4);
    end = put(end, TLSEXT_TYPE_signed_certificate_timestamp, 2);
    end = put(end, count + 2, 2);
    end = put(end, count, 2);
    end = copy(end, list, count);
    int done = SSL_CTX_use_serverinfo_ex(context, SSL_SERVERINFOV2, info, (size_t)(end - info)) == 1;
    free(info);
    return done;
}
