#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#ifdef __APPLE__
#define LIBRARY_NAME "libcurl.4.dylib"
#else
#define LIBRARY_NAME "libcurl.so.4"
#endif

// CURLOPT_PROTOCOLS_STR is the youngest option used. Source: curl 7.85.0 release notes.
#define OLDEST_VERSION 0x075500
#define OLDEST_VERSION_TEXT "7.85.0"

httpdns_curl_library httpdns_curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];
static bool failed;

static void fail(const char *what, const char *detail) {
    failed = true;
    snprintf(failure, sizeof failure, "%s: %s", what, detail);
}

static bool bind_functions(void *library) {
    const char *missing = NULL;
#define BIND(name)                                         \
    *(void **)&httpdns_curl.name = dlsym(library, #name); \
    if (!httpdns_curl.name) missing = #name;
    HTTPDNS_CURL_FUNCTIONS(BIND)
#undef BIND
    *(void **)&httpdns_curl.SSL_get_version = dlsym(library, "SSL_get_version");
    *(void **)&httpdns_curl.SSL_get0_alpn_selected = dlsym(library, "SSL_get0_alpn_selected");
    *(void **)&httpdns_curl.SSL_has_pending = dlsym(library, "SSL_has_pending");
    if (missing) fail(LIBRARY_NAME " is too old or not libcurl: it has no function", missing);
    return !missing;
}

// The verifier is handed SSL_CTX and SSL pointers: they must be those of the OpenSSL it is built on.
static bool has_right_parts(void) {
    const curl_version_info_data *version = httpdns_curl.curl_version_info(CURLVERSION_NOW);
    if (!version || version->version_num < OLDEST_VERSION) {
        fail(LIBRARY_NAME " is older than " OLDEST_VERSION_TEXT,
             version && version->version ? version->version : "no version");
        return false;
    }
    if (!version->ssl_version || strncmp(version->ssl_version, "OpenSSL/3", 9) != 0) {
        fail(LIBRARY_NAME " is not built on OpenSSL 3, which the certificate check needs",
             version->ssl_version ? version->ssl_version : "no TLS");
        return false;
    }
    return true;
}

static void open_library(void) {
    // Never closed: libcurl and its TLS library leave thread-local state behind.
    void *library = dlopen(LIBRARY_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        fail("libcurl cannot be opened (on Debian: apt install libcurl4)", why ? why : LIBRARY_NAME);
        return;
    }
    if (!bind_functions(library) || !has_right_parts()) return;
    // Counted, and safe beside other users of libcurl in the process; never undone.
    CURLcode code = httpdns_curl.curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK)
        fail("libcurl cannot be set up", httpdns_curl.curl_easy_strerror(code));
}

const char *httpdns_curl_open(void) {
    pthread_once(&once, open_library);
    return failed ? failure : NULL;
}
