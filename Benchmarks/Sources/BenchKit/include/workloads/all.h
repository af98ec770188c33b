// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Every workload for one C peer, and its main function.
//
// The peer's file defines, before it includes this one:
//
//   struct loop      loop_open, loop_run (until loop_stop, which is called on the loop's thread)
//   struct wake      WAKE_CALLBACK(name, wake), wake_open, wake_send from any thread
//   struct timer     with a field `int64_t due` for the workload; TIMER_CALLBACK(name, timer), timer_open,
//                    timer_in (nanoseconds from now: the peer's natural call), timer_at, timer_every, timer_stop,
//                    timer_restart (timer_in for one that has not fired),
//                    timer_make, timer_free: as users write it, with memory of its own. A peer whose loop makes an
//                    object for each timer anyway takes the one that is ready
//   struct again     AGAIN_CALLBACK(name, again), again_open, again_ask (for the next turn), again_end
//   struct io        IO_CALLBACK(name, io), io_open for reading
//   PEER_VERSION     the library's name and version, a literal
//   post_function    POST_CALLBACK(name, argument), post_open, post from another thread, post_here from the loop's own
//
// The CALLBACK macros spell the peer's own signature, so that the peer calls the workload directly.

#define BK_OWNER(pointer, type, field) ((type *) ((char *) (pointer) - offsetof(type, field)))

static void on_thread(void *(*body)(void *) ) {
    pthread_t thread;
    pthread_create(&thread, NULL, body, NULL);
    pthread_join(thread, NULL);
}

#include "workloads/waking.h"

#include "workloads/timers.h"

#include "workloads/descriptors.h"

#include "workloads/footprint.h"

// 1: there is no such workload here.
static int run_workload(const char *name) {
    static const struct {
        const char *name;
        void (*run)(void);
    } workloads[] = {
        {"W1", w1}, {"W2", w2}, {"W2b", w2b}, {"W3", w3}, {"W4", w4}, {"W4r", w4r},
        {"W4u", w4u}, {"W5", w5}, {"W6", w6}, {"W6b", w6b}, {"W7", w7}, {"W7b", w7b}, {"W8", w8}, {"W9", w9},
    };
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        if (strcmp(workloads[i].name, name) != 0) continue;
        workloads[i].run();
        bk_finish();
    }
    return 1;
}

int main(int count, char **words) {
    const char *name = count > 1 ? words[1] : "";
    // Nothing before it: starting is what is measured.
    if (strcmp(name, "W10") == 0) return w10();
    if (strcmp(name, "version") == 0) return puts("version " PEER_VERSION) < 0;
    bk_arguments(count, words);
#ifdef PEER_BEFORE
    // True: the peer has run the workload in a way of its own.
    if (PEER_BEFORE(name)) bk_finish();
#endif
    if (run_workload(name) != 0) bk_skip("no such workload");
    return 0;
}
