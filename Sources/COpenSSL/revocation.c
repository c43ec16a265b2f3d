#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "chttpdns_openssl_revocation.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <time.h>

static int seconds_of(const ASN1_TIME *time, int64_t *seconds) {
    struct tm parts;
    if (time == NULL || !ASN1_TIME_to_tm(time, &parts)) return 0;
    *seconds = (int64_t)timegm(&parts);
    return 1;
}

// Staples

static int is_weak_digest(int digest) {
    switch (digest) {
    case NID_md2: case NID_md4: case NID_md5: case NID_mdc2: case NID_md5_sha1: case NID_sha1:
    case NID_ripemd160: return 1;
    default: return 0;
    }
}

// Without parameters, or without a digest in them, it is SHA-1. Source: RFC 4055 §3.1.
static int pss_digest(const X509_ALGOR *algorithm) {
    int type = V_ASN1_UNDEF, digest = NID_sha1;
    const void *value = NULL;
    X509_ALGOR_get0(NULL, &type, &value, algorithm);
    if (type != V_ASN1_SEQUENCE) return NID_sha1;
    RSA_PSS_PARAMS *parameters = ASN1_item_unpack(value, ASN1_ITEM_rptr(RSA_PSS_PARAMS));
    if (parameters == NULL) return NID_sha1;
    if (parameters->hashAlgorithm != NULL) {
        const ASN1_OBJECT *named = NULL;
        X509_ALGOR_get0(&named, NULL, NULL, parameters->hashAlgorithm);
        digest = OBJ_obj2nid(named);
    }
    RSA_PSS_PARAMS_free(parameters);
    // One that nobody knows is no better.
    return digest == NID_undef ? NID_sha1 : digest;
}

static int is_weak_algorithm(const X509_ALGOR *algorithm) {
    const ASN1_OBJECT *object = NULL;
    int digest = NID_undef, key = NID_undef;
    X509_ALGOR_get0(&object, NULL, NULL, algorithm);
    int signature = OBJ_obj2nid(object);
    if (signature == NID_rsassaPss) return is_weak_digest(pss_digest(algorithm));
    if (!OBJ_find_sigid_algs(signature, &digest, &key)) return 1;
    return is_weak_digest(digest);
}

static int is_weakly_signed(X509 *certificate) {
    int digest = NID_undef;
    return !X509_get_signature_info(certificate, &digest, NULL, NULL, NULL)
        || is_weak_digest(digest);
}

// 112 bits, as for chains. Source: NIST SP 800-57.
static int is_weak_key(EVP_PKEY *key) { return key == NULL || EVP_PKEY_get_security_bits(key) < 112; }

// Source: RFC 6960 §4.2.2.2: issued directly by the authority in question, for this purpose.
static int delegated(X509 *signer, X509 *issuer, int64_t now, int64_t *until) {
    uint32_t flags = X509_get_extension_flags(signer);
    if (X509_check_issued(issuer, signer) != X509_V_OK
        || X509_verify(signer, X509_get0_pubkey(issuer)) != 1)
        return CHTTPDNS_STAPLE_UNAUTHORIZED;
    // CRITICAL: an extension that nobody here understands. Source: RFC 5280 §4.2.
    if ((flags & (EXFLAG_INVALID | EXFLAG_CRITICAL)) || !(flags & EXFLAG_XKUSAGE)
        || !(X509_get_extended_key_usage(signer) & XKU_OCSP_SIGN))
        return CHTTPDNS_STAPLE_UNAUTHORIZED;
    if ((flags & EXFLAG_KUSAGE)
        && !(X509_get_key_usage(signer) & (KU_DIGITAL_SIGNATURE | KU_NON_REPUDIATION)))
        return CHTTPDNS_STAPLE_UNAUTHORIZED;
    if (is_weakly_signed(signer)) return CHTTPDNS_STAPLE_WEAK;
    int64_t from, to;
    if (!seconds_of(X509_get0_notBefore(signer), &from)
        || !seconds_of(X509_get0_notAfter(signer), &to) || now < from || now > to)
        return CHTTPDNS_STAPLE_SIGNER_ENDED;
    *until = to;
    return CHTTPDNS_STAPLE_GOOD;
}

static int check_signature(
    OCSP_BASICRESP *response, X509 *issuer, int64_t now, int64_t *until) {
    STACK_OF(X509) *known = sk_X509_new_null();
    if (known == NULL || !sk_X509_push(known, issuer)) {
        sk_X509_free(known);
        return CHTTPDNS_STAPLE_UNSIGNED;
    }
    // NOVERIFY: of the signer only the signature; who it is, is checked here, at our time.
    X509 *signer = NULL;
    int outcome = CHTTPDNS_STAPLE_UNSIGNED;
    if (OCSP_resp_get0_signer(response, &signer, known)
        && OCSP_basic_verify(response, known, NULL, OCSP_NOVERIFY) == 1) {
        if (is_weak_algorithm(OCSP_resp_get0_tbs_sigalg(response))
            || is_weak_key(X509_get0_pubkey(signer)))
            outcome = CHTTPDNS_STAPLE_WEAK;
        else
            outcome = signer == issuer ? CHTTPDNS_STAPLE_GOOD : delegated(signer, issuer, now, until);
    }
    sk_X509_free(known);
    return outcome;
}

static int is_about(const OCSP_SINGLERESP *single, X509 *leaf, X509 *issuer) {
    // OCSP_id_get0_info only reads, but does not say so.
    OCSP_CERTID *named = (OCSP_CERTID *)(uintptr_t)OCSP_SINGLERESP_get0_id(single);
    ASN1_OBJECT *algorithm = NULL;
    if (!OCSP_id_get0_info(NULL, &algorithm, NULL, NULL, named)) return 0;
    const EVP_MD *digest = EVP_get_digestbyobj(algorithm);
    if (digest == NULL) return 0;
    OCSP_CERTID *own = OCSP_cert_to_id(digest, leaf, issuer);
    int same = own != NULL && OCSP_id_cmp(own, named) == 0;
    OCSP_CERTID_free(own);
    return same;
}

static void take(OCSP_SINGLERESP *single, chttpdns_staple *facts) {
    ASN1_GENERALIZEDTIME *revoked = NULL, *from = NULL, *to = NULL;
    int reason = -1;
    chttpdns_staple taken = {CHTTPDNS_STAPLE_MALFORMED, -1, CHTTPDNS_NO_TIME, CHTTPDNS_NO_TIME,
                             CHTTPDNS_NO_TIME};
    int status = OCSP_single_get0_status(single, &reason, &revoked, &from, &to);
    int known = status == V_OCSP_CERTSTATUS_GOOD || status == V_OCSP_CERTSTATUS_REVOKED
        || status == V_OCSP_CERTSTATUS_UNKNOWN;
    if (known && seconds_of(from, &taken.this_update)
        && (to == NULL || seconds_of(to, &taken.next_update))) {
        taken.outcome = status == V_OCSP_CERTSTATUS_GOOD ? CHTTPDNS_STAPLE_GOOD
            : status == V_OCSP_CERTSTATUS_REVOKED        ? CHTTPDNS_STAPLE_REVOKED
                                                         : CHTTPDNS_STAPLE_UNKNOWN;
        taken.detail = reason;
        if (revoked != NULL && !seconds_of(revoked, &taken.revoked_at))
            taken.revoked_at = CHTTPDNS_NO_TIME;
    }
    // Of several the worst one counts, then the newest.
    int first = facts->outcome == CHTTPDNS_STAPLE_OTHER;
    if (first || taken.outcome == CHTTPDNS_STAPLE_REVOKED
        || (facts->outcome != CHTTPDNS_STAPLE_REVOKED && taken.this_update > facts->this_update))
        *facts = taken;
}

void chttpdns_staple_read(
    const unsigned char *octets, size_t count, X509 *leaf, X509 *issuer, int64_t now,
    chttpdns_staple *facts) {
    chttpdns_staple none = {CHTTPDNS_STAPLE_MALFORMED, -1, CHTTPDNS_NO_TIME, CHTTPDNS_NO_TIME,
                            CHTTPDNS_NO_TIME};
    *facts = none;
    if (count > LONG_MAX) return;
    const unsigned char *end = octets + count;
    OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &octets, (long)count);
    OCSP_BASICRESP *basic = NULL;
    if (response == NULL || octets != end) goto done;
    int status = OCSP_response_status(response);
    if (status != OCSP_RESPONSE_STATUS_SUCCESSFUL) {
        facts->outcome = CHTTPDNS_STAPLE_UNSUCCESSFUL;
        facts->detail = status;
        goto done;
    }
    basic = OCSP_response_get1_basic(response);
    if (basic == NULL) goto done;
    int64_t signer_until = CHTTPDNS_NO_TIME;
    facts->outcome = check_signature(basic, issuer, now, &signer_until);
    if (facts->outcome != CHTTPDNS_STAPLE_GOOD) goto done;
    facts->outcome = CHTTPDNS_STAPLE_OTHER;
    for (int index = 0; index < OCSP_resp_count(basic); index++) {
        OCSP_SINGLERESP *single = OCSP_resp_get0(basic, index);
        if (is_about(single, leaf, issuer)) take(single, facts);
    }
    // What a delegate says counts no longer than the delegate.
    if (signer_until != CHTTPDNS_NO_TIME
        && (facts->next_update == CHTTPDNS_NO_TIME || facts->next_update > signer_until))
        facts->next_update = signer_until;
done:
    OCSP_BASICRESP_free(basic);
    OCSP_RESPONSE_free(response);
}

const char *chttpdns_staple_word(const chttpdns_staple *facts) {
    return facts->outcome == CHTTPDNS_STAPLE_UNSUCCESSFUL ? OCSP_response_status_str(facts->detail)
                                                          : OCSP_crl_reason_str(facts->detail);
}

const unsigned char *chttpdns_connection_staple(SSL *connection, size_t *count) {
    unsigned char *octets = NULL;
    long length = SSL_get_tlsext_status_ocsp_resp(connection, &octets);
    *count = length > 0 ? (size_t)length : 0;
    return length > 0 ? octets : NULL;
}

int chttpdns_context_ask_staple(SSL_CTX *context, int (*judge)(SSL *, void *), void *argument) {
    return SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp)
        && SSL_CTX_set_tlsext_status_cb(context, judge)
        && SSL_CTX_set_tlsext_status_arg(context, argument);
}

int chttpdns_demands_staple(X509 *certificate) {
    int found = 0;
    TLS_FEATURE *features = X509_get_ext_d2i(certificate, NID_tlsfeature, &found, NULL);
    // -1: there is none. What is there and cannot be read may well demand it.
    if (features == NULL) return found != -1;
    int demanded = 0;
    for (int index = 0; index < sk_ASN1_INTEGER_num(features); index++)
        if (ASN1_INTEGER_get(sk_ASN1_INTEGER_value(features, index)) == TLSEXT_TYPE_status_request)
            demanded = 1;
    TLS_FEATURE_free(features);
    return demanded;
}

// Revocation lists

struct chttpdns_lists {
    STACK_OF(X509_CRL) *lists;
    // Has no certificates and no look-ups: a list comes from here or not at all.
    X509_STORE *store;
    // OpenSSL's own look into one list.
    X509_STORE_CTX_cert_crl_fn look;
};

struct findings {
    const chttpdns_lists *lists;
    chttpdns_list_finding *each;
    int capacity;
};

static chttpdns_list_finding *current(X509_STORE_CTX *context) {
    struct findings *findings = X509_STORE_CTX_get_app_data(context);
    int depth = X509_STORE_CTX_get_error_depth(context);
    return findings != NULL && depth >= 0 && depth < findings->capacity ? &findings->each[depth]
                                                                        : NULL;
}

// Called for each list that speaks of a certificate of the chain.
static int look(X509_STORE_CTX *context, X509_CRL *list, X509 *certificate) {
    struct findings *findings = X509_STORE_CTX_get_app_data(context);
    chttpdns_list_finding *finding = current(context);
    int64_t until;
    if (findings == NULL || finding == NULL) return 0;
    if (finding->state == CHTTPDNS_LIST_NONE) finding->state = CHTTPDNS_LIST_GOOD;
    int is_ending = seconds_of(X509_CRL_get0_nextUpdate(list), &until);
    if (is_ending && (finding->until == CHTTPDNS_NO_TIME || until < finding->until))
        finding->until = until;
    int looked = findings->lists->look(context, list, certificate);
    // What is good for ever is what a thief would keep. Source: RFC 5280 §5.1.2.5.
    if (!is_ending && finding->state == CHTTPDNS_LIST_GOOD) {
        finding->state = CHTTPDNS_LIST_UNUSABLE;
        finding->error = CHTTPDNS_LIST_HAS_NO_END;
    }
    return looked;
}

// Only by its age: it still names whom it names.
static int is_only_old(const chttpdns_list_finding *finding) {
    return finding->error == X509_V_ERR_CRL_HAS_EXPIRED
        || finding->error == CHTTPDNS_LIST_HAS_NO_END;
}

// Called for each fault found; takes it down and goes on, so that all certificates are looked at.
static int note(int ok, X509_STORE_CTX *context) {
    chttpdns_list_finding *finding = ok ? NULL : current(context);
    int error = X509_STORE_CTX_get_error(context);
    if (finding != NULL && error == X509_V_ERR_CERT_REVOKED) {
        // A list whose signature or scope is wrong accuses nobody; one that has ended still does.
        if (finding->state != CHTTPDNS_LIST_UNUSABLE || is_only_old(finding))
            finding->state = CHTTPDNS_LIST_REVOKED;
    } else if (finding != NULL && error != X509_V_ERR_UNABLE_TO_GET_CRL) {
        if (finding->state != CHTTPDNS_LIST_REVOKED
            && (finding->state != CHTTPDNS_LIST_UNUSABLE || is_only_old(finding))) {
            finding->state = CHTTPDNS_LIST_UNUSABLE;
            finding->error = error;
        }
    } else if (finding != NULL && finding->state == CHTTPDNS_LIST_GOOD) {
        // The lists that are there do not cover all reasons.
        finding->state = CHTTPDNS_LIST_NONE;
    }
    X509_STORE_CTX_set_error(context, X509_V_OK);
    return 1;
}

chttpdns_lists *chttpdns_lists_new(void) {
    chttpdns_lists *lists = calloc(1, sizeof *lists);
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    if (lists != NULL) {
        lists->lists = sk_X509_CRL_new_null();
        lists->store = X509_STORE_new();
    }
    if (lists == NULL || context == NULL || lists->lists == NULL || lists->store == NULL
        || !X509_STORE_CTX_init(context, lists->store, NULL, NULL)) {
        X509_STORE_CTX_free(context);
        if (lists != NULL) chttpdns_lists_free(lists);
        return NULL;
    }
    lists->look = X509_STORE_CTX_get_cert_crl(context);
    X509_STORE_CTX_free(context);
    X509_STORE_set_cert_crl(lists->store, look);
    return lists;
}

void chttpdns_lists_free(chttpdns_lists *lists) {
    sk_X509_CRL_pop_free(lists->lists, X509_CRL_free);
    X509_STORE_free(lists->store);
    free(lists);
}

int chttpdns_lists_add(chttpdns_lists *lists, const char *pem, size_t count) {
    if (count > INT_MAX) return -1;
    BIO *source = BIO_new_mem_buf(pem, (int)count);
    if (source == NULL) return -1;
    int added = 0;
    X509_CRL *list;
    ERR_clear_error();
    while ((list = PEM_read_bio_X509_CRL(source, NULL, NULL, NULL)) != NULL) {
        if (sk_X509_CRL_push(lists->lists, list) <= 0) {
            X509_CRL_free(list);
            break;
        }
        added++;
    }
    unsigned long error = ERR_peek_last_error();
    int ended = ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
    BIO_free(source);
    return ended ? added : -(added + 1);
}

const char *chttpdns_lists_fault(const chttpdns_lists *lists) {
    for (int index = 0; index < sk_X509_CRL_num(lists->lists); index++) {
        const X509_CRL *list = sk_X509_CRL_value(lists->lists, index);
        // Version 1 has no extensions.
        if (X509_CRL_get_version(list) < X509_CRL_VERSION_2) continue;
        if (X509_CRL_get_ext_by_NID(list, NID_crl_number, -1) < 0) return "a list has no number";
        if (X509_CRL_get_ext_by_NID(list, NID_authority_key_identifier, -1) < 0)
            return "a list does not name its issuer's key";
    }
    return NULL;
}

// OpenSSL takes a delta for a whole list, so that it would clear whom it does not name; and it passes
// over the others without a word.
static const char *unjudged(const X509_CRL *list) {
    if (X509_CRL_get_ext_by_NID(list, NID_delta_crl, -1) >= 0)
        return "delta CRL (RFC 5280 §5.2.4); give the complete list";
    if (X509_CRL_get_ext_by_NID(list, NID_issuing_distribution_point, -1) < 0) return NULL;
    ISSUING_DIST_POINT *point =
        X509_CRL_get_ext_d2i(list, NID_issuing_distribution_point, NULL, NULL);
    const char *kind = NULL;
    if (point == NULL) kind = "CRL with a malformed scope (RFC 5280 §5.2.5)";
    else if (point->indirectCRL > 0) kind = "indirect CRL (RFC 5280 §5.2.5)";
    else if (point->onlysomereasons != NULL) kind = "CRL for some reasons only (RFC 5280 §5.2.5)";
    else if (point->onlyattr > 0) kind = "CRL of attribute certificates (RFC 5280 §5.2.5)";
    ISSUING_DIST_POINT_free(point);
    return kind;
}

const char *chttpdns_lists_unjudged(const chttpdns_lists *lists, int added, int *number) {
    int count = sk_X509_CRL_num(lists->lists);
    for (int index = 0; index < added && added <= count; index++) {
        const char *kind = unjudged(sk_X509_CRL_value(lists->lists, count - added + index));
        *number = index + 1;
        if (kind != NULL) return kind;
    }
    return NULL;
}

int chttpdns_lists_check(
    const chttpdns_lists *lists, STACK_OF(X509) *chain, int64_t now,
    chttpdns_list_finding *findings, int capacity) {
    int count = sk_X509_num(chain);
    if (count < 1 || count > capacity) return -1;
    for (int index = 0; index < count; index++) {
        findings[index].state = CHTTPDNS_LIST_NONE;
        findings[index].error = X509_V_OK;
        findings[index].until = CHTTPDNS_NO_TIME;
    }
    struct findings taken = {lists, findings, count};
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    STACK_OF(X509) *own = X509_chain_up_ref(chain);
    if (context == NULL || own == NULL
        || !X509_STORE_CTX_init(context, lists->store, sk_X509_value(chain, 0), NULL)) {
        sk_X509_pop_free(own, X509_free);
        X509_STORE_CTX_free(context);
        return -1;
    }
    X509_STORE_CTX_set0_verified_chain(context, own);
    X509_STORE_CTX_set0_crls(context, lists->lists);
    X509_STORE_CTX_set_verify_cb(context, note);
    X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_time(parameters, (time_t)now);
    // The chain has been verified; this is OpenSSL's own step for revocation, by itself.
    X509_STORE_CTX_check_revocation_fn check = X509_STORE_CTX_get_check_revocation(context);
    int done = X509_VERIFY_PARAM_set_flags(
                   parameters, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL)
        && X509_STORE_CTX_set_app_data(context, &taken) && check != NULL && check(context) == 1;
    X509_STORE_CTX_free(context);
    return done ? count : -1;
}

// Client certificates

struct passphrase {
    const char *text;
    int lacks;
};

static int give_passphrase(char *buffer, int capacity, int for_writing, void *argument) {
    (void)for_writing;
    struct passphrase *passphrase = argument;
    size_t count = 0;
    if (passphrase->text == NULL) {
        passphrase->lacks = 1;
        return -1;
    }
    while (passphrase->text[count]) count++;
    if (count > (size_t)capacity) return -1;
    for (size_t index = 0; index < count; index++) buffer[index] = passphrase->text[index];
    return (int)count;
}

EVP_PKEY *chttpdns_private_key(
    const char *pem, size_t count, const char *passphrase, int *lacks_passphrase) {
    struct passphrase given = {passphrase, 0};
    *lacks_passphrase = 0;
    if (count > INT_MAX) return NULL;
    BIO *source = BIO_new_mem_buf(pem, (int)count);
    if (source == NULL) return NULL;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(source, NULL, give_passphrase, &given);
    BIO_free(source);
    *lacks_passphrase = given.lacks;
    return key;
}

// What is known of a certificate already

int chttpdns_certificate_index(CRYPTO_EX_dup *duplicate, CRYPTO_EX_free *release) {
    return X509_get_ex_new_index(0, NULL, NULL, duplicate, release);
}
