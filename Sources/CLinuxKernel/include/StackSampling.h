// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The stack of another thread of this process, without changing what that thread does.
//
// A running thread is sent a real-time signal, whose handler only copies the registers and the upper end of the stack.
// A thread that waits in the kernel is never sent anything: some calls (nanosleep, poll, epoll_wait, ...) would return
// early with EINTR. The kernel says where such a thread waits, and its stack is read from outside. Either way the
// thread that asked for the copy unwinds it later.

#ifndef STACKSAMPLING_H
#define STACKSAMPLING_H

#include "LinuxOnly.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RL_SAMPLE_REGISTERS 32
#define RL_SAMPLE_BYTES 65536

typedef struct {
    // By DWARF's numbers; the bit in `known` says whether a register is known.
    uint64_t registers[RL_SAMPLE_REGISTERS];
    uint64_t known;
    uint64_t counter;
    // Where the copy begins, and its length.
    uint64_t stack;
    uint64_t size;
    uint64_t bytes[RL_SAMPLE_BYTES / 8];
} rl_stack_sample;

// Takes the signal for sampling: `signal`, or with 0 the highest real-time signal that nobody handles. Returns the
// number, or -EBUSY if other code handles it. Once a process; later calls return the same number, or -EBUSY for
// another.
int rl_sampling_start(int signal);

// Interrupts a running thread and waits until the copy is made. `stack_end` is the upper end of its stack.
// 0, -ETIMEDOUT: it did not run within `nanoseconds`; other negative errors of the system. One caller at a time.
int rl_sample_running(int32_t thread, uint64_t stack_end, int64_t nanoseconds, rl_stack_sample *sample);
// Copies the stack of a thread that waits in the kernel, given the stack pointer and the program counter that the
// kernel reports.
int rl_sample_waiting(uint64_t stack_pointer, uint64_t counter, uint64_t stack_end, rl_stack_sample *sample);

// The upper end of the calling thread's stack, or 0.
uint64_t rl_stack_end(void);
// Unblocks the signal in the calling thread: threads that libdispatch makes, and threads made by them, block all
// signals.
void rl_sampling_allow(void);

// The program counters in the sample, innermost first: for the innermost frame its own, for the others the address
// behind the call. Returns how many, at most `capacity`.
size_t rl_unwind(const rl_stack_sample *sample, uint64_t *counters, size_t capacity);

// What the mangled name stands for; the caller frees it. NULL if the name is not Swift's.
char *rl_demangle(const char *name);

// The processor time of a thread of this process in nanoseconds, or a negative errno.
int64_t rl_thread_processor_time(int32_t thread);

// What a system call waits for, by its number.
typedef enum { rl_wait_other, rl_wait_lock, rl_wait_sleep, rl_wait_descriptors, rl_wait_child } rl_wait;
rl_wait rl_wait_of_call(long number);

// Makes the calling thread a helper: it has a name, and takes no signals that are meant for the program.
void rl_become_helper(const char *name);

// What the loader knows about an address.
typedef struct {
    // Where the module is loaded; its own addresses are counted from there.
    uint64_t base;
    uint64_t bias;
    const char *path;
    bool is_program;
    // An exported function before the address; NULL where there is none.
    const char *symbol;
    uint64_t symbol_start;
} rl_module;

bool rl_find_module(uint64_t address, rl_module *module);

#endif
