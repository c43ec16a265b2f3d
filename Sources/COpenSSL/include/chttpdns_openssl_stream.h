// A client's TLS connection over a non-blocking socket, for an event loop: what OpenSSL offers only as
// macros, and the errno that goes with its answers.
#ifndef CHTTPDNS_OPENSSL_STREAM_H
#define CHTTPDNS_OPENSSL_STREAM_H

#include <openssl/ssl.h>
#include <stddef.h>

/// Many records a read(2), and writes that may be cut or come from another buffer the second time.
void chttpdns_context_prepare_stream(SSL_CTX *_Nonnull context);
/// This thread's errno, which Swift cannot import.
int chttpdns_last_error(void);
/// Small writes leave at once.
void chttpdns_stream_no_delay(int descriptor);

/// What a step ended in. Zero and more: octets moved, or a handshake done.
enum {
    CHTTPDNS_STREAM_WANTS_READ = -1,
    CHTTPDNS_STREAM_WANTS_WRITE = -2,
    /// The peer has ended its side, with or without close_notify.
    CHTTPDNS_STREAM_ENDED = -3,
    /// chttpdns_stream_trouble says why.
    CHTTPDNS_STREAM_BROKEN = -4,
};

/// Each step empties the thread's error queue first. The caller's thread must not be hit by SIGPIPE.
int chttpdns_stream_handshake(SSL *_Nonnull connection);
int chttpdns_stream_read(SSL *_Nonnull connection, void *_Nonnull octets, int capacity);
int chttpdns_stream_write(SSL *_Nonnull connection, const void *_Nonnull octets, int count);
/// Why the last step of this thread broke: the newest error of OpenSSL's queue, else the system's.
/// Empties the queue. Answers 1 when it was the peer's alert no_application_protocol.
int chttpdns_stream_trouble(int result, char *_Nonnull text, size_t capacity);
/// Says goodbye (close_notify) if the connection still can; never waits.
void chttpdns_stream_goodbye(SSL *_Nonnull connection);

#endif
