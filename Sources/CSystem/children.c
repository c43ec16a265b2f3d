#define _GNU_SOURCE
#include "chttpdns_system.h"

#include <stdatomic.h>
#include <sys/wait.h>
#ifdef __linux__
#include <dirent.h>
#include <stdlib.h>
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
    signal(SIGQUIT, SIG_DFL);
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

static int is_running(pid_t process) {
    for (int place = 0; place < PLACES; place++)
        if (atomic_load(&running[place]) == process) return 1;
    return 0;
}

#ifdef __linux__
// From here to end_all_strays only calls of signal-safety(7), and plain system calls: Ctrl-C ends strays
// as well.

// The number of a process that /proc names; 0 for what is none.
static pid_t numbered(const char *name) {
    long number = 0;
    for (const char *digit = name; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || number > 100000000) return 0;
        number = number * 10 + (*digit - '0');
    }
    return (pid_t)number;
}

// A file of /proc about a process.
static int open_of(pid_t process, const char *file) {
    char path[64] = "/proc/", digits[16];
    size_t at = strlen(path);
    int count = 0;
    for (; process > 0 && count < (int)sizeof digits; process /= 10)
        digits[count++] = (char)('0' + process % 10);
    while (count > 0) path[at++] = digits[--count];
    path[at++] = '/';
    while (*file && at < sizeof path - 1) path[at++] = *file++;
    path[at] = 0;
    return open(path, O_RDONLY | O_CLOEXEC);
}

// Whether its environment holds the text, as a whole variable or as the beginning of one; from a reading
// in pieces.
static int bears(pid_t process, const char *text, int is_whole) {
    char piece[4096];
    size_t length = strlen(text), met = 0;
    int begins = 1, found = 0;
    int file = open_of(process, "environ");
    if (file < 0) return 0;
    ssize_t count;
    while (!found && (count = read(file, piece, sizeof piece)) > 0)
        for (ssize_t at = 0; !found && at < count; at++) {
            if (piece[at] == 0) {
                found = met == length;
                begins = 1;
                met = 0;
            } else if (begins && met < length && piece[at] == text[met]) {
                met++;
                found = !is_whole && met == length;
            } else {
                begins = 0;
                met = 0;
            }
        }
    close(file);
    return found;
}

// Whose child it is, and when it began: with its number that tells it from a later process.
struct origin {
    pid_t parent;
    unsigned long long began;
};

// 0 where there is no such process. Source: proc_pid_stat(5): the state is behind the last bracket, as
// field 3; the parent is field 4, the start field 22.
static int origin_of(pid_t process, struct origin *origin) {
    char text[1024];
    int file = open_of(process, "stat");
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return 0;
    text[count] = 0;
    const char *at = strrchr(text, ')');
    if (at == NULL) return 0;
    at++;
    for (int field = 3; field <= 22; field++) {
        while (*at == ' ') at++;
        if (*at == 0) return 0;
        unsigned long long number = 0;
        for (const char *digit = at; *digit >= '0' && *digit <= '9'; digit++)
            number = number * 10 + (unsigned)(*digit - '0');
        if (field == 4) origin->parent = (pid_t)number;
        origin->began = number;
        while (*at && *at != ' ') at++;
    }
    return 1;
}

// Calls `visit` with each process that there is, and adds up what it returns.
static int each_process(int (*visit)(pid_t process, const char *mark), const char *mark) {
    _Alignas(struct dirent64) char names[4096];
    int sum = 0;
    int all = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (all < 0) return 0;
    long count;
    while ((count = syscall(SYS_getdents64, all, names, sizeof names)) > 0)
        for (long at = 0; at < count;) {
            const struct dirent64 *entry = (const struct dirent64 *)(names + at);
            pid_t process = numbered(entry->d_name);
            if (process > 1) sum += visit(process, mark);
            at += entry->d_reclen;
        }
    close(all);
    return sum;
}

// What was there when this process began to adopt: whoever became this program may have left children
// to it, by exec, which are not its own to end. Written once, before any child is started.
static struct inherited {
    pid_t process;
    unsigned long long began;
} *inherited;
static _Atomic int inherited_count;
static _Atomic int adopts;

static int is_inherited(pid_t process, unsigned long long began) {
    int count = atomic_load(&inherited_count);
    for (int index = 0; index < count; index++)
        if (inherited[index].process == process && inherited[index].began == began) return 1;
    return 0;
}

// Whether it is a child of ours that is there to be ended although nobody started it. Where children
// were inherited, what those leave behind is told from what ours do by the mark alone.
static int is_orphan(pid_t process) {
    struct origin origin;
    return origin_of(process, &origin) && origin.parent == getpid() && !is_running(process)
        && !is_inherited(process, origin.began)
        && (atomic_load(&inherited_count) == 0 || bears(process, HTTPDNS_CHILD_MARK, 0));
}

// Ends a process that bears the mark or, without one, is an orphan. 1 when it did.
static int end_stray(pid_t process, const char *mark) {
    if (process == getpid()) return 0;
    // Held before it is looked at: its number may be another's the next moment.
    int held = (int)syscall(SYS_pidfd_open, process, 0);
    if (held < 0) return 0;
    int is_stray = mark ? bears(process, mark, 1) : is_orphan(process);
    int is_ended = is_stray && syscall(SYS_pidfd_send_signal, held, SIGKILL, NULL, 0) == 0;
    struct origin origin;
    // Where it is ours it must not stay behind as a zombie.
    if (is_ended && origin_of(process, &origin) && origin.parent == getpid()
        && !is_running(process))
        while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
    close(held);
    return is_ended;
}

// Because: who has just been forked is found the next time round; who forks faster is not ended by
// this, but never waited for either.
#define ROUNDS 10

static void end_all_strays(const char *mark) {
    for (int round = 0; round < ROUNDS && each_process(end_stray, mark) > 0; round++) {}
}

static int note_inherited(pid_t process, const char *mark) {
    (void)mark;
    struct origin origin, above;
    if (!origin_of(process, &origin)) return 0;
    // Because: no tree of processes that somebody made on purpose is deeper.
    above = origin;
    for (int depth = 0; depth < 64 && above.parent > 1 && above.parent != getpid(); depth++)
        if (!origin_of(above.parent, &above)) return 0;
    if (above.parent != getpid()) return 0;
    int count = atomic_load(&inherited_count);
    struct inherited *more = realloc(inherited, (size_t)(count + 1) * sizeof *inherited);
    if (more == NULL) return 0;
    inherited = more;
    inherited[count] = (struct inherited){process, origin.began};
    atomic_store(&inherited_count, count + 1);
    return 1;
}

void httpdns_children_adopt(void) {
    if (atomic_exchange(&adopts, 1)) return;
    each_process(note_inherited, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void httpdns_children_end_orphans(void) {
    if (atomic_load(&adopts)) end_all_strays(NULL);
}
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
    // What left its group is a child of ours when its parent is gone: then it is found.
    for (int place = 0; place < PLACES; place++) {
        pid_t process = atomic_load(&running[place]);
        siginfo_t ended;
        if (process > 0)
            while (waitid(P_PID, (id_t)process, &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {}
    }
    httpdns_children_end_orphans();
    const char *const *files = atomic_load(&files_to_remove);
    const char *directory = atomic_load(&directory_to_remove);
    for (; files && *files; files++) unlink(*files);
    if (directory) rmdir(directory);
}
