#include "chttpdns_system.h"

// Runs on whatever thread gets the signal: only calls of signal-safety(7).
static void end_interrupted(int signal) {
    static const char clear_line[] = "\r\033[K";
    if (isatty(STDERR_FILENO)) {
        // Nothing can be done about a failure here.
        ssize_t written = write(STDERR_FILENO, clear_line, sizeof(clear_line) - 1);
        (void)written;
    }
    httpdns_interrupt_clean_up();
    _exit(128 + signal);
}

void httpdns_signals_of_command(void) {
    struct sigaction action = {0};
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    // A shell starts background jobs with SIGINT ignored; that stays.
    struct sigaction present = {0};
    if (sigaction(SIGINT, NULL, &present) == 0 && present.sa_handler == SIG_IGN) return;
    action.sa_handler = end_interrupted;
    sigaction(SIGINT, &action, NULL);
}

void httpdns_signals_of_parent(void) {
    struct sigaction action = {0};
    sigemptyset(&action.sa_mask);
    action.sa_handler = end_interrupted;
    const int signals[] = {SIGTERM, SIGHUP};
    for (int index = 0; index < 2; index++) {
        struct sigaction present = {0};
        if (sigaction(signals[index], NULL, &present) == 0 && present.sa_handler != SIG_IGN)
            sigaction(signals[index], &action, NULL);
    }
}

void httpdns_occupy_standard_streams(void) {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) != -1) continue;
        // The lowest free number is this one: those below are taken.
        if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) == -1) return;
    }
}
