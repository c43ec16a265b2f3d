// Programs that this one runs, each with its descendants in a process group of its own, so that all of
// them can be ended together.
#ifndef CHTTPDNS_CHILDREN_H
#define CHTTPDNS_CHILDREN_H

#include <sys/types.h>

typedef struct {
    /// The process and its group; 0 when it could not be started.
    pid_t process;
    /// What it writes, on standard output and standard error together; non-blocking. -1 without one.
    int output;
    /// The errno of what failed.
    int error;
} httpdns_child;

/// Starts a program that is found on PATH, with nothing to read. On Linux it ends, too, when the thread
/// that started it ends: keep that thread until it is reaped. `arguments` and `environment` end in NULL.
httpdns_child httpdns_child_start(
    char *_Nullable const *_Nonnull arguments, char *_Nullable const *_Nonnull environment);
/// Waits for its end; its number stays its own until it is reaped.
void httpdns_child_await(pid_t process);
/// Ends what is left of its group, and what it started that left the group but still has `mark` (a
/// whole NAME=VALUE) in its environment, and waits for it. The exit code, or 128 and the signal.
int httpdns_child_reap(pid_t process, const char *_Nullable mark);
/// Ends the whole group; only before it was reaped.
void httpdns_child_kill(pid_t process);

/// The variables of this process, NAME=VALUE, from 0 on; NULL after the last.
const char *_Nullable httpdns_environment_at(int index);

/// What the variable begins with by which a child, and what it starts, is known: the rest is the child's
/// own.
#define HTTPDNS_CHILD_MARK "HTTPDNS_LAB_RUN="

/// From now on programs whose parents have ended are children of this process, so that what a child
/// left behind can be ended with it; see httpdns_children_end_orphans. Children that are there already
/// are not: whoever became this program by exec may have left them to it. Call it before the first
/// httpdns_child_start. Linux only.
void httpdns_children_adopt(void);
/// Ends and reaps every child of this process that no httpdns_child_start made, and theirs, but what was
/// there before httpdns_children_adopt; where that was anything, only what has a HTTPDNS_CHILD_MARK. Not
/// while anything else in the process runs programs.
void httpdns_children_end_orphans(void);

/// What Ctrl-C and a hang-up remove before they end the process: files (a NULL behind the last), and
/// the directory that they are alone in. Either may be NULL; the texts stay the caller's.
void httpdns_interrupt_removes(
    const char *_Nullable const *_Nullable files, const char *_Nullable directory);
/// Ends all running children, what they have left behind, and removes those. For signal handlers, too.
void httpdns_interrupt_clean_up(void);

#endif
