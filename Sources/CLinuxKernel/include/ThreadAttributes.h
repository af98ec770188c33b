// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Starts threads and gives them attributes. As everywhere here, a failure is a negative errno.

#ifndef CLINUXKERNEL_THREADATTRIBUTES_H
#define CLINUXKERNEL_THREADATTRIBUTES_H

#include "LinuxOnly.h"

#include <stddef.h>
#include <stdint.h>

// Scheduling classes, numbered here so that no user needs <sched.h>.
enum { RL_SCHEDULE_NORMAL = 0, RL_SCHEDULE_BATCH, RL_SCHEDULE_IDLE, RL_SCHEDULE_FIFO, RL_SCHEDULE_ROUND_ROBIN };

// A thread that has been started. A number, which Swift can make and pass on under every C library: pthread_t is a
// number in one, and a pointer in another.
typedef struct {
    uintptr_t handle;
} rl_thread;

// Starts a thread that another thread joins, or that is detached later; a `stack` of 0 is the system's default size.
int rl_thread_start(rl_thread *thread, size_t stack, void *(*body)(void *), void *argument);
void rl_thread_join(rl_thread thread);
void rl_thread_detach(rl_thread thread);
// Starts a thread that no thread waits for.
int rl_thread_start_detached(void *(*body)(void *), void *argument);

// Attributes of the calling thread.
int rl_thread_set_name(const char *name);
int rl_thread_nice(void);
int rl_thread_set_nice(int nice);
int rl_thread_set_schedule(int schedule, int priority);
int rl_thread_schedule(void);
int rl_thread_set_processors(const int32_t *numbers, size_t count);
int rl_thread_processor_count(void);
size_t rl_thread_stack_size(void);

// The name of a thread of this process. Returns its length, or an error when there is no such thread.
int rl_thread_name(int32_t thread, char *buffer, size_t size);

#endif
