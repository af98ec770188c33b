// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Starts threads and gives them attributes. As everywhere here, a failure is a negative errno.

#ifndef CLINUXKERNEL_THREADATTRIBUTES_H
#define CLINUXKERNEL_THREADATTRIBUTES_H

#include "LinuxOnly.h"

#include <stdbool.h>
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
int rl_thread_set_processors(const int32_t *numbers, size_t count);
int rl_thread_processor_count(void);
size_t rl_thread_stack_size(void);

// Whether the main thread has ended by itself, while other threads go on; false where /proc does not say.
bool rl_main_thread_has_ended(void);

// The mask of a helper, a sigset_t: every signal but the one by which Swift's runtime suspends the threads of a crashed program.
// Without that type, because a header that includes <signal.h> takes the C library's types over from the module of the C library.
void rl_helper_mask(void *mask);

// Makes the calling thread a helper: it has a name, and takes no signals that are meant for the program.
void rl_become_helper(const char *name);

// The processor time of a thread of this process in nanoseconds, or a negative errno.
int64_t rl_thread_processor_time(int32_t thread);

// The name of a thread of this process. Returns its length, or an error when there is no such thread.
int rl_thread_name(int32_t thread, char *buffer, size_t size);

#endif
