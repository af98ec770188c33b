// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Loaded into a program by Benchmarks/Terminals/inside: notes when a wait ends, when a read ends and when a write begins.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { capacity = 1 << 16 };
static struct { char what; long at; } stamps[capacity];
static int used;

static void stamp(char what) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (used < capacity) {
        stamps[used].what = what;
        stamps[used++].at = now.tv_sec * 1000000000L + now.tv_nsec;
    }
}

static void save(int signal) {
    (void)signal;
    FILE *file = fopen(getenv("STAMPS"), "w");
    for (int i = 0; file && i < used; i++) fprintf(file, "%c %ld\n", stamps[i].what, stamps[i].at);
    if (file) fclose(file);
    _exit(0);
}

__attribute__((constructor)) static void begin(void) {
    // In memory before the first key.
    for (int i = 0; i < capacity; i++) stamps[i].what = '.';
    signal(SIGUSR2, save);
}

static long call(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if (result >= 0 || result < -4095) return result;
    errno = (int)-result;
    return -1;
}

long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    long result = call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    // A look that does not wait is no waking.
    if (number == SYS_epoll_pwait && a[3] != 0) stamp('w');
    return result;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
    int result = (int)call(SYS_epoll_wait, epoll, (long)events, most, timeout, 0, 0);
    if (timeout != 0) stamp('w');
    return result;
}

int poll(struct pollfd *list, nfds_t count, int timeout) {
    int result = (int)call(SYS_poll, (long)list, (long)count, timeout, 0, 0, 0);
    if (timeout != 0) stamp('w');
    return result;
}

ssize_t read(int file, void *bytes, size_t count) {
    ssize_t result = call(SYS_read, file, (long)bytes, (long)count, 0, 0, 0);
    stamp('r');
    return result;
}

ssize_t write(int file, const void *bytes, size_t count) {
    stamp('o');
    return call(SYS_write, file, (long)bytes, (long)count, 0, 0, 0);
}
