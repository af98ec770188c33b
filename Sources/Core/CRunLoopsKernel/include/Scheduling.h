// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// How the kernel schedules a thread; another thread can read it, and change it in its own process. A failure is a negative
// errno.

#ifndef CLINUXKERNEL_SCHEDULING_H
#define CLINUXKERNEL_SCHEDULING_H

#include "LinuxOnly.h"

#include <stdbool.h>
#include <stdint.h>

struct rl_schedule {
    // The kernel's number of the class, SCHED_OTHER and so on.
    int32_t policy;
    // For a class that shares the processors out; 0 in the others.
    int32_t nice;
    // For a real-time class; 0 in the others.
    int32_t priority;
    // Whether threads that it starts get the usual class instead of its own.
    bool resets;
};

// ESRCH: no thread of this process has that number. 0 is the calling thread.
int rl_schedule_read(int32_t thread, struct rl_schedule *schedule);

// The same of a thread of the process `process`. ESRCH: that process has no such thread; EPERM: the process belongs to
// another user. The caller makes sure that `process` is the number of the process that it means.
int rl_schedule_read_in(int32_t process, int32_t thread, struct rl_schedule *schedule);

// Changes only what differs between the two.
int rl_schedule_change(int32_t thread, const struct rl_schedule *from, const struct rl_schedule *to);

// Whether the calling thread is scheduled as threads usually are: SCHED_OTHER with a nice value of 0. Asks the kernel
// until the answer is yes, and never again.
bool rl_schedule_is_usual(void);

// The rank of a class among the others: real-time classes come first, by priority, then classes that share, by
// nice value, then the idle class; negative for classes that cannot be compared.
int rl_schedule_rank(const struct rl_schedule *schedule);

// Whether a nice value is what counts in the class.
bool rl_schedule_shares(const struct rl_schedule *schedule);

// Lets other threads of the same priority go first.
void rl_schedule_yield(void);

#endif
