#define _GNU_SOURCE
// 1.34 deprecates the functions that both versions have.
#define CARES_NO_DEPRECATED
#include "chttpdns_ares.h"

#include <ares.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

// One server and one question open one socket; c-ares opens another only after it closed the first.
#define SOCKETS 4

struct httpdns_ares_exchange {
    ares_channel channel;
    int poll;
    uint64_t token;
    uint32_t scope;
    int sockets[SOCKETS];
    int outcome;
    int status;
    int system_error;
    int saw_end;
    int received;
    int sends;
    uint8_t *reply;
    size_t reply_count;
};

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static void init_library(void) { ares_library_init(ARES_LIB_INIT_ALL); }

// ---- Called by c-ares on the owner's thread, inside start, advance or destroy ----
// None of these may call an ares_ function: the channel is busy.

static void answered(void *context, int status, int timeouts, unsigned char *reply, int count) {
    struct httpdns_ares_exchange *exchange = context;
    (void)timeouts;
    if (exchange->outcome != HTTPDNS_ARES_PENDING) return;
    exchange->status = status;
    if (status == (int)ARES_SUCCESS && reply && count > 0) {
        exchange->reply = malloc((size_t)count);
        if (!exchange->reply) {
            exchange->outcome = HTTPDNS_ARES_NO_MEMORY;
            return;
        }
        memcpy(exchange->reply, reply, (size_t)count);
        exchange->reply_count = (size_t)count;
        exchange->outcome = HTTPDNS_ARES_ANSWERED;
    } else if (status == (int)ARES_ENOMEM) {
        exchange->outcome = HTTPDNS_ARES_NO_MEMORY;
    } else if (status == (int)ARES_EBADQUERY || status == (int)ARES_EBADNAME) {
        exchange->outcome = HTTPDNS_ARES_BAD_QUERY;
    } else if (exchange->system_error) {
        exchange->outcome = HTTPDNS_ARES_NETWORK;
    } else if (exchange->saw_end) {
        exchange->outcome = HTTPDNS_ARES_CLOSED;
    } else if (status == (int)ARES_EBADRESP || status == (int)ARES_SUCCESS) {
        exchange->outcome = HTTPDNS_ARES_BAD_REPLY;
    } else if (status == (int)ARES_ECONNREFUSED && exchange->received) {
        // c-ares gave the connection up, though neither the system nor the peer ended it: for what
        // came on it, such as a frame without a message.
        exchange->outcome = HTTPDNS_ARES_BAD_REPLY;
    } else {
        exchange->outcome = HTTPDNS_ARES_OTHER;
    }
}

static void watch(void *context, ares_socket_t socket, int readable, int writable) {
    struct httpdns_ares_exchange *exchange = context;
    struct epoll_event event = {0};
    int slot = -1;
    for (int index = 0; index < SOCKETS; index += 1) {
        if (exchange->sockets[index] == socket) slot = index;
    }
    if (!readable && !writable) {
        if (slot < 0) return;
        exchange->sockets[slot] = -1;
        epoll_ctl(exchange->poll, EPOLL_CTL_DEL, socket, &event);
        return;
    }
    event.events = (readable ? EPOLLIN : 0) | (writable ? EPOLLOUT : 0);
    event.data.u64 = exchange->token;
    if (slot >= 0) {
        epoll_ctl(exchange->poll, EPOLL_CTL_MOD, socket, &event);
        return;
    }
    for (int index = 0; index < SOCKETS; index += 1) {
        if (exchange->sockets[index] != -1) continue;
        if (epoll_ctl(exchange->poll, EPOLL_CTL_ADD, socket, &event) == 0) {
            exchange->sockets[index] = socket;
        } else {
            exchange->system_error = errno;
        }
        return;
    }
}

// Our own socket calls, because 1.18 has no field for a scope id, does not say why a call failed,
// and lets SIGPIPE through.
static ares_socket_t open_socket(int family, int type, int protocol, void *context) {
    struct httpdns_ares_exchange *exchange = context;
    int descriptor = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    if (descriptor < 0) {
        exchange->system_error = errno;
    } else if (type == SOCK_STREAM) {
        int on = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return descriptor;
}

static int close_socket(ares_socket_t descriptor, void *context) {
    (void)context;
    return close(descriptor);
}

static int is_stream(int descriptor) {
    int type = 0;
    socklen_t length = sizeof type;
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

static int connect_socket(
    ares_socket_t descriptor, const struct sockaddr *address, ares_socklen_t length, void *context
) {
    struct httpdns_ares_exchange *exchange = context;
    struct sockaddr_in6 scoped;
    if (address->sa_family == AF_INET6 && exchange->scope && length >= (ares_socklen_t)sizeof scoped) {
        memcpy(&scoped, address, sizeof scoped);
        scoped.sin6_scope_id = exchange->scope;
        address = (const struct sockaddr *)&scoped;
    }
    if (is_stream(descriptor)) exchange->sends += 1;
    int result = connect(descriptor, address, length);
    if (result < 0 && errno != EINPROGRESS) exchange->system_error = errno;
    return result;
}

static ares_ssize_t receive(
    ares_socket_t descriptor, void *buffer, size_t size, int flags, struct sockaddr *address,
    ares_socklen_t *length, void *context
) {
    struct httpdns_ares_exchange *exchange = context;
    ssize_t count = recvfrom(descriptor, buffer, size, flags, address, length);
    if (count < 0 && errno != EAGAIN && errno != EINTR) exchange->system_error = errno;
    if (count == 0 && size > 0 && is_stream(descriptor)) exchange->saw_end = 1;
    if (count > 0) exchange->received = 1;
    return count;
}

static ares_ssize_t send_parts(
    ares_socket_t descriptor, const struct iovec *parts, int count, void *context
) {
    struct httpdns_ares_exchange *exchange = context;
    struct msghdr message = {0};
    message.msg_iov = (struct iovec *)parts;
    message.msg_iovlen = (size_t)count;
    ssize_t sent = sendmsg(descriptor, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) exchange->system_error = errno;
    if (sent >= 0 && !is_stream(descriptor)) exchange->sends += 1;
    return sent;
}

// ---- End of what c-ares calls ----

static const struct ares_socket_functions socket_calls = {
    open_socket, close_socket, connect_socket, receive, send_parts,
};

static int open_channel(struct httpdns_ares_exchange *exchange, int over_tcp) {
    struct ares_options options;
    struct in_addr placeholder = {htonl(INADDR_LOOPBACK)};
    static char lookups[] = "b";
    static char no_file[] = "/dev/null";
    memset(&options, 0, sizeof options);
    // IGNTC: the truncated reply comes to us, and we decide to ask again over TCP.
    // NOCHECKRESP: without it 1.18 hides SERVFAIL, NOTIMP and REFUSED behind ECONNREFUSED.
    options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_EDNS | ARES_FLAG_IGNTC
        | ARES_FLAG_NOCHECKRESP | (over_tcp ? ARES_FLAG_USEVC : 0);
    // Never reached: the owner's own timer ends an exchange. One hour.
    options.timeout = 3600 * 1000;
    options.tries = 1;
    options.ndots = 1;
    options.lookups = lookups;
    // The most that 1.18 reads from a UDP reply; what we ask for stands in the question's OPT.
    options.ednspsz = 4096;
    options.sock_state_cb = watch;
    options.sock_state_cb_data = exchange;
    options.servers = &placeholder;
    options.nservers = 1;
    options.resolvconf_path = no_file;
    // With all of these given, 1.18 reads no file and no environment for a new channel.
    int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS
        | ARES_OPT_LOOKUPS | ARES_OPT_EDNSPSZ | ARES_OPT_SOCK_STATE_CB | ARES_OPT_SERVERS
        | ARES_OPT_DOMAINS | ARES_OPT_SORTLIST | ARES_OPT_RESOLVCONF | ARES_OPT_NOROTATE;
#ifdef ARES_OPT_QUERY_CACHE
    // 1.26 and later cache by default; the cache is ours.
    options.qcache_max_ttl = 0;
    mask |= ARES_OPT_QUERY_CACHE;
#endif
    return ares_init_options(&exchange->channel, &options, mask) == 0;
}

static int name_server(ares_channel channel, const httpdns_ares_server *server) {
    struct ares_addr_port_node node;
    memset(&node, 0, sizeof node);
    node.family = server->is_ipv6 ? AF_INET6 : AF_INET;
    memcpy(&node.addr, server->octets, server->is_ipv6 ? 16 : 4);
    node.udp_port = server->port;
    node.tcp_port = server->port;
    return ares_set_servers_ports(channel, &node) == 0;
}

httpdns_ares_exchange *httpdns_ares_start(
    const httpdns_ares_server *server, const uint8_t *query, size_t count, int poll, uint64_t token
) {
    pthread_once(&library_once, init_library);
    if (count > UINT16_MAX) return NULL;
    struct httpdns_ares_exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange) return NULL;
    exchange->poll = poll;
    exchange->token = token;
    exchange->scope = server->scope;
    for (int index = 0; index < SOCKETS; index += 1) exchange->sockets[index] = -1;
    if (!open_channel(exchange, server->over_tcp)) {
        free(exchange);
        return NULL;
    }
    if (!name_server(exchange->channel, server)) {
        httpdns_ares_destroy(exchange);
        return NULL;
    }
    ares_set_socket_functions(exchange->channel, &socket_calls, exchange);
    ares_send(exchange->channel, query, (int)count, answered, exchange);
    return exchange;
}

void httpdns_ares_advance(httpdns_ares_exchange *exchange, int readable, int writable) {
    int sockets[SOCKETS];
    memcpy(sockets, exchange->sockets, sizeof sockets);
    for (int index = 0; index < SOCKETS; index += 1) {
        if (sockets[index] == -1 || exchange->outcome != HTTPDNS_ARES_PENDING) continue;
        ares_process_fd(
            exchange->channel, readable ? sockets[index] : ARES_SOCKET_BAD,
            writable ? sockets[index] : ARES_SOCKET_BAD);
    }
}

int httpdns_ares_outcome(const httpdns_ares_exchange *exchange) { return exchange->outcome; }

int httpdns_ares_system_error(const httpdns_ares_exchange *exchange) {
    return exchange->system_error;
}

int httpdns_ares_status(const httpdns_ares_exchange *exchange) { return exchange->status; }

int httpdns_ares_sends(const httpdns_ares_exchange *exchange) { return exchange->sends; }

const uint8_t *httpdns_ares_reply(const httpdns_ares_exchange *exchange, size_t *count) {
    *count = exchange->reply_count;
    return exchange->reply;
}

void httpdns_ares_destroy(httpdns_ares_exchange *exchange) {
    // ares_destroy reports the question as ended: that news must change nothing.
    if (exchange->outcome == HTTPDNS_ARES_PENDING) exchange->outcome = HTTPDNS_ARES_OTHER;
    ares_destroy(exchange->channel);
    free(exchange->reply);
    free(exchange);
}

void httpdns_ares_error_text(int error, char *text, size_t capacity) {
    char buffer[128];
    const char *word = strerror_r(error, buffer, sizeof buffer);
    if (capacity == 0) return;
    strncpy(text, word, capacity - 1);
    text[capacity - 1] = 0;
}

const char *httpdns_ares_version(void) { return ares_version(NULL); }
