// Who asked a loop for something, and when: kept only while somebody records, and beside the things themselves, so that
// nothing of the loop's grows and nothing costs more than the question whether anybody records.
//
// Rows of fixed length, of which the oldest entries are overwritten. Each entry names what it belongs to: one that was
// overwritten is recognised, and the answer is that nobody knows.

#ifndef LOOPSTAMPS_H
#define LOOPSTAMPS_H

#include "LinuxOnly.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef RUNLOOPS_WITHOUT_TRACING
// For Scripts/trace-cost alone: what the question costs is seen where nobody asks.
static inline bool rl_is_recorded(void) { return false; }
#else
// How many record at present. Relaxed: whoever reads it late misses a stamp, which is allowed for.
static inline bool rl_is_recorded(void) {
    extern int32_t rl_recorders;
    return __builtin_expect(__atomic_load_n(&rl_recorders, __ATOMIC_RELAXED) != 0, 0);
}
#endif
void rl_count_recorders(int32_t change);

// The signal of that number (see rl_next_number) was given at `time` by `thread`.
void rl_stamp_signal(uint64_t number, int64_t time, int32_t thread);
// Whether it is known.
bool rl_find_signal(uint64_t number, int64_t *time, int32_t *thread);

// The same of a job, which is an address: for one that is queued again the later time counts.
void rl_stamp_job(const void *job, int64_t time, int32_t thread);
bool rl_find_job(const void *job, int64_t *time, int32_t *thread);

// The wake-up that was called at `time` was called by `thread`.
void rl_stamp_wake(int64_t time, int32_t thread);
// The thread, or 0.
int32_t rl_find_waker(int64_t time);

#endif
