// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CTerminalRestore.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <termios.h>
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

static void write_all(const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(terminal, bytes, count);
        if (written >= 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (errno == EAGAIN) {
            // The terminal may have stopped reading for good: the end of the program waits for it once.
            struct pollfd ready = {.fd = terminal, .events = POLLOUT};
            if (poll(&ready, 1, 200) <= 0) return;
        } else if (errno != EINTR) {
            // Gone (EIO): nobody is left to see it.
            return;
        }
    }
}

// On the alternate screen, the message of a trap would be seen by nobody, and what print() writes would spoil what is
// drawn. Both are kept in their order, and shown on the screen that the user comes back to.
static const int diverted[] = {STDOUT_FILENO, STDERR_FILENO};
#define DIVERTED (sizeof diverted / sizeof *diverted)
static int originals[DIVERTED] = {-1, -1};
static int kept = -1;
// The last part of it, which is what matters of a long text.
#define KEPT 16384

static void divert_output(void) {
    if (kept >= 0 || (!isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO))) return;
    kept = memfd_create("output", MFD_CLOEXEC);
    if (kept < 0) return;
    for (size_t index = 0; index < DIVERTED; index++) {
        if (!isatty(diverted[index])) continue;
        originals[index] = fcntl(diverted[index], F_DUPFD_CLOEXEC, 3);
        if (originals[index] >= 0) dup2(kept, diverted[index]);
    }
}

static void show_output(void) {
    static char buffer[KEPT];
    int shown = -1;
    if (kept < 0) return;
    for (size_t index = 0; index < DIVERTED; index++) {
        if (originals[index] < 0) continue;
        dup2(originals[index], diverted[index]);
        close(originals[index]);
        originals[index] = -1;
        shown = diverted[index];
    }
    off_t end = lseek(kept, 0, SEEK_END);
    ssize_t count = pread(kept, buffer, KEPT, end > KEPT ? end - KEPT : 0);
    close(kept);
    kept = -1;
    for (ssize_t done = 0; done < count;) {
        ssize_t written = write(shown, buffer + done, (size_t)(count - done));
        if (written <= 0) return;
        done += written;
    }
}

void ct_give_back(void) {
    if (!atomic_exchange(&is_taken, false) || getpid() != owner) return;
    int saved = errno;
    // In the background the terminal is somebody else's, and a change of its settings would stop the process.
    pid_t foreground = tcgetpgrp(terminal);
    if (foreground < 0 || foreground == getpgrp()) {
        text *prepared = atomic_load(&present);
        write_all(prepared->bytes, prepared->count);
        // At once: what the terminal has not taken yet may never be taken.
        tcsetattr(terminal, TCSANOW, &before);
    }
    show_output();
    errno = saved;
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
    atexit(ct_give_back);
    // A runtime that reports crashes may have given the thread a stack of its own already.
    if (sigaltstack(NULL, &own) == 0 && (own.ss_flags & SS_DISABLE))
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    // The first of two faults gives the terminal back; a second one on the same thread waits for its end.
    sigfillset(&action.sa_mask);
    for (size_t index = 0; index < FATAL; index++) sigaction(fatal[index], &action, &earlier[index]);
}

int ct_take(int descriptor, int keeps_output, const uint8_t *bytes, size_t count) {
    struct termios settings;
    if (tcgetattr(descriptor, &settings) < 0) return -errno;
    ct_prepare(bytes, count);
    // Taken anew after somebody else has changed the settings: those before the first time stay.
    if (!atomic_load(&is_taken)) {
        terminal = descriptor;
        before = settings;
        owner = getpid();
        // Before the first change: from here on a fault finds what to restore.
        atomic_store(&is_taken, true);
    }
    watch();
    tcflag_t output = settings.c_oflag;
    cfmakeraw(&settings);
    if (keeps_output) settings.c_oflag = output;
    int result;
    do result = tcsetattr(descriptor, TCSANOW, &settings);
    while (result < 0 && errno == EINTR);
    if (!keeps_output) divert_output();
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
