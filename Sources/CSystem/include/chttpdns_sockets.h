// Sockets in octets and ports: addresses are 4 or 16 octets in network order, so that no caller
// touches a sockaddr. All sockets are non-blocking and close on exec from birth.
#ifndef CHTTPDNS_SOCKETS_H
#define CHTTPDNS_SOCKETS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Where a datagram came from or goes to.
typedef struct {
    uint8_t octets[16];
    /// 4 or 16.
    uint8_t count;
    uint16_t port;
} httpdns_endpoint;

/// This thread's errno, which Swift cannot import.
int httpdns_socket_error(void);
/// A socket bound to the address and port (0 = a free one): TCP and listening when `is_stream`,
/// else UDP. -1 with errno.
int httpdns_socket_bound(
    int is_stream, const uint8_t *_Nonnull octets, size_t count, uint16_t port);
/// A TCP socket on its way to the address: connected, or connecting (then poll for writing).
int httpdns_socket_connecting(const uint8_t *_Nonnull octets, size_t count, uint16_t port);
/// The port a socket is bound to; 0 on an error.
uint16_t httpdns_socket_port(int socket);
/// The next connection, without delay for small writes (TCP_NODELAY). -1 with errno.
int httpdns_socket_accept(int listener);
/// Makes the coming close send a reset instead of a goodbye.
void httpdns_socket_reset_on_close(int socket);
/// A pipe that close on exec: [0] to poll, [1] to write. 0, or -1 with errno.
int httpdns_pipe(int ends[_Nonnull 2]);

ssize_t httpdns_datagram_receive(
    int socket, uint8_t *_Nonnull octets, size_t capacity, httpdns_endpoint *_Nonnull from);
ssize_t httpdns_datagram_send(
    int socket, const uint8_t *_Nullable octets, size_t count, const httpdns_endpoint *_Nonnull to);

/// A UDP socket on a random free port that hears one address and port only. -1 with errno.
int httpdns_datagram_connected(
    const uint8_t *_Nonnull octets, size_t count, uint32_t scope, uint16_t port);
/// -1 with errno: also the network's answer to an earlier datagram (ECONNREFUSED).
ssize_t httpdns_connected_send(int socket, const uint8_t *_Nullable octets, size_t count);
ssize_t httpdns_connected_receive(int socket, uint8_t *_Nonnull octets, size_t capacity);
/// 1 for an address of this machine, 0 for any other. Nothing is sent: the system is asked for those of its
/// interfaces, and where it would send from.
int httpdns_address_is_own(const uint8_t *_Nonnull octets, size_t count);
/// What became of a connection on its way: 0, or the error.
int httpdns_connect_outcome(int socket);
/// 0 when there is no interface of that name.
uint32_t httpdns_interface_index(const char *_Nonnull name);

#endif
