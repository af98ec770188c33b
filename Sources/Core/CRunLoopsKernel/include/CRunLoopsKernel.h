// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The calls that Swift's Glibc module cannot name: system calls by number, variadic calls, structures with anonymous unions,
// and the two functions with which libdispatch lends its main queue to a foreign run loop.
//
// Every function that can fail returns a negative errno and never leaves the error in `errno`: `errno` is a macro that
// Swift cannot see, and a returned value cannot be overwritten by what happens in between.

#ifndef CRUNLOOPSKERNEL_H
#define CRUNLOOPSKERNEL_H

#include "Forks.h"
#include "LinuxOnly.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

// For no limit: a wait with this deadline does not end by time.
#define RL_FOREVER INT64_MAX

// Clocks. `clock` is one of Linux's CLOCK_ numbers; the result is in nanoseconds.
int64_t rl_clock_now(int clock);
int rl_clock_monotonic(void);
int rl_clock_boottime(void);
int rl_clock_realtime(void);

// Keeps a call from being the last thing that a function does, and the function from being identical to another: the
// compiler sees `kind` used, and nothing happens.
static inline void rl_callout_returned(int kind) { __asm__ volatile("" : : "r"(kind)); }

// The 128-bit number divided by one of 64 bits. The quotient must fit.
static inline uint64_t rl_divide(uint64_t high, uint64_t low, uint64_t divisor) {
#if defined(__x86_64__)
    uint64_t quotient, remainder;
    __asm__("divq %4" : "=a"(quotient), "=d"(remainder) : "0"(low), "1"(high), "r"(divisor) : "cc");
    return quotient;
#else
    return (uint64_t)(((unsigned __int128)high << 64 | low) / divisor);
#endif
}

// Prefetches memory that will be needed soon. Harmless for any address.
static inline void rl_prefetch(const void *address) { __builtin_prefetch(address); }
// The same for memory that will be written.
static inline void rl_prefetch_store(const void *address) { __builtin_prefetch(address, 1); }
// The same for the first two cache lines of an object that will be written.
static inline void rl_prefetch_object(uintptr_t address) {
    __builtin_prefetch((const void *)address, 1);
    __builtin_prefetch((const void *)(address + 64), 1);
}

// Growing numbers, for code that needs to know what came first. Never 0.
static inline uint64_t rl_next_number(void) {
    extern uint64_t rl_last_number;
    return __atomic_add_fetch(&rl_last_number, 1, __ATOMIC_RELAXED);
}

// Threads. The number is the kernel's, read once a thread and remembered; the main thread's number is the process id.
// The variable is in the executable's own thread-local storage, or in the small reserve that the loader keeps for
// libraries: it is read without a call.
extern _Thread_local int32_t rl_known_thread_id __attribute__((tls_model("initial-exec")));
int32_t rl_find_thread_id(void);
static inline int32_t rl_thread_id(void) {
    int32_t known = rl_known_thread_id;
    return known != 0 ? known : rl_find_thread_id();
}
// Whether the loop of the calling thread has a clock of its own, as tests have.
extern _Thread_local bool rl_known_thread_has_clock __attribute__((tls_model("initial-exec")));
static inline bool rl_thread_has_clock(void) { return rl_known_thread_has_clock; }
static inline void rl_set_thread_has_clock(bool has) { rl_known_thread_has_clock = has; }
int32_t rl_process_id(void);
// Asks the C library to say when the calling thread begins to end, where it can: before the destructors of the
// thread's keys.
void rl_thread_follow_end(void);
// The states of the calling thread in this respect.
enum { RL_THREAD_UNKNOWN = 0, RL_THREAD_FOLLOWED = 1, RL_THREAD_ENDS = 2 };
int rl_thread_end(void);
// The timer slack of the calling thread, in nanoseconds (1 is the least; 0 restores the default).
int rl_set_timer_slack(unsigned long nanoseconds);
// Whole pages, of zeros: asking for them and giving them back leaves the C library's heap alone. NULL when out of
// memory.
void *rl_pages_map(size_t bytes);
// The same pages, and more of them; they may have moved.
void *rl_pages_resize(void *pages, size_t bytes, size_t new_bytes);
void rl_pages_unmap(void *pages, size_t bytes);

// Descriptors. None of these calls is a cancellation point, as the C library's are: they are made with locks held.
int rl_close(int descriptor);
// Ends the connection of a socket for all who hold the socket, also for children between fork and exec. What was sent
// before still arrives.
int rl_end_connection(int socket);
// Ends a socket that listens and does not block in the same way, and the connections that nobody has accepted.
int rl_end_listener(int socket);
// The number that a new descriptor, or the negative result of a call that refused one, gets in this package: above the standard
// streams. Closes the descriptor if it cannot be moved. For callers that make a descriptor by a call that has no function here.
int rl_made(int descriptor);
int rl_eventfd_create(void);
int rl_eventfd_write(int descriptor);
// 1: the count was positive and has been taken; 0: there was nothing.
int rl_eventfd_take(int descriptor);
int rl_timerfd_create(int clock);
// Absolute; RL_FOREVER disarms. `cancel_on_set` makes a change of the wall clock end the wait as well.
int rl_timerfd_set(int descriptor, int64_t deadline, bool cancel_on_set);

// Epoll. The bits of its events: a C library has them as an enumeration or as macros, which Swift gives different
// types.
static const uint32_t RL_EPOLLIN = EPOLLIN;
static const uint32_t RL_EPOLLPRI = EPOLLPRI;
static const uint32_t RL_EPOLLOUT = EPOLLOUT;
static const uint32_t RL_EPOLLERR = EPOLLERR;
static const uint32_t RL_EPOLLHUP = EPOLLHUP;
static const uint32_t RL_EPOLLRDHUP = EPOLLRDHUP;
static const uint32_t RL_EPOLLET = EPOLLET;
int rl_epoll_create(void);
int rl_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t token);
int rl_epoll_modify(int epoll, int descriptor, uint32_t events, uint64_t token);
int rl_epoll_remove(int epoll, int descriptor);
uint64_t rl_epoll_token(const struct epoll_event *event);
// The number of events; `timeout` in nanoseconds from now, negative for no limit. -ENOSYS where the kernel has no
// epoll_pwait2 (before 5.11).
int rl_epoll_wait_nanoseconds(int epoll, struct epoll_event *events, int capacity, int64_t timeout);
// The same with a limit in milliseconds, for a look that does not wait (0) and for kernels without the call above (-1).
int rl_epoll_wait_milliseconds(int epoll, struct epoll_event *events, int capacity, int timeout);

// Which file a descriptor is open on; `device` and `number` stay as they are on failure.
int rl_file_identity(int descriptor, uint64_t *device, uint64_t *number);

// The bits of `events`, as in poll(2), for which one descriptor is ready now; 0 if there are none, and for POLLNVAL.
int rl_poll(int descriptor, short events);

// Futex: sleeps while `*word == expected`, until `deadline` of CLOCK_MONOTONIC.
int rl_futex_wait(const void *word, uint32_t expected, int64_t deadline);
int rl_futex_wake(const void *word, int count);

// libdispatch. The descriptor has to be emptied before the queue is drained, or it stays readable for ever.
int rl_main_queue_descriptor(void);
void rl_main_queue_drain(void);

#endif
