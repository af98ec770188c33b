// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "ThreadAttributes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static inline int result(long value) { return value < 0 ? -errno : (int)value; }

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

int rl_thread_schedule(void) {
    int policy = sched_getscheduler(0);
    if (policy < 0) return -errno;
    for (int schedule = 0; schedule < 5; schedule++)
        if (policies[schedule] == policy) return schedule;
    return -EINVAL;
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

int rl_thread_name(int32_t thread, char *buffer, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    ssize_t length = read(file, buffer, size);
    int code = result(length);
    close(file);
    // The kernel ends the name with a new line.
    return code > 0 && buffer[code - 1] == '\n' ? code - 1 : code;
}
