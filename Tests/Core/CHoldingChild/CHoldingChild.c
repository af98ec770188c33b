// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CHoldingChild.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE (16 * 1024)

// The child has what belongs to its parent's thread, which goes on: system calls alone, and nothing that a sanitizer would add.
#define IN_CHILD __attribute__((disable_sanitizer_instrumentation))

struct life {
    int end;
    int other_end;
};

IN_CHILD static int live(void *argument) {
    struct life life = *(struct life *)argument;
    syscall(SYS_close, life.other_end);
    struct pollfd wanted = {.fd = life.end, .events = POLLIN};
    while (syscall(SYS_ppoll, &wanted, 1L, NULL, NULL, 0L) < 0) {}
    syscall(SYS_exit_group, 0L);
    return 0;
}

IN_CHILD static int pass(void *argument) {
    uint32_t microseconds = *(uint32_t *)argument;
    struct timespec time = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};
    syscall(SYS_nanosleep, &time, NULL);
    syscall(SYS_exit_group, 0L);
    return 0;
}

// The C library's own: a sanitizer puts one in its place that ends the child as if it had a copy of the parent's memory.
typedef int (*Clone)(int (*)(void *), void *, int, void *, ...);

// No signal reaches the child, as none reaches one of posix_spawn: a handler would run in its parent's memory.
static int32_t start(int (*body)(void *), void *stack, int flags, void *argument) {
    Clone clone = (Clone)dlsym(RTLD_NEXT, "clone");
    if (clone == NULL) { return -ENOSYS; }
    sigset_t all, present;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &present);
    int child = clone(body, (char *)stack + STACK_SIZE, CLONE_VM | SIGCHLD | flags, argument);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &present, NULL);
    return child < 0 ? -error : child;
}

int32_t holding_child_start(void *stack, int end, int other_end) {
    // At the lower end of the child's stack: this function's own is gone before the child reads it.
    struct life *life = stack;
    *life = (struct life){end, other_end};
    return start(live, stack, 0, life);
}

int32_t holding_child_pass(void *stack, uint32_t microseconds) {
    return start(pass, stack, CLONE_VFORK, &microseconds);
}

// clone3, of Linux 5.3, which the C library makes too.
#define LAST_CALL 435

static bool install(struct sock_filter *rules, size_t count, bool in_all_threads) {
    struct sock_fprog program = {(unsigned short)count, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, in_all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0, &program) == 0;
}
#define INSTALL(rules, in_all_threads) install(rules, sizeof rules / sizeof *rules, in_all_threads)

bool holding_trap_newer_calls(bool in_all_threads) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_CALL, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return INSTALL(rules, in_all_threads);
}

bool holding_trap_new_sessions(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return INSTALL(rules, true);
}

bool holding_refuse_shared_children(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
        // The lower half of the flags, on machines whose lower byte comes first.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_VM, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return INSTALL(rules, true);
}
