// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CRunLoopsKernel.h"
#include "Cloning.h"
#include "PermittedCalls.h"
#include "Results.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static inline struct timespec spec(int64_t nanoseconds) {
    struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return time;
}

int64_t rl_clock_now(int clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int rl_clock_monotonic(void) { return CLOCK_MONOTONIC; }
int rl_clock_boottime(void) { return CLOCK_BOOTTIME; }
int rl_clock_realtime(void) { return CLOCK_REALTIME; }

_Thread_local int32_t rl_known_thread_id;
_Thread_local bool rl_known_thread_has_clock;

int32_t rl_find_thread_id(void) { return rl_known_thread_id = (int32_t)syscall(SYS_gettid); }

uint64_t rl_last_number;

// glibc's, and not in every C library: what C++ registers the destructors of a thread's variables with.
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library) __attribute__((weak));
extern void *__dso_handle;

static _Thread_local int known_end;

static void note_end(void *unused) {
    (void)unused;
    known_end = RL_THREAD_ENDS;
}

void rl_thread_follow_end(void) {
    if (known_end != RL_THREAD_UNKNOWN || !__cxa_thread_atexit_impl) return;
    if (__cxa_thread_atexit_impl(note_end, NULL, &__dso_handle) == 0) known_end = RL_THREAD_FOLLOWED;
}

int rl_thread_end(void) { return known_end; }

int32_t rl_process_id(void) { return (int32_t)getpid(); }

int rl_set_timer_slack(unsigned long nanoseconds) { return result(prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0)); }

static void *pages(void *result) { return result == MAP_FAILED ? NULL : result; }

void *rl_pages_map(size_t bytes) {
    return pages(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void *rl_pages_resize(void *old, size_t bytes, size_t new_bytes) {
    return pages(mremap(old, bytes, new_bytes, MREMAP_MAYMOVE));
}

void rl_pages_unmap(void *old, size_t bytes) { munmap(old, bytes); }

int rl_close(int descriptor) { return result(syscall(SYS_close, descriptor)); }

int rl_end_connection(int socket) { return result(shutdown(socket, SHUT_RDWR)); }

int rl_end_listener(int socket) {
    // First: nobody can connect any more. Connections that wait at a Unix socket can still be accepted, and would otherwise
    // live as long as the last copy of the socket.
    int ended = result(shutdown(socket, SHUT_RDWR));
    int waiting;
    while ((waiting = accept4(socket, NULL, NULL, SOCK_CLOEXEC)) >= 0 || errno == EINTR) {
        if (waiting < 0) continue;
        shutdown(waiting, SHUT_RDWR);
        close(waiting);
    }
    return ended;
}

int rl_made(int descriptor) { return made(descriptor); }

int rl_eventfd_create(void) { return made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

int rl_eventfd_write(int descriptor) {
    const uint64_t one = 1;
    return result(syscall(SYS_write, descriptor, &one, sizeof one));
}

int rl_eventfd_take(int descriptor) {
    uint64_t count;
    long got;
    do got = syscall(SYS_read, descriptor, &count, sizeof count);
    while (got < 0 && errno == EINTR);
    // EAGAIN means "nothing there", and is no failure.
    if (got < 0) return errno == EAGAIN ? 0 : -errno;
    return 1;
}

int rl_timerfd_create(int clock) { return made(timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK)); }

int rl_timerfd_set(int descriptor, int64_t deadline, bool cancel_on_set) {
    struct itimerspec time = {0};
    if (deadline != RL_FOREVER) {
        // A zero it_value disarms. The first nanosecond is as much in the past as the zeroth.
        time.it_value = spec(deadline < 1 ? 1 : deadline);
    }
    int flags = TFD_TIMER_ABSTIME | (cancel_on_set ? TFD_TIMER_CANCEL_ON_SET : 0);
    return result(timerfd_settime(descriptor, flags, &time, NULL));
}

int rl_epoll_create(void) { return made(epoll_create1(EPOLL_CLOEXEC)); }

static int control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    return result(epoll_ctl(epoll, operation, descriptor, &event));
}

int rl_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t token) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, events, token);
}

int rl_epoll_modify(int epoll, int descriptor, uint32_t events, uint64_t token) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, events, token);
}

int rl_epoll_remove(int epoll, int descriptor) { return control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0); }

uint64_t rl_epoll_token(const struct epoll_event *event) { return event->data.u64; }

int rl_epoll_wait_nanoseconds(int epoll, struct epoll_event *events, int capacity, int64_t timeout) {
    // Asked once: each sleep would be a system call longer. A filter that the program sets after its first sleep must permit the
    // call.
    static _Atomic int permitted = -1;
    if (permitted < 0) permitted = rl_permits(RL_CALL_EPOLL_PWAIT2);
    if (!permitted) return -ENOSYS;
    struct timespec time = spec(timeout < 0 ? 0 : timeout);
    return result(syscall(SYS_epoll_pwait2, epoll, events, capacity, timeout < 0 ? NULL : &time, NULL, 0));
}

int rl_epoll_wait_milliseconds(int epoll, struct epoll_event *events, int capacity, int timeout) {
    // Not by the C library's function, which is a cancellation point and costs more each time: nothing cancels the
    // thread of a loop in the middle of its own work.
    return result(syscall(SYS_epoll_pwait, epoll, events, capacity, timeout, NULL, 0));
}

int rl_file_identity(int descriptor, uint64_t *device, uint64_t *number) {
    struct stat status;
    if (fstat(descriptor, &status) < 0) return -errno;
    *device = status.st_dev;
    *number = status.st_ino;
    return 0;
}

int rl_poll(int descriptor, short events) {
    struct pollfd one = {.fd = descriptor, .events = events};
    const struct timespec now = {0};
    // Not SYS_poll, which some machines do not have.
    int count = (int)syscall(SYS_ppoll, &one, 1, &now, NULL, 0);
    if (count <= 0) return result(count);
    return one.revents & POLLNVAL ? 0 : one.revents;
}

int rl_futex_wait(const void *word, uint32_t expected, int64_t deadline) {
    struct timespec time = spec(deadline < 0 ? 0 : deadline);
    // The bitset form takes an absolute time, so that an interrupted wait continues to the same instant.
    return result(syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline == RL_FOREVER ? NULL : &time,
                          NULL, FUTEX_BITSET_MATCH_ANY));
}

int rl_futex_wake(const void *word, int count) {
    return result(syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0));
}

// Exported by libdispatch for Core Foundation and declared in no public header.
extern int _dispatch_get_main_queue_port_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

int rl_main_queue_descriptor(void) {
    // libdispatch makes the descriptor at the first call. It must not get the number of a closed standard stream.
    bool held[STDERR_FILENO + 1] = {false};
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0) held[stream] = open("/dev/null", O_RDONLY | O_CLOEXEC) == stream;
    int descriptor = _dispatch_get_main_queue_port_4CF();
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (held[stream]) close(stream);
    return descriptor;
}

void rl_main_queue_drain(void) { _dispatch_main_queue_callback_4CF(NULL); }
