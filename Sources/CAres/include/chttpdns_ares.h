// c-ares behind plain integers: what differs between 1.18 and 1.34 stays in shim.c.
//
// An exchange is one question to one server over one transport, on a channel of its own, so that
// every question leaves from a random source port. No function here calls back: the owner asks for
// the outcome after each step. All functions of one exchange are called on one thread.
#ifndef CHTTPDNS_ARES_H
#define CHTTPDNS_ARES_H

#include <stddef.h>
#include <stdint.h>

typedef struct httpdns_ares_exchange httpdns_ares_exchange;

typedef struct {
    /// 4 or 16 octets in network order, told apart by `is_ipv6`.
    uint8_t octets[16];
    int is_ipv6;
    /// The interface index of a link-local address; 0 for none.
    uint32_t scope;
    uint16_t port;
    int over_tcp;
} httpdns_ares_server;

/// How far an exchange is.
#define HTTPDNS_ARES_PENDING 0
/// A reply with our id and question came; its bytes are at hand.
#define HTTPDNS_ARES_ANSWERED 1
/// The system refused: httpdns_ares_system_error says why.
#define HTTPDNS_ARES_NETWORK 2
/// The server closed the connection before it answered.
#define HTTPDNS_ARES_CLOSED 3
/// c-ares could not read the reply.
#define HTTPDNS_ARES_BAD_REPLY 4
/// c-ares could not read our question: a fault of ours.
#define HTTPDNS_ARES_BAD_QUERY 5
#define HTTPDNS_ARES_NO_MEMORY 6
/// Anything else: httpdns_ares_status holds c-ares' own number.
#define HTTPDNS_ARES_OTHER 7

/// Sends `query` and registers the sockets with the epoll descriptor `poll`, each with `token`.
/// NULL only when memory or the channel could not be had. The outcome may be there at once.
httpdns_ares_exchange *httpdns_ares_start(
    const httpdns_ares_server *server, const uint8_t *query, size_t count, int poll,
    uint64_t token);

/// Lets c-ares read or write what the poll reported.
void httpdns_ares_advance(httpdns_ares_exchange *exchange, int readable, int writable);

int httpdns_ares_outcome(const httpdns_ares_exchange *exchange);
/// The errno of the last failed socket call; 0 for none.
int httpdns_ares_system_error(const httpdns_ares_exchange *exchange);
int httpdns_ares_status(const httpdns_ares_exchange *exchange);
/// How often the question was sent: more than once when c-ares repeats it without EDNS.
int httpdns_ares_sends(const httpdns_ares_exchange *exchange);
/// The reply, valid until the exchange is destroyed.
const uint8_t *httpdns_ares_reply(const httpdns_ares_exchange *exchange, size_t *count);

/// Closes the sockets and frees everything.
void httpdns_ares_destroy(httpdns_ares_exchange *exchange);

/// The system's word for `error`, copied to `text`.
void httpdns_ares_error_text(int error, char *text, size_t capacity);
/// The version of the c-ares library in use, as in "1.18.1".
const char *httpdns_ares_version(void);

#endif
