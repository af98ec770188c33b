// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "PermittedCalls.h"
#include "Cloning.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNKNOWN, PERMITTED, REFUSED };
static _Atomic int known[RL_NEWER_CALLS];

// Harmless calls, which fail or do nothing wherever they are permitted.
IN_CHILD static int make_call(void *argument) {
    // A death by a signal is not to leave a core file.
    uint64_t none[2] = {0};
    syscall(SYS_prlimit64, 0, RLIMIT_CORE, none, NULL);
    switch (*(rl_newer_call *)argument) {
    case RL_CALL_EPOLL_PWAIT2: syscall(SYS_epoll_pwait2, -1, NULL, 0, NULL, NULL, 0); break;
    case RL_CALL_CLOSE_RANGE: syscall(SYS_close_range, ~0U, ~0U, 0); break;
    case RL_CALL_PIDFD_OPEN: syscall(SYS_pidfd_open, -1, 0); break;
    case RL_CALL_PROCESS_VM_READV: syscall(SYS_process_vm_readv, 0, NULL, 0L, NULL, 0L, 0L); break;
    case RL_NEWER_CALLS: break;
    }
    return 0;
}

static int survives(rl_newer_call call) {
    int saved = errno;
    char stack[16 * 1024] __attribute__((aligned(16)));
    kernel_set all = ~(kernel_set)0, before;
    // No handler of this process runs in the child. The kernel forces SIGSYS all the same.
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    // Without a signal at its end, so that no SIGCHLD handler is called and no waitpid(-1) reaps the child. Without CLONE_VM: before
    // Linux 5.16 the death by SIGSYS, like every signal that may leave a core file, ends each process that shares the memory.
    int process = START(make_call, stack + sizeof stack, CLONE_VFORK, &call);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    int status = 0;
    if (process >= 0)
        while (waitpid(process, &status, __WCLONE) < 0 && errno == EINTR) continue;
    errno = saved;
    // Without a child nothing is known. The call's replacement is slower and always works.
    return process >= 0 && WIFEXITED(status) ? PERMITTED : REFUSED;
}

bool rl_permits(rl_newer_call call) {
    int answer = atomic_load_explicit(&known[call], memory_order_relaxed);
    if (answer != UNKNOWN) return answer == PERMITTED;
    // Not remembered: the program may set a filter later.
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER) return true;
    answer = survives(call);
    atomic_store_explicit(&known[call], answer, memory_order_relaxed);
    return answer == PERMITTED;
}
