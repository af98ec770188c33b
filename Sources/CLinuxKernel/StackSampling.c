// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "StackSampling.h"
#include "CLinuxKernel.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// How the handler and the asking thread communicate. 0: nobody asks. An odd number: a copy is asked for. That number
// plus 1: the copy is being made, or is there (`ready` says which). A signal that arrives late carries an older number.
static _Atomic uint32_t ticket;
static _Atomic uint32_t ready;
static uint32_t last_ticket;
static rl_stack_sample *target;
static uint64_t target_end;
static int sampling_signal;
static int32_t owner_forks;

#if defined(__x86_64__)
// In DWARF's order.
static const int machine_registers[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
#define STACK_POINTER 7
#elif defined(__aarch64__)
#define STACK_POINTER 31
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
    sample->known = 0;
    sample->counter = 0;
#endif
}

// Word by word and not by memcpy: the address sanitizer would report the copy of a frame's red zones.
__attribute__((no_sanitize("address", "thread"))) static void copy_stack(rl_stack_sample *sample, uint64_t from,
                                                                         uint64_t end) {
    sample->stack = from;
    sample->size = 0;
    // The pointer is not on the known stack: it is on a fibre's, or on a signal's own.
    if (from == 0 || from >= end || from % 8 != 0) return;
    uint64_t size = end - from;
    if (size > RL_SAMPLE_BYTES) size = RL_SAMPLE_BYTES;
    // On the thread's own stack everything between the pointer and the upper end is there. If a thread was switched to
    // another stack, its pointer lies further away than any stack is long.
    if (end - from > (uint64_t)1 << 30) return;
    const volatile uint64_t *source = (const volatile uint64_t *)from;
    for (uint64_t index = 0; index < size / 8; index++) sample->bytes[index] = source[index];
    sample->size = size & ~(uint64_t)7;
}

// Async-signal-safe: no call but the futex's, no lock, no allocation.
__attribute__((no_sanitize("address", "thread"))) static void on_sample(int signal, siginfo_t *info, void *context) {
    (void)signal;
    if (rl_fork_count() != owner_forks || info->si_code != SI_QUEUE) return;
    uint32_t asked = (uint32_t)info->si_value.sival_int;
    uint32_t expected = asked;
    // acquire: `target` and its end were written before the ticket.
    if ((asked & 1) == 0 ||
        !atomic_compare_exchange_strong_explicit(&ticket, &expected, asked + 1, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    int saved = errno;
    take_registers(context, target);
#ifdef STACK_POINTER
    copy_stack(target, target->registers[STACK_POINTER], target_end);
#endif
    // release: pairs with the asking thread's acquire.
    atomic_store_explicit(&ready, asked + 1, memory_order_release);
    rl_futex_wake(&ready, 1);
    errno = saved;
}

static bool is_free(int signal) {
    struct sigaction present;
    return sigaction(signal, NULL, &present) == 0 && !(present.sa_flags & SA_SIGINFO) && present.sa_handler == SIG_DFL;
}

int rl_sampling_start(int signal) {
    if (sampling_signal != 0 && owner_forks == rl_fork_count())
        return signal == 0 || signal == sampling_signal ? sampling_signal : -EBUSY;
    if (signal < 0 || signal > SIGRTMAX || (signal > 0 && signal < SIGRTMIN)) return -EINVAL;
    if (signal == 0)
        for (signal = SIGRTMAX; signal >= SIGRTMIN && !is_free(signal);) signal--;
    if (signal < SIGRTMIN || !is_free(signal)) return -EBUSY;
    struct sigaction action = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    owner_forks = rl_fork_count();
    if (sigaction(signal, &action, NULL) < 0) return -errno;
    return sampling_signal = signal;
}

static int send_ticket(int32_t thread, uint32_t number) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_int = (int)number;
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, sampling_signal, &info) < 0 ? -errno : 0;
}

int rl_sample_running(int32_t thread, uint64_t stack_end, int64_t nanoseconds, rl_stack_sample *sample) {
    if (sampling_signal == 0) return -ENOSYS;
    last_ticket += 2;
    uint32_t number = last_ticket | 1;
    target = sample;
    target_end = stack_end;
    // release: pairs with the handler's acquire.
    atomic_store_explicit(&ticket, number, memory_order_release);
    int error = send_ticket(thread, number);
    int64_t deadline = rl_clock_now(CLOCK_MONOTONIC) + nanoseconds;
    while (error == 0) {
        // acquire: the copy was made before.
        uint32_t present = atomic_load_explicit(&ready, memory_order_acquire);
        if (present == number + 1) return 0;
        if (rl_clock_now(CLOCK_MONOTONIC) >= deadline) error = -ETIMEDOUT;
        else rl_futex_wait(&ready, present, deadline);
    }
    uint32_t expected = number;
    // From here on no handler answers, unless it has begun: then it must finish, because it writes to the sample.
    if (atomic_compare_exchange_strong(&ticket, &expected, 0)) return error;
    for (uint32_t present; (present = atomic_load_explicit(&ready, memory_order_acquire)) != number + 1;)
        rl_futex_wait(&ready, present, RL_FOREVER);
    return 0;
}

int rl_sample_waiting(uint64_t stack_pointer, uint64_t counter, uint64_t stack_end, rl_stack_sample *sample) {
#ifdef STACK_POINTER
    sample->registers[STACK_POINTER] = stack_pointer;
    sample->known = (uint64_t)1 << STACK_POINTER;
#else
    sample->known = 0;
#endif
    sample->counter = counter;
    sample->stack = stack_pointer;
    sample->size = 0;
    if (stack_pointer == 0 || stack_pointer >= stack_end || stack_pointer % 8 != 0) return -EFAULT;
    uint64_t size = stack_end - stack_pointer;
    if (size > RL_SAMPLE_BYTES) size = RL_SAMPLE_BYTES;
    struct iovec to = {sample->bytes, size}, from = {(void *)stack_pointer, size};
    // Through the kernel: the thread may continue and end meanwhile, and its stack with it.
    ssize_t count = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    if (count < 0) return -errno;
    sample->size = (uint64_t)count & ~(uint64_t)7;
    return 0;
}

uint64_t rl_stack_end(void) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    void *lowest = NULL;
    size_t size = 0;
    int error = pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return error == 0 ? (uint64_t)lowest + size : 0;
}

void rl_sampling_allow(void) {
    if (sampling_signal == 0) return;
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, sampling_signal);
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
}

int64_t rl_thread_processor_time(int32_t thread) {
    // The clock of a thread by its number, as pthread_getcpuclockid makes it: that function needs a handle of a living
    // thread.
    clockid_t clock = (clockid_t)((~(unsigned)thread << 3) | 6);
    struct timespec time;
    if (clock_gettime(clock, &time) < 0) return -errno;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

rl_wait rl_wait_of_call(long number) {
    switch (number) {
    case SYS_futex:
#ifdef SYS_futex_waitv
    case SYS_futex_waitv:
#endif
    case SYS_flock:
    case SYS_semop:
    case SYS_semtimedop: return rl_wait_lock;
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return rl_wait_sleep;
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_fsync:
    case SYS_fdatasync: return rl_wait_descriptors;
    case SYS_wait4:
    case SYS_waitid: return rl_wait_child;
    default: return rl_wait_other;
    }
}

void rl_become_helper(const char *name) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_setname_np(pthread_self(), name);
}

// For dl_iterate_phdr: gives `module` the bias of the object that is loaded at its base.
static int find_bias(struct dl_phdr_info *object, size_t size, void *module) {
    (void)size;
    rl_module *wanted = module;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uint64_t offset = wanted->base - object->dlpi_addr - segment->p_vaddr;
        if (segment->p_type != PT_LOAD || offset >= segment->p_memsz) continue;
        wanted->bias = object->dlpi_addr;
        return 1;
    }
    return 0;
}

bool rl_find_module(uint64_t address, rl_module *module) {
    Dl_info info, program;
    if (dladdr((void *)address, &info) == 0) return false;
    module->base = module->bias = (uint64_t)info.dli_fbase;
    // Not by dladdr1, which Musl lacks.
    dl_iterate_phdr(find_bias, module);
    module->path = info.dli_fname;
    module->is_program = dladdr((void *)getauxval(AT_ENTRY), &program) != 0 && program.dli_fbase == info.dli_fbase;
    module->symbol = info.dli_sname;
    module->symbol_start = (uint64_t)info.dli_saddr;
    return true;
}

extern char *swift_demangle(const char *name, size_t length, char *output, size_t *size, uint32_t flags)
    __attribute__((weak));

char *rl_demangle(const char *name) {
    // Weak, so that a program without Swift's runtime (the peers of the benchmarks) links as well.
    return &swift_demangle == NULL ? NULL : swift_demangle(name, strlen(name), NULL, NULL, 0);
}
