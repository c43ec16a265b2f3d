#define _GNU_SOURCE
#include "chttpdns_curl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

httpdns_curl_address httpdns_curl_address_of(const struct curl_sockaddr *address) {
    httpdns_curl_address result;
    memset(&result, 0, sizeof result);
    if (address->family == AF_INET && address->addrlen >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, &address->addr, sizeof ipv4);
        memcpy(result.octets, &ipv4.sin_addr, 4);
        result.count = 4;
        result.port = ntohs(ipv4.sin_port);
    } else if (address->family == AF_INET6 && address->addrlen >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 ipv6;
        memcpy(&ipv6, &address->addr, sizeof ipv6);
        memcpy(result.octets, &ipv6.sin6_addr, 16);
        result.count = 16;
        result.port = ntohs(ipv6.sin6_port);
    }
    return result;
}

curl_socket_t httpdns_curl_open_socket(struct curl_sockaddr *address, const char *zone) {
    if (zone && address->family == AF_INET6) {
        struct sockaddr_in6 ipv6;
        unsigned int index = if_nametoindex(zone);
        if (index == 0 || address->addrlen < sizeof ipv6) return CURL_SOCKET_BAD;
        memcpy(&ipv6, &address->addr, sizeof ipv6);
        ipv6.sin6_scope_id = index;
        memcpy(&address->addr, &ipv6, sizeof ipv6);
    }
#ifdef SOCK_CLOEXEC
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
    curl_socket_t made = socket(address->family, address->socktype, address->protocol);
    if (made != CURL_SOCKET_BAD) fcntl(made, F_SETFD, FD_CLOEXEC);
    return made;
#endif
}

httpdns_curl_ends httpdns_curl_ends_of(
    const char *remote, int remote_port, const char *local, int local_port) {
    httpdns_curl_ends ends;
    memset(&ends, 0, sizeof ends);
    // The last octet stays 0; no address is as long (INET6_ADDRSTRLEN is 46).
    memcpy(ends.remote, remote, strnlen(remote, sizeof ends.remote - 1));
    memcpy(ends.local, local, strnlen(local, sizeof ends.local - 1));
    ends.remote_port = (uint16_t)remote_port;
    ends.local_port = (uint16_t)local_port;
    return ends;
}

bool httpdns_curl_same_ends(const httpdns_curl_ends *one, const httpdns_curl_ends *other) {
    return memcmp(one, other, sizeof *one) == 0;
}

// False for an address that is not IP.
static bool write_end(const struct sockaddr_storage *address, char text[48], uint16_t *port) {
    if (address->ss_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, address, sizeof ipv4);
        *port = ntohs(ipv4.sin_port);
        return inet_ntop(AF_INET, &ipv4.sin_addr, text, 48) != NULL;
    }
    struct sockaddr_in6 ipv6;
    if (address->ss_family != AF_INET6) return false;
    memcpy(&ipv6, address, sizeof ipv6);
    *port = ntohs(ipv6.sin6_port);
    return inet_ntop(AF_INET6, &ipv6.sin6_addr, text, 48) != NULL;
}

bool httpdns_curl_socket_has(int made, const httpdns_curl_ends *ends) {
    struct sockaddr_storage local, remote;
    socklen_t local_size = sizeof local, remote_size = sizeof remote;
    char local_text[48], remote_text[48];
    uint16_t local_port = 0, remote_port = 0;
    if (getsockname(made, (struct sockaddr *)&local, &local_size) != 0) return false;
    if (getpeername(made, (struct sockaddr *)&remote, &remote_size) != 0) return false;
    return write_end(&local, local_text, &local_port)
        && write_end(&remote, remote_text, &remote_port) && local_port == ends->local_port
        && remote_port == ends->remote_port && strcmp(local_text, ends->local) == 0
        && strcmp(remote_text, ends->remote) == 0;
}

bool httpdns_curl_socket_is_silent(int made) {
    char octet;
    ssize_t count;
    do count = recv(made, &octet, 1, MSG_PEEK | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

uint64_t httpdns_curl_socket_inode(int made) {
    struct stat facts;
    return fstat(made, &facts) == 0 && S_ISSOCK(facts.st_mode) ? (uint64_t)facts.st_ino : 0;
}

#ifdef __linux__
// TCP_CLOSE for what is not a socket of TCP, or another than the one meant.
static int state_of(int made, uint64_t inode) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (inode == 0 || httpdns_curl_socket_inode(made) != inode) return TCP_CLOSE;
    if (getsockopt(made, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return TCP_CLOSE;
    return info.tcpi_state;
}
#endif

bool httpdns_curl_socket_is_made(int made, uint64_t inode) {
#ifdef __linux__
    int state = state_of(made, inode);
    return state != TCP_CLOSE && state != TCP_SYN_SENT;
#else
    (void)made;
    (void)inode;
    return false;
#endif
}

bool httpdns_curl_socket_give_up(int made, uint64_t inode) {
#ifdef __linux__
    return state_of(made, inode) == TCP_SYN_SENT && shutdown(made, SHUT_RDWR) == 0;
#else
    (void)made;
    (void)inode;
    return false;
#endif
}
