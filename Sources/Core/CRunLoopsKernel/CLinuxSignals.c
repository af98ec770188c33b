// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CLinuxSignals.h"
#include "CRunLoopsKernel.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define SIGNALS 65

// A cell belongs to the handler that has taken its number from `head` until `turn` says that the cell is written. Then
// it belongs to the taker until `turn` gives it back for the next round.
typedef struct {
    _Atomic uint32_t turn;
    rl_signal_record record;
} cell;

struct rl_signal_sink {
    int signal;
    int descriptor;
    // Of which fork generation the sink is.
    int32_t forks;
    _Atomic(rl_signal_sink *) next;
    _Atomic uint32_t head;
    // Only the taker uses it.
    uint32_t tail;
    rl_signal_record last;
    _Atomic uint64_t missed;
    cell cells[RL_SIGNAL_ROOM];
};

static _Atomic(rl_signal_sink *) sinks[SIGNALS];
static struct sigaction before[SIGNALS];
// Whether `before` is to be restored. Under the caller's lock.
static bool is_installed[SIGNALS];
// The process that installed the handlers, by its number: a child of vfork() has its parent's memory, and in a child of
// fork() the handlers run before child_begins() does.
static _Atomic pid_t owner;

// Handlers under way, counted under the parity of `phase` that they read. See wait_for_handlers.
static _Atomic uint32_t phase;
static _Atomic uint32_t under_way[2];

static void put(rl_signal_sink *sink, const rl_signal_record *record) {
    uint32_t place = atomic_load_explicit(&sink->head, memory_order_relaxed);
    for (;;) {
        cell *cell = &sink->cells[place % RL_SIGNAL_ROOM];
        int32_t distance = (int32_t)(atomic_load_explicit(&cell->turn, memory_order_acquire) - place);
        if (distance == 0) {
            if (!atomic_compare_exchange_weak_explicit(&sink->head, &place, place + 1, memory_order_relaxed,
                                                       memory_order_relaxed))
                continue;
            cell->record = *record;
            // release: pairs with the taker's acquire, after which the taker sees the whole record.
            atomic_store_explicit(&cell->turn, place + 1, memory_order_release);
            return;
        }
        if (distance < 0) {
            atomic_fetch_add_explicit(&sink->missed, 1, memory_order_relaxed);
            return;
        }
        place = atomic_load_explicit(&sink->head, memory_order_relaxed);
    }
}

static void on_signal(int signal, siginfo_t *info, void *context) {
    (void)context;
    if (getpid() != atomic_load_explicit(&owner, memory_order_relaxed)) return;
    // The interrupted code may be about to read errno.
    int saved = errno;
    int code = info->si_code;
    bool has_sender = code == SI_USER || code == SI_QUEUE || code == SI_TKILL || signal == SIGCHLD;
    rl_signal_record record = {
        .code = code,
        .sender = has_sender ? info->si_pid : 0,
        .user = has_sender ? info->si_uid : 0,
        .value = code == SI_QUEUE ? info->si_value.sival_int : 0,
    };
    // Sequentially consistent, both here and in wait_for_handlers: a thread that unlinks a sink and then finds the
    // count zero knows that a handler that begins later does not find the sink.
    uint32_t parity = atomic_load(&phase) & 1;
    atomic_fetch_add(&under_way[parity], 1);
    for (rl_signal_sink *sink = atomic_load(&sinks[signal]); sink != NULL; sink = atomic_load(&sink->next)) {
        put(sink, &record);
        // The only possible failure is a full counter, and then the descriptor is readable.
        rl_eventfd_write(sink->descriptor);
    }
    atomic_fetch_sub(&under_way[parity], 1);
    errno = saved;
}

// Waits until no handler is under way that may have seen what was unlinked before the call. New handlers count under
// the other parity, so that a storm of signals does not keep this waiting. It waits twice, for a handler that had read
// the phase and not yet counted itself. Handlers take microseconds and are not interrupted by other signals.
static void wait_for_handlers(void) {
    for (int round = 0; round < 2; round++) {
        uint32_t parity = atomic_fetch_add(&phase, 1) & 1;
        while (atomic_load(&under_way[parity]) != 0) sched_yield();
    }
}

static bool is_ours(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

static int install(int signal) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, present;
    sigfillset(&action.sa_mask);
    atomic_store_explicit(&owner, getpid(), memory_order_relaxed);
    if (sigaction(signal, &action, &present) < 0) return -errno;
    // A forked child has its parent's handler: what the signal did before that is what will be restored.
    if (!is_ours(&present)) before[signal] = present;
    return 0;
}

static void restore(int signal) {
    struct sigaction present;
    if (sigaction(signal, NULL, &present) < 0) return;
    if (is_ours(&present)) sigaction(signal, &before[signal], NULL);
}

void rl_signals_begin_anew(void) {
    for (int signal = 0; signal < SIGNALS; signal++) {
        atomic_store(&sinks[signal], NULL);
        is_installed[signal] = false;
    }
    // Handlers that were under way on threads which the child does not have.
    for (int parity = 0; parity < 2; parity++) atomic_store(&under_way[parity], 0);
}

int rl_signal_attach(int signal, int descriptor, bool by_handler, rl_signal_sink **result) {
    if (signal < 1 || signal >= SIGNALS) return -EINVAL;
    rl_signal_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL) return -ENOMEM;
    sink->signal = signal;
    sink->descriptor = descriptor;
    sink->forks = rl_fork_count();
    for (uint32_t place = 0; place < RL_SIGNAL_ROOM; place++) atomic_init(&sink->cells[place].turn, place);
    rl_signal_sink *first = atomic_load(&sinks[signal]);
    atomic_init(&sink->next, first);
    // Before the handler is installed: the first signal must not find an empty list.
    atomic_store(&sinks[signal], sink);
    if (by_handler && !is_installed[signal]) {
        int error = install(signal);
        if (error < 0) {
            atomic_store(&sinks[signal], first);
            free(sink);
            return error;
        }
        is_installed[signal] = true;
    }
    *result = sink;
    return 0;
}

void rl_signal_detach(rl_signal_sink *sink) {
    // The parent's: no handler of this process knows it.
    if (sink->forks != rl_fork_count()) return free(sink);
    int signal = sink->signal;
    _Atomic(rl_signal_sink *) *link = &sinks[signal];
    // Before the list is empty: a signal has its earlier effect again, or reaches the sink.
    if (is_installed[signal] && atomic_load(link) == sink && atomic_load(&sink->next) == NULL) {
        restore(signal);
        is_installed[signal] = false;
    }
    while (atomic_load(link) != sink) link = &atomic_load(link)->next;
    atomic_store(link, atomic_load(&sink->next));
    wait_for_handlers();
    free(sink);
}

void rl_signal_put(rl_signal_sink *sink, uint64_t count) {
    rl_signal_record record = {.code = SI_USER};
    uint64_t kept = count < RL_SIGNAL_ROOM ? count : RL_SIGNAL_ROOM;
    for (uint64_t number = 0; number < kept; number++) put(sink, &record);
    if (count > kept) atomic_fetch_add_explicit(&sink->missed, count - kept, memory_order_relaxed);
    rl_eventfd_write(sink->descriptor);
}

static bool is_written(rl_signal_sink *sink) {
    uint32_t turn = atomic_load_explicit(&sink->cells[sink->tail % RL_SIGNAL_ROOM].turn, memory_order_acquire);
    return turn == sink->tail + 1;
}

bool rl_signal_waits(rl_signal_sink *sink) {
    return is_written(sink) || atomic_load_explicit(&sink->missed, memory_order_relaxed) != 0;
}

bool rl_signal_take(rl_signal_sink *sink, rl_signal_record *record) {
    bool is_there = is_written(sink);
    uint64_t missed = atomic_exchange_explicit(&sink->missed, 0, memory_order_relaxed);
    if (is_there) {
        cell *cell = &sink->cells[sink->tail % RL_SIGNAL_ROOM];
        sink->last = cell->record;
        // release: the next handler that gets the cell writes after this read.
        atomic_store_explicit(&cell->turn, sink->tail + RL_SIGNAL_ROOM, memory_order_release);
        sink->tail++;
    } else if (missed > 0) {
        // Counted when the ring was full, and seen only after the ring was emptied: reported as more of the last
        // signal.
        missed--;
    } else {
        return false;
    }
    *record = sink->last;
    record->missed = missed;
    return true;
}
