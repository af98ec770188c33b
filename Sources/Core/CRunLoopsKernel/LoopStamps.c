// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "LoopStamps.h"

int32_t rl_recorders = 0;

void rl_count_recorders(int32_t change) {
    __atomic_add_fetch(&rl_recorders, change, __ATOMIC_RELAXED);
}

enum { stamp_count = 1024, thread_bits = 22 };

// Linux gives threads numbers of at most 22 bits; the other 42 bits are the key's. One word, so that an entry is whole.
static uint64_t packed(uint64_t key, int32_t thread) {
    return key << thread_bits | ((uint64_t)(uint32_t)thread & ((1u << thread_bits) - 1));
}

static bool belongs(uint64_t word, uint64_t key) {
    return word != 0 && word >> thread_bits == key << thread_bits >> thread_bits;
}

static int32_t thread_in(uint64_t word) { return (int32_t)(word & ((1u << thread_bits) - 1)); }

struct stamp {
    uint64_t owner;
    int64_t time;
};

static void put(struct stamp *entry, uint64_t key, int64_t time, int32_t thread) {
    // Empty while it is written: a thread that looks meanwhile finds no answer. seq_cst keeps the three in order.
    __atomic_store_n(&entry->owner, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&entry->time, time, __ATOMIC_SEQ_CST);
    __atomic_store_n(&entry->owner, packed(key, thread), __ATOMIC_SEQ_CST);
}

static bool get(struct stamp *entry, uint64_t key, int64_t *time, int32_t *thread) {
    uint64_t before = __atomic_load_n(&entry->owner, __ATOMIC_SEQ_CST);
    *time = __atomic_load_n(&entry->time, __ATOMIC_SEQ_CST);
    *thread = thread_in(before);
    return belongs(before, key) && __atomic_load_n(&entry->owner, __ATOMIC_SEQ_CST) == before;
}

// Of all signals the latest, of every 1,024th the latest, and so on: a row lasts 1,024 times as long as the one before.
static struct stamp signals[3][stamp_count];
enum { signal_rows = sizeof signals / sizeof signals[0] };

void rl_stamp_signal(uint64_t number, int64_t time, int32_t thread) {
    for (int row = 0; row < signal_rows; row++) {
        put(&signals[row][number % stamp_count], number, time, thread);
        if (number % stamp_count != 0) return;
        number /= stamp_count;
    }
}

bool rl_find_signal(uint64_t number, int64_t *time, int32_t *thread) {
    if (number == 0) return false;
    for (int row = 0; row < signal_rows; row++) {
        if (get(&signals[row][number % stamp_count], number, time, thread)) {
            if (row > 0) *thread = 0;
            return true;
        }
        // The next row's first that is not older than this signal.
        number = number / stamp_count + 1;
    }
    return false;
}

static struct stamp jobs[stamp_count];

// Jobs are aligned to 16 bytes, and lie at steps of their size: the multiplication spreads these steps over the row.
static uint64_t job_key(const void *job) { return (uint64_t)(uintptr_t)job >> 4; }
static struct stamp *job_slot(uint64_t key) { return &jobs[(key * 0x9E3779B97F4A7C15u) >> 54]; }

void rl_stamp_job(const void *job, int64_t time, int32_t thread) {
    put(job_slot(job_key(job)), job_key(job), time, thread);
}

bool rl_find_job(const void *job, int64_t *time, int32_t *thread) {
    return get(job_slot(job_key(job)), job_key(job), time, thread);
}

static uint64_t wakers[stamp_count];

// Neighbouring instants are common; they differ in their low bits.
void rl_stamp_wake(int64_t time, int32_t thread) {
    __atomic_store_n(&wakers[(uint64_t)time % stamp_count], packed((uint64_t)time, thread), __ATOMIC_SEQ_CST);
}

int32_t rl_find_waker(int64_t time) {
    uint64_t word = __atomic_load_n(&wakers[(uint64_t)time % stamp_count], __ATOMIC_SEQ_CST);
    return belongs(word, (uint64_t)time) ? thread_in(word) : 0;
}
