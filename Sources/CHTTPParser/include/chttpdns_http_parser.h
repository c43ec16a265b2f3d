// Requests of HTTP/1 from octets, by http_parser. It is fed and stops where something is complete; it
// keeps no octet. See docs/decisions/0013-requests-of-clients.md for why this library, and what it must be watched for.
#ifndef CHTTPDNS_HTTP_PARSER_H
#define CHTTPDNS_HTTP_PARSER_H

#include <stddef.h>
#include <stdint.h>

/// Pieces that are told while octets are fed; each may come in several parts.
#define HTTPDNS_HTTP_TARGET 0
#define HTTPDNS_HTTP_FIELD 1
#define HTTPDNS_HTTP_VALUE 2
#define HTTPDNS_HTTP_BODY 3

/// Why a call of feed came back.
#define HTTPDNS_HTTP_MORE 0
/// The head is whole; the last LF of it was not taken.
#define HTTPDNS_HTTP_HEAD 1
/// The line with the size of a chunk is whole; it was taken.
#define HTTPDNS_HTTP_CHUNK 2
/// The octets of a chunk and the line end behind them were taken.
#define HTTPDNS_HTTP_CHUNK_END 3
/// The request is whole.
#define HTTPDNS_HTTP_END 4
#define HTTPDNS_HTTP_BROKEN (-1)
/// The method is none that is known.
#define HTTPDNS_HTTP_UNKNOWN_METHOD (-2)

typedef struct httpdns_http_reader httpdns_http_reader;
typedef void (*httpdns_http_piece)(
    void *_Nullable context, int kind, const uint8_t *_Nonnull octets, size_t count);

/// NULL when there is no memory.
httpdns_http_reader *_Nullable httpdns_http_reader_new(void);
void httpdns_http_reader_free(httpdns_http_reader *_Nullable reader);

/// Takes octets until something is whole; `taken` says how many. `piece` is called during the call only.
int httpdns_http_reader_feed(
    httpdns_http_reader *_Nonnull reader, const uint8_t *_Nonnull octets, size_t count,
    size_t *_Nonnull taken, httpdns_http_piece _Nonnull piece, void *_Nullable context);

/// What is known after HTTPDNS_HTTP_HEAD.
const char *_Nonnull httpdns_http_reader_method(const httpdns_http_reader *_Nonnull reader);
int httpdns_http_reader_major(const httpdns_http_reader *_Nonnull reader);
int httpdns_http_reader_minor(const httpdns_http_reader *_Nonnull reader);
int httpdns_http_reader_is_chunked(const httpdns_http_reader *_Nonnull reader);
/// The declared length; UINT64_MAX for none.
uint64_t httpdns_http_reader_length(const httpdns_http_reader *_Nonnull reader);
/// The client does not end the connection behind this request.
int httpdns_http_reader_keeps_alive(const httpdns_http_reader *_Nonnull reader);
/// The library's name for what is wrong.
const char *_Nonnull httpdns_http_reader_trouble(const httpdns_http_reader *_Nonnull reader);

#endif
