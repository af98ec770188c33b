// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// How a process notices that it is a child made by fork(), and which descriptors such a child closes.
//
// pthread_atfork() calls the handler. It does not call it in a child of vfork() or of posix_spawn(), which shares its
// parent's memory and would change it; nor in a child of clone() or of _Fork(), which may only call what a signal
// handler may call until it calls exec.

#ifndef CLINUXKERNEL_FORKS_H
#define CLINUXKERNEL_FORKS_H

#include "LinuxOnly.h"

#include <stdint.h>

// How many forks lie between the process and its first ancestor with this library. Written in the child only, before
// it has a second thread.
static inline int32_t rl_fork_count(void) {
    extern int32_t rl_forks;
    return rl_forks;
}

// How many forks of the process itself have begun: while the number stays the same, no child by fork() has got a copy of
// a descriptor. Children of posix_spawn(), vfork(), clone() and _Fork() do not count: they use no descriptor of their
// own accord.
int32_t rl_forks_begun(void);

// Has every child made by fork() close the descriptor, until it is given up. Give a descriptor up before you close it.
// Async-signal-safe. A number above a million is not kept: the kernel gives out none unless its own limit is raised.
void rl_keep_from_children(int descriptor);
void rl_give_up(int descriptor);

#endif
