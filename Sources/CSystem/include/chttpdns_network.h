// The kernel's word on links, addresses and routes. Source: rtnetlink(7).
#ifndef CHTTPDNS_NETWORK_H
#define CHTTPDNS_NETWORK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A socket that hears of changes to links, addresses and routes, without waiting. -1 with errno, also
/// where there is no such thing.
int httpdns_netlink_listen(void);
/// A socket to ask through; a receive waits for a second at most. -1 with errno.
int httpdns_netlink_open(void);
/// Asks for all addresses (`subject` 0), all routes (1) or all neighbours (2). 0, or -1 with errno.
int httpdns_netlink_ask(int socket, int subject, uint32_t sequence);
/// The next message of the kernel's; those of other processes are dropped (0). -1 with errno.
ssize_t httpdns_netlink_receive(int socket, uint8_t *_Nonnull octets, size_t capacity);

/// A TCP socket on its way to the address: connected, or connecting (then poll for writing).
int httpdns_connecting(
    const uint8_t *_Nonnull octets, size_t count, uint32_t scope, uint16_t port);

#endif
