// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The tools with which every peer measures: one clock, one random sequence, one way to count CPU time and to name a result.
//
// Usable from C and from Swift. Where a call lies on a measured path it is an inline function, so that no language pays
// for reaching it.

#ifndef BENCHKIT_H
#define BENCHKIT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Nanoseconds of CLOCK_MONOTONIC.
static inline int64_t bk_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

// SplitMix64: the same seed gives the same numbers in every peer and language.
typedef struct bk_random {
    uint64_t state;
} bk_random;

#define BK_SEED 0x5DEECE66DULL

static inline bk_random bk_random_seeded(void) { return (bk_random){BK_SEED}; }

static inline uint64_t bk_random_next(bk_random *random) {
    uint64_t z = (random->state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

// 0 ..< bound. The bias of the remainder is below 2^-40 for the bounds used here.
static inline uint64_t bk_random_below(bk_random *random, uint64_t bound) {
    return bk_random_next(random) % bound;
}

// low ... high.
static inline int64_t bk_random_between(bk_random *random, int64_t low, int64_t high) {
    return low + (int64_t) bk_random_below(random, (uint64_t) (high - low + 1));
}

// 0 ..< count in random order; free() it.
uint32_t *bk_shuffled(bk_random *random, int64_t count);

// Arguments are words of the form name=value after the workload's name.
void bk_arguments(int count, char **words);
int64_t bk_number(const char *name, int64_t otherwise);
const char *bk_text(const char *name, const char *otherwise);

// Results are words of the form name=value on one line, which the driver reads; bk_finish ends the line and the
// process.
void bk_result(const char *name, double value);
_Noreturn void bk_finish(void);
// The reason why there is no result: the driver skips the peer with it.
_Noreturn void bk_skip(const char *reason);
_Noreturn void bk_fail(const char *reason);

// Samples. A metric with one sample a repetition is reported as the median of its repetitions.
typedef struct bk_samples {
    int64_t *values;
    int64_t count;
    int64_t capacity;
} bk_samples;

bk_samples bk_samples_make(int64_t capacity);
static inline void bk_sample(bk_samples *samples, int64_t value) {
    if (samples->count < samples->capacity) samples->values[samples->count++] = value;
}
// Sorts in place. `portion` from 0 (least) to 1 (greatest).
double bk_quantile(bk_samples *samples, double portion);
void bk_samples_clear(bk_samples *samples);

// Named repetitions: bk_repeat("add_ns", 12.5) once a repetition, bk_medians() reports them all.
void bk_repeat(const char *name, double value);
void bk_medians(void);
// Whether another repetition is due: `repeat` of them (the argument reps), fewer when they have taken too long.
bool bk_again(int64_t done);

// Results that several workloads and languages report alike.
// Lateness in microseconds; below zero is early, which is wrong.
void bk_report_late(bk_samples *late);
// A timer started at `start` to repeat every millisecond: `fires`, the last at `last`, for `cpu` nanoseconds.
void bk_report_repeat(bk_samples *errors, int64_t start, int64_t last, int64_t fires, int64_t cpu);
// Reports the activity of all threads but the calling one, during the time given by the argument ms.
void bk_report_idle(void);

// CPU time of the process, user and system, in nanoseconds.
int64_t bk_cpu(void);

// Where threads run. CPUs are numbered within those the process may use; a machine with one CPU makes the driver skip.
int bk_cpu_count(void);
void bk_pin_thread(int cpu);
// A thread of idle priority on each of the first two CPUs that never sleeps: the CPU does not halt, and whoever has
// real work preempts it at once.
void bk_start_spinners(void);

// Resident memory of the process in bytes, without mapped files, whose pages come with the code that happens to run.
// Counted exactly (smaps_rollup; statm lags behind by pages a CPU).
int64_t bk_resident(void);

// The activity of all threads but the calling one: the number of sleeps, and nanoseconds of CPU time.
typedef struct bk_others {
    int64_t switches;
    int64_t cpu;
} bk_others;
bk_others bk_look_at_others(void);

// Pipes, non-blocking; the limit of open files is raised as needed.
// How many of `count` descriptors the process may have, after raising the limit as far as it goes.
int64_t bk_allow_descriptors(int64_t count);
void bk_make_pipes(int (*pipes)[2], int64_t count);
void bk_make_pipe(int ends[2]);
void bk_write_byte(int descriptor);
bool bk_read_byte(int descriptor);

// An eventfd, made ready and unready.
int bk_make_event(void);
void bk_set_event(int descriptor);
void bk_take_event(int descriptor);
void bk_close(int descriptor);

// A one-shot signal between threads.
typedef struct bk_gate bk_gate;
bk_gate *bk_gate_make(void);
void bk_gate_open(bk_gate *gate);
void bk_gate_wait(bk_gate *gate);

void bk_sleep(int64_t nanoseconds);

// Asks for wake-ups that are as exact as the clock: the timer slack of the calling thread becomes 1 ns.
void bk_fine_slack(void);

#endif
