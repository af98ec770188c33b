#include "LoopStamps.h"

int32_t rl_recorders = 0;

void rl_count_recorders(int32_t change) {
    __atomic_add_fetch(&rl_recorders, change, __ATOMIC_RELAXED);
}

enum { stamp_count = 1024, thread_bits = 22 };

// Linux gives threads numbers of at most 22 bits; the other 42 are those of the key. One word, so that an entry is whole.
static uint64_t packed(uint64_t key, int32_t thread) {
    return key << thread_bits | ((uint64_t)(uint32_t)thread & ((1u << thread_bits) - 1));
}

static bool belongs(uint64_t word, uint64_t key) {
    return word != 0 && word >> thread_bits == key << thread_bits >> thread_bits;
}

static int32_t thread_in(uint64_t word) { return (int32_t)(word & ((1u << thread_bits) - 1)); }

static struct {
    uint64_t owner;
    int64_t time;
} signals[stamp_count];

void rl_stamp_signal(uint64_t number, int64_t time, int32_t thread) {
    uint64_t slot = number % stamp_count;
    // Empty while it is written: who looks meanwhile finds that nobody knows. seq_cst keeps the three in order.
    __atomic_store_n(&signals[slot].owner, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&signals[slot].time, time, __ATOMIC_SEQ_CST);
    __atomic_store_n(&signals[slot].owner, packed(number, thread), __ATOMIC_SEQ_CST);
}

bool rl_find_signal(uint64_t number, int64_t *time, int32_t *thread) {
    uint64_t slot = number % stamp_count;
    uint64_t before = __atomic_load_n(&signals[slot].owner, __ATOMIC_SEQ_CST);
    *time = __atomic_load_n(&signals[slot].time, __ATOMIC_SEQ_CST);
    *thread = thread_in(before);
    return belongs(before, number) && __atomic_load_n(&signals[slot].owner, __ATOMIC_SEQ_CST) == before;
}

static uint64_t wakers[stamp_count];

// Neighbouring instants are common; their low bits are what differs.
void rl_stamp_wake(int64_t time, int32_t thread) {
    __atomic_store_n(&wakers[(uint64_t)time % stamp_count], packed((uint64_t)time, thread), __ATOMIC_SEQ_CST);
}

int32_t rl_find_waker(int64_t time) {
    uint64_t word = __atomic_load_n(&wakers[(uint64_t)time % stamp_count], __ATOMIC_SEQ_CST);
    return belongs(word, (uint64_t)time) ? thread_in(word) : 0;
}
