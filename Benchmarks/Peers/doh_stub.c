// A DoH server that answers at once and many streams a write: what a fast, coalescing resolver costs its
// clients. It answers every POST and GET with one address for the question; it parses nothing else.
//
//     doh_stub PORT CHAIN.pem KEY.pem          serves on 127.0.0.1 until killed
//
// With PORT 0 it takes a free one, prints it, and ends when its standard input is closed.
//
// Build: cc -O2 doh_stub.c -o doh_stub -lnghttp2 -lssl -lcrypto -lpthread
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

struct stream {
    uint8_t body[512];
    size_t count, sent;
};

static ssize_t give_body(
    nghttp2_session *s, int32_t id, uint8_t *buffer, size_t length, uint32_t *flags,
    nghttp2_data_source *source, void *user) {
    (void)s, (void)id, (void)user;
    struct stream *stream = source->ptr;
    size_t n = stream->count - stream->sent;
    if (n > length) n = length;
    memcpy(buffer, stream->body + stream->sent, n);
    stream->sent += n;
    if (stream->sent == stream->count) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

// The query becomes the reply: QR and RA set, one A record that points at the question's name.
static void answer(struct stream *stream) {
    uint8_t *b = stream->body;
    size_t at = 12;
    while (at < stream->count && b[at]) at += b[at] + 1u;
    at += 5;
    if (stream->count < 17 || at > stream->count) return;
    b[2] |= 0x80;
    b[3] |= 0x80;
    b[7] = 1;
    b[11] = 0;
    static const uint8_t record[] = {0xC0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 127, 0, 0, 1};
    memcpy(b + at, record, sizeof record);
    stream->count = at + sizeof record;
}

#define FIELD(n, v) {(uint8_t *)n, (uint8_t *)v, sizeof n - 1, sizeof v - 1, NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE}

static int on_frame(nghttp2_session *s, const nghttp2_frame *frame, void *user) {
    (void)user;
    if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
    struct stream *stream = nghttp2_session_get_stream_user_data(s, frame->hd.stream_id);
    if (!stream) return 0;
    answer(stream);
    nghttp2_nv fields[] = {FIELD(":status", "200"), FIELD("content-type", "application/dns-message")};
    nghttp2_data_provider provider = {{.ptr = stream}, give_body};
    return nghttp2_submit_response(s, frame->hd.stream_id, fields, 2, &provider);
}

static int value(uint8_t c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : 0;
}

// A GET carries the query in base64url behind "dns=".
static int on_header(
    nghttp2_session *s, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
    const uint8_t *v, size_t length, uint8_t flags, void *user) {
    (void)flags, (void)user;
    struct stream *stream = nghttp2_session_get_stream_user_data(s, frame->hd.stream_id);
    if (!stream || name_length != 5 || memcmp(name, ":path", 5)) return 0;
    const uint8_t *text = memmem(v, length, "dns=", 4);
    if (!text) return 0;
    uint32_t bits = 0;
    int held = 0;
    for (text += 4; text < v + length && stream->count < sizeof stream->body - 16; text++) {
        bits = bits << 6 | (uint32_t)value(*text);
        held += 6;
        if (held < 8) continue;
        held -= 8;
        stream->body[stream->count++] = (uint8_t)(bits >> held);
    }
    return 0;
}

static int on_begin(nghttp2_session *s, const nghttp2_frame *frame, void *user) {
    (void)user;
    struct stream *stream = calloc(1, sizeof *stream);
    return nghttp2_session_set_stream_user_data(s, frame->hd.stream_id, stream);
}

static int on_data(
    nghttp2_session *s, uint8_t flags, int32_t id, const uint8_t *data, size_t length, void *user) {
    (void)flags, (void)user;
    struct stream *stream = nghttp2_session_get_stream_user_data(s, id);
    if (!stream || length > sizeof stream->body - 16 - stream->count) return 0;
    memcpy(stream->body + stream->count, data, length);
    stream->count += length;
    return 0;
}

static int on_close(nghttp2_session *s, int32_t id, uint32_t code, void *user) {
    (void)code, (void)user;
    free(nghttp2_session_get_stream_user_data(s, id));
    return 0;
}

static int pick(
    SSL *ssl, const unsigned char **out, unsigned char *count, const unsigned char *in,
    unsigned int length, void *arg) {
    (void)ssl, (void)arg;
    unsigned char *chosen;
    if (SSL_select_next_proto(&chosen, count, (const unsigned char *)"\x02h2", 3, in, length)
        != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void serve(SSL *ssl, nghttp2_session_callbacks *callbacks) {
    static uint8_t in[65536], out[65536];
    nghttp2_session *session;
    nghttp2_session_server_new(&session, callbacks, NULL);
    nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1000}};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, 1);
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, 1 << 24);
    for (;;) {
        size_t filled = 0;
        const uint8_t *piece;
        ssize_t n;
        while ((n = nghttp2_session_mem_send(session, &piece)) > 0) {
            if (filled + (size_t)n > sizeof out) {
                SSL_write(ssl, out, (int)filled);
                filled = 0;
            }
            memcpy(out + filled, piece, (size_t)n);
            filled += (size_t)n;
        }
        if (filled && SSL_write(ssl, out, (int)filled) <= 0) break;
        // Everything that has come is read before anything is answered.
        do {
            int count = SSL_read(ssl, in, sizeof in);
            if (count <= 0 || nghttp2_session_mem_recv(session, in, (size_t)count) < 0) goto over;
        } while (SSL_has_pending(ssl));
    }
over:
    nghttp2_session_del(session);
}

static void *wait_for_end(void *unused) {
    char rest[64];
    while (read(0, rest, sizeof rest) > 0) {}
    exit(0);
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: doh_stub PORT CHAIN.pem KEY.pem\n"), 2;
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(ctx, argv[2]) != 1
        || SSL_CTX_use_PrivateKey_file(ctx, argv[3], SSL_FILETYPE_PEM) != 1)
        return fprintf(stderr, "doh_stub: cannot use the certificate or its key\n"), 1;
    SSL_CTX_set_alpn_select_cb(ctx, pick, NULL);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_default_read_buffer_len(ctx, 66000);
    nghttp2_session_callbacks *callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 16))
        return perror("doh_stub"), 1;
    if (!address.sin_port) {
        socklen_t length = sizeof address;
        pthread_t waiter;
        if (getsockname(listener, (struct sockaddr *)&address, &length)
            || pthread_create(&waiter, NULL, wait_for_end, NULL))
            return perror("doh_stub"), 1;
        printf("%d\n", ntohs(address.sin_port));
        fflush(stdout);
    }
    for (;;) {
        int socket = accept(listener, NULL, NULL);
        if (socket < 0) continue;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        SSL *ssl = SSL_new(ctx);
        SSL_set_fd(ssl, socket);
        if (SSL_accept(ssl) == 1) serve(ssl, callbacks);
        SSL_free(ssl);
        close(socket);
    }
}
