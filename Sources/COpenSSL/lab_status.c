#include "chttpdns_openssl_lab.h"
#include "lab_signing.h"

#include <openssl/ocsp.h>
#include <openssl/x509v3.h>
#include <time.h>

static ASN1_TIME *moment(int64_t seconds) { return ASN1_GENERALIZEDTIME_set(NULL, (time_t)seconds); }

static int add_answer(OCSP_BASICRESP *answers, X509 *subject, X509 *issuer, const httpdns_lab_status *status) {
    OCSP_CERTID *identifier = OCSP_cert_to_id(EVP_sha1(), subject, issuer);
    int revoked = status->status == V_OCSP_CERTSTATUS_REVOKED;
    ASN1_TIME *since = revoked ? moment(status->this_update) : NULL;
    ASN1_TIME *from = moment(status->this_update), *to = moment(status->next_update);
    int done = identifier && from && to && (!revoked || since)
        && OCSP_basic_add1_status(
            answers, identifier, status->status,
            revoked ? OCSP_REVOKED_STATUS_KEYCOMPROMISE : OCSP_REVOKED_STATUS_NOSTATUS, since, from, to);
    OCSP_CERTID_free(identifier);
    ASN1_TIME_free(since);
    ASN1_TIME_free(from);
    ASN1_TIME_free(to);
    return done;
}

httpdns_lab_octets httpdns_lab_ocsp_response(
    const httpdns_lab_der *subject, const httpdns_lab_der *issuer, const httpdns_lab_der *signer,
    const httpdns_lab_der *signer_key, const httpdns_lab_status *status) {
    httpdns_lab_octets made = {NULL, 0};
    X509 *leaf = httpdns_lab_certificate_from(subject->octets, subject->count);
    X509 *above = httpdns_lab_certificate_from(issuer->octets, issuer->count);
    X509 *responder = httpdns_lab_certificate_from(signer->octets, signer->count);
    EVP_PKEY *key = httpdns_lab_key_from(signer_key->octets, signer_key->count);
    OCSP_BASICRESP *answers = OCSP_BASICRESP_new();
    OCSP_RESPONSE *response = NULL;
    if (leaf && above && responder && key && answers && add_answer(answers, leaf, above, status)) {
        // A response that the issuer itself signs needs no certificate in it. Source: RFC 6960 §4.2.2.2.
        unsigned long flags = X509_cmp(above, responder) == 0 ? OCSP_NOCERTS : 0;
        const EVP_MD *md = httpdns_lab_digest_for(key, HTTPDNS_LAB_DIGEST_SHA256);
        if (OCSP_basic_sign(answers, responder, key, md, NULL, flags))
            response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, answers);
    }
    int length = response ? i2d_OCSP_RESPONSE(response, &made.octets) : 0;
    if (length > 0) made.count = (size_t)length;
    OCSP_RESPONSE_free(response);
    OCSP_BASICRESP_free(answers);
    EVP_PKEY_free(key);
    X509_free(responder);
    X509_free(above);
    X509_free(leaf);
    return made;
}

static int add_revoked(X509_CRL *list, const httpdns_lab_der *certificate, const ASN1_TIME *since) {
    X509 *revoked = httpdns_lab_certificate_from(certificate->octets, certificate->count);
    X509_REVOKED *entry = X509_REVOKED_new();
    int done = revoked && entry && X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked))
        && X509_REVOKED_set_revocationDate(entry, (ASN1_TIME *)(uintptr_t)since)
        && X509_CRL_add0_revoked(list, entry);
    if (!done) X509_REVOKED_free(entry);
    X509_free(revoked);
    return done;
}

// Source: RFC 5280 §5.2.1 and §5.2.3: both extensions are demanded of a list.
static int add_list_extensions(X509_CRL *list, X509 *issuer) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, NULL, NULL, list, 0);
    X509_EXTENSION *key = X509V3_EXT_conf(NULL, &context, "authorityKeyIdentifier", "keyid:always");
    ASN1_INTEGER *number = ASN1_INTEGER_new();
    int done = key && number && ASN1_INTEGER_set(number, 1) && X509_CRL_add_ext(list, key, -1)
        && X509_CRL_add1_ext_i2d(list, NID_crl_number, number, 0, 0) == 1;
    X509_EXTENSION_free(key);
    ASN1_INTEGER_free(number);
    return done;
}

httpdns_lab_octets httpdns_lab_revocation_list(
    const httpdns_lab_der *issuer, const httpdns_lab_der *issuer_key, const httpdns_lab_der *revoked,
    size_t count, const httpdns_lab_status *status) {
    httpdns_lab_octets made = {NULL, 0};
    X509 *above = httpdns_lab_certificate_from(issuer->octets, issuer->count);
    EVP_PKEY *key = httpdns_lab_key_from(issuer_key->octets, issuer_key->count);
    X509_CRL *list = X509_CRL_new();
    ASN1_TIME *from = ASN1_TIME_set(NULL, (time_t)status->this_update);
    ASN1_TIME *to = ASN1_TIME_set(NULL, (time_t)status->next_update);
    int done = above && key && list && from && to && X509_CRL_set_version(list, X509_CRL_VERSION_2)
        && X509_CRL_set_issuer_name(list, X509_get_subject_name(above))
        && X509_CRL_set1_lastUpdate(list, from) && X509_CRL_set1_nextUpdate(list, to)
        && add_list_extensions(list, above);
    for (size_t index = 0; done && index < count; index++)
        done = add_revoked(list, &revoked[index], from);
    done = done && X509_CRL_sort(list)
        && X509_CRL_sign(list, key, httpdns_lab_digest_for(key, HTTPDNS_LAB_DIGEST_SHA256)) > 0;
    int length = done ? i2d_X509_CRL(list, &made.octets) : 0;
    if (length > 0) made.count = (size_t)length;
    ASN1_TIME_free(from);
    ASN1_TIME_free(to);
    X509_CRL_free(list);
    EVP_PKEY_free(key);
    X509_free(above);
    return made;
}
