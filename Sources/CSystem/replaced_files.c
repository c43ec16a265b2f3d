#include "chttpdns_system.h"

int httpdns_file_open(const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
    return fsync(descriptor) == 0 ? 0 : -errno;
}

int httpdns_file_rename(const char *from, const char *to) {
    return rename(from, to) == 0 ? 0 : -errno;
}
