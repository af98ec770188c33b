// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The exports of Swift's concurrency runtime for programs with a main loop or executor of their own that Swift cannot
// name: a variable with a function in it, and the head of a job.

#ifndef CLINUXKERNEL_SWIFTRUNTIME_H
#define CLINUXKERNEL_SWIFTRUNTIME_H

#include "LinuxOnly.h"

#include <stdint.h>

// Makes the entry point of an async main call `drain` on the main thread, instead of giving the thread to libdispatch,
// when the body of main is suspended for the first time. `drain` must not return. 0; -ENOSYS: this runtime has no such
// hook; -EBUSY: other code has set it.
int rl_async_main_set_drain(void (*drain)(void));

// The priority with which a job waits at present: a task may have been escalated since it was enqueued.
uint8_t rl_job_priority(const void *job, uint8_t enqueued);

// Runs a job on this thread. A job that belongs to an executor moves there.
void rl_run_job_here(void *job);

// Has the runtime's own executor run a job after some time. For a job that a loop cannot run any more.
void rl_enqueue_globally(void *job, uint64_t nanoseconds);

#endif
