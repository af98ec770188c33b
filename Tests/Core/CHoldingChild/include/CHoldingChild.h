// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Children as posix_spawn has them between clone and exec: with copies of the descriptors of their parent, in its memory. A fork
// would copy the memory's tables too, and each page that any thread of the parent then writes to.

#ifndef CHOLDINGCHILD_H
#define CHOLDINGCHILD_H

#include <stdbool.h>
#include <stdint.h>

// A child that lives until it is killed, or until nobody has the pipe's other end any more, of which it closes its own copy.
// `stack` is the child's, 16 KiB, until it has ended. Returns its number, or a negative errno. It is reaped by waitpid.
int32_t holding_child_start(void *stack, int life, int other_end);

// Makes a child that lives for so many microseconds, and returns when it has ended: its number, or a negative errno. Other threads
// of the process go on meanwhile.
int32_t holding_child_pass(void *stack, uint32_t microseconds);

// From here on the kernel answers each system call that is newer than Linux 5.4 by SIGSYS, as the filters of some containers and
// phones do: in all threads and their children, or in the calling thread. False if the system has no such filter.
bool holding_trap_newer_calls(bool in_all_threads);
// From here on the kernel answers setsid by SIGSYS, in all threads and their children.
bool holding_trap_new_sessions(void);
// From here on no thread of this process can start a process that shares its memory; a copy of it can be started.
bool holding_refuse_shared_children(void);

#endif
