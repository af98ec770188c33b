// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Declarations shared by the sources that start a child with this process's memory.

#ifndef CLONING_H
#define CLONING_H

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

#ifdef __GLIBC__
// The same function under a name that the thread sanitizer does not replace: its own takes the child for a fork.
extern int __clone(int (*body)(void *), void *stack, int flags, void *argument, ...);
#define START __clone
#else
#define START clone
#endif

// The kernel's own set of signals, which is shorter than the C library's and has no signal left out.
typedef uint64_t kernel_set;

// The child has its parent's memory, and the parent's thread waits: the parent sees what the child writes, nothing has to be
// copied, and an error needs no pipe. Therefore the child makes system calls only, by number. A function of the C library may
// take a lock or be cancelled, and a sanitizer would take it for the parent's.
#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

#endif
