// The floor for DoH: libnghttp2 and OpenSSL in one loop, nothing else. One connection, POST, TLS 1.3;
// everything that has come is read before anything is sent.
//
//     doh_nghttp2 PORT NAME ROOT.pem IN_FLIGHT LOOKUPS        prints one line of JSON
//
// Build: cc -O2 doh_nghttp2.c -o doh_nghttp2 -lnghttp2 -lssl -lcrypto
#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "common.h"

struct lookup {
    uint8_t query[128];
    size_t sent;
    uint8_t reply[4096];
    size_t count;
    uint64_t begun;
};

static struct lookup *lookups;
static int *idle;
static int idle_count;
static unsigned asked, answered, total;
static uint32_t *latencies;
static char authority[300];

static ssize_t give_query(
    nghttp2_session *s, int32_t id, uint8_t *buffer, size_t length, uint32_t *flags,
    nghttp2_data_source *source, void *user) {
    (void)s, (void)id, (void)user, (void)length;
    struct lookup *l = source->ptr;
    memcpy(buffer, l->query, 128);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return 128;
}

#define STILL NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE
#define FIELD(n, v) {(uint8_t *)n, (uint8_t *)v, sizeof n - 1, sizeof v - 1, STILL}

static void ask(nghttp2_session *s) {
    static nghttp2_nv fields[] = {
        FIELD(":method", "POST"), FIELD(":scheme", "https"),
        {(uint8_t *)":authority", (uint8_t *)authority, 10, 0, STILL},
        FIELD(":path", "/dns-query"), FIELD("accept", "application/dns-message"),
        FIELD("content-type", "application/dns-message"), FIELD("content-length", "128")};
    fields[2].valuelen = strlen(authority);
    while (idle_count && asked < total) {
        struct lookup *l = &lookups[idle[--idle_count]];
        make_query(l->query, asked++ % 100000);
        l->count = 0;
        l->begun = now_ns();
        nghttp2_data_provider provider = {{.ptr = l}, give_query};
        nghttp2_submit_request(s, NULL, fields, 7, &provider, l);
    }
}

static int on_data(
    nghttp2_session *s, uint8_t flags, int32_t id, const uint8_t *data, size_t length, void *user) {
    (void)flags, (void)user;
    struct lookup *l = nghttp2_session_get_stream_user_data(s, id);
    if (l && length <= sizeof l->reply - l->count) {
        memcpy(l->reply + l->count, data, length);
        l->count += length;
    }
    return 0;
}

static int on_close(nghttp2_session *s, int32_t id, uint32_t code, void *user) {
    (void)user;
    struct lookup *l = nghttp2_session_get_stream_user_data(s, id);
    if (code || l->count < 12 || (l->reply[3] & 15)) {
        fprintf(stderr, "doh_nghttp2: a lookup failed\n");
        exit(1);
    }
    latencies[answered++] = (uint32_t)((now_ns() - l->begun) / 100);
    idle[idle_count++] = (int)(l - lookups);
    return 0;
}

static void send_all(SSL *ssl, nghttp2_session *session) {
    static uint8_t out[65536];
    size_t filled = 0;
    const uint8_t *piece;
    ssize_t n;
    while ((n = nghttp2_session_mem_send(session, &piece)) > 0) {
        memcpy(out + filled, piece, (size_t)n);
        filled += (size_t)n;
        if (filled >= 16384) {
            SSL_write(ssl, out, (int)filled);
            filled = 0;
        }
    }
    if (filled) SSL_write(ssl, out, (int)filled);
}

int main(int argc, char **argv) {
    if (argc != 6)
        return fprintf(stderr, "usage: doh_nghttp2 PORT NAME ROOT.pem IN_FLIGHT LOOKUPS\n"), 2;
    int flight = atoi(argv[4]);
    total = (unsigned)atoi(argv[5]);
    lookups = calloc((size_t)flight, sizeof *lookups);
    idle = calloc((size_t)flight, sizeof *idle);
    latencies = calloc(total, sizeof *latencies);
    for (int i = 0; i < flight; i++) idle[idle_count++] = i;
    snprintf(authority, sizeof authority, "%s:%s", argv[2], argv[1]);
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_load_verify_locations(ctx, argv[3], NULL);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_default_read_buffer_len(ctx, 66000);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) return perror("connect"), 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    SSL *ssl = SSL_new(ctx);
    SSL_set_fd(ssl, fd);
    SSL_set_tlsext_host_name(ssl, argv[2]);
    SSL_set1_host(ssl, argv[2]);
    SSL_set_alpn_protos(ssl, (const unsigned char *)"\x02h2", 3);
    if (SSL_connect(ssl) != 1) return fprintf(stderr, "doh_nghttp2: no TLS\n"), 1;
    nghttp2_session_callbacks *callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session *session;
    nghttp2_session_client_new(&session, callbacks, NULL);
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, NULL, 0);
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, 1 << 24);
    uint64_t begun = now_ns();
    double cpu = cpu_us();
    static uint8_t in[65536];
    while (answered < total) {
        ask(session);
        send_all(ssl, session);
        do {
            int n = SSL_read(ssl, in, sizeof in);
            if (n <= 0 || nghttp2_session_mem_recv(session, in, (size_t)n) < 0)
                return fprintf(stderr, "doh_nghttp2: the connection ended\n"), 1;
        } while (SSL_has_pending(ssl));
    }
    report("doh_nghttp2", latencies, total, (double)(now_ns() - begun) / 1e9, cpu_us() - cpu);
}
