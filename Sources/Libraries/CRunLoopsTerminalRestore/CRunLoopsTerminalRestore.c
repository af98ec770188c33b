// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CRunLoopsTerminalRestore.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    size_t count;
    uint8_t bytes[CT_ROOM];
} text;

static atomic_bool is_taken;
static int terminal;
static struct termios before;
// One is written while the other may be read.
static text texts[2];
static text *_Atomic present = &texts[0];
// A child after fork() shares the terminal and must not give it back.
static pid_t owner;

// Writing while the terminal is given back: a terminal that has stopped (Ctrl-S, a dead connection) may never read again,
// and must not keep the program from its end.

// How long nothing may be taken, and how long everything may last, in milliseconds.
#define SILENCE 200
#define TOTAL 5000
// Where write(2) waits for room, no more than this is written at once after poll(2) has seen some.
#define PIECE 64

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Whether all was written before the end. Async-signal-safe.
static bool write_until(int descriptor, const void *bytes, size_t count, int64_t end) {
    bool waits = !(fcntl(descriptor, F_GETFL) & O_NONBLOCK);
    while (count > 0) {
        int64_t rest = end - milliseconds();
        struct pollfd ready = {.fd = descriptor, .events = POLLOUT};
        int result = poll(&ready, 1, rest < 0 ? 0 : rest < SILENCE ? (int)rest : SILENCE);
        if (result < 0 && errno == EINTR && rest > 0) continue;
        // Silent for too long, or gone: nobody is left to see it.
        if (result <= 0 || !(ready.revents & POLLOUT)) return false;
        ssize_t written = write(descriptor, bytes, waits && count > PIECE ? PIECE : count);
        if (written < 0 && errno != EAGAIN && errno != EINTR) return false;
        if (written <= 0 && rest <= 0) return false;
        if (written > 0) {
            bytes = (const char *)bytes + written;
            count -= (size_t)written;
        }
    }
    return true;
}

int ct_write(int descriptor, const uint8_t *bytes, size_t count) {
    return write_until(descriptor, bytes, count, milliseconds() + TOTAL);
}

// On the alternate screen, the message of a trap would be seen by nobody, and what print() writes would spoil what is
// drawn. Both go into a pipe in their order, and are shown on the screen that the user comes back to. A thread takes them
// out of the pipe, since no writer may wait for a thread that prints itself; it keeps the last part, which is what matters
// of a long text.
static const int diverted[] = {STDOUT_FILENO, STDERR_FILENO};
#define DIVERTED (sizeof diverted / sizeof *diverted)
static int originals[DIVERTED] = {-1, -1};
// The same once more, for writing that does not wait.
static int writers[DIVERTED] = {-1, -1};
static bool is_diverted;
static int pipe_reader = -1, pipe_writer = -1;

#define KEPT 16384
// Guarded by the lock, which is never held while something is waited for: a signal's handler takes it too.
static char kept[KEPT];
static size_t kept_count;
static atomic_flag lock = ATOMIC_FLAG_INIT;

// Whether the lock was taken within the time.
static bool take_lock(void) {
    for (int attempt = 0; attempt < SILENCE; attempt++) {
        if (!atomic_flag_test_and_set(&lock)) return true;
        poll(NULL, 0, 1);
    }
    return false;
}

// Takes what is in the pipe. Others may write meanwhile: no more than a pipe holds is taken at once.
static void collect(void) {
    char buffer[4096];
    for (int round = 0; round < 32; round++) {
        ssize_t count = read(pipe_reader, buffer, sizeof buffer);
        if (count <= 0) return;
        for (ssize_t index = 0; index < count; index++) kept[kept_count++ % KEPT] = buffer[index];
    }
}

static void *collect_on(void *unused) {
    (void)unused;
    for (;;) {
        struct pollfd ready = {.fd = pipe_reader, .events = POLLIN};
        if (poll(&ready, 1, -1) < 0 && errno != EINTR) return NULL;
        if (!take_lock()) continue;
        collect();
        atomic_flag_clear(&lock);
    }
}

// The descriptor under a number that no standard stream has.
static int above_standard(int descriptor) {
    if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
    int other = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(descriptor);
    return other;
}

// The pipe and the thread that reads it are made once, and stay: a child may have the pipe for as long as it wants.
static bool has_pipe(void) {
    if (pipe_writer >= 0) return true;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return false;
    ends[0] = above_standard(ends[0]);
    ends[1] = above_standard(ends[1]);
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before_thread;
    bool is_made = ends[0] >= 0 && ends[1] >= 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 &&
        pthread_attr_init(&attributes) == 0;
    if (is_made) {
        pipe_reader = ends[0];
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, 1 << 18);
        // No signal is for this thread.
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_thread);
        is_made = pthread_create(&thread, &attributes, collect_on, NULL) == 0;
        pthread_sigmask(SIG_SETMASK, &before_thread, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (!is_made) {
        if (ends[0] >= 0) close(ends[0]);
        if (ends[1] >= 0) close(ends[1]);
        return false;
    }
    pipe_writer = ends[1];
    return true;
}

// Without a descriptor or a thread left, what is printed is seen on the screen.
static void divert_output(void) {
    if (is_diverted || (!isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO)) || !has_pipe()) return;
    is_diverted = true;
    for (size_t index = 0; index < DIVERTED; index++) {
        if (!isatty(diverted[index])) continue;
        originals[index] = fcntl(diverted[index], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (originals[index] < 0) continue;
        char path[] = "/proc/self/fd/0";
        path[sizeof path - 2] = (char)('0' + diverted[index]);
        writers[index] = above_standard(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        dup2(pipe_writer, diverted[index]);
    }
}

// The standard streams are as before; what was kept is written to the last of them, if the terminal takes it in time.
static void show_output(int64_t end) {
    static char shown[KEPT];
    size_t count = 0;
    int target = -1, others = -1;
    if (!is_diverted) return;
    is_diverted = false;
    for (size_t index = 0; index < DIVERTED; index++) {
        if (originals[index] < 0) continue;
        dup2(originals[index], diverted[index]);
        close(originals[index]);
        if (others >= 0) close(others);
        others = writers[index];
        target = others >= 0 ? others : diverted[index];
        originals[index] = writers[index] = -1;
    }
    if (take_lock()) {
        collect();
        size_t first = kept_count > KEPT ? kept_count - KEPT : 0;
        for (; first < kept_count; first++) shown[count++] = kept[first % KEPT];
        kept_count = 0;
        atomic_flag_clear(&lock);
    }
    if (target >= 0) write_until(target, shown, count, end);
    if (others >= 0) close(others);
}

void ct_give_back(void) {
    if (!atomic_exchange(&is_taken, false) || getpid() != owner) return;
    int saved = errno;
    int64_t end = milliseconds() + TOTAL;
    // In the background the terminal is somebody else's, and a change of its settings would stop the process.
    pid_t foreground = tcgetpgrp(terminal);
    if (foreground < 0 || foreground == getpgrp()) {
        text *prepared = atomic_load(&present);
        // A terminal that does not take this is not waited for again.
        if (!write_until(terminal, prepared->bytes, prepared->count, end)) end = 0;
        // At once: what the terminal has not taken yet may never be taken.
        tcsetattr(terminal, TCSANOW, &before);
    }
    show_output(end);
    errno = saved;
}

void ct_flush(void) {
    // Into the pipe, which never stops, and not afterwards into a terminal that may have.
    if (is_diverted) fflush(stdout);
}

static void give_back_at_exit(void) {
    ct_flush();
    ct_give_back();
}

void ct_prepare(const uint8_t *bytes, size_t count) {
    text *next = atomic_load(&present) == &texts[0] ? &texts[1] : &texts[0];
    next->count = count < CT_ROOM ? count : CT_ROOM;
    memcpy(next->bytes, bytes, next->count);
    atomic_store(&present, next);
}

// Signals that a fault raises.

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
#define FATAL (sizeof fatal / sizeof *fatal)
static struct sigaction earlier[FATAL];

static void on_fatal(int signal, siginfo_t *info, void *context) {
    (void)context;
    ct_give_back();
    for (size_t index = 0; index < FATAL; index++)
        if (fatal[index] == signal) sigaction(signal, &earlier[index], NULL);
    // The same signal with the same details, for a runtime that reports crashes. It is blocked until this handler
    // returns to the place of the fault.
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info) != 0) raise(signal);
}

static void watch(void) {
    static bool is_done;
    static char stack[1 << 16];
    stack_t own;
    if (is_done) return;
    is_done = true;
    atexit(give_back_at_exit);
    // A runtime that reports crashes may have given the thread a stack of its own already.
    if (sigaltstack(NULL, &own) == 0 && (own.ss_flags & SS_DISABLE))
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    // The first of two faults gives the terminal back; a second one on the same thread waits for its end.
    sigfillset(&action.sa_mask);
    for (size_t index = 0; index < FATAL; index++) sigaction(fatal[index], &action, &earlier[index]);
}

int ct_take(int descriptor, int flags, const uint8_t *bytes, size_t count) {
    static bool has_settings;
    struct termios settings;
    if (tcgetattr(descriptor, &settings) < 0) return -errno;
    ct_prepare(bytes, count);
    // Taken anew after somebody else has changed the settings: those before the first time stay.
    if (!atomic_load(&is_taken)) {
        terminal = descriptor;
        if (!(flags & CT_KEEPS_SETTINGS) || !has_settings) before = settings;
        has_settings = true;
        owner = getpid();
        // Before the first change: from here on a fault finds what to restore.
        atomic_store(&is_taken, true);
    }
    watch();
    tcflag_t output = settings.c_oflag, local = settings.c_lflag;
    cfmakeraw(&settings);
    if (flags & CT_KEEPS_OUTPUT) settings.c_oflag = output;
    if (flags & CT_KEEPS_SIGNALS) settings.c_lflag |= local & ISIG;
    int result;
    do result = tcsetattr(descriptor, TCSANOW, &settings);
    while (result < 0 && errno == EINTR);
    if (!(flags & CT_KEEPS_OUTPUT)) divert_output();
    return result < 0 ? -errno : 0;
}

int ct_is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}

void ct_die(int signal) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t mask;
    sigaction(signal, &action, NULL);
    sigemptyset(&mask);
    sigaddset(&mask, signal);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    raise(signal);
}
