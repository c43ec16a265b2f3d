#define _GNU_SOURCE
#include "chttpdns_sockets.h"

#include "chttpdns_system.h"

#include <ifaddrs.h>
#include <net/if.h>

static socklen_t address_from(
    const uint8_t *octets, size_t count, uint16_t port, struct sockaddr_storage *address) {
    memset(address, 0, sizeof *address);
    if (count == 4) {
        struct sockaddr_in *four = (struct sockaddr_in *)address;
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        memcpy(&four->sin_addr, octets, 4);
        return sizeof *four;
    }
    if (count == 16) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        memcpy(&six->sin6_addr, octets, 16);
        return sizeof *six;
    }
    errno = EAFNOSUPPORT;
    return 0;
}

static void endpoint_from(const struct sockaddr_storage *address, httpdns_endpoint *endpoint) {
    memset(endpoint, 0, sizeof *endpoint);
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;
        endpoint->count = 4;
        endpoint->port = ntohs(four->sin_port);
        memcpy(endpoint->octets, &four->sin_addr, 4);
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
        endpoint->count = 16;
        endpoint->port = ntohs(six->sin6_port);
        memcpy(endpoint->octets, &six->sin6_addr, 16);
    }
}

static int prepared(int socket) {
    if (socket < 0) return -1;
#ifndef __linux__
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
#endif
    return socket;
}

static int opened(int family, int type) {
#ifdef __linux__
    return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
#else
    return prepared(socket(family, type, 0));
#endif
}

int httpdns_socket_error(void) { return errno; }

static int closed_with_errno(int socket) {
    int error = errno;
    close(socket);
    errno = error;
    return -1;
}

int httpdns_socket_bound(int is_stream, const uint8_t *octets, size_t count, uint16_t port) {
    struct sockaddr_storage address;
    socklen_t length = address_from(octets, count, port, &address);
    if (!length) return -1;
    int made = opened(address.ss_family, is_stream ? SOCK_STREAM : SOCK_DGRAM);
    if (made < 0) return -1;
    // A chosen port may be one that was served a moment ago, with connections in TIME_WAIT.
    int yes = 1;
    if (is_stream && port) setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(made, (struct sockaddr *)&address, length) != 0) return closed_with_errno(made);
    if (is_stream && listen(made, SOMAXCONN) != 0) return closed_with_errno(made);
    return made;
}

int httpdns_socket_connecting(const uint8_t *octets, size_t count, uint16_t port) {
    struct sockaddr_storage address;
    socklen_t length = address_from(octets, count, port, &address);
    if (!length) return -1;
    int made = opened(address.ss_family, SOCK_STREAM);
    if (made < 0) return -1;
    if (connect(made, (struct sockaddr *)&address, length) != 0 && errno != EINPROGRESS)
        return closed_with_errno(made);
    return made;
}

uint16_t httpdns_socket_port(int socket) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return 0;
    httpdns_endpoint endpoint;
    endpoint_from(&address, &endpoint);
    return endpoint.port;
}

int httpdns_socket_accept(int listener) {
#ifdef __linux__
    int made = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
    int made = prepared(accept(listener, NULL, NULL));
#endif
    if (made < 0) return -1;
    int on = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
}

void httpdns_socket_reset_on_close(int socket) {
    struct linger now = {1, 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

int httpdns_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
#else
    if (pipe(ends) != 0) return -1;
    prepared(ends[0]);
    prepared(ends[1]);
    return 0;
#endif
}

ssize_t httpdns_datagram_receive(
    int socket, uint8_t *octets, size_t capacity, httpdns_endpoint *from) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    ssize_t count = recvfrom(socket, octets, capacity, 0, (struct sockaddr *)&address, &length);
    if (count >= 0) endpoint_from(&address, from);
    return count;
}

ssize_t httpdns_datagram_send(
    int socket, const uint8_t *octets, size_t count, const httpdns_endpoint *to) {
    struct sockaddr_storage address;
    socklen_t length = address_from(to->octets, to->count, to->port, &address);
    if (!length) return -1;
    return sendto(socket, octets, count, 0, (struct sockaddr *)&address, length);
}

int httpdns_datagram_connected(
    const uint8_t *octets, size_t count, uint32_t scope, uint16_t port) {
    struct sockaddr_storage address;
    socklen_t length = address_from(octets, count, port, &address);
    if (!length) return -1;
    if (count == 16) ((struct sockaddr_in6 *)&address)->sin6_scope_id = scope;
    int made = opened(address.ss_family, SOCK_DGRAM);
    if (made < 0) return -1;
    // The system picks a free port at random. Source: udp_lib_get_port in Linux.
    if (connect(made, (struct sockaddr *)&address, length) != 0) return closed_with_errno(made);
    return made;
}

ssize_t httpdns_connected_send(int socket, const uint8_t *octets, size_t count) {
    ssize_t sent;
    do sent = send(socket, octets, count, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t httpdns_connected_receive(int socket, uint8_t *octets, size_t capacity) {
    ssize_t count;
    do count = recv(socket, octets, capacity, 0);
    while (count < 0 && errno == EINTR);
    return count;
}

/// Whether the system would send from the address to the address.
static int is_own_source(const uint8_t *octets, size_t count) {
    // Port 9 is as good as any other: connecting a datagram socket only looks up the route.
    int probe = httpdns_datagram_connected(octets, count, 0, 9);
    if (probe < 0) return 0;
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    httpdns_endpoint place = {.count = 0};
    if (getsockname(probe, (struct sockaddr *)&address, &length) == 0)
        endpoint_from(&address, &place);
    close(probe);
    return place.count == count && memcmp(place.octets, octets, count) == 0;
}

/// Whether an interface has the address.
static int is_of_interface(const uint8_t *octets, size_t count) {
    struct ifaddrs *list;
    if (getifaddrs(&list) != 0) return 0;
    int is_found = 0;
    for (struct ifaddrs *next = list; next && !is_found; next = next->ifa_next) {
        if (!next->ifa_addr) continue;
        if (count == 4 && next->ifa_addr->sa_family == AF_INET)
            is_found = memcmp(&((struct sockaddr_in *)next->ifa_addr)->sin_addr, octets, 4) == 0;
        if (count == 16 && next->ifa_addr->sa_family == AF_INET6)
            is_found = memcmp(&((struct sockaddr_in6 *)next->ifa_addr)->sin6_addr, octets, 16) == 0;
    }
    freeifaddrs(list);
    return is_found;
}

int httpdns_address_is_own(const uint8_t *octets, size_t count) {
    // Source: RFC 4291 §2.5.5.2.
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    if (count == 16 && memcmp(octets, mapped, sizeof mapped) == 0)
        return httpdns_address_is_own(octets + 12, 4);
    // All of 127/8, with the one address of it that the interface has. Source: RFC 1122 §3.2.1.3 (g).
    if (count == 4 && octets[0] == 127) return 1;
    // A route may make whole networks local, which no interface lists; and to a second address of an
    // interface the system sends from the first.
    return is_own_source(octets, count) || is_of_interface(octets, count);
}

int httpdns_connect_outcome(int socket) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
    return error;
}

uint32_t httpdns_interface_index(const char *name) { return if_nametoindex(name); }

int httpdns_connecting(const uint8_t *octets, size_t count, uint32_t scope, uint16_t port) {
    struct sockaddr_storage address;
    socklen_t length = address_from(octets, count, port, &address);
    if (!length) return -1;
    if (count == 16) ((struct sockaddr_in6 *)&address)->sin6_scope_id = scope;
    int made = opened(address.ss_family, SOCK_STREAM);
    if (made < 0) return -1;
    if (connect(made, (struct sockaddr *)&address, length) != 0 && errno != EINPROGRESS)
        return closed_with_errno(made);
    return made;
}
