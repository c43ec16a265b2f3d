// A new TLS connection a request through libcurl, with its own verification and a hashed directory of roots.
//
//     trust_curl PORT NAME CAPATH TIMES                       prints one line of JSON
//
// Build: cc -O2 trust_curl.c -o trust_curl -lcurl
#include <curl/curl.h>
#include <string.h>

#include "measure.h"

static size_t take(char *data, size_t size, size_t n, void *count) {
    (void)data;
    *(size_t *)count += size * n;
    return size * n;
}

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "usage: trust_curl PORT NAME CAPATH TIMES\n"), 2;
    long times = atol(argv[4]), good = 0;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    char url[400], resolve[400];
    snprintf(url, sizeof url, "https://%s:%s/", argv[2], argv[1]);
    snprintf(resolve, sizeof resolve, "%s:%s:127.0.0.1", argv[2], argv[1]);
    struct curl_slist *map = curl_slist_append(NULL, resolve);
    CURL *easy = curl_easy_init();
    size_t count = 0;
    int64_t begun = 0, computed = 0;
    for (long time = -2; time < times; time++) {
        // The first two are not counted: libraries start, roots are found.
        if (time == 0) {
            begun = measure_now();
            computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID);
        }
        curl_easy_reset(easy);
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_easy_setopt(easy, CURLOPT_RESOLVE, map);
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
        curl_easy_setopt(easy, CURLOPT_CAPATH, argv[3]);
        curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &count);
        count = 0;
        if (curl_easy_perform(easy) == CURLE_OK && count == 2 && time >= 0) good++;
    }
    computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID) - computed;
    int64_t took = measure_now() - begun;
    curl_easy_cleanup(easy);
    if (good != times) return fprintf(stderr, "trust_curl: %ld of %ld\n", good, times), 1;
    printf(
        "{\"name\":\"libcurl\",\"cpu_us\":%.2f,\"us\":%.2f}\n", (double)computed / (double)times / 1000,
        (double)took / (double)times / 1000);
    return 0;
}
