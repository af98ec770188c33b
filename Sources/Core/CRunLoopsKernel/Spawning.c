// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "Spawning.h"
#include "CLinuxEvents.h"
#include "CRunLoopsKernel.h"
#include "Cloning.h"
#include "Entries.h"
#include "PermittedCalls.h"
#include "Results.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const int32_t rl_limit_cpu = RLIMIT_CPU;
const int32_t rl_limit_file_size = RLIMIT_FSIZE;
const int32_t rl_limit_data = RLIMIT_DATA;
const int32_t rl_limit_stack = RLIMIT_STACK;
const int32_t rl_limit_core = RLIMIT_CORE;
const int32_t rl_limit_open_files = RLIMIT_NOFILE;
const int32_t rl_limit_address_space = RLIMIT_AS;

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#define RL_P_PIDFD 3

#define STACK (64 * 1024)
#define SIGNALS 64
#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif
#define BIT(signal) ((kernel_set)1 << ((signal) - 1))
// The signals whose default is to leave a core file, and of these the ones that the kernel sends for a fault or a filter.
#define FAULTS (BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGSEGV) | BIT(SIGSYS))
#define LEAVES_CORE (FAULTS | BIT(SIGQUIT) | BIT(SIGABRT) | BIT(SIGXCPU) | BIT(SIGXFSZ))

// The kernel's sigaction: the same on x86-64 and arm64.
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(int);
    kernel_set mask;
};

// The plan of the child that this thread is starting. The child has the variables of this thread.
static _Thread_local rl_spawn_plan *starting;

// The end of a child before its program begins, by a signal that may leave a core file. Before Linux 5.16 the kernel ends every
// process that shares the memory of such a child: this one ends like a child that could not execute its program.
IN_CHILD static void end_start(int signal) {
    starting->error = signal == SIGSYS ? EPERM : EINTR;
    for (;;) syscall(SYS_exit_group, 127);
}

// A handler of the parent's must not run in the child, nor a signal that the parent ignores be ignored in the program. The program
// begins with the default where the child has a handler.
IN_CHILD static void reset_signals(void) {
    const struct kernel_action usual = {0};
    // The handler does not return. x86-64 demands a place to return to all the same.
    const struct kernel_action end = {.handler = end_start, .flags = SA_RESTORER, .restorer = end_start, .mask = ~(kernel_set)0};
    // SIGKILL, SIGSTOP: refused, and the default in any case.
    for (int signal = 1; signal <= SIGNALS; signal++)
        syscall(SYS_rt_sigaction, signal, LEAVES_CORE & BIT(signal) ? &end : &usual, NULL, sizeof(kernel_set));
    // The kernel gives a fault or a filter's signal its default where it is blocked.
    kernel_set faults = FAULTS;
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, NULL, sizeof faults);
}

IN_CHILD static bool close_between(unsigned first, unsigned end) {
    return first > end || syscall(SYS_close_range, first, end, 0) == 0;
}

IN_CHILD static bool is_target(const rl_descriptor_move *moves, size_t count, int descriptor) {
    for (size_t i = 0; i < count; i++)
        if (moves[i].to == descriptor) return true;
    return false;
}

// Closes every descriptor but the targets without close_range, which came with Linux 5.9.
IN_CHILD static bool close_each(const rl_descriptor_move *moves, size_t count) {
    char entries[4096] __attribute__((aligned(8)));
    int directory = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        // Without /proc every number is tried.
        uint64_t limit[2];
        if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, limit) < 0) return false;
        for (uint64_t number = 0; number < limit[0]; number++)
            if (!is_target(moves, count, (int)number)) syscall(SYS_close, (int)number);
        return true;
    }
    long size;
    while ((size = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0) {
        rl_directory_entry entry;
        for (size_t place = 0; next_entry(entries, (size_t)size, &place, &entry) > 0;) {
            uint64_t number = 0;
            const char *digit = entry.name;
            while (*digit >= '0' && *digit <= '9') number = number * 10 + (uint64_t)(*digit++ - '0');
            // The names "." and ".." have no digits. Entries are listed by number, so that closing does not hide any.
            if (digit == entry.name || number > INT_MAX || (int)number == directory) continue;
            if (!is_target(moves, count, (int)number)) syscall(SYS_close, (int)number);
        }
    }
    syscall(SYS_close, directory);
    return size == 0;
}

// A copy of `descriptor` under a number that none of the moves, whose targets ascend, is going to write.
IN_CHILD static int spare_number(const rl_descriptor_move *moves, size_t count, int descriptor) {
    int above = moves[count - 1].to + 1;
    int spare = (int)syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, above);
    // The limit of descriptors may leave no room above the last target. The copies that are passed over here are
    // replaced or closed before exec, as everything is.
    for (size_t i = 0; spare < 0 && i < count; i++) {
        int from = i > 0 ? moves[i - 1].to + 1 : 0;
        if (from == moves[i].to) continue;
        spare = (int)syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, from);
        if (spare >= moves[i].to) spare = -1;
    }
    return spare;
}

IN_CHILD static bool move_descriptors(rl_spawn_plan *plan) {
    rl_descriptor_move *moves = plan->moves;
    size_t count = plan->move_count;
    // First out of the way: a number may be taken from one descriptor and given to another.
    for (size_t i = 0; i < count; i++)
        if ((moves[i].spare = spare_number(moves, count, moves[i].from)) < 0) return false;
    for (size_t i = 0; i < count; i++)
        if (syscall(SYS_dup3, moves[i].spare, moves[i].to, 0) < 0) return false;
    if (!plan->closes_ranges) return close_each(moves, count);
    unsigned next = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned target = (unsigned)moves[i].to;
        if (target > next && !close_between(next, target - 1)) return errno == ENOSYS && close_each(moves, count);
        next = target + 1;
    }
    return close_between(next, ~0U) || (errno == ENOSYS && close_each(moves, count));
}

// A program that was just written can be busy for a moment: a child of another thread, between fork and exec, has a copy of the
// descriptor that wrote it.
#define ATTEMPTS 20
static const struct timespec busy_pause = {.tv_nsec = 2000000};

// Whether a thread of the parent may have changed the parent's own variables during the call. setenv moves them and releases the
// old array, of which the kernel then says EFAULT, or E2BIG for what is no text.
IN_CHILD static bool has_moved(const rl_spawn_plan *plan, char *const *used) {
    return plan->environment == NULL && (errno == EFAULT || used != *(char **volatile *)&environ);
}

IN_CHILD static void start_program(const char *path, rl_spawn_plan *plan) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        char *const *variables = plan->environment != NULL ? plan->environment : *(char **volatile *)&environ;
        syscall(SYS_execve, path, plan->arguments, variables);
        int error = errno;
        if (error != ETXTBSY && !has_moved(plan, variables)) return;
        if (error == ETXTBSY) syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &busy_pause, NULL);
        errno = error;
    }
}

IN_CHILD static void execute(rl_spawn_plan *plan) {
    int refused = 0;
    for (char *const *path = plan->paths; *path != NULL; path++) {
        start_program(*path, plan);
        // As execvp does: EACCES is the error if no later path can be executed.
        if (errno == EACCES) refused = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV && errno != ETIMEDOUT)
            return;
    }
    if (refused != 0) errno = refused;
}

IN_CHILD static bool prepare(rl_spawn_plan *plan) {
    plan->step = RL_SPAWN_GROUP;
    if (plan->session ? syscall(SYS_setsid) < 0 : plan->group >= 0 && syscall(SYS_setpgid, 0, plan->group) < 0)
        return false;
    plan->step = RL_SPAWN_DIRECTORY;
    if (plan->directory != NULL && syscall(SYS_chdir, plan->directory) < 0) return false;
    plan->step = RL_SPAWN_DESCRIPTORS;
    if (!move_descriptors(plan)) return false;
    plan->step = RL_SPAWN_TERMINAL;
    if (plan->terminal && syscall(SYS_ioctl, STDIN_FILENO, TIOCSCTTY, 0) < 0) return false;
    // After the descriptors, whose numbers may be above the limit.
    plan->step = RL_SPAWN_LIMITS;
    for (plan->index = 0; plan->index < plan->limit_count; plan->index++) {
        const rl_limit *limit = &plan->limits[plan->index];
        uint64_t pair[2] = {limit->soft, limit->hard};
        if (syscall(SYS_prlimit64, 0, limit->resource, pair, NULL) < 0) return false;
    }
    return true;
}

IN_CHILD static int child(void *argument) {
    rl_spawn_plan *plan = argument;
    reset_signals();
    if (prepare(plan)) {
        plan->step = RL_SPAWN_SIGNALS;
        kernel_set none = 0;
        if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none) == 0) {
            plan->step = RL_SPAWN_EXECUTE;
            execute(plan);
        }
    }
    plan->error = errno;
    return 127;
}

// Whether the kernel may give a new descriptor the number of a standard stream.
static bool has_closed_stream(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (!rl_is_open(stream)) return true;
    return false;
}

static int start(rl_spawn_plan *plan, int *pidfd) {
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return -(plan->error = errno);
    kernel_set all = ~(kernel_set)0, before;
    starting = plan;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    // CLONE_PIDFD: a handler that reaps every child cannot get between the process and its descriptor.
    int process = START(child, (char *)stack + STACK, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, plan, pidfd);
    if (process < 0) plan->error = errno;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    munmap(stack, STACK);
    if (plan->error == 0) return process;
    if (process >= 0) {
        // It has ended. ECHILD: others have reaped it.
        siginfo_t info;
        while (syscall(SYS_waitid, RL_P_PIDFD, *pidfd, &info, WEXITED, NULL) < 0 && errno == EINTR) continue;
        close(*pidfd);
    }
    return -plan->error;
}

int rl_spawn(rl_spawn_plan *plan, int *pidfd) {
    plan->step = RL_SPAWN_CLONE;
    plan->error = 0;
    plan->closes_ranges = rl_permits(RL_CALL_CLOSE_RANGE);
    if (!has_closed_stream()) return start(plan, pidfd);
    // Reserved before the child exists: afterwards the system could refuse another number.
    int reserved = rl_eventfd_create();
    if (reserved < 0) return -(plan->error = -reserved);
    int process = start(plan, pidfd);
    if (process < 0 || *pidfd > STDERR_FILENO) {
        close(reserved);
        return process;
    }
    dup3(*pidfd, reserved, O_CLOEXEC);
    close(*pidfd);
    *pidfd = reserved;
    return process;
}

char *const *rl_environment(void) { return environ; }

int rl_open(const char *path, int flags, unsigned mode) {
    int opened;
    do opened = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (opened < 0 && errno == EINTR);
    return made(opened);
}

int rl_blocking_pipe(int *ends) { return made_pair(pipe2(ends, O_CLOEXEC), ends); }

bool rl_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

int rl_close_on_exec(int descriptor) { return result(fcntl(descriptor, F_SETFD, FD_CLOEXEC)); }

bool rl_is_terminal(int descriptor) { return isatty(descriptor) == 1; }

static int write_quietly(int descriptor, const void *bytes, size_t count) {
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    // A SIGPIPE that waits already is another call's.
    sigpending(&pending);
    int written = rl_write(descriptor, bytes, count);
    if (written == -EPIPE && !sigismember(&pending, SIGPIPE)) {
        const struct timespec now = {0};
        while (sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR) continue;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return written;
}

// Opens a pipe or a terminal once more, without blocking; negative if that cannot be. What poll(2) says of the room in the first
// one holds no longer when another process writes.
static int reopen(int descriptor, bool is_pipe) {
    int number;
    // The controlling side of a pseudo-terminal is not opened again: that would make another pseudo-terminal.
    if (!is_pipe && (!isatty(descriptor) || ioctl(descriptor, TIOCGPTN, &number) == 0)) return -ENOTTY;
    char path[32]; // "/proc/self/fd/" and at most ten digits
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return made(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

int rl_write_ready(int descriptor, const void *bytes, size_t count) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return -errno;
    if (flags & O_NONBLOCK) return write_quietly(descriptor, bytes, count);
    // Standard streams are often blocking, and shared with other processes, which would not expect a change.
    ssize_t sent;
    do sent = send(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0 || errno != ENOTSOCK) return result(sent);
    struct stat status;
    if (fstat(descriptor, &status) < 0) return -errno;
    bool is_pipe = S_ISFIFO(status.st_mode);
    // Files, and the devices of the kernel's memory, such as /dev/null, wait for no other process.
    bool waits = is_pipe || (S_ISCHR(status.st_mode) && major(status.st_rdev) != 1);
    if (!waits) return write_quietly(descriptor, bytes, count);
    int other = reopen(descriptor, is_pipe);
    // A pipe that nobody reads cannot be opened for writing.
    if (other == -ENXIO && is_pipe) return -EPIPE;
    if (other < 0) return -EOPNOTSUPP;
    int written = write_quietly(other, bytes, count);
    close(other);
    return written;
}
