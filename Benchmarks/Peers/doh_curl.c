// DoH through libcurl's multi interface: one HTTP/2 connection, POST.
//
//     doh_curl PORT NAME ROOT.pem IN_FLIGHT LOOKUPS           prints one line of JSON
//
// Build: cc -O2 doh_curl.c -o doh_curl -lcurl
#include <curl/curl.h>

#include "common.h"

struct lookup {
    CURL *easy;
    uint8_t query[128];
    uint8_t reply[4096];
    size_t count;
    uint64_t begun;
};

static size_t take(char *data, size_t size, size_t n, void *user) {
    struct lookup *l = user;
    if (size * n > sizeof l->reply - l->count) return 0;
    memcpy(l->reply + l->count, data, size * n);
    l->count += size * n;
    return size * n;
}

int main(int argc, char **argv) {
    if (argc != 6)
        return fprintf(stderr, "usage: doh_curl PORT NAME ROOT.pem IN_FLIGHT LOOKUPS\n"), 2;
    int flight = atoi(argv[4]);
    unsigned total = (unsigned)atoi(argv[5]), asked = 0, answered = 0, retries = 0;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
    char url[400], resolve[400];
    snprintf(url, sizeof url, "https://%s:%s/dns-query", argv[2], argv[1]);
    snprintf(resolve, sizeof resolve, "%s:%s:127.0.0.1", argv[2], argv[1]);
    struct curl_slist *map = curl_slist_append(NULL, resolve);
    struct curl_slist *fields = curl_slist_append(NULL, "Content-Type: application/dns-message");
    fields = curl_slist_append(fields, "Accept: application/dns-message");
    struct lookup *lookups = calloc((size_t)flight, sizeof *lookups);
    uint32_t *latencies = calloc(total, sizeof *latencies);
    for (int i = 0; i < flight; i++) {
        CURL *e = lookups[i].easy = curl_easy_init();
        curl_easy_setopt(e, CURLOPT_URL, url);
        curl_easy_setopt(e, CURLOPT_RESOLVE, map);
        curl_easy_setopt(e, CURLOPT_CAINFO, argv[3]);
        curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
        curl_easy_setopt(e, CURLOPT_PIPEWAIT, 1L);
        curl_easy_setopt(e, CURLOPT_HTTPHEADER, fields);
        curl_easy_setopt(e, CURLOPT_POSTFIELDS, lookups[i].query);
        curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE, 128L);
        curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(e, CURLOPT_WRITEDATA, &lookups[i]);
        curl_easy_setopt(e, CURLOPT_PRIVATE, &lookups[i]);
    }
    uint64_t begun = now_ns();
    double cpu = cpu_us();
    for (int i = 0; i < flight && asked < total; i++) {
        make_query(lookups[i].query, asked++ % 100000);
        lookups[i].begun = now_ns();
        curl_multi_add_handle(multi, lookups[i].easy);
    }
    while (answered < total) {
        int running, left;
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &left))) {
            if (message->msg != CURLMSG_DONE) continue;
            struct lookup *l;
            CURL *e = message->easy_handle;
            CURLcode result = message->data.result;
            curl_easy_getinfo(e, CURLINFO_PRIVATE, &l);
            if (result && retries++ < total / 10) {
                // libcurl 7.88 now and then takes a busy connection for dead: such a lookup is put again.
                curl_multi_remove_handle(multi, e);
                l->count = 0;
                curl_multi_add_handle(multi, e);
                continue;
            }
            if (result || l->count < 12 || (l->reply[3] & 15))
                return fprintf(stderr, "doh_curl: %s\n", curl_easy_strerror(result)), 1;
            latencies[answered++] = (uint32_t)((now_ns() - l->begun) / 100);
            curl_multi_remove_handle(multi, e);
            if (asked == total) continue;
            make_query(l->query, asked++ % 100000);
            l->count = 0;
            l->begun = now_ns();
            curl_multi_add_handle(multi, e);
        }
        if (answered < total) curl_multi_poll(multi, NULL, 0, 100, NULL);
    }
    report("doh_curl", latencies, total, (double)(now_ns() - begun) / 1e9, cpu_us() - cpu);
}
