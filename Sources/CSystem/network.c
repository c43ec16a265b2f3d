#define _GNU_SOURCE
#include "chttpdns_network.h"

#include "chttpdns_system.h"

#ifdef __linux__
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

static int bound(int flags, uint32_t groups) {
    int made = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags, NETLINK_ROUTE);
    if (made < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(made, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(made);
        errno = error;
        return -1;
    }
    return made;
}

int httpdns_netlink_listen(void) {
    return bound(
        SOCK_NONBLOCK, RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE |
                           RTMGRP_IPV6_ROUTE);
}

int httpdns_netlink_open(void) {
    int made = bound(0, 0);
    // One second: the kernel answers at once or not at all.
    struct timeval limit = {1, 0};
    if (made >= 0) setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return made;
}

int httpdns_netlink_ask(int socket, int subject, uint32_t sequence) {
    static const uint16_t types[] = {RTM_GETADDR, RTM_GETROUTE, RTM_GETNEIGH};
    if (subject < 0 || subject > 2) {
        errno = EINVAL;
        return -1;
    }
    struct {
        struct nlmsghdr head;
        struct rtgenmsg body;
    } question = {
        .head = {
            .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)),
            .nlmsg_type = types[subject],
            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
            .nlmsg_seq = sequence,
        },
        .body = {.rtgen_family = AF_UNSPEC},
    };
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent = sendto(
        socket, &question, question.head.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel);
    return sent < 0 ? -1 : 0;
}

ssize_t httpdns_netlink_receive(int socket, uint8_t *octets, size_t capacity) {
    struct sockaddr_nl from = {0};
    socklen_t length = sizeof from;
    ssize_t count = recvfrom(socket, octets, capacity, 0, (struct sockaddr *)&from, &length);
    // Any process may write to a netlink socket; the kernel's port is 0.
    return count > 0 && from.nl_pid != 0 ? 0 : count;
}
#else
static int missing(void) {
    errno = ENOSYS;
    return -1;
}
int httpdns_netlink_listen(void) { return missing(); }
int httpdns_netlink_open(void) { return missing(); }
int httpdns_netlink_ask(int socket, int subject, uint32_t sequence) { return missing(); }
ssize_t httpdns_netlink_receive(int socket, uint8_t *octets, size_t capacity) { return missing(); }
#endif
