// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CRunLoopsTraceStart.h"
#include "CRunLoopsKernel.h"
#include "ThreadAttributes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGTERM, SIGINT, SIGHUP,  SIGPIPE, SIGQUIT, SIGABRT,
                              SIGBUS,  SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
// How long the end waits for the trace, in nanoseconds: a thread that crashed or hangs may hold a lock that the writer needs.
static const int64_t patience = 2000000000;

static pid_t process;
static struct sigaction earlier[NSIG];
// Futex words: the signal that ends the program; whether the trace is written.
static _Atomic uint32_t ending;
static _Atomic uint32_t is_written;
static _Atomic int64_t give_up = INT64_MAX;

static int64_t now(void) { return rl_clock_now(rl_clock_monotonic()); }

// Whether a signal is a request to end the program. Then the interrupted thread continues while the trace is written,
// because it may hold a lock that the writer needs. After the other signals, which report a fault of the program, the
// thread does not continue.
static bool is_request(int signal) {
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGPIPE;
}

// Async-signal-safe: atomics, futexes, a clock, sigaction and raise.
static void on_signal(int signal, siginfo_t *info, void *context) {
    (void)context;
    int saved = errno;
    // A forked child has no writer, and its parent's trace is not its own.
    bool is_own = getpid() == process;
    uint32_t none = 0;
    if (is_own && atomic_compare_exchange_strong(&ending, &none, (uint32_t)signal)) {
        atomic_store(&give_up, now() + patience);
        rl_futex_wake(&ending, 1);
    }
    // A second request is heard when the writer has had its time.
    if (!is_own || !is_request(signal) || now() >= atomic_load(&give_up)) {
        while (is_own && !atomic_load(&is_written) && now() < atomic_load(&give_up))
            rl_futex_wait(&is_written, 0, now() + patience);
        sigaction(signal, &earlier[signal], NULL);
        // A fault happens again when this returns, and the earlier action sees its place. Anything else is sent again;
        // it stays pending until this returns.
        bool is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
        if (!is_fault || info->si_code <= 0) raise(signal);
    }
    errno = saved;
}

// The writer: a thread that blocks every signal, so that it is not interrupted, and that a fault of its own ends the program.
static void *wait_for_end(void *limit) {
    int64_t milliseconds = (intptr_t)limit, start = now();
    // A time that no clock reaches is no limit.
    bool is_limit = milliseconds > 0 && milliseconds < (RL_FOREVER - start) / 1000000;
    int64_t deadline = is_limit ? start + milliseconds * 1000000 : RL_FOREVER;
    while (!atomic_load(&ending) && (deadline == RL_FOREVER || now() < deadline))
        rl_futex_wait(&ending, 0, deadline);
    run_loops_write_trace();
    atomic_store(&is_written, 1);
    rl_futex_wake(&is_written, 1 << 30);
    // The program may answer SIGTERM in its own way: then this thread waits to the program's end.
    if (!atomic_load(&ending)) kill(getpid(), SIGTERM);
    while (!atomic_load(&ending)) rl_futex_wait(&ending, 0, RL_FOREVER);
    int signal = (int)atomic_load(&ending);
    if (is_request(signal)) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, signal);
        sigaction(signal, &earlier[signal], NULL);
        raise(signal);
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    }
    return NULL;
}

// A handler that the program sets later takes the place of this one. SIGKILL cannot be taken.
static void take_signals(const char *limit) {
    static char stack[64 * 1024];
    stack_t present;
    // For the main thread's overflow of its stack. Other threads have no such stack unless they make one.
    if (sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE))
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    process = getpid();
    sigset_t mask, before;
    rl_helper_mask(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, &before);
    pthread_t writer;
    bool is_there = pthread_create(&writer, NULL, wait_for_end, (void *)(intptr_t)(limit ? atoll(limit) : 0)) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    // Without the thread, the program runs to its end, and exit() writes the trace.
    if (!is_there) return;
    pthread_detach(writer);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) {
        int signal = signals[index];
        sigaction(signal, NULL, &earlier[signal]);
        sighandler_t handler = earlier[signal].sa_handler;
        // Swift's runtime may print a backtrace: its handler is called afterwards.
        if (handler == SIG_DFL || (handler != SIG_IGN && !is_request(signal))) sigaction(signal, &action, NULL);
    }
}

// A program that links RunLoopsDiagnostics can be recorded and looked into from outside, as it is. secure_getenv leaves
// out a program with more rights than its user: it would write a file of the user's choosing.
__attribute__((constructor)) static void start(void) {
    const char *file = secure_getenv("RUNLOOP_TRACE");
    if (file && *file) {
        // Before the program can crash, and before there is a thread that waits for that.
        run_loops_prepare_trace();
        run_loops_start_trace(file, secure_getenv("RUNLOOP_TRACE_EVENTS"));
        take_signals(secure_getenv("RUNLOOP_TRACE_FOR"));
    }
    const char *inspect = secure_getenv("RUNLOOP_INSPECT");
    if (inspect && strcmp(inspect, "1") == 0) run_loops_start_inspector();
}
