#include "chttpdns_system.h"

#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

int httpdns_file_open(const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

// Source: proc_pid_fd(5), and the links that udev makes to it.
static int is_own_descriptor(const char *path) {
    return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0
        || strcmp(path, "/dev/stdin") == 0;
}

int httpdns_file_open_whole(const char *path) {
    // Never waits: for a pipe's writer, for one.
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return -errno;
    struct stat facts;
    int result = fstat(descriptor, &facts) == 0 ? HTTPDNS_FILE_IS_SPECIAL : -errno;
    if (result == HTTPDNS_FILE_IS_SPECIAL) {
        if (S_ISREG(facts.st_mode)) return descriptor;
        // Its writer is there; the end of what it writes is waited for.
        if (S_ISFIFO(facts.st_mode) && is_own_descriptor(path)
            && fcntl(descriptor, F_SETFL, 0) == 0)
            return descriptor;
        // Has nothing in it, and an end.
        if (strcmp(path, "/dev/null") == 0) return descriptor;
        if (S_ISDIR(facts.st_mode)) result = -EISDIR;
    }
    close(descriptor);
    return result;
}

int httpdns_file_place(const char *path, char **target) {
    struct stat facts;
    *target = NULL;
    if (stat(path, &facts) != 0) {
        int why = errno;
        // A link that leads nowhere stays: what it is to lead to is not for us to make.
        return why == ENOENT && lstat(path, &facts) != 0 ? HTTPDNS_FILE_IS_REPLACED : -why;
    }
    if (S_ISDIR(facts.st_mode)) return -EISDIR;
    // Streams of our own stand under these names, regular files among them.
    if (!S_ISREG(facts.st_mode) || strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0)
        return HTTPDNS_FILE_IS_WRITTEN_THROUGH;
    if (lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode)) {
        *target = realpath(path, NULL);
        if (*target == NULL) return -errno;
    }
    return HTTPDNS_FILE_IS_REPLACED;
}

int httpdns_file_open_through(const char *path) {
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return descriptor < 0 ? -errno : descriptor;
}

int httpdns_file_create_private(const char *path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return descriptor < 0 ? -errno : descriptor;
}

ssize_t httpdns_file_read(int descriptor, void *octets, size_t count) {
    ssize_t result;
    do result = read(descriptor, octets, count);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : result;
}

int httpdns_file_write_all(int descriptor, const void *octets, size_t count) {
    const char *next = octets;
    while (count > 0) {
        ssize_t written = write(descriptor, next, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? -errno : -EIO;
        next += written;
        count -= (size_t)written;
    }
    // Pipes and devices have nothing to keep. Source: fsync(2).
    return fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS ? 0 : -errno;
}

int httpdns_file_rename(const char *from, const char *to) {
    return rename(from, to) == 0 ? 0 : -errno;
}

// The next look at a lock that somebody has: who writes a small file has it for a few milliseconds.
static const struct timespec lock_pause = {.tv_sec = 0, .tv_nsec = 5000000};

static int64_t now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Whether the name still leads to what was opened: who had the lock before may have replaced it.
static int is_still_there(const char *path, int descriptor) {
    struct stat named, opened;
    return stat(path, &named) == 0 && fstat(descriptor, &opened) == 0
        && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

int httpdns_file_lock(const char *path, int64_t milliseconds) {
    int64_t limit = now_milliseconds() + milliseconds;
    for (;;) {
        int descriptor = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
        if (descriptor < 0) return -errno;
        int error = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (error == 0 && is_still_there(path, descriptor)) return descriptor;
        close(descriptor);
        if (error != 0 && error != EWOULDBLOCK && error != EINTR) return -error;
        if (now_milliseconds() >= limit) return -EWOULDBLOCK;
        if (error == EWOULDBLOCK) nanosleep(&lock_pause, NULL);
    }
}
