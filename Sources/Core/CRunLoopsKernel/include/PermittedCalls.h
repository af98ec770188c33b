// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#ifndef PERMITTEDCALLS_H
#define PERMITTEDCALLS_H

#include "LinuxOnly.h"

#include <stdbool.h>

// The system calls of this package that are newer than its oldest kernel (Linux 5.4), or that filters refuse.
typedef enum {
    RL_CALL_EPOLL_PWAIT2,
    RL_CALL_CLOSE_RANGE,
    RL_CALL_PIDFD_OPEN,
    RL_CALL_PROCESS_VM_READV,
    RL_NEWER_CALLS
} rl_newer_call;

// Whether a call can be made without the end of this process. A seccomp filter may answer a call that it does not know by SIGSYS or
// by killing; then a forked child makes the call in this process's place, once, and dies. A filter that answers by an error, and a kernel
// that does not know the call, permit it: the call itself says so. Any thread.
//
// Costs one system call where the process has no filter.
bool rl_permits(rl_newer_call call);

#endif
