// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "ThreadAttributes.h"
#include "Results.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int rl_thread_start(rl_thread *thread, size_t stack, void *(*body)(void *), void *argument) {
    pthread_t started;
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0) return -code;
    if (stack > 0) code = pthread_attr_setstacksize(&attributes, stack);
    if (code == 0) code = pthread_create(&started, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    if (code == 0) thread->handle = (uintptr_t)started;
    return -code;
}

void rl_thread_join(rl_thread thread) { pthread_join((pthread_t)thread.handle, NULL); }
void rl_thread_detach(rl_thread thread) { pthread_detach((pthread_t)thread.handle); }

int rl_thread_start_detached(void *(*body)(void *), void *argument) {
    rl_thread thread;
    int code = rl_thread_start(&thread, 0, body, argument);
    if (code == 0) rl_thread_detach(thread);
    return code;
}

int rl_thread_set_name(const char *name) { return -pthread_setname_np(pthread_self(), name); }

// -20 to 19 would look like an error; 20 minus the value does not.
int rl_thread_nice(void) {
    errno = 0;
    int value = getpriority(PRIO_PROCESS, (id_t)gettid());
    return errno != 0 ? -errno : 20 - value;
}

// On Linux a nice value belongs to a thread: the kernel calls a thread a "process" here.
int rl_thread_set_nice(int nice) { return result(setpriority(PRIO_PROCESS, (id_t)gettid(), nice)); }

static const int policies[] = {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR};

int rl_thread_set_schedule(int schedule, int priority) {
    struct sched_param parameters = {.sched_priority = priority};
    return result(sched_setscheduler(0, policies[schedule], &parameters));
}

int rl_thread_set_processors(const int32_t *numbers, size_t count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t index = 0; index < count; index++) {
        if (numbers[index] < 0 || numbers[index] >= CPU_SETSIZE) return -EINVAL;
        CPU_SET(numbers[index], &set);
    }
    return result(sched_setaffinity(0, sizeof set, &set));
}

int rl_thread_processor_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return -errno;
    return CPU_COUNT(&set);
}

size_t rl_thread_stack_size(void) {
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    return size;
}

void rl_helper_mask(void *helper) {
    sigset_t *mask = helper;
    sigfillset(mask);
    // Swift's runtime suspends the threads of a crashed program by the first of SIGPROF, SIGUSR1 and SIGUSR2 that a thread
    // does not block, and complains where it finds none. A program's own handler of SIGPROF may run on any thread.
    sigdelset(mask, SIGPROF);
}

void rl_become_helper(const char *name) {
    sigset_t mask;
    rl_helper_mask(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    rl_thread_set_name(name);
}

int64_t rl_thread_processor_time(int32_t thread) {
    // The clock of a thread by its number, as pthread_getcpuclockid makes it: that function needs a handle of a living
    // thread.
    struct timespec time;
    if (clock_gettime((clockid_t)((~(unsigned)thread << 3) | 6), &time) < 0) return -errno;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// The process whose main thread has begun to end; 0 before that. A forked child has another main thread.
static int ended_in;

static void note_main_end(void *unused) {
    (void)unused;
    __atomic_store_n(&ended_in, getpid(), __ATOMIC_RELEASE);
}

// libdispatch keeps a main thread that ends, in a destructor of its own and for ever, so that the system does not show the end.
// A key that is older than libdispatch's for this is destroyed before it. Where another thread loads this library, /proc is all.
__attribute__((constructor)) static void follow_main_thread(void) {
    static pthread_key_t key;
    if (syscall(SYS_gettid) == getpid() && pthread_key_create(&key, note_main_end) == 0) pthread_setspecific(key, &key);
}

bool rl_main_thread_has_ended(void) {
    if (__atomic_load_n(&ended_in, __ATOMIC_ACQUIRE) == getpid()) return true;
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    int file = made(open(path, O_RDONLY | O_CLOEXEC));
    if (file < 0) return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return false;
    text[length] = 0;
    // The state follows the name, which may have parentheses of its own: Z for a thread that its process outlives.
    const char *name_ends = strrchr(text, ')');
    return name_ends != NULL && name_ends[1] == ' ' && (name_ends[2] == 'Z' || name_ends[2] == 'X');
}

int rl_thread_name(int32_t thread, char *buffer, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread);
    int file = made(open(path, O_RDONLY | O_CLOEXEC));
    if (file < 0) return -errno;
    ssize_t length = read(file, buffer, size);
    int code = result(length);
    close(file);
    // The kernel ends the name with a new line.
    return code > 0 && buffer[code - 1] == '\n' ? code - 1 : code;
}
