#define _GNU_SOURCE
#include "chttpdns_system.h"

#include <stdatomic.h>
#include <sys/wait.h>
#ifdef __linux__
#include <dirent.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

extern char **environ;

// The groups that run now, for the signal handler: 0 marks a free place.
#define PLACES 64
static _Atomic pid_t running[PLACES];
static const char *const *_Atomic files_to_remove;
static const char *_Atomic directory_to_remove;

static int keep(pid_t process) {
    for (int place = 0; place < PLACES; place++) {
        pid_t free_place = 0;
        if (atomic_compare_exchange_strong(&running[place], &free_place, process)) return 1;
    }
    return 0;
}

static void forget(pid_t process) {
    for (int place = 0; place < PLACES; place++) {
        pid_t expected = process;
        if (atomic_compare_exchange_strong(&running[place], &expected, 0)) return;
    }
}

static void close_all(int *descriptors, int count) {
    for (int index = 0; index < count; index++)
        if (descriptors[index] >= 0) close(descriptors[index]);
}

// Between fork and exec: only calls of signal-safety(7), and prctl, which is a plain system call.
static void become(
    char *const *arguments, char *const *environment, int nothing, int output, int failure) {
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // An ignored signal would stay ignored, and a broken pipe unnoticed.
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    if (dup2(nothing, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0
        && dup2(output, STDERR_FILENO) >= 0) {
        environ = (char **)environment;
        execvp(arguments[0], arguments);
    }
    int error = errno;
    ssize_t written = write(failure, &error, sizeof error);
    (void)written;
    _exit(127);
}

// Where it can be, closed on exec from birth: another thread may start a child at any moment, and a
// child that holds an end it does not know keeps this side waiting.
static int open_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    if (pipe(ends) != 0) return -1;
    for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

httpdns_child httpdns_child_start(char *const *arguments, char *const *environment) {
    httpdns_child child = {0, -1, 0};
    // To read nothing from; what it writes; why it could not become the program.
    int ends[5] = {-1, -1, -1, -1, -1};
    ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (ends[0] < 0 || open_pipe(ends + 1) != 0 || open_pipe(ends + 3) != 0) {
        child.error = errno;
        close_all(ends, 5);
        return child;
    }
    pid_t process = fork();
    if (process == 0) become(arguments, environment, ends[0], ends[2], ends[4]);
    if (process > 0) {
        // Here as well: whichever of the two runs first.
        setpgid(process, process);
        close(ends[4]);
        ends[4] = -1;
        int error = 0;
        ssize_t count;
        do count = read(ends[3], &error, sizeof error);
        while (count < 0 && errno == EINTR);
        if (count == 0 && keep(process)) {
            fcntl(ends[1], F_SETFL, O_NONBLOCK);
            child.process = process;
            child.output = ends[1];
            ends[1] = -1;
        } else {
            child.error = count > 0 ? error : EAGAIN;
            kill(-process, SIGKILL);
            waitpid(process, NULL, 0);
        }
    } else {
        child.error = errno;
    }
    close_all(ends, 5);
    return child;
}

void httpdns_child_await(pid_t process) {
    siginfo_t ended;
    while (waitid(P_PID, (id_t)process, &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {}
}

#ifdef __linux__
// The number of a process that /proc names; 0 for what is none.
static pid_t numbered(const char *name) {
    long number = 0;
    for (const char *digit = name; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || number > 100000000) return 0;
        number = number * 10 + (*digit - '0');
    }
    return (pid_t)number;
}

// Whether its environment holds the mark, from a reading in pieces.
static int bears(pid_t process, const char *mark) {
    char path[64], piece[4096];
    size_t length = strlen(mark), met = 0;
    int begins = 1, found = 0;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count;
    while (!found && (count = read(file, piece, sizeof piece)) > 0)
        for (ssize_t at = 0; !found && at < count; at++) {
            if (piece[at] == 0) {
                found = met == length;
                begins = 1;
                met = 0;
            } else if (begins && met < length && piece[at] == mark[met]) {
                met++;
            } else {
                begins = 0;
                met = 0;
            }
        }
    close(file);
    return found;
}

// The parent that /proc names; -1 for none. Source: proc_pid_stat(5): behind the last bracket.
static pid_t parent_of(pid_t process) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return -1;
    text[count] = 0;
    const char *end = strrchr(text, ')');
    int parent = -1;
    char state;
    return end && sscanf(end + 1, " %c %d", &state, &parent) == 2 ? (pid_t)parent : -1;
}

static int is_running(pid_t process) {
    for (int place = 0; place < PLACES; place++)
        if (atomic_load(&running[place]) == process) return 1;
    return 0;
}

// Ends processes: those that bear the mark or, without one, children of ours that nobody started.
// How many there were.
static int end_strays(const char *mark) {
    int ended = 0;
    pid_t own = getpid();
    DIR *all = opendir("/proc");
    struct dirent *entry;
    while (all && (entry = readdir(all)) != NULL) {
        pid_t process = numbered(entry->d_name);
        if (process <= 1 || process == own) continue;
        // Held before it is looked at: its number may be another's the next moment.
        int held = (int)syscall(SYS_pidfd_open, process, 0);
        if (held < 0) continue;
        int is_stray = mark ? bears(process, mark)
                            : parent_of(process) == own && !is_running(process);
        if (is_stray && syscall(SYS_pidfd_send_signal, held, SIGKILL, NULL, 0) == 0) {
            ended++;
            // Where it is ours it must not stay behind as a zombie.
            if (parent_of(process) == own && !is_running(process))
                while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
        }
        close(held);
    }
    if (all) closedir(all);
    return ended;
}

// Because: who has just been forked is found the next time round; who forks faster is not ended by
// this, but never waited for either.
#define ROUNDS 10

static void end_all_strays(const char *mark) {
    for (int round = 0; round < ROUNDS && end_strays(mark) > 0; round++) {}
}

void httpdns_children_adopt(void) { prctl(PR_SET_CHILD_SUBREAPER, 1); }
void httpdns_children_end_orphans(void) { end_all_strays(NULL); }
#else
static void end_all_strays(const char *mark) { (void)mark; }
void httpdns_children_adopt(void) {}
void httpdns_children_end_orphans(void) {}
#endif

int httpdns_child_reap(pid_t process, const char *mark) {
    kill(-process, SIGKILL);
    if (mark) end_all_strays(mark);
    forget(process);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void httpdns_child_kill(pid_t process) { kill(-process, SIGKILL); }

const char *httpdns_environment_at(int index) { return environ ? environ[index] : NULL; }

void httpdns_interrupt_removes(const char *const *files, const char *directory) {
    atomic_store(&files_to_remove, files);
    atomic_store(&directory_to_remove, directory);
}

void httpdns_interrupt_clean_up(void) {
    for (int place = 0; place < PLACES; place++) {
        pid_t process = atomic_load(&running[place]);
        if (process > 0) kill(-process, SIGKILL);
    }
    const char *const *files = atomic_load(&files_to_remove);
    const char *directory = atomic_load(&directory_to_remove);
    for (; files && *files; files++) unlink(*files);
    if (directory) rmdir(directory);
}
