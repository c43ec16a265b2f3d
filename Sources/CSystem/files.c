#define _GNU_SOURCE
#include <sys/file.h>
#include <sys/random.h>

#include "chttpdns_system.h"

int httpdns_file_open_private(const char *path) {
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

int httpdns_file_open_reading(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

int httpdns_directory_open(const char *path) {
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int httpdns_file_facts(const char *path, int descriptor, httpdns_file *facts) {
    struct stat raw;
    int result = path ? lstat(path, &raw) : fstat(descriptor, &raw);
    if (result != 0) return -1;
    facts->device = (uint64_t)raw.st_dev;
    facts->node = (uint64_t)raw.st_ino;
    facts->octets = (int64_t)raw.st_size;
    facts->changed_seconds = (int64_t)raw.st_mtime;
#ifdef __linux__
    facts->changed_nanoseconds = (int64_t)raw.st_mtim.tv_nsec;
#else
    facts->changed_nanoseconds = 0;
#endif
    facts->rights = (uint32_t)(raw.st_mode & 0777);
    facts->is_plain = S_ISREG(raw.st_mode) ? 1 : 0;
    facts->is_own = raw.st_uid == geteuid() ? 1 : 0;
    return 0;
}

int httpdns_lock_descriptor(int descriptor) { return flock(descriptor, LOCK_EX); }

int httpdns_random_octets(uint8_t *octets, size_t count) { return getentropy(octets, count); }
