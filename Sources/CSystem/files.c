#define _GNU_SOURCE
#include <dirent.h>
#include <string.h>
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

static void facts_from(const struct stat *raw, httpdns_file *facts) {
    facts->device = (uint64_t)raw->st_dev;
    facts->node = (uint64_t)raw->st_ino;
    facts->octets = (int64_t)raw->st_size;
    facts->changed_seconds = (int64_t)raw->st_mtime;
#ifdef __linux__
    facts->changed_nanoseconds = (int64_t)raw->st_mtim.tv_nsec;
#else
    facts->changed_nanoseconds = 0;
#endif
    facts->rights = (uint32_t)(raw->st_mode & 0777);
    facts->is_plain = S_ISREG(raw->st_mode) ? 1 : 0;
    facts->is_own = raw->st_uid == geteuid() ? 1 : 0;
}

int httpdns_file_facts(const char *path, int descriptor, httpdns_file *facts) {
    struct stat raw;
    int result = path ? lstat(path, &raw) : fstat(descriptor, &raw);
    if (result != 0) return -1;
    facts_from(&raw, facts);
    return 0;
}

int httpdns_file_facts_unopened(const char *path, httpdns_file *facts) {
    struct stat raw;
    if (stat(path, &raw) != 0 || access(path, R_OK) != 0) return -1;
    facts_from(&raw, facts);
    return 0;
}

int httpdns_lock_descriptor(int descriptor) { return flock(descriptor, LOCK_EX); }

int httpdns_try_lock_descriptor(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }

int httpdns_file_open_own(const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return -1;
    struct stat facts;
    if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid())
        return descriptor;
    close(descriptor);
    errno = ENOENT;
    return -1;
}

int httpdns_directory_each(
    const char *path, void *context, void (*each)(void *context, const char *name)) {
    DIR *directory = opendir(path);
    if (!directory) return -1;
    struct dirent *entry;
    while ((entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            each(context, entry->d_name);
    closedir(directory);
    return 0;
}

int httpdns_random_octets(uint8_t *octets, size_t count) { return getentropy(octets, count); }
