// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "Spawning.h"
#include "CLinuxEvents.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define RL_P_PIDFD 3

#ifdef __GLIBC__
// The same function under a name that the thread sanitizer does not replace: its own takes the child for a fork.
extern int __clone(int (*body)(void *), void *stack, int flags, void *argument, ...);
#define START __clone
#else
#define START clone
#endif

#define STACK (64 * 1024)
#define SIGNALS 64
// The kernel's own set of signals, which is shorter than the C library's and has no signal left out.
typedef uint64_t kernel_set;

// The child has its parent's memory until exec, and the parent's thread waits: the parent sees what the child writes,
// nothing has to be copied, and an error needs no pipe. Therefore the child makes system calls only, by number. A
// function of the C library may take a lock or be cancelled, and a sanitizer would take it for the parent's.
#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

// A handler of the parent's must not run in the child, nor a signal that the parent ignores be ignored in the program.
IN_CHILD static void reset_signals(void) {
    // The kernel's sigaction, which begins with the handler: the default, without flags.
    uint64_t action[8] = {0};
    // SIGKILL, SIGSTOP: refused, and the default in any case.
    for (int signal = 1; signal <= SIGNALS; signal++)
        syscall(SYS_rt_sigaction, signal, action, NULL, sizeof(kernel_set));
}

IN_CHILD static bool close_between(unsigned first, unsigned end) {
    return first >= end || syscall(SYS_close_range, first, end - 1, 0) == 0;
}

IN_CHILD static bool move_descriptors(rl_spawn_plan *plan) {
    rl_descriptor_move *moves = plan->moves;
    size_t count = plan->move_count;
    int above = count > 0 ? moves[count - 1].to + 1 : 0;
    // First out of the way: a number may be taken from one descriptor and given to another.
    for (size_t i = 0; i < count; i++) {
        moves[i].spare = (int32_t)syscall(SYS_fcntl, moves[i].from, F_DUPFD_CLOEXEC, above);
        if (moves[i].spare < 0) return false;
    }
    unsigned next = 0;
    for (size_t i = 0; i < count; i++) {
        if (syscall(SYS_dup3, moves[i].spare, moves[i].to, 0) < 0) return false;
        if (!close_between(next, (unsigned)moves[i].to)) return false;
        next = (unsigned)moves[i].to + 1;
    }
    return syscall(SYS_close_range, next, ~0U, 0) == 0;
}

IN_CHILD static void execute(rl_spawn_plan *plan) {
    int refused = 0;
    for (char *const *path = plan->paths; *path != NULL; path++) {
        syscall(SYS_execve, *path, plan->arguments, plan->environment);
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

int rl_spawn(rl_spawn_plan *plan, int *pidfd) {
    plan->step = RL_SPAWN_CLONE;
    plan->error = 0;
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return -(plan->error = errno);
    kernel_set all = ~(kernel_set)0, before;
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

char *const *rl_environment(void) { return environ; }

static inline int result(long value) { return value < 0 ? -errno : (int)value; }

int rl_open(const char *path, int flags, unsigned mode) {
    int opened;
    do opened = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (opened < 0 && errno == EINTR);
    return result(opened);
}

int rl_blocking_pipe(int *ends) { return result(pipe2(ends, O_CLOEXEC)); }

bool rl_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

int rl_close_on_exec(int descriptor) { return result(fcntl(descriptor, F_SETFD, FD_CLOEXEC)); }

bool rl_is_terminal(int descriptor) { return isatty(descriptor) == 1; }

int rl_write_quietly(int descriptor, const void *bytes, size_t count) {
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
