#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "chttpdns_openssl_lab_status.h"

#include <limits.h>
#include <openssl/ct.h>
#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static httpdns_lab_octets taken(unsigned char *octets, long count) {
    httpdns_lab_octets result = {count > 0 ? octets : NULL, count > 0 ? (size_t)count : 0};
    return result;
}

static httpdns_lab_octets contents(BIO *sink) {
    char *octets = NULL;
    long count = BIO_get_mem_data(sink, &octets);
    unsigned char *copy = count > 0 ? OPENSSL_memdup(octets, (size_t)count) : NULL;
    return taken(copy, copy == NULL ? 0 : count);
}

static ASN1_TIME *generalized(int64_t seconds) {
    if (seconds == INT64_MIN) return NULL;
    return (ASN1_TIME *)ASN1_GENERALIZEDTIME_set(NULL, (time_t)seconds);
}

static int sign_response(OCSP_BASICRESP *basic, const httpdns_lab_ocsp *making) {
    const EVP_MD *digest =
        EVP_PKEY_get_id(making->signer_key) == EVP_PKEY_ED25519 ? NULL : EVP_sha256();
    if (making->is_weak) digest = EVP_sha1();
    unsigned long flags = making->signer == making->issuer ? OCSP_NOCERTS : 0;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *parameters = NULL;
    int done = context
        && EVP_DigestSignInit(context, &parameters, digest, NULL, making->signer_key) == 1
        && (!making->is_pss
            || EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1)
        && OCSP_basic_sign_ctx(basic, making->signer, context, NULL, flags);
    EVP_MD_CTX_free(context);
    return done;
}

httpdns_lab_octets httpdns_lab_status_response(const httpdns_lab_ocsp *making) {
    static const int statuses[] = {
        V_OCSP_CERTSTATUS_GOOD, V_OCSP_CERTSTATUS_REVOKED, V_OCSP_CERTSTATUS_UNKNOWN};
    OCSP_BASICRESP *basic = OCSP_BASICRESP_new();
    OCSP_CERTID *subject = OCSP_cert_to_id(EVP_sha1(), making->subject, making->issuer);
    ASN1_TIME *from = generalized(making->this_update), *to = generalized(making->next_update);
    ASN1_TIME *revoked =
        making->status == HTTPDNS_LAB_STATUS_REVOKED ? generalized(making->this_update) : NULL;
    OCSP_RESPONSE *response = NULL;
    unsigned char *der = NULL;
    int count = 0;
    if (basic && subject && from && making->status >= 0 && making->status <= 2
        && OCSP_basic_add1_status(
            basic, subject, statuses[making->status], OCSP_REVOKED_STATUS_KEYCOMPROMISE, revoked,
            from, to)
        && sign_response(basic, making))
        response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
    if (response) count = i2d_OCSP_RESPONSE(response, &der);
    OCSP_RESPONSE_free(response);
    OCSP_BASICRESP_free(basic);
    OCSP_CERTID_free(subject);
    ASN1_TIME_free(from);
    ASN1_TIME_free(to);
    ASN1_TIME_free(revoked);
    return taken(der, count);
}

httpdns_lab_octets httpdns_lab_ocsp_refusal(int status) {
    OCSP_RESPONSE *response = OCSP_response_create(status, NULL);
    unsigned char *der = NULL;
    int count = response ? i2d_OCSP_RESPONSE(response, &der) : 0;
    OCSP_RESPONSE_free(response);
    return taken(der, count);
}

static int revoke(X509_CRL *list, X509 *certificate, const ASN1_TIME *at) {
    X509_REVOKED *entry = X509_REVOKED_new();
    if (entry && X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(certificate))
        && X509_REVOKED_set_revocationDate(entry, (ASN1_TIME *)(uintptr_t)at)
        && X509_CRL_add0_revoked(list, entry))
        return 1;
    X509_REVOKED_free(entry);
    return 0;
}

static int number_and_issuer(X509_CRL *list, X509 *issuer) {
    ASN1_INTEGER *number = ASN1_INTEGER_new();
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, NULL, NULL, list, 0);
    X509_EXTENSION *key =
        X509V3_EXT_conf_nid(NULL, &context, NID_authority_key_identifier, "keyid");
    int done = number && key && ASN1_INTEGER_set(number, 1)
        && X509_CRL_add1_ext_i2d(list, NID_crl_number, number, 0, 0) == 1
        && X509_CRL_add_ext(list, key, -1);
    ASN1_INTEGER_free(number);
    X509_EXTENSION_free(key);
    return done;
}

httpdns_lab_octets httpdns_lab_list(
    X509 *issuer, EVP_PKEY *issuer_key, X509 *revoked, int64_t this_update, int64_t next_update) {
    X509_CRL *list = X509_CRL_new();
    ASN1_TIME *from = ASN1_TIME_set(NULL, (time_t)this_update);
    int is_ending = next_update != INT64_MIN;
    ASN1_TIME *to = is_ending ? ASN1_TIME_set(NULL, (time_t)next_update) : NULL;
    BIO *sink = BIO_new(BIO_s_mem());
    httpdns_lab_octets pem = taken(NULL, 0);
    if (list && from && (to || !is_ending) && sink && X509_CRL_set_version(list, X509_CRL_VERSION_2)
        && X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer))
        && X509_CRL_set1_lastUpdate(list, from)
        && (!is_ending || X509_CRL_set1_nextUpdate(list, to))
        && (revoked == NULL || revoke(list, revoked, from)) && number_and_issuer(list, issuer)
        && X509_CRL_sort(list) && X509_CRL_sign(list, issuer_key, EVP_sha256())
        && PEM_write_bio_X509_CRL(sink, list))
        pem = contents(sink);
    BIO_free(sink);
    ASN1_TIME_free(from);
    ASN1_TIME_free(to);
    X509_CRL_free(list);
    return pem;
}

static unsigned char *put(unsigned char *at, uint64_t number, int octets) {
    for (int shift = 8 * (octets - 1); shift >= 0; shift -= 8) *at++ = (unsigned char)(number >> shift);
    return at;
}

static unsigned char *copy(unsigned char *at, const void *octets, size_t count) {
    memcpy(at, octets, count);
    return at + count;
}

static int key_hash(EVP_PKEY *key, unsigned char hash[32]) {
    httpdns_lab_octets info = httpdns_lab_public_key(key);
    int done = info.octets && EVP_Digest(info.octets, info.count, hash, NULL, EVP_sha256(), NULL);
    httpdns_lab_release(info);
    return done;
}

// What a log signs. Source: RFC 6962 §3.2.
static int signature(
    X509 *certificate, X509 *issuer, EVP_PKEY *log_key, int64_t at, unsigned char *out,
    size_t *out_count) {
    unsigned char hash[32], *tbs = NULL;
    int count = i2d_re_X509_tbs(certificate, &tbs);
    unsigned char *whole = count > 0 ? malloc((size_t)count + 64) : NULL, *end = whole;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int done = 0;
    if (whole && context && key_hash(X509_get0_pubkey(issuer), hash)) {
        end = put(end, 0, 2);
        end = put(end, (uint64_t)at, 8);
        end = put(end, 1, 2);
        end = copy(end, hash, sizeof hash);
        end = put(end, (uint64_t)count, 3);
        end = copy(end, tbs, (size_t)count);
        end = put(end, 0, 2);
        done = EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, log_key) == 1
            && EVP_DigestSign(context, out, out_count, whole, (size_t)(end - whole)) == 1;
    }
    EVP_MD_CTX_free(context);
    OPENSSL_free(tbs);
    free(whole);
    return done;
}

int httpdns_lab_stamp(
    X509 *certificate, X509 *issuer, EVP_PKEY *issuer_key, EVP_PKEY *log_key,
    int64_t at_milliseconds) {
    unsigned char made[128], entry[256], log[32], *end = entry;
    size_t made_count = sizeof made;
    STACK_OF(SCT) *stamps = X509_get_ext_d2i(certificate, NID_ct_precert_scts, NULL, NULL);
    int place = X509_get_ext_by_NID(certificate, NID_ct_precert_scts, -1);
    if (place >= 0) X509_EXTENSION_free(X509_delete_ext(certificate, place));
    if (!stamps) stamps = sk_SCT_new_null();
    SCT *stamp = NULL;
    if (stamps && key_hash(log_key, log)
        && signature(certificate, issuer, log_key, at_milliseconds, made, &made_count)) {
        end = put(end, 0, 1);
        end = copy(end, log, sizeof log);
        end = put(end, (uint64_t)at_milliseconds, 8);
        end = put(end, 0, 2);
        // ecdsa_secp256r1_sha256 in the numbers of TLS 1.2. Source: RFC 5246 §7.4.1.4.1.
        end = put(end, 0x0403, 2);
        end = put(end, made_count, 2);
        end = copy(end, made, made_count);
        const unsigned char *at = entry;
        stamp = o2i_SCT(NULL, &at, (size_t)(end - entry));
    }
    int done = stamp && sk_SCT_push(stamps, stamp) > 0
        && X509_add1_ext_i2d(certificate, NID_ct_precert_scts, stamps, 0, 0) == 1
        && X509_sign(certificate, issuer_key, EVP_sha256()) > 0;
    SCT_LIST_free(stamps);
    return done;
}

httpdns_lab_octets httpdns_lab_public_key(EVP_PKEY *key) {
    unsigned char *der = NULL;
    int count = i2d_PUBKEY(key, &der);
    return taken(der, count);
}

httpdns_lab_octets httpdns_lab_private_key(EVP_PKEY *key, const char *passphrase) {
    BIO *sink = BIO_new(BIO_s_mem());
    httpdns_lab_octets pem = taken(NULL, 0);
    // Iterations are few: this protects nothing.
    if (sink
        && PEM_write_bio_PKCS8PrivateKey(
            sink, key, passphrase ? EVP_aes_128_cbc() : NULL, passphrase,
            passphrase ? (int)strlen(passphrase) : 0, NULL, NULL))
        pem = contents(sink);
    BIO_free(sink);
    return pem;
}

// The server's side

int httpdns_lab_context_ask_clients(
    SSL_CTX *context, const unsigned char *authority, size_t count, int is_demanded) {
    if (count > LONG_MAX) return 0;
    X509 *parsed = d2i_X509(NULL, &authority, (long)count);
    int done = parsed && X509_STORE_add_cert(SSL_CTX_get_cert_store(context), parsed)
        && SSL_CTX_add_client_CA(context, parsed);
    X509_free(parsed);
    SSL_CTX_set_verify(
        context, SSL_VERIFY_PEER | (is_demanded ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), NULL);
    static const unsigned char name[] = "lab";
    // Whatever the certificate is meant for: what the laboratory mints is for servers.
    return done && SSL_CTX_set_purpose(context, X509_PURPOSE_ANY) && SSL_CTX_set_session_id_context(context, name, sizeof name - 1);
}
