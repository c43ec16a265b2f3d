// What a client asks for before anything is encrypted.
#ifndef CHTTPDNS_OPENSSL_HELLO_H
#define CHTTPDNS_OPENSSL_HELLO_H

#include <stddef.h>
#include <stdint.h>

/// The octets are no whole ClientHello yet.
#define CHTTPDNS_HELLO_MORE 0
/// It names a server; the name was copied.
#define CHTTPDNS_HELLO_NAMED 1
/// It names none.
#define CHTTPDNS_HELLO_UNNAMED 2
/// This is not the beginning of TLS.
#define CHTTPDNS_HELLO_FOREIGN (-1)

/// Reads the server name out of the first octets that a TLS client sends. The name is as it came: at
/// most `capacity` - 1 octets, behind them a NUL; one with a NUL in it, or longer, is foreign.
int chttpdns_hello_server_name(
    const uint8_t *_Nonnull octets, size_t count, char *_Nonnull name, size_t capacity);

#endif
