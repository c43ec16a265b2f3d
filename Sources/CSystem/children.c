#define _GNU_SOURCE
#include "chttpdns_system.h"

#include <stdatomic.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

extern char **environ;

// The groups that run now, for the signal handler: 0 marks a free place.
#define PLACES 64
static _Atomic pid_t running[PLACES];
static const char *_Atomic file_to_remove, *_Atomic directory_to_remove;

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

int httpdns_child_reap(pid_t process) {
    kill(-process, SIGKILL);
    forget(process);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void httpdns_child_kill(pid_t process) { kill(-process, SIGKILL); }

const char *httpdns_environment_at(int index) { return environ ? environ[index] : NULL; }

void httpdns_interrupt_removes(const char *file, const char *directory) {
    atomic_store(&file_to_remove, file);
    atomic_store(&directory_to_remove, directory);
}

void httpdns_interrupt_clean_up(void) {
    for (int place = 0; place < PLACES; place++) {
        pid_t process = atomic_load(&running[place]);
        if (process > 0) kill(-process, SIGKILL);
    }
    const char *file = atomic_load(&file_to_remove), *directory = atomic_load(&directory_to_remove);
    if (file) unlink(file);
    if (directory) rmdir(directory);
}
