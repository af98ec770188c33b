// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A run loop of Swift inside an event loop in C, C++ or any language that can call C: the host.
//
// The host waits for one descriptor beside its own, asks the loop before each wait, and runs it when the descriptor is readable:
//
//     runloops_loop *loop = runloops_main();
//     int descriptor = runloops_poll_descriptor(loop);      // negative: an error number
//     for (;;) {
//         while (runloops_prepare_to_poll(loop, NULL)) runloops_run_ready(loop, NULL, 0);
//         …wait for `descriptor` and for the host's own descriptors…
//         if (…`descriptor` is readable…) runloops_run_ready(loop, NULL, 0);
//     }
//
// The program links the Swift library RunLoopsHost. "Hosts of every kind" in its documentation has libuv, Node, frames of a game,
// Flutter and Android.
//
// Threads. Each function says which threads may call it:
//
//     any thread          runloops_main, runloops_current, runloops_retain, runloops_release, runloops_wake_up, runloops_perform,
//                         runloops_stop, runloops_host_version
//     the loop's thread   runloops_poll_descriptor, runloops_prepare_to_poll, runloops_run_ready: a call from another thread ends
//                         the process with a sentence on the standard error
//     a signal handler    runloops_wake_up alone, with the main loop, after runloops_poll_descriptor has returned
//
// Errors. A function that the system can refuse returns the error as a negative number: -EMFILE. A call against the rules (a wrong
// thread, NULL for a loop, a flag that does not exist) ends the process with a sentence that names the remedy.
//
// Binary interface. A loop is a pointer to something unknown; there is no structure whose size could change. Functions, flags and
// results are only added: no function changes its parameters, and no number its meaning. A program that was compiled with one version of
// this header runs with each later version of the library. RUNLOOPS_HOST_VERSION is the header's version, runloops_host_version() the
// library's. Treat a result that you do not know as RUNLOOPS_TIMED_OUT.
//
// C99, C11 and C++11 or later.

#ifndef RUN_LOOPS_HOST_H
#define RUN_LOOPS_HOST_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The version of this header.
#define RUNLOOPS_HOST_VERSION 1

/// Returns the version of the library, which is at least the header's, unless the program found an older library. Any thread.
uint32_t runloops_host_version(void);

// ---------------------------------------------------------------------------------------------------------------------
// Loops

/// A run loop. The pointer is the loop's identity: each call of runloops_main() returns the same one.
typedef struct runloops_loop runloops_loop;

/// Returns the loop of the main thread, which also does the work of `DispatchQueue.main` and of `@MainActor`. Any thread.
///
/// The main thread is the one that the process began with. The loop lives as long as the process.
runloops_loop *runloops_main(void);

/// Returns the loop of the calling thread, and makes it at the first call. On the main thread it is runloops_main(). Any thread.
///
/// The loop lives until the thread ends. Another thread that keeps the pointer retains it first.
runloops_loop *runloops_current(void);

/// Keeps a loop's memory until a runloops_release(), and returns the loop. Any thread.
///
/// When its thread ends, a loop drops its work. A retained loop accepts calls after that, and does nothing.
runloops_loop *runloops_retain(runloops_loop *loop);

/// Ends one runloops_retain(). Any thread.
void runloops_release(runloops_loop *loop);

// ---------------------------------------------------------------------------------------------------------------------
// The host

/// Returns a descriptor that is readable while the loop has work, or an error as a negative number: -EMFILE, -ENFILE, -ENOMEM or
/// -ENOSPC. The loop's thread.
///
/// The first call makes the descriptor, which takes four descriptors, and a fifth if the loop waits for no descriptor yet. After an error
/// the host may ask again; after a success nothing is refused later. The number stays the same until the thread ends, which closes the
/// descriptor: the host must stop waiting for it before that. The host reads nothing from it, writes nothing to it, and does not close it.
/// It may wait with `poll`, `epoll` (for edges too), `select` or another library's functions.
int runloops_poll_descriptor(runloops_loop *loop);

/// Returns whether the loop has to run before the host may wait. The loop's thread, after runloops_poll_descriptor().
///
/// A host asks directly before each wait, and runs the loop as long as the answer is true. Some work does not show at the descriptor: a
/// closure that was posted without a wake-up, a source that was only signalled, and what an observer of `beforeWaiting` does, such as
/// drawing. A callback of the host may have left any of these. Without work the call makes no system call.
///
/// `mode` is the name of the mode that the host runs, in UTF-8; NULL for the default mode.
bool runloops_prepare_to_poll(runloops_loop *loop, const char *mode);

/// For runloops_run_ready(): the host itself does the work of `DispatchQueue.main`.
#define RUNLOOPS_HOST_SERVES_MAIN_QUEUE UINT32_C(1)

/// The results of runloops_run_ready(), with the numbers of CFRunLoopRunResult.
enum {
    /// Nothing is left in the mode that could ever become ready. More may be added: the host goes on.
    RUNLOOPS_FINISHED = 1,
    /// The loop was stopped in a callout: the host ends, if it lives for the loop.
    RUNLOOPS_STOPPED = 2,
    /// The usual result: the work is done, and the loop waits for more.
    RUNLOOPS_TIMED_OUT = 3
};

/// Does the loop's work that is ready, and returns without waiting. The loop's thread.
///
/// A host calls this when the descriptor is readable, and as often as runloops_prepare_to_poll() asks for it. A host that draws frames may
/// call it once a frame, without a descriptor. A loop that always has more work returns after 16 turns, and the descriptor stays readable.
///
/// `mode` is the name of a mode in UTF-8, NULL for the default mode: from this call on the descriptor shows work of this mode. `flags` is
/// 0 or RUNLOOPS_HOST_SERVES_MAIN_QUEUE. Functions that the loop calls must not leave by an exception or longjmp.
int runloops_run_ready(runloops_loop *loop, const char *mode, uint32_t flags);

// ---------------------------------------------------------------------------------------------------------------------
// Reaching a loop

/// Makes the descriptor readable, so that the host runs the loop once. Any thread.
///
/// Several calls count as one. A call while the host is about to wait is not lost. Costs one system call if the host waits.
void runloops_wake_up(runloops_loop *loop);

/// Calls a function on the loop's thread, in the next run of `mode`, and wakes the host for it. Any thread.
///
/// Functions are called in the order in which they were posted. `mode` is a name in UTF-8; NULL for the default mode, and
/// "kCFRunLoopCommonModes" for all modes that are marked as common.
///
/// `release`, unless it is NULL, is called with `context` once, when the function has returned, or when the loop has dropped it without a
/// call because its thread has ended. `release` may be called on any thread.
void runloops_perform(
    runloops_loop *loop, const char *mode, void (*function)(void *context), void *context, void (*release)(void *context));

/// Ends the run that is under way. In a callout of the loop runloops_run_ready() then returns RUNLOOPS_STOPPED. Any thread.
///
/// Between two runs it does nothing: another thread ends a host by runloops_perform() with a function that calls runloops_stop().
void runloops_stop(runloops_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
