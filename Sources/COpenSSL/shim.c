#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "chttpdns_openssl.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/core_names.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// At exit() OpenSSL would take its tables apart while threads of ours are still in a handshake, or at the
// end of a connection, and read them. The system takes the memory back anyway. It listens to whoever asks it
// for something first, hence before main.
__attribute__((constructor)) static void keep_tables_at_exit(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

int chttpdns_certificates_count(const STACK_OF(X509) *certificates) {
    return certificates == NULL ? 0 : sk_X509_num(certificates);
}

X509 *chttpdns_certificates_at(const STACK_OF(X509) *certificates, int index) {
    return sk_X509_value(certificates, index);
}

STACK_OF(X509) *chttpdns_certificates_new(void) { return sk_X509_new_null(); }

int chttpdns_certificates_push(STACK_OF(X509) *certificates, X509 *certificate) {
    if (!X509_up_ref(certificate)) return 0;
    if (sk_X509_push(certificates, certificate) <= 0) {
        X509_free(certificate);
        return 0;
    }
    return 1;
}

void chttpdns_certificates_free(STACK_OF(X509) *certificates) {
    sk_X509_pop_free(certificates, X509_free);
}

int chttpdns_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

static int name_octets(
    const GENERAL_NAME *name, const unsigned char **octets, size_t *count) {
    const ASN1_STRING *string = NULL;
    if (name->type == GEN_DNS || name->type == GEN_EMAIL || name->type == GEN_URI)
        string = name->d.ia5;
    if (name->type == GEN_IPADD) string = name->d.iPAddress;
    *octets = string == NULL ? NULL : ASN1_STRING_get0_data(string);
    *count = string == NULL ? 0 : (size_t)ASN1_STRING_length(string);
    return name->type;
}

int chttpdns_name_at(
    const GENERAL_NAMES *names, int index, const unsigned char **octets, size_t *count) {
    return name_octets(sk_GENERAL_NAME_value(names, index), octets, count);
}

const X509_NAME *chttpdns_directory_name_at(const GENERAL_NAMES *names, int index) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    return name->type == GEN_DIRNAME ? name->d.directoryName : NULL;
}

static const STACK_OF(GENERAL_SUBTREE) *subtrees(const NAME_CONSTRAINTS *all, int excluded) {
    return excluded ? all->excludedSubtrees : all->permittedSubtrees;
}

int chttpdns_subtrees_count(const NAME_CONSTRAINTS *constraints, int excluded) {
    const STACK_OF(GENERAL_SUBTREE) *trees = subtrees(constraints, excluded);
    return trees == NULL ? -1 : sk_GENERAL_SUBTREE_num(trees);
}

int chttpdns_subtree_at(
    const NAME_CONSTRAINTS *constraints, int excluded, int index, const unsigned char **octets,
    size_t *count, const X509_NAME **directory, int *has_distances) {
    const GENERAL_SUBTREE *tree = sk_GENERAL_SUBTREE_value(subtrees(constraints, excluded), index);
    *directory = tree->base->type == GEN_DIRNAME ? tree->base->d.directoryName : NULL;
    *has_distances = tree->maximum != NULL
        || (tree->minimum != NULL && ASN1_INTEGER_get(tree->minimum) != 0);
    return name_octets(tree->base, octets, count);
}

// Whether the octets are one DER value and nothing behind it.
static int is_one_value(const unsigned char *octets, long count) {
    const unsigned char *cursor = octets;
    long length = 0;
    int tag = 0, kind = 0;
    if (ASN1_get_object(&cursor, &length, &tag, &kind, count) & 0x80) return 0;
    return cursor + length == octets + count;
}

static int parses(X509_EXTENSION *extension, int identifier) {
    const ASN1_OCTET_STRING *data = X509_EXTENSION_get_data(extension);
    const unsigned char *cursor = ASN1_STRING_get0_data(data);
    long count = ASN1_STRING_length(data);
    if (!is_one_value(cursor, count)) return 0;
    const X509V3_EXT_METHOD *method = X509V3_EXT_get(extension);
    if (method == NULL || method->it == NULL) return 1;
    ASN1_VALUE *parsed = ASN1_item_d2i(NULL, &cursor, count, ASN1_ITEM_ptr(method->it));
    if (parsed == NULL) return 0;
    // Source: RFC 5280 §4.2.2.1: one description or more.
    int sound = identifier != NID_info_access
        || sk_ACCESS_DESCRIPTION_num((const AUTHORITY_INFO_ACCESS *)parsed) > 0;
    ASN1_item_free(parsed, ASN1_ITEM_ptr(method->it));
    return sound;
}

static int needs_parsing(int identifier) {
    switch (identifier) {
    case NID_info_access:
    case NID_sinfo_access:
    case NID_certificate_policies:
    case NID_crl_distribution_points:
    case NID_policy_constraints:
    case NID_policy_mappings:
    case NID_inhibit_any_policy:
    case NID_issuer_alt_name: return 1;
    default: return 0;
    }
}

static int is_repeated(const X509 *certificate, int index) {
    const ASN1_OBJECT *object = X509_EXTENSION_get_object(X509_get_ext(certificate, index));
    for (int before = 0; before < index; before++)
        if (OBJ_cmp(X509_EXTENSION_get_object(X509_get_ext(certificate, before)), object) == 0)
            return 1;
    return 0;
}

int chttpdns_extension_fault(const X509 *certificate, char *name, int capacity) {
    int count = X509_get_ext_count(certificate);
    for (int index = 0; index < count; index++) {
        X509_EXTENSION *extension = X509_get_ext(certificate, index);
        ASN1_OBJECT *object = X509_EXTENSION_get_object(extension);
        int identifier = OBJ_obj2nid(object);
        int fault = CHTTPDNS_EXTENSIONS_SOUND;
        if (X509_EXTENSION_get_critical(extension) && !X509_supported_extension(extension))
            fault = CHTTPDNS_EXTENSION_UNKNOWN;
        // Because: nobody has that many, and each is compared with those before it.
        else if (index >= 64 || is_repeated(certificate, index))
            fault = CHTTPDNS_EXTENSION_REPEATED;
        else if (needs_parsing(identifier) && !parses(extension, identifier))
            fault = CHTTPDNS_EXTENSION_MALFORMED;
        if (fault == CHTTPDNS_EXTENSIONS_SOUND) continue;
        OBJ_obj2txt(name, capacity, object, 0);
        return fault;
    }
    return CHTTPDNS_EXTENSIONS_SOUND;
}

int chttpdns_extension_is_critical(const X509 *certificate, int identifier) {
    int index = X509_get_ext_by_NID(certificate, identifier, -1);
    if (index < 0) return -1;
    return X509_EXTENSION_get_critical(X509_get_ext(certificate, index));
}

int chttpdns_is_old_server(const X509 *certificate) {
    int found = -1;
    ASN1_BIT_STRING *bits = X509_get_ext_d2i(certificate, NID_netscape_cert_type, &found, NULL);
    if (bits == NULL) return found == -1 ? -1 : 0;
    int server = ASN1_BIT_STRING_get_bit(bits, 1);
    ASN1_BIT_STRING_free(bits);
    return server;
}

int chttpdns_key_has_own_curve(const EVP_PKEY *key) {
    int is_own = 0;
    // OpenSSL finds the name of a curve that was spelled out, where it has one.
    return EVP_PKEY_get_int_param(
               key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &is_own)
        && is_own;
}

int chttpdns_key_is_binary(const EVP_PKEY *key) {
    char field[64];
    size_t count = 0;
    return EVP_PKEY_get_utf8_string_param(
               key, OSSL_PKEY_PARAM_EC_FIELD_TYPE, field, sizeof field, &count)
        && strcmp(field, SN_X9_62_characteristic_two_field) == 0;
}

int chttpdns_key_exponent_is_sound(const EVP_PKEY *key) {
    BIGNUM *exponent = NULL;
    if (!EVP_PKEY_get_bn_param(key, "e", &exponent)) return 0;
    int bits = BN_num_bits(exponent);
    int sound = BN_is_odd(exponent) && bits >= 2 && bits <= 256;
    BN_free(exponent);
    return sound;
}

void chttpdns_distinguished_name_print(BIO *sink, const X509_NAME *name) {
    X509_NAME_print_ex(sink, name, 0, XN_FLAG_RFC2253);
}

int chttpdns_lookup_add_directory(X509_LOOKUP *lookup, const char *directory) {
    return X509_LOOKUP_add_dir(lookup, directory, X509_FILETYPE_PEM);
}

int chttpdns_context_set_minimum_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

void chttpdns_context_forget_sessions(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
}

void chttpdns_context_refuse_renegotiation(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}

int chttpdns_context_index(CRYPTO_EX_dup *duplicate, CRYPTO_EX_free *release) {
    return SSL_CTX_get_ex_new_index(0, NULL, NULL, duplicate, release);
}

int chttpdns_connection_index(CRYPTO_EX_dup *duplicate, CRYPTO_EX_free *release) {
    return SSL_get_ex_new_index(0, NULL, NULL, duplicate, release);
}

int chttpdns_connection_set_server_name(SSL *connection, const char *name) {
    return (int)SSL_set_tlsext_host_name(connection, name);
}

int chttpdns_error_is_end_of_pem(unsigned long code) {
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

int chttpdns_is_hashed_directory(const char *path) {
    DIR *directory = opendir(path);
    if (directory == NULL) return 0;
    int found = 0;
    struct dirent *entry;
    while (!found && (entry = readdir(directory)) != NULL) {
        const char *name = entry->d_name;
        size_t length = strlen(name);
        if (length < 10 || name[8] != '.' || !isdigit((unsigned char)name[9])) continue;
        found = 1;
        for (int index = 0; index < 8; index++)
            if (!isxdigit((unsigned char)name[index])) found = 0;
    }
    closedir(directory);
    return found;
}

// Because: a bundle of all public roots has 300 KB, and a folder of added ones a few files.
enum { MOST_FOLDER_OCTETS = 4 << 20, MOST_FOLDER_FILES = 1000, MOST_FOLDER_BLOCKS = 10000 };

static int add_taken(X509_STORE *store, X509 *certificate) {
    int added = certificate != NULL && X509_STORE_add_cert(store, certificate) == 1;
    X509_free(certificate);
    return added;
}

// A block that cannot be read is passed over: what stands behind it counts as well.
static int add_blocks(X509_STORE *store, BIO *source, int *blocks) {
    int added = 0;
    for (*blocks = 0; *blocks < MOST_FOLDER_BLOCKS; ++*blocks) {
        ERR_clear_error();
        X509 *certificate = PEM_read_bio_X509_AUX(source, NULL, NULL, NULL);
        if (certificate == NULL && chttpdns_error_is_end_of_pem(ERR_peek_last_error())) break;
        added += add_taken(store, certificate);
    }
    return added;
}

static int add_file(X509_STORE *store, const char *path) {
    BIO *source = BIO_new_file(path, "rb");
    if (source == NULL) return 0;
    int blocks = 0, added = add_blocks(store, source, &blocks);
    // BIO_reset answers 0 for a file.
    if (blocks == 0 && BIO_reset(source) == 0) added = add_taken(store, d2i_X509_bio(source, NULL));
    BIO_free(source);
    return added;
}

static int add_folder(X509_STORE *store, const char *path, int depth, int *files_left) {
    DIR *directory = opendir(path);
    if (directory == NULL) return 0;
    int added = 0;
    struct dirent *entry;
    while (*files_left > 0 && (entry = readdir(directory)) != NULL) {
        char whole[4096];
        struct stat what;
        int length = snprintf(whole, sizeof whole, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || length < 0 || (size_t)length >= sizeof whole
            || stat(whole, &what) != 0)
            continue;
        --*files_left;
        if (S_ISREG(what.st_mode) && what.st_size <= MOST_FOLDER_OCTETS)
            added += add_file(store, whole);
        else if (S_ISDIR(what.st_mode) && depth > 0)
            added += add_folder(store, whole, depth - 1, files_left);
    }
    closedir(directory);
    return added;
}

int chttpdns_store_add_folder(X509_STORE *store, const char *path, int depth) {
    int files_left = MOST_FOLDER_FILES;
    int added = add_folder(store, path, depth, &files_left);
    ERR_clear_error();
    return added;
}

int chttpdns_store_holds(X509_STORE *store, X509 *certificate) {
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    if (context == NULL) return 0;
    int found = 0;
    if (X509_STORE_CTX_init(context, store, NULL, NULL) == 1) {
        STACK_OF(X509) *named =
            X509_STORE_CTX_get1_certs(context, X509_get_subject_name(certificate));
        for (int index = 0; !found && index < sk_X509_num(named); index++)
            found = X509_cmp(sk_X509_value(named, index), certificate) == 0;
        sk_X509_pop_free(named, X509_free);
    }
    X509_STORE_CTX_free(context);
    ERR_clear_error();
    return found;
}

const char *chttpdns_environment(const char *name) { return secure_getenv(name); }

int chttpdns_connect_begin(const unsigned char *address, size_t count, unsigned short port) {
    struct sockaddr_storage storage;
    socklen_t length;
    memset(&storage, 0, sizeof storage);
    if (count == 4) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        memcpy(&v4->sin_addr, address, 4);
        length = sizeof *v4;
    } else if (count == 16) {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        memcpy(&v6->sin6_addr, address, 16);
        length = sizeof *v6;
    } else {
        errno = EINVAL;
        return -1;
    }
    int descriptor =
        socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr *)&storage, length) != 0 && errno != EINPROGRESS) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

int chttpdns_wait(int descriptor, int for_write, int milliseconds) {
    struct pollfd entry = {descriptor, for_write ? POLLOUT : POLLIN, 0};
    int result = poll(&entry, 1, milliseconds);
    if (result < 0 && errno == EINTR) return 0;
    return result;
}

int chttpdns_connection_shake_hands(SSL *connection) {
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    int result = SSL_connect(connection);
    int error = errno;
    // Take back what this call raised, and only that.
    if (!sigismember(&pending, SIGPIPE)) {
        const struct timespec no_time = {0, 0};
        while (sigtimedwait(&pipe_signal, NULL, &no_time) == -1 && errno == EINTR) continue;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return result;
}

int chttpdns_connect_error(int descriptor) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
    return error;
}

const char *chttpdns_error_text(int error) {
    const char *text = strerrordesc_np(error);
    return text == NULL ? "unknown error" : text;
}

void chttpdns_close(int descriptor) { close(descriptor); }
