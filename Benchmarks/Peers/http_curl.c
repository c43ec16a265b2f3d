// GET requests through libcurl's multi interface, as an application in C would send them.
//
//     http_curl get URL ROOT.pem IN_FLIGHT COUNT h1|h2        prints one line of JSON
//     http_curl body URL ROOT.pem
//
// Build: cc -O2 http_curl.c -o http_curl -lcurl
#include <curl/curl.h>
#include <string.h>
#include <sys/resource.h>

#include "measure.h"

static size_t take(char *data, size_t size, size_t n, void *count) {
    (void)data;
    *(size_t *)count += size * n;
    return size * n;
}

struct transfer {
    CURL *easy;
    size_t octets;
    int64_t begun;
};

static void set(struct transfer *transfer, char **argv, struct curl_slist *map) {
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_URL, argv[2]);
    curl_easy_setopt(easy, CURLOPT_RESOLVE, map);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CAINFO, argv[3]);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer->octets);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
}

static int body(char **argv, struct curl_slist *map) {
    struct transfer transfer = {.easy = curl_easy_init()};
    int64_t begun = measure_now(), computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID);
    set(&transfer, argv, map);
    if (curl_easy_perform(transfer.easy) != CURLE_OK) return fprintf(stderr, "http_curl: failed\n"), 1;
    computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID) - computed;
    int64_t took = measure_now() - begun;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf(
        "{\"name\":\"libcurl\",\"mb_per_s\":%.2f,\"cpu_ms\":%.2f,\"peak_octets\":%ld}\n",
        (double)transfer.octets * 1000 / (double)took, (double)computed / 1e6, usage.ru_maxrss * 1024);
    return 0;
}

int main(int argc, char **argv) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    // localhost is asked of nobody, as on the other side.
    struct curl_slist *map = NULL;
    if (argc >= 4) {
        char entry[400];
        const char *port = strrchr(argv[2] + 6, ':');
        snprintf(entry, sizeof entry, "localhost:%d:127.0.0.1", port ? atoi(port + 1) : 0);
        map = curl_slist_append(NULL, entry);
    }
    if (argc == 4 && strcmp(argv[1], "body") == 0) return body(argv, map);
    if (argc != 7) return fprintf(stderr, "usage: http_curl get URL ROOT.pem IN_FLIGHT COUNT h1|h2\n"), 2;
    int in_flight = atoi(argv[4]);
    long count = atol(argv[5]), warm = 4L * in_flight, total = count + warm, asked = 0, done = 0, good = 0;
    int is_h2 = strcmp(argv[6], "h2") == 0;
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 256L);
    struct transfer *transfers = calloc((size_t)in_flight, sizeof *transfers);
    int64_t *latencies = calloc((size_t)count, sizeof *latencies);
    int64_t begun = 0, computed = 0;
    for (int i = 0; i < in_flight; i++) {
        transfers[i].easy = curl_easy_init();
        set(&transfers[i], argv, map);
        curl_easy_setopt(
            transfers[i].easy, CURLOPT_HTTP_VERSION,
            is_h2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
        curl_easy_setopt(transfers[i].easy, CURLOPT_PIPEWAIT, (long)is_h2);
        transfers[i].begun = measure_now();
        curl_multi_add_handle(multi, transfers[i].easy);
        asked++;
    }
    int running = 0;
    do {
        curl_multi_perform(multi, &running);
        int left;
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            if (message->msg != CURLMSG_DONE) continue;
            struct transfer *transfer;
            CURL *easy = message->easy_handle;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
            int is_right = message->data.result == CURLE_OK && transfer->octets == 13;
            if (done == warm) {
                begun = measure_now();
                computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID);
            }
            if (done >= warm && is_right) latencies[good++] = measure_now() - transfer->begun;
            done++;
            transfer->octets = 0;
            curl_multi_remove_handle(multi, easy);
            if (asked < total) {
                asked++;
                transfer->begun = measure_now();
                curl_multi_add_handle(multi, easy);
            }
        }
        if (done < total) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    } while (done < total);
    computed = measure_clock(CLOCK_PROCESS_CPUTIME_ID) - computed;
    int64_t took = measure_now() - begun;
    if (good < count - 1) return fprintf(stderr, "http_curl: %ld of %ld\n", good, count), 1;
    qsort(latencies, (size_t)good, sizeof *latencies, measure_order);
    printf(
        "{\"name\":\"libcurl\",\"requests_per_s\":%.0f,\"cpu_us\":%.3f,\"p50_us\":%.2f,\"p99_us\":%.2f}\n",
        (double)good * 1e9 / (double)took, (double)computed / (double)good / 1000,
        (double)latencies[good / 2] / 1000, (double)latencies[good * 99 / 100] / 1000);
    return 0;
}
