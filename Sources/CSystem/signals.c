#include "chttpdns_system.h"

// Where the first signal is told; -1 while nobody listens.
static volatile sig_atomic_t teller = -1;
static volatile sig_atomic_t is_told = 0;

// Runs on whatever thread gets the signal: only calls of signal-safety(7).
static void end_interrupted(int signal) {
    int saved = errno;
    // Nothing can be done about a failure to write here, but to end at once.
    if (signal != SIGQUIT && teller >= 0 && !is_told && write((int)teller, "", 1) == 1) {
        is_told = 1;
        errno = saved;
        return;
    }
    static const char clear_line[] = "\r\033[K";
    if (isatty(STDERR_FILENO)) {
        ssize_t written = write(STDERR_FILENO, clear_line, sizeof(clear_line) - 1);
        (void)written;
    }
    httpdns_interrupt_clean_up();
    // Interrupted is interrupted, whoever asked for it: scripts see one number.
    _exit(128 + (signal == SIGQUIT ? SIGQUIT : SIGINT));
}

static void end_on(int signal) {
    // A shell starts background jobs with SIGINT ignored; that stays. SIGTERM is for them, and always
    // ends a command.
    struct sigaction present = {0};
    if (signal != SIGTERM && sigaction(signal, NULL, &present) == 0 && present.sa_handler == SIG_IGN) return;
    struct sigaction action = {0};
    sigemptyset(&action.sa_mask);
    // The others wait, so that no two run at once on one thread.
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGQUIT);
    action.sa_flags = SA_RESTART;
    action.sa_handler = end_interrupted;
    sigaction(signal, &action, NULL);
}

void httpdns_signals_of_command(void) {
    struct sigaction action = {0};
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    end_on(SIGINT);
    end_on(SIGTERM);
    // Who presses it wants an end at once; a core of a tool that works says nothing.
    end_on(SIGQUIT);
}

int httpdns_signals_listen(void) {
    int ends[2];
    if (httpdns_pipe(ends) != 0) return -1;
    teller = ends[1];
    return ends[0];
}

int httpdns_signals_await(int listener) {
    struct pollfd polled = {.fd = listener, .events = POLLIN};
    int ready;
    do ready = poll(&polled, 1, -1);
    while (ready < 0 && errno == EINTR);
    return ready == 1 ? 0 : -1;
}

void httpdns_signals_of_parent(void) { end_on(SIGHUP); }

void httpdns_occupy_standard_streams(void) {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) != -1) continue;
        // The lowest free number is this one: those below are taken.
        if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) == -1) return;
    }
}
