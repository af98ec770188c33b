// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CRunLoopsStackSampling.h"
#include "CRunLoopsKernel.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

// How the handler and the asking thread communicate. 0: nobody asks. An odd number: a copy is asked for. That number
// plus 1: the copy is being made, or is there (`ready` says which). A signal that arrives late carries an older number.
static _Atomic uint32_t ticket;
static _Atomic uint32_t ready;
static uint32_t last_ticket;
static rl_stack_sample *target;
static uint64_t target_end;
static _Atomic int sampling_signal;
static int32_t owner_forks;
// Whose turn it is to sample: 0, or the process's count of forks plus 1. A forked child may inherit the turn of a
// thread that it does not have.
static _Atomic uint32_t turn;

#if defined(__x86_64__)
// In DWARF's order.
static const int machine_registers[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
#endif

static void take_registers(const ucontext_t *context, rl_stack_sample *sample) {
#if defined(__x86_64__)
    for (int index = 0; index < 16; index++)
        sample->registers[index] = (uint64_t)context->uc_mcontext.gregs[machine_registers[index]];
    sample->known = 0xffff;
    sample->counter = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    for (int index = 0; index < 31; index++) sample->registers[index] = context->uc_mcontext.regs[index];
    sample->registers[31] = context->uc_mcontext.sp;
    sample->known = 0xffffffff;
    sample->counter = context->uc_mcontext.pc;
#else
    sample->known = sample->counter = sample->registers[RL_STACK_POINTER] = 0;
#endif
}

// Copies the stack from the pointer on, up to the end of the thread's own stack. The end of a fibre's or a handler's
// stack is not known: the copy ends before the first page that cannot be read, and unwinding checks each frame.
static void copy_stack(rl_stack_sample *sample, uint64_t from, uint64_t end, rl_copy copy) {
    sample->size = 0;
    if (from % 8 != 0) return;
    // The page of the pointer is not there yet where a function has made room in it and has not written to it: the stack
    // grows when it is written to. What is to be read begins in the next page then.
    for (int page = 0; page < 2 && sample->size == 0; page++, from = (from | 4095) + 1) {
        uint64_t size = from < end && end - from < RL_SAMPLE_BYTES ? end - from : RL_SAMPLE_BYTES;
        sample->stack = from;
        sample->size = copy(from, sample->bytes, size) & ~(uint64_t)7;
    }
}

// Async-signal-safe: only system calls, no lock, no allocation.
__attribute__((no_sanitize("address", "thread"))) static void on_sample(int signal, siginfo_t *info, void *context) {
    (void)signal;
    if (rl_fork_count() != owner_forks || info->si_code != SI_TIMER) return;
    uint32_t asked = (uint32_t)info->si_value.sival_int;
    uint32_t expected = asked;
    // acquire: `target` and its end were written before the ticket.
    if ((asked & 1) == 0 ||
        !atomic_compare_exchange_strong_explicit(&ticket, &expected, asked + 1, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    int saved = errno;
    take_registers(context, target);
    copy_stack(target, target->registers[RL_STACK_POINTER], target_end, rl_copy_memory);
    // release: pairs with the asking thread's acquire.
    atomic_store_explicit(&ready, asked + 1, memory_order_release);
    rl_futex_wake(&ready, 1);
    errno = saved;
}

static void take_turn(void) {
    uint32_t own = (uint32_t)rl_fork_count() + 1, holder = 0;
    while (!atomic_compare_exchange_strong(&turn, &holder, own))
        if (holder == own) {
            rl_futex_wait(&turn, own, RL_FOREVER);
            holder = 0;
        }
}

static void end_turn(void) {
    atomic_store(&turn, 0);
    rl_futex_wake(&turn, 1);
}

static bool is_free(int signal) {
    struct sigaction present;
    if (sigaction(signal, NULL, &present) != 0) return false;
    // Its parent's handler serves a forked child as well.
    return present.sa_flags & SA_SIGINFO ? present.sa_sigaction == on_sample : present.sa_handler == SIG_DFL;
}

static int start(int signal) {
    if (sampling_signal != 0 && owner_forks == rl_fork_count())
        return signal == 0 || signal == sampling_signal ? sampling_signal : -EBUSY;
    if (signal < 0 || signal > SIGRTMAX || (signal > 0 && signal < SIGRTMIN)) return -EINVAL;
    if (signal == 0)
        for (signal = SIGRTMAX; signal >= SIGRTMIN && !is_free(signal);) signal--;
    if (signal < SIGRTMIN || !is_free(signal)) return -EBUSY;
    struct sigaction action = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    ticket = 0;
    owner_forks = rl_fork_count();
    if (sigaction(signal, &action, NULL) < 0) return -errno;
    return sampling_signal = signal;
}

int rl_sampling_start(int signal) {
    take_turn();
    int result = start(signal);
    end_turn();
    return result;
}

// The kernel sends the signal from the thread's own processor clock: at a tick during which the thread runs, and when
// the thread returns to its own code. To a thread that sleeps, or is about to, nothing is sent, so that no call ends
// early with EINTR.
static int make_timer(int32_t thread, uint32_t number, int *timer) {
    clockid_t clock = (clockid_t)((~(unsigned)thread << 3) | 6);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sampling_signal};
    event.sigev_notify_thread_id = thread;
    event.sigev_value.sival_int = (int)number;
    // Not 0, which disarms, and not an instant that has passed, at which the signal would be sent at once.
    struct itimerspec soon = {.it_value.tv_nsec = 1};
    if (syscall(SYS_timer_create, clock, &event, timer) < 0) return -errno;
    if (syscall(SYS_timer_settime, *timer, 0, &soon, NULL) == 0) return 0;
    int error = -errno;
    syscall(SYS_timer_delete, *timer);
    return error;
}

static int sample_running(int32_t thread, uint64_t stack_end, int64_t nanoseconds, rl_stack_sample *sample) {
    if (sampling_signal == 0 || owner_forks != rl_fork_count()) return -ENOSYS;
    last_ticket += 2;
    uint32_t number = last_ticket | 1;
    target = sample;
    target_end = stack_end;
    // release: pairs with the handler's acquire.
    atomic_store_explicit(&ticket, number, memory_order_release);
    int timer;
    int error = make_timer(thread, number, &timer);
    bool has_timer = error == 0;
    int64_t deadline = rl_clock_now(CLOCK_MONOTONIC) + nanoseconds;
    // acquire: the copy was made before.
    for (uint32_t present; (present = atomic_load_explicit(&ready, memory_order_acquire)) != number + 1;) {
        if (error == 0 && rl_clock_now(CLOCK_MONOTONIC) >= deadline) error = -ETIMEDOUT;
        uint32_t expected = number;
        // From here on no handler answers, unless it has begun: then it must finish, because it writes to the sample.
        if (error != 0 && atomic_compare_exchange_strong(&ticket, &expected, 0)) break;
        rl_futex_wait(&ready, present, error == 0 ? deadline : RL_FOREVER);
    }
    if (has_timer) syscall(SYS_timer_delete, timer);
    return ready == number + 1 ? 0 : error;
}

int rl_sample_running(int32_t thread, uint64_t stack_end, int64_t nanoseconds, rl_stack_sample *sample) {
    take_turn();
    int result = sample_running(thread, stack_end, nanoseconds, sample);
    end_turn();
    return result;
}

int rl_sample_waiting(uint64_t stack_pointer, uint64_t counter, uint64_t stack_end, rl_copy copy,
                      rl_stack_sample *sample) {
    sample->registers[RL_STACK_POINTER] = stack_pointer;
    sample->known = (uint64_t)1 << RL_STACK_POINTER;
    sample->counter = counter;
    copy_stack(sample, stack_pointer, stack_end, copy);
    return sample->size == 0 ? -EFAULT : 0;
}

static _Thread_local int other_memory = -1;

void rl_use_memory(int descriptor) { other_memory = descriptor; }

size_t rl_copy_used_memory(uint64_t from, void *to, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t count = pread(other_memory, (char *)to + done, size - done, (off_t)(from + done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += (size_t)count;
    }
    return done;
}

_Static_assert(sizeof(rl_memory_part) == sizeof(struct iovec), "a part is what the kernel takes");

bool rl_copy_parts(int32_t process, const rl_memory_part *parts, size_t count, void *to, size_t size) {
    struct iovec local = {.iov_base = to, .iov_len = size};
    return syscall(SYS_process_vm_readv, process, &local, 1L, parts, count, 0L) == (long)size;
}

#define HANDLER_STACK_SIZE (64 * 1024)

static void drop_handler_stack(void *memory) {
    stack_t present, none = {.ss_flags = SS_DISABLE};
    if (sigaltstack(NULL, &present) == 0 && present.ss_sp == memory) sigaltstack(&none, NULL);
    munmap(memory, HANDLER_STACK_SIZE);
}

static pthread_key_t handler_stack_key;
static bool has_key;
__attribute__((constructor)) static void make_key(void) {
    has_key = pthread_key_create(&handler_stack_key, drop_handler_stack) == 0;
}

static void give_handler_stack(void) {
    stack_t present, own = {.ss_size = HANDLER_STACK_SIZE};
    if (!has_key || pthread_getspecific(handler_stack_key) != NULL) return;
    if (sigaltstack(NULL, &present) != 0 || !(present.ss_flags & SS_DISABLE)) return;
    own.ss_sp = rl_pages_map(HANDLER_STACK_SIZE);
    // The key's value keeps the stack until the thread ends, and no longer.
    if (own.ss_sp != NULL && (sigaltstack(&own, NULL) != 0 || pthread_setspecific(handler_stack_key, own.ss_sp) != 0))
        drop_handler_stack(own.ss_sp);
}

uint64_t rl_sampling_join(void) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    if (sampling_signal != 0) {
        sigset_t own;
        sigemptyset(&own);
        sigaddset(&own, sampling_signal);
        give_handler_stack();
        pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    }
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    int error = pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return error == 0 ? (uint64_t)lowest + size : 0;
}

rl_wait rl_wait_of_call(long number) {
    switch (number) {
    // Not every machine has the older calls, nor every version of the headers the newer ones.
#ifdef SYS_futex_waitv
    case SYS_futex_waitv:
#endif
    case SYS_futex: case SYS_flock: case SYS_semop: case SYS_semtimedop: return rl_wait_lock;
    case SYS_nanosleep: case SYS_clock_nanosleep: return rl_wait_sleep;
#ifdef SYS_poll
    case SYS_poll: case SYS_select: case SYS_epoll_wait:
#endif
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
    case SYS_ppoll: case SYS_pselect6: case SYS_epoll_pwait: case SYS_read: case SYS_readv: case SYS_pread64:
    case SYS_write: case SYS_writev: case SYS_pwrite64: case SYS_recvfrom: case SYS_recvmsg: case SYS_sendto:
    case SYS_sendmsg: case SYS_accept: case SYS_accept4: case SYS_connect: case SYS_fsync: case SYS_fdatasync:
        return rl_wait_descriptors;
    case SYS_wait4: case SYS_waitid: return rl_wait_child;
    default: return rl_wait_other;
    }
}
