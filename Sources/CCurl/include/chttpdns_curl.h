// libcurl, opened at run time on first use: nothing links it.
//
// The types come from libcurl's own header; every variadic call is wrapped with its real type, so
// that no argument can be passed as another type than libcurl reads. Only HTTPDNSTransport calls it.
#ifndef CHTTPDNS_CURL_H
#define CHTTPDNS_CURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Opens libcurl, once. NULL when it is ready, otherwise why it is not (the text lives for ever).
/// Any thread; no other function here may be called before it has returned NULL.
const char *_Nullable httpdns_curl_open(void);

// Easy handles
void *_Nullable httpdns_curl_easy_init(void);
void httpdns_curl_easy_cleanup(void *_Nonnull easy);
CURLcode httpdns_curl_easy_pause(void *_Nonnull easy, int directions);
const char *_Nonnull httpdns_curl_easy_text(CURLcode code);

CURLcode httpdns_curl_set_long(void *_Nonnull easy, CURLoption option, long value);
CURLcode httpdns_curl_set_offset(void *_Nonnull easy, CURLoption option, int64_t value);
CURLcode httpdns_curl_set_text(
    void *_Nonnull easy, CURLoption option, const char *_Nullable value);
CURLcode httpdns_curl_set_list(
    void *_Nonnull easy, CURLoption option, struct curl_slist *_Nullable value);
CURLcode httpdns_curl_set_error_buffer(void *_Nonnull easy, char *_Nonnull buffer);

/// The callbacks of one transfer; all run on the thread that drives its multi handle.
typedef struct {
    curl_write_callback _Nonnull body;
    curl_write_callback _Nonnull header;
    curl_read_callback _Nonnull read;
    curl_seek_callback _Nonnull seek;
    curl_opensocket_callback _Nonnull open_socket;
    curl_resolver_start_callback _Nonnull resolve;
    curl_prereq_callback _Nonnull before_request;
    curl_ssl_ctx_callback _Nullable tls_context;
    /// libcurl's log, while CURLOPT_VERBOSE is set.
    curl_debug_callback _Nullable log;
} httpdns_curl_callbacks;

/// Sets them all with one context; the first refusal, or CURLE_OK.
CURLcode httpdns_curl_set_callbacks(
    void *_Nonnull easy, httpdns_curl_callbacks callbacks, void *_Nonnull context);

int64_t httpdns_curl_get_long(void *_Nonnull easy, CURLINFO which);
int64_t httpdns_curl_get_offset(void *_Nonnull easy, CURLINFO which);
/// Valid until the next call on the handle.
const char *_Nullable httpdns_curl_get_text(void *_Nonnull easy, CURLINFO which);
/// The `SSL *` of the connection in use; NULL when there is none or libcurl is not on OpenSSL.
void *_Nullable httpdns_curl_get_ssl(void *_Nonnull easy);
/// `TLSv1.3`, as libcurl's own TLS library says it; NULL where it cannot be asked.
const char *_Nullable httpdns_curl_tls_version(void *_Nonnull ssl);
/// Whether HTTP/2 was agreed to; false where libcurl's TLS library cannot be asked.
bool httpdns_curl_is_http2(void *_Nonnull ssl);
/// Whether octets were read from the socket that nobody has taken; true where libcurl's TLS library
/// cannot be asked. Reads nothing.
bool httpdns_curl_has_pending(void *_Nonnull ssl);

/// The list with a copy of `text` behind it; NULL when memory is short (then the list is as it was).
struct curl_slist *_Nullable httpdns_curl_list_append(
    struct curl_slist *_Nullable list, const char *_Nonnull text);
void httpdns_curl_list_free(struct curl_slist *_Nullable list);

// Multi handles
void *_Nullable httpdns_curl_multi_init(void);
void httpdns_curl_multi_cleanup(void *_Nonnull multi);
CURLMcode httpdns_curl_multi_set_long(void *_Nonnull multi, CURLMoption option, long value);
CURLMcode httpdns_curl_multi_add(void *_Nonnull multi, void *_Nonnull easy);
CURLMcode httpdns_curl_multi_remove(void *_Nonnull multi, void *_Nonnull easy);
/// Whom libcurl tells which sockets and which moment it waits for; inside calls on the handle.
CURLMcode httpdns_curl_multi_watch(
    void *_Nonnull multi, curl_socket_callback _Nonnull socket,
    curl_multi_timer_callback _Nonnull timer, void *_Nonnull context);
/// Goes on with what waits for a socket that is ready (CURL_CSELECT_*); with httpdns_curl_timeout, with
/// all that is due.
CURLMcode httpdns_curl_multi_act(void *_Nonnull multi, curl_socket_t socket, int readiness);
/// The context of the next transfer that ended, and how; NULL when there is none.
void *_Nullable httpdns_curl_multi_next_done(void *_Nonnull multi, CURLcode *_Nonnull code);
const char *_Nonnull httpdns_curl_multi_text(CURLMcode code);
/// The context of a handle; NULL for one that has none.
void *_Nullable httpdns_curl_context(void *_Nonnull easy);

// Sockets
/// An address that libcurl is about to connect to, without its C layout.
typedef struct {
    uint8_t octets[16];
    /// 4, 16, or 0 for a family that is not IP.
    size_t count;
    uint16_t port;
} httpdns_curl_address;

httpdns_curl_address httpdns_curl_address_of(const struct curl_sockaddr *_Nonnull address);
/// Opens a close-on-exec socket for it, after setting the zone of a link-local IPv6 address when one
/// is given; CURL_SOCKET_BAD when the zone names no interface or no socket could be opened.
curl_socket_t httpdns_curl_open_socket(
    struct curl_sockaddr *_Nonnull address, const char *_Nullable zone);

/// The two ends of a connection, as libcurl writes them; what is not text is zero, so that two of them
/// can be compared octet by octet.
typedef struct {
    char remote[48];
    char local[48];
    uint16_t remote_port;
    uint16_t local_port;
} httpdns_curl_ends;

httpdns_curl_ends httpdns_curl_ends_of(
    const char *_Nonnull remote, int remote_port, const char *_Nonnull local, int local_port);
bool httpdns_curl_same_ends(
    const httpdns_curl_ends *_Nonnull one, const httpdns_curl_ends *_Nonnull other);
/// Whether it is a connected socket with these ends.
bool httpdns_curl_socket_has(int socket, const httpdns_curl_ends *_Nonnull ends);
/// Whether the socket is open, and nothing has come that was not read. Reads nothing, waits for nothing.
bool httpdns_curl_socket_is_silent(int socket);
/// Tells an open socket from a later one of its number; 0 for what is not a socket.
uint64_t httpdns_curl_socket_inode(int socket);
/// Whether it is that socket, and connected.
bool httpdns_curl_socket_is_made(int socket, uint64_t inode);
/// Gives up the connection that is being made on it, as if it had been refused; false, and nothing is
/// done, where it is made already, or is not that socket any more.
bool httpdns_curl_socket_give_up(int socket, uint64_t inode);

// Macros as values
static const size_t httpdns_curl_pause_body = CURL_WRITEFUNC_PAUSE;
static const size_t httpdns_curl_pause_read = CURL_READFUNC_PAUSE;
static const size_t httpdns_curl_abort_read = CURL_READFUNC_ABORT;
static const int httpdns_curl_pause_none = CURLPAUSE_CONT;
static const long httpdns_curl_auth_basic = (long)CURLAUTH_BASIC;
static const curl_socket_t httpdns_curl_timeout = CURL_SOCKET_TIMEOUT;
static const int httpdns_curl_no_socket = CURL_SOCKET_BAD;
static const size_t httpdns_curl_error_octets = CURL_ERROR_SIZE;

#endif
