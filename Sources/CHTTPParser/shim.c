#include "chttpdns_http_parser.h"

#include <http_parser.h>
#include <stdlib.h>

struct httpdns_http_reader {
    http_parser parser;
    httpdns_http_piece piece;
    void *context;
    int stop;
};

static int told(http_parser *parser, int kind, const char *at, size_t count) {
    httpdns_http_reader *reader = parser->data;
    reader->piece(reader->context, kind, (const uint8_t *)at, count);
    return 0;
}

static int stopped(http_parser *parser, int why) {
    httpdns_http_reader *reader = parser->data;
    reader->stop = why;
    http_parser_pause(parser, 1);
    return 0;
}

static int on_target(http_parser *p, const char *at, size_t n) {
    return told(p, HTTPDNS_HTTP_TARGET, at, n);
}
static int on_field(http_parser *p, const char *at, size_t n) {
    return told(p, HTTPDNS_HTTP_FIELD, at, n);
}
static int on_value(http_parser *p, const char *at, size_t n) {
    return told(p, HTTPDNS_HTTP_VALUE, at, n);
}
static int on_body(http_parser *p, const char *at, size_t n) {
    return told(p, HTTPDNS_HTTP_BODY, at, n);
}
static int on_head(http_parser *p) {
    // Else it would end the request here for every Upgrade field; whoever reads it decides about those.
    if (p->method != HTTP_CONNECT) p->upgrade = 0;
    return stopped(p, HTTPDNS_HTTP_HEAD);
}
static int on_chunk(http_parser *p) { return stopped(p, HTTPDNS_HTTP_CHUNK); }
static int on_chunk_end(http_parser *p) { return stopped(p, HTTPDNS_HTTP_CHUNK_END); }
static int on_end(http_parser *p) { return stopped(p, HTTPDNS_HTTP_END); }

static const http_parser_settings settings = {
    .on_url = on_target,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_message_complete = on_end,
    .on_chunk_header = on_chunk,
    .on_chunk_complete = on_chunk_end,
};

httpdns_http_reader *httpdns_http_reader_new(void) {
    httpdns_http_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    http_parser_init(&reader->parser, HTTP_REQUEST);
    reader->parser.data = reader;
    return reader;
}

void httpdns_http_reader_free(httpdns_http_reader *reader) { free(reader); }

int httpdns_http_reader_feed(
    httpdns_http_reader *reader, const uint8_t *octets, size_t count, size_t *taken,
    httpdns_http_piece piece, void *context) {
    reader->piece = piece;
    reader->context = context;
    reader->stop = HTTPDNS_HTTP_MORE;
    *taken = 0;
    // An execute without octets means the end of the connection.
    if (count == 0) return HTTPDNS_HTTP_MORE;
    *taken = http_parser_execute(&reader->parser, &settings, (const char *)octets, count);
    switch (HTTP_PARSER_ERRNO(&reader->parser)) {
    case HPE_OK: return HTTPDNS_HTTP_MORE;
    case HPE_PAUSED: http_parser_pause(&reader->parser, 0); return reader->stop;
    case HPE_INVALID_METHOD: return HTTPDNS_HTTP_UNKNOWN_METHOD;
    default: return HTTPDNS_HTTP_BROKEN;
    }
}

const char *httpdns_http_reader_method(const httpdns_http_reader *reader) {
    return http_method_str((enum http_method)reader->parser.method);
}
int httpdns_http_reader_major(const httpdns_http_reader *reader) {
    return reader->parser.http_major;
}
int httpdns_http_reader_minor(const httpdns_http_reader *reader) {
    return reader->parser.http_minor;
}
int httpdns_http_reader_is_chunked(const httpdns_http_reader *reader) {
    return (reader->parser.flags & F_CHUNKED) != 0;
}
uint64_t httpdns_http_reader_length(const httpdns_http_reader *reader) {
    return reader->parser.content_length;
}
int httpdns_http_reader_keeps_alive(const httpdns_http_reader *reader) {
    return http_should_keep_alive(&reader->parser);
}
const char *httpdns_http_reader_trouble(const httpdns_http_reader *reader) {
    return http_errno_name(HTTP_PARSER_ERRNO(&reader->parser));
}
