// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Which thread asked a loop for something, and when. Stamps are kept only while somebody records, and beside the things
// themselves, so that the loop's own data does not grow, and costs no more than the question whether anybody records.
//
// Rows of fixed length, in which the newest entries overwrite the oldest. Each entry names what it belongs to: if an
// entry was overwritten, that is recognised, and the answer is that nobody knows.

#ifndef LOOPSTAMPS_H
#define LOOPSTAMPS_H

#include "LinuxOnly.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef RUNLOOPS_WITHOUT_TRACING
// For Benchmarks/trace-cost alone: measures the cost of the question by leaving it out.
static inline bool rl_is_recorded(void) { return false; }
#else
// Whether anybody records at present. Relaxed: a thread that reads it late misses a stamp, which is allowed for.
static inline bool rl_is_recorded(void) {
    extern int32_t rl_recorders;
    return __builtin_expect(__atomic_load_n(&rl_recorders, __ATOMIC_RELAXED) != 0, 0);
}
#endif
void rl_count_recorders(int32_t change);

// Records that the signal with this number (see rl_next_number) was given at `time` by `thread`.
void rl_stamp_signal(uint64_t number, int64_t time, int32_t thread);
// Whether the signal is known; 0 is the number of no signal. After 1,024 later ones `time` is when one of these was given,
// and `thread` is 0: the signal has waited at least so long. After 2^30 it is not known.
bool rl_find_signal(uint64_t number, int64_t *time, int32_t *thread);

// The same for a job, which is an address: for a job that is queued again the later time counts.
void rl_stamp_job(const void *job, int64_t time, int32_t thread);
bool rl_find_job(const void *job, int64_t *time, int32_t *thread);

// Records that `thread` called the wake-up of `time`.
void rl_stamp_wake(int64_t time, int32_t thread);
// The thread that called the wake-up of `time`, or 0.
int32_t rl_find_waker(int64_t time);

#endif
