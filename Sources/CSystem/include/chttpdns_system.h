// What Swift's Glibc overlay does not give: epoll, eventfd, queues, and a few macros.
#ifndef CHTTPDNS_SYSTEM_H
#define CHTTPDNS_SYSTEM_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif

#include "chttpdns_children.h"
#include "chttpdns_network.h"
#include "chttpdns_sockets.h"

/// The dispatch queue that the caller runs on, retained; NULL off a queue. Release with
/// httpdns_queue_release. Why: URLProtocol client calls are only safe on the task's own work queue,
/// which Foundation does not expose.
void *_Nullable httpdns_current_queue_retained(void);
void httpdns_queue_async(void *_Nonnull queue, void *_Nullable context, void (*_Nonnull work)(void *_Nullable));
void httpdns_queue_release(void *_Nonnull queue);

/// A condition that waits on CLOCK_MONOTONIC (macOS: relative waits, see threads.c).
void httpdns_condition_init_monotonic(pthread_cond_t *_Nonnull condition);
/// Waits until signalled or until the monotonic clock reads `nanoseconds`.
void httpdns_condition_wait_until(pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex, int64_t nanoseconds);
/// A mutex that is held for less than it takes to sleep: who finds it taken first tries again for a
/// moment, where the C library can do that.
void httpdns_mutex_init_brief(pthread_mutex_t *_Nonnull mutex);
/// Starts a detached thread with all signals blocked, so that the application's handlers never run on it.
int httpdns_thread_start_detached(void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable context);
void httpdns_thread_set_name(const char *_Nonnull name);
/// What this thread's event loop left there; NULL on a thread without one.
void *_Nullable httpdns_thread_loop(void);
void httpdns_thread_set_loop(void *_Nullable place);
/// What this thread may still read in this round; INT64_MAX on a thread that sets no limit.
int64_t httpdns_thread_allowance(void);
void httpdns_thread_set_allowance(int64_t octets);

/// The soft limit on open descriptors; 0 on success. (The constant has another type on each system.)
int httpdns_descriptor_limit(struct rlimit *_Nonnull limit);
/// Raises the soft limit to `wanted`, or as near as the hard one lets it.
void httpdns_descriptor_limit_raise(uint64_t wanted);
/// How many descriptors this process can still open, counted up to `wanted`, and to 64: standard error has to
/// be open.
int httpdns_descriptors_left(int wanted);

/// What getaddrinfo's code says. (Some codes exist only on some systems.)
int httpdns_address_lookup_meaning(int code);
#define HTTPDNS_LOOKUP_ANSWERED 0
#define HTTPDNS_LOOKUP_NO_NAME 1
/// The name exists, an address of that family does not.
#define HTTPDNS_LOOKUP_NO_DATA 2
/// No server answered, or none usably: gai_strerror says which.
#define HTTPDNS_LOOKUP_FAILED 3
/// errno says what.
#define HTTPDNS_LOOKUP_SYSTEM_ERROR 4
/// We called it wrongly.
#define HTTPDNS_LOOKUP_MISUSED 5

/// Whether getaddrinfo on this thread tries the names of resolv.conf's search list. To be called before
/// each look-up: it also reads that file anew. Only the GNU C library can be told so.
void httpdns_search_list(int applies);
int httpdns_search_list_applies(void);

/// For a command-line program: a write to a closed pipe becomes an error; SIGINT, SIGTERM and SIGQUIT
/// clear the line that the terminal stands on and end the process, with 130 (131 for SIGQUIT). SIGINT and
/// SIGQUIT stay ignored where they were when the process began.
void httpdns_signals_of_command(void);
/// From now on the first of them, but not SIGQUIT, is told through this descriptor instead, and only the
/// second ends the process, with 130. -1: they go on as before.
int httpdns_signals_listen(void);
/// Waits until the first one has come. 0, or -1.
int httpdns_signals_await(int listener);
/// For one that runs others: SIGHUP ends it as Ctrl-C does, so that it leaves nothing behind.
void httpdns_signals_of_parent(void);
/// For a command-line program: takes the places of standard streams that were closed, before a socket
/// or a file gets their numbers and is written to as if it were one. Using them stays an error.
void httpdns_occupy_standard_streams(void);

/// What the system says of a file.
typedef struct {
    uint64_t device;
    uint64_t node;
    int64_t octets;
    int64_t changed_seconds;
    int64_t changed_nanoseconds;
    uint32_t rights;
    int is_plain;
    /// It belongs to the user whose rights this process has.
    int is_own;
} httpdns_file;

/// Opened for reading and writing, made with rights 0600 when missing; a link is refused.
int httpdns_file_open_private(const char *_Nonnull path);
int httpdns_file_open_reading(const char *_Nonnull path);
int httpdns_directory_open(const char *_Nonnull path);
/// Of the path itself (a link is not followed), or of the descriptor when there is no path. 0, or -1.
int httpdns_file_facts(const char *_Nullable path, int descriptor, httpdns_file *_Nonnull facts);
/// Of a file that may be read, and is not opened for it; a link is followed. 0, or -1 with errno.
/// Because: whoever closes a file gives back every lock (fcntl) that this process has on it.
int httpdns_file_facts_unopened(const char *_Nonnull path, httpdns_file *_Nonnull facts);
/// Waits for the one lock on an open file or directory; closing it gives the lock back. 0, or -1.
int httpdns_lock_descriptor(int descriptor);
/// The same without waiting: -1 while somebody else has it.
int httpdns_try_lock_descriptor(int descriptor);
/// Opens a plain file of this user's to read it; never a link. -1 without one.
int httpdns_file_open_own(const char *_Nonnull path);
/// Calls `each` for every entry of a directory but `.` and `..`. 0, or -1.
int httpdns_directory_each(
    const char *_Nonnull path, void *_Nullable context,
    void (*_Nonnull each)(void *_Nullable context, const char *_Nonnull name));

/// Octets that nobody can guess, from the system; at most 256. 0, or -1.
int httpdns_random_octets(uint8_t *_Nonnull octets, size_t count);

/// errno, for a module that imports no C library of its own.
int httpdns_errno(void);
/// The system's word for `error`, copied to `text`.
void httpdns_error_text(int error, char *_Nonnull text, size_t capacity);

/// Small files. Each returns what it says, or the negative of an errno value.

/// What becomes of an output: a new file takes the place of `path`, or of `*target` where that is not
/// null (the caller frees it: where a link leads); or the octets go through a pipe or a device, which
/// stays. Negative: an error number.
int httpdns_file_place(const char *_Nonnull path, char *_Nullable *_Nonnull target);
#define HTTPDNS_FILE_IS_REPLACED 0
#define HTTPDNS_FILE_IS_WRITTEN_THROUGH 1

/// Opens what is there for writing; waits for a pipe's reader. Negative: an error number.
int httpdns_file_open_through(const char *_Nonnull path);

/// A descriptor for reading; never waits for a peer, as opening a pipe would.
int httpdns_file_open(const char *_Nonnull path);
/// Opens a file to read it whole: a regular one, or a pipe that this process was given (/dev/fd/N,
/// /dev/stdin), never a named pipe, which may have no writer, nor a device, which may have no end. The
/// descriptor, or minus the errno, or HTTPDNS_FILE_IS_SPECIAL.
int httpdns_file_open_whole(const char *_Nonnull path);
/// A descriptor of a file that is new, mode 0600.
int httpdns_file_create_private(const char *_Nonnull path);
ssize_t httpdns_file_read(int descriptor, void *_Nonnull octets, size_t count);
/// 0 once all octets have reached the disk.
int httpdns_file_write_all(int descriptor, const void *_Nonnull octets, size_t count);
/// A descriptor whose lock nobody else has until it is closed, of a file that is made where it is missing
/// and that the name leads to now. Waits for so long at most: then minus EWOULDBLOCK, as other errors.
int httpdns_file_lock(const char *_Nonnull path, int64_t milliseconds);
int httpdns_file_rename(const char *_Nonnull from, const char *_Nonnull to);

/// What is no regular file, where one is needed; no errno.
#define HTTPDNS_FILE_IS_SPECIAL (-1000000)

#endif
