#include "chttpdns_openssl_lab_ciphers.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <string.h>

// Made once and kept to the end of the process: providers are not meant to come and go.
static OSSL_LIB_CTX *legacy;
static pthread_once_t legacy_once = PTHREAD_ONCE_INIT;

static void load_legacy(void) {
    OSSL_LIB_CTX *made = OSSL_LIB_CTX_new();
    if (made && OSSL_PROVIDER_load(made, "legacy")) legacy = made;
    else OSSL_LIB_CTX_free(made);
    ERR_clear_error();
}

int httpdns_lab_has_des(void) {
    pthread_once(&legacy_once, load_legacy);
    return legacy != NULL;
}

static EVP_CIPHER *fetched(int cipher) {
    switch (cipher) {
    case HTTPDNS_LAB_DES_ECB:
        return httpdns_lab_has_des() ? EVP_CIPHER_fetch(legacy, "DES-ECB", NULL) : NULL;
    case HTTPDNS_LAB_AES128_CBC: return EVP_CIPHER_fetch(NULL, "AES-128-CBC", NULL);
    case HTTPDNS_LAB_AES256_ECB: return EVP_CIPHER_fetch(NULL, "AES-256-ECB", NULL);
    default: return NULL;
    }
}

int httpdns_lab_blocks(
    int cipher, int encrypting, const unsigned char *key, const unsigned char *vector,
    const unsigned char *input, size_t count, unsigned char *output) {
    EVP_CIPHER *algorithm = fetched(cipher);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int written = 0, last = 0;
    int done = algorithm && context && count <= INT_MAX
        && count % (size_t)EVP_CIPHER_get_block_size(algorithm) == 0
        && EVP_CipherInit_ex2(context, algorithm, key, vector, encrypting, NULL)
        && EVP_CIPHER_CTX_set_padding(context, 0)
        && EVP_CipherUpdate(context, output, &written, input, (int)count)
        && EVP_CipherFinal_ex(context, output + written, &last)
        && (size_t)(written + last) == count;
    EVP_CIPHER_CTX_free(context);
    EVP_CIPHER_free(algorithm);
    ERR_clear_error();
    return done;
}

int httpdns_lab_gcm(
    int encrypting, const unsigned char key[16], const unsigned char vector[12],
    const unsigned char *input, size_t count, unsigned char *output, unsigned char tag[16]) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    unsigned char spare[16];
    int written = 0, last = 0;
    int done = context && count <= INT_MAX
        && EVP_CipherInit_ex2(context, EVP_aes_128_gcm(), key, vector, encrypting, NULL)
        && (!count || EVP_CipherUpdate(context, output, &written, input, (int)count))
        && (encrypting || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, 16, tag))
        && EVP_CipherFinal_ex(context, spare, &last) > 0
        && (!encrypting || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, 16, tag));
    EVP_CIPHER_CTX_free(context);
    ERR_clear_error();
    return done;
}

int httpdns_lab_random(unsigned char *octets, size_t count) {
    return count <= INT_MAX && RAND_bytes(octets, (int)count) == 1;
}

int httpdns_lab_sha256(const unsigned char *octets, size_t count, unsigned char digest[32]) {
    return EVP_Digest(octets, count, digest, NULL, EVP_sha256(), NULL);
}

int httpdns_lab_hmac_sha256(
    const unsigned char *key, size_t key_count, const unsigned char *octets, size_t count,
    unsigned char code[32]) {
    unsigned int length = 0;
    return key_count <= INT_MAX
        && HMAC(EVP_sha256(), key, (int)key_count, octets, count, code, &length) && length == 32;
}
