// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CHangScenes.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static int64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t now(void) { return read_clock(CLOCK_MONOTONIC); }

__attribute__((noinline)) void scene_spin(int milliseconds) {
    int64_t end = read_clock(CLOCK_THREAD_CPUTIME_ID) + milliseconds * INT64_C(1000000);
    volatile long count = 0;
    while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end) count++;
}

#define STACK (64 * 1024)

// Between two guard pages.
static char *make_stack(void) {
    char *memory = mmap(NULL, STACK + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + 4096, STACK, PROT_READ | PROT_WRITE);
    return memory + 4096;
}

static int time_to_spin;
static int room_to_leave;
static char *fibre_stack;

// Without a call that would need room of its own: the guard page is near.
__attribute__((noinline)) static void spin_at_the_edge(void) {
    char *here = __builtin_frame_address(0);
    char *volatile taken = __builtin_alloca((size_t)(here - fibre_stack) - (size_t)room_to_leave);
    // The time is counted in turns, at about a nanosecond each.
    for (volatile int64_t count = 0; count < time_to_spin * INT64_C(1000000); count++) taken[0] = 0;
}

static void on_fibre(void) {
    if (room_to_leave > 0) spin_at_the_edge();
    else scene_spin(time_to_spin);
}

void scene_spin_on_fibre(int milliseconds, int room) {
    static ucontext_t back, fibre;
    time_to_spin = milliseconds;
    room_to_leave = room;
    getcontext(&fibre);
    fibre.uc_stack.ss_sp = fibre_stack = make_stack();
    fibre.uc_stack.ss_size = STACK;
    fibre.uc_link = &back;
    makecontext(&fibre, on_fibre, 0);
    swapcontext(&back, &fibre);
}

static void on_signal(int signal) {
    (void)signal;
    scene_spin(time_to_spin);
}

void scene_spin_in_handler(int milliseconds) {
    stack_t stack = {.ss_sp = make_stack(), .ss_size = STACK};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    time_to_spin = milliseconds;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
}

void scene_spin_deep_down(int milliseconds, int64_t bytes) {
    volatile char taken[4096];
    taken[0] = taken[4095] = 0;
    if (bytes > 0) scene_spin_deep_down(milliseconds, bytes - (int64_t)sizeof taken);
    else scene_spin(milliseconds);
    // Not the last thing that happens, or no frame would be kept.
    taken[1] = 0;
}

bool scene_spin_in_library(const char *path, int milliseconds) {
    void *library = dlopen(path, RTLD_NOW);
    void (*spin)(int) = library == NULL ? NULL : (void (*)(int))dlsym(library, "library_spin");
    if (spin != NULL) spin(milliseconds);
    return spin != NULL;
}

int scene_load_and_unload(const char *path, int milliseconds) {
    int64_t end = now() + milliseconds * INT64_C(1000000);
    int count = 0;
    for (; now() < end; count++) {
        void *library = dlopen(path, RTLD_NOW);
        if (library == NULL) return -1;
        ((void (*)(int))dlsym(library, "library_work"))(20000);
        dlclose(library);
    }
    return count;
}

#pragma clang diagnostic ignored "-Wdeprecated-declarations"
void scene_vfork(int milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    int child = (int)vfork();
    if (child == 0) {
        syscall(SYS_nanosleep, &time, NULL);
        _exit(0);
    }
    scene_wait(child);
}

int scene_fork(void) { return (int)fork(); }

int scene_wait(int child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool scene_enter_sandbox(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    // For all threads.
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

int scene_run_and_sleep(int milliseconds, int *sleeps) {
    int64_t end = now() + milliseconds * INT64_C(1000000);
    int early = 0;
    uint32_t random = 1;
    while (now() < end) {
        random = random * 1103515245 + 12345;
        int64_t ran = now() + (random >> 16) % 2000 * 1000;
        while (now() < ran) {}
        random = random * 1103515245 + 12345;
        struct timespec time = {0, (long)((random >> 16) % 2000 * 1000)};
        int code = random >> 31 ? poll(NULL, 0, 1) : nanosleep(&time, NULL);
        if (code < 0 && errno == EINTR) early++;
        (*sleeps)++;
    }
    return early;
}
