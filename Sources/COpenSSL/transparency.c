#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "chttpdns_openssl_revocation.h"

#include <openssl/ct.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// OpenSSL reads logs from a file and in no other way; this one is in memory and has no name.
chttpdns_logs *chttpdns_logs_new(const char *configuration, size_t count) {
    int file = memfd_create("logs", MFD_CLOEXEC);
    if (file < 0) return NULL;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    size_t written = 0;
    while (written < count) {
        ssize_t step = write(file, configuration + written, count - written);
        if (step <= 0) break;
        written += (size_t)step;
    }
    CTLOG_STORE *logs = written == count ? CTLOG_STORE_new() : NULL;
    if (logs != NULL && !CTLOG_STORE_load_file(logs, path)) {
        CTLOG_STORE_free(logs);
        logs = NULL;
    }
    close(file);
    return logs;
}

void chttpdns_logs_free(chttpdns_logs *logs) { CTLOG_STORE_free(logs); }

static CT_POLICY_EVAL_CTX *rules(
    X509 *leaf, X509 *issuer, const chttpdns_logs *logs, int64_t now_seconds) {
    CT_POLICY_EVAL_CTX *rules = CT_POLICY_EVAL_CTX_new();
    if (rules == NULL || now_seconds < 0 || now_seconds > INT64_MAX / 1000
        || !CT_POLICY_EVAL_CTX_set1_cert(rules, leaf)
        || !CT_POLICY_EVAL_CTX_set1_issuer(rules, issuer)) {
        CT_POLICY_EVAL_CTX_free(rules);
        return NULL;
    }
    // Only looked into; the function does not say so.
    CT_POLICY_EVAL_CTX_set_shared_CTLOG_STORE(rules, (CTLOG_STORE *)(uintptr_t)logs);
    CT_POLICY_EVAL_CTX_set_time(rules, (uint64_t)now_seconds * 1000);
    return rules;
}

static void take(const SCT *stamp, chttpdns_stamp *facts) {
    unsigned char *log = NULL;
    size_t count = SCT_get0_log_id(stamp, &log);
    memset(facts, 0, sizeof *facts);
    facts->state = CHTTPDNS_STAMP_INVALID;
    switch (SCT_get_source(stamp)) {
    case SCT_SOURCE_TLS_EXTENSION: facts->source = CHTTPDNS_STAMP_IN_HANDSHAKE; break;
    case SCT_SOURCE_OCSP_STAPLED_RESPONSE: facts->source = CHTTPDNS_STAMP_IN_STAPLE; break;
    default: facts->source = CHTTPDNS_STAMP_EMBEDDED;
    }
    uint64_t at = SCT_get_timestamp(stamp);
    facts->at_milliseconds = at > INT64_MAX ? INT64_MAX : (int64_t)at;
    if (count != sizeof facts->log || log == NULL) return;
    memcpy(facts->log, log, count);
    switch (SCT_get_validation_status(stamp)) {
    case SCT_VALIDATION_STATUS_VALID: facts->state = CHTTPDNS_STAMP_VALID; break;
    case SCT_VALIDATION_STATUS_UNKNOWN_LOG:
    case SCT_VALIDATION_STATUS_UNKNOWN_VERSION: facts->state = CHTTPDNS_STAMP_UNKNOWN_LOG; break;
    default: break;
    }
}

int chttpdns_stamps_check(
    X509 *leaf, X509 *issuer, const chttpdns_logs *logs, int64_t now_seconds,
    chttpdns_stamp *stamps, int capacity) {
    int found = 0;
    STACK_OF(SCT) *list = X509_get_ext_d2i(leaf, NID_ct_precert_scts, &found, NULL);
    if (list == NULL) return found == -1 ? 0 : -1;
    int count = -1;
    CT_POLICY_EVAL_CTX *context = rules(leaf, issuer, logs, now_seconds);
    if (context != NULL && SCT_LIST_validate(list, context) >= 0) {
        count = sk_SCT_num(list);
        for (int index = 0; index < count && index < capacity; index++)
            take(sk_SCT_value(list, index), &stamps[index]);
    }
    CT_POLICY_EVAL_CTX_free(context);
    SCT_LIST_free(list);
    return count;
}

// OpenSSL asks for the extension where there is somebody to call. Who is called decides nothing: it
// would be asked only after a verification by OpenSSL's own store.
static int pass(const CT_POLICY_EVAL_CTX *rules, const STACK_OF(SCT) *stamps, void *argument) {
    (void)rules;
    (void)stamps;
    (void)argument;
    return 1;
}

int chttpdns_context_ask_stamps(SSL_CTX *context) {
    return SSL_CTX_set_ct_validation_callback(context, pass, NULL);
}

int chttpdns_sent_stamps_check(
    SSL *connection, X509 *leaf, X509 *issuer, const chttpdns_logs *logs, int64_t now_seconds,
    chttpdns_stamp *stamps, int capacity) {
    ERR_clear_error();
    const STACK_OF(SCT) *list = SSL_get0_peer_scts(connection);
    if (list == NULL) return ERR_peek_error() == 0 ? 0 : -1;
    CT_POLICY_EVAL_CTX *context = rules(leaf, issuer, logs, now_seconds);
    int count = context == NULL ? -1 : 0;
    for (int index = 0; context != NULL && index < sk_SCT_num(list); index++) {
        SCT *stamp = sk_SCT_value(list, index);
        // Those in the certificate are checked with it.
        if (SCT_get_source(stamp) == SCT_SOURCE_X509V3_EXTENSION) continue;
        if (count < capacity) {
            SCT_validate(stamp, context);
            take(stamp, &stamps[count]);
        }
        count++;
    }
    CT_POLICY_EVAL_CTX_free(context);
    return count;
}

// Digests

static EVP_MD *sha256 = NULL;
static pthread_once_t sha256_once = PTHREAD_ONCE_INIT;

// Looked up once: by name it takes as long as hashing a certificate.
static void fetch_sha256(void) { sha256 = EVP_MD_fetch(NULL, "SHA256", NULL); }

size_t chttpdns_chain_count(X509 *leaf, const STACK_OF(X509) *others) {
    size_t total = 0;
    for (int index = -1; index < sk_X509_num(others); index++) {
        X509 *certificate = index < 0 ? leaf : sk_X509_value(others, index);
        if (index >= 0 && certificate == leaf) continue;
        int count = i2d_X509(certificate, NULL);
        if (count <= 0) return 0;
        total += 4 + (size_t)count;
    }
    return total;
}

size_t chttpdns_chain_octets(
    X509 *leaf, const STACK_OF(X509) *others, unsigned char *octets, size_t room) {
    unsigned char *end = octets;
    for (int index = -1; index < sk_X509_num(others); index++) {
        X509 *certificate = index < 0 ? leaf : sk_X509_value(others, index);
        if (index >= 0 && certificate == leaf) continue;
        // Measured before it is written: what is counted and what is written are two calls.
        size_t left = room - (size_t)(end - octets);
        int count = i2d_X509(certificate, NULL);
        if (count <= 0 || left < 4 || (size_t)count > left - 4) return 0;
        unsigned char *length = end;
        end += 4;
        if (i2d_X509(certificate, &end) != count) return 0;
        for (int place = 0; place < 4; place++)
            length[place] = (unsigned char)(count >> (24 - 8 * place));
    }
    return (size_t)(end - octets);
}

int chttpdns_are_equal(const void *one, const void *other, size_t count) {
    return memcmp(one, other, count) == 0;
}

int chttpdns_certificate_digest(const X509 *certificate, unsigned char digest[32]) {
    pthread_once(&sha256_once, fetch_sha256);
    return sha256 != NULL && X509_digest(certificate, sha256, digest, NULL) == 1;
}

int chttpdns_sha256(const void *octets, size_t count, unsigned char digest[32]) {
    pthread_once(&sha256_once, fetch_sha256);
    return sha256 != NULL && EVP_Digest(octets, count, digest, NULL, sha256, NULL) == 1;
}
