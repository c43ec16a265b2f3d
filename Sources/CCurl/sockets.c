#define _GNU_SOURCE
#include "chttpdns_curl.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
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
