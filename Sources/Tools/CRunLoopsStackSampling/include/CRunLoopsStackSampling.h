// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The stack of another thread of this process, without changing what that thread does, and without trusting what is on
// it: memory that may not be there is read by rl_copy_memory.
//
// A thread that waits in the kernel is only looked at from outside. For a thread that runs, a timer of the thread's own
// processor clock sends a real-time signal. The handler copies the registers and the upper end of the stack. Either
// way the thread that asked for the copy unwinds it later.

#ifndef CRUNLOOPSSTACKSAMPLING_H
#define CRUNLOOPSSTACKSAMPLING_H

#include "LinuxOnly.h"
#include "Memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RL_SAMPLE_REGISTERS 32
#define RL_SAMPLE_BYTES 65536
// DWARF's number of the register. Other machines than these two have no known register.
#if defined(__x86_64__)
#define RL_STACK_POINTER 7
#else
#define RL_STACK_POINTER 31
#endif

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
// another. A forked child calls this again and keeps its parent's number.
int rl_sampling_start(int signal);

// Lets the calling thread be sampled: unblocks the signal (threads that libdispatch makes, and threads made by them,
// block all signals; this one is nobody else's, so that they lose nothing), and gives the thread an alternate stack if
// it has none, because a deep recursion or a fibre may have left no room for a handler. Returns the upper end of the
// thread's stack, or 0.
uint64_t rl_sampling_join(void);

// Has a running thread copied when it uses the processor next. `stack_end` is the upper end of its stack.
// 0, -ETIMEDOUT: it did not run within `nanoseconds`; -EAGAIN: the process has as many timers and queued signals as it
// may have; other negative errors of the system. One thread is sampled at a time.
int rl_sample_running(int32_t thread, uint64_t stack_end, int64_t nanoseconds, rl_stack_sample *sample);
// Copies memory from an address on, up to the first byte that cannot be read. Returns how many bytes.
typedef size_t (*rl_copy)(uint64_t from, void *to, size_t size);
// Copies the stack of a thread that waits in the kernel, given the stack pointer and the program counter that the
// kernel reports. `copy` is rl_copy_memory for a thread of this process.
int rl_sample_waiting(uint64_t stack_pointer, uint64_t counter, uint64_t stack_end, rl_copy copy,
                      rl_stack_sample *sample);

// Copies memory of the process whose /proc/PID/mem the calling thread uses: -1 for none.
void rl_use_memory(int descriptor);
size_t rl_copy_used_memory(uint64_t from, void *to, size_t size);

typedef struct {
    uint64_t address;
    uint64_t size;
} rl_memory_part;

// Copies parts of the memory of a process one behind the other, by one system call: as near to one moment as possible.
// Returns whether all of them, `size` bytes, were copied.
bool rl_copy_parts(int32_t process, const rl_memory_part *parts, size_t count, void *to, size_t size);

// Code that is mapped, and the index of its tables for unwinding (.eh_frame_hdr); an `index_size` of 0: it has none.
typedef struct {
    uint64_t start;
    uint64_t end;
    // The difference between an address in memory and the same address in the file.
    uint64_t bias;
    uint64_t index;
    uint64_t index_size;
} rl_code;

// The program counters in the sample, innermost first: for the innermost frame its own, for the others the address
// behind the call. `code` is in ascending order; its tables are read with `copy`, which is rl_copy_memory except in
// tests. Returns how many, at most `capacity`.
size_t rl_unwind(const rl_stack_sample *sample, const rl_code *code, size_t code_count, rl_copy copy,
                 uint64_t *counters, size_t capacity);

// The code at an address, or NULL.
const rl_code *rl_find_code(uint64_t address, const rl_code *code, size_t count);

// The kind of event that a system call waits for, by the number of the call.
typedef enum { rl_wait_other, rl_wait_lock, rl_wait_sleep, rl_wait_descriptors, rl_wait_child } rl_wait;
rl_wait rl_wait_of_call(long number);

// Of Swift's runtime: writes what a mangled name stands for. NULL if the name is not Swift's.
char *swift_demangle(const char *name, size_t length, char *output, size_t *size, uint32_t flags);

#endif
