// What OpenSSL alone takes to verify a parsed chain and its name.
//
//     trust_verify ROOT.pem CHAIN.pem NAME TIMES              prints one line of JSON
//
// Build: cc -O2 trust_verify.c -o trust_verify -lssl -lcrypto
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "measure.h"

static X509 *next(BIO *file) { return PEM_read_bio_X509(file, NULL, NULL, NULL); }

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "usage: trust_verify ROOT.pem CHAIN.pem NAME TIMES\n"), 2;
    long times = atol(argv[4]);
    BIO *roots = BIO_new_file(argv[1], "r"), *chain = BIO_new_file(argv[2], "r");
    if (roots == NULL || chain == NULL || times < 1) return 1;
    X509_STORE *store = X509_STORE_new();
    X509 *root = next(roots), *leaf = next(chain), *other;
    STACK_OF(X509) *others = sk_X509_new_null();
    while ((other = next(chain)) != NULL) sk_X509_push(others, other);
    if (root == NULL || leaf == NULL || !X509_STORE_add_cert(store, root)) return 1;
    size_t length = strlen(argv[3]);
    long good = 0;
    int64_t begun = measure_now(), computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID);
    for (long time = 0; time < times; time++) {
        X509_STORE_CTX *context = X509_STORE_CTX_new();
        X509_STORE_CTX_init(context, store, leaf, others);
        X509_STORE_CTX_set_default(context, "ssl_server");
        good += X509_verify_cert(context) == 1 && X509_check_host(leaf, argv[3], length, 0, NULL) == 1;
        X509_STORE_CTX_free(context);
    }
    computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID) - computed;
    int64_t took = measure_now() - begun;
    if (good != times) return fprintf(stderr, "trust_verify: it does not verify\n"), 1;
    printf(
        "{\"name\":\"openssl\",\"cpu_ns\":%.1f,\"ns\":%.1f}\n", (double)computed / (double)times,
        (double)took / (double)times);
    return 0;
}
