// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "Forks.h"
#include "CRunLoopsKernel.h"
#include "CLinuxSignals.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

int32_t rl_forks;
// Counted before the fork: no thread may see a number that is too low while there is a child.
static _Atomic int32_t begun;

int32_t rl_forks_begun(void) { return atomic_load(&begun); }

// One bit for each number: /proc/sys/fs/nr_open is 2^20 at first. Pages that nobody has written to take no memory.
#define NUMBERS (1 << 20)
#define BITS 64
static _Atomic uint64_t kept[NUMBERS / BITS];
// No bit at or above this one was ever set.
static _Atomic int bound;

void rl_keep_from_children(int descriptor) {
    if (descriptor < 0 || descriptor >= NUMBERS) return;
    int seen = atomic_load(&bound);
    while (seen <= descriptor && !atomic_compare_exchange_weak(&bound, &seen, descriptor + 1)) continue;
    atomic_fetch_or(&kept[descriptor / BITS], UINT64_C(1) << descriptor % BITS);
}

void rl_give_up(int descriptor) {
    if (descriptor < 0 || descriptor >= NUMBERS) return;
    atomic_fetch_and(&kept[descriptor / BITS], ~(UINT64_C(1) << descriptor % BITS));
}

static void fork_begins(void) { atomic_fetch_add(&begun, 1); }

static void child_begins(void) {
    rl_forks++;
    // The one thread that survives in the child has another number in the child.
    rl_known_thread_id = 0;
    rl_signals_begin_anew();
    int words = (atomic_load(&bound) + BITS - 1) / BITS;
    for (int word = 0; word < words; word++) {
        for (uint64_t left = atomic_exchange(&kept[word], 0); left != 0; left &= left - 1)
            close(word * BITS + __builtin_ctzll(left));
    }
}

__attribute__((constructor)) static void watch_forks(void) {
    // Only ENOMEM is possible. Without the handler the child would not notice the fork, and nothing else changes.
    pthread_atfork(fork_begins, NULL, child_begins);
}
