// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Arguments and results, threads and CPUs, pipes.

#define _GNU_SOURCE
#include "BenchKit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

// Arguments and results.

static int argument_count;
static char **argument_words;
// The CPUs that the process had at its start: a pinned thread that asks later would get only its own CPU.
static cpu_set_t allowed;

void bk_arguments(int count, char **words) {
    // Kept in copies: Swift frees what it hands over.
    argument_words = calloc((size_t) count, sizeof(char *));
    for (int i = 0; i < count; i++) argument_words[i] = strdup(words[i]);
    argument_count = count;
    sched_getaffinity(0, sizeof allowed, &allowed);
}

const char *bk_text(const char *name, const char *otherwise) {
    size_t length = strlen(name);
    for (int i = 0; i < argument_count; i++) {
        const char *word = argument_words[i];
        if (strncmp(word, name, length) == 0 && word[length] == '=') return word + length + 1;
    }
    return otherwise;
}

int64_t bk_number(const char *name, int64_t otherwise) {
    const char *text = bk_text(name, NULL);
    return text == NULL ? otherwise : atoll(text);
}

void bk_result(const char *name, double value) { printf("%s=%.6g ", name, value); }

// The process ends here without tearing anything down: what a peer's destructors cost is not what is measured.
void bk_finish(void) {
    printf("\n");
    fflush(stdout);
    _exit(0);
}

void bk_skip(const char *reason) {
    printf("skip %s\n", reason);
    fflush(stdout);
    _exit(0);
}

void bk_fail(const char *reason) {
    fprintf(stderr, "%s (errno %d)\n", reason, errno);
    _exit(1);
}

uint32_t *bk_shuffled(bk_random *random, int64_t count) {
    uint32_t *order = malloc((size_t) count * sizeof(uint32_t));
    for (int64_t i = 0; i < count; i++) order[i] = (uint32_t) i;
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t) bk_random_below(random, (uint64_t) i + 1);
        uint32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    return order;
}

// Threads and CPUs.

int bk_cpu_count(void) { return CPU_COUNT(&allowed); }

void bk_pin_thread(int cpu) {
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &allowed) || cpu-- > 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0) bk_fail("a thread cannot be pinned");
        return;
    }
    bk_skip("needs two CPUs");
}

static void *spin(void *cpu) {
    bk_pin_thread((int) (intptr_t) cpu);
    struct sched_param none = {0};
    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) bk_fail("SCHED_IDLE is refused");
    for (;;) __asm__ volatile("" ::: "memory");
    return NULL;
}

void bk_start_spinners(void) {
    for (intptr_t cpu = 0; cpu < 2; cpu++) {
        pthread_t thread;
        pthread_create(&thread, NULL, spin, (void *) cpu);
    }
}

struct bk_gate {
    sem_t semaphore;
};

bk_gate *bk_gate_make(void) {
    bk_gate *gate = malloc(sizeof *gate);
    sem_init(&gate->semaphore, 0, 0);
    return gate;
}

void bk_gate_open(bk_gate *gate) { sem_post(&gate->semaphore); }

void bk_gate_wait(bk_gate *gate) {
    while (sem_wait(&gate->semaphore) != 0 && errno == EINTR) {}
}

void bk_sleep(int64_t nanoseconds) {
    struct timespec left = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

void bk_fine_slack(void) {
    if (prctl(PR_SET_TIMERSLACK, 1UL) != 0) bk_fail("the timer slack cannot be set");
}

// Pipes.

void bk_make_pipe(int ends[2]) {
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) bk_fail("pipe2");
}

int64_t bk_allow_descriptors(int64_t count) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t needed = (rlim_t) (count + 64);
    if (limit.rlim_cur < needed) {
        // Above the hard limit is for the privileged: tried, and otherwise as far as it goes.
        struct rlimit wished = {needed, needed > limit.rlim_max ? needed : limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &wished) != 0) {
            limit.rlim_cur = limit.rlim_max;
            setrlimit(RLIMIT_NOFILE, &limit);
        }
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    int64_t allowed = (int64_t) limit.rlim_cur - 64;
    return allowed < count ? allowed : count;
}

void bk_make_pipes(int (*pipes)[2], int64_t count) {
    bk_allow_descriptors(2 * count);
    for (int64_t i = 0; i < count; i++) bk_make_pipe(pipes[i]);
}

void bk_write_byte(int descriptor) {
    char byte = 'e';
    if (write(descriptor, &byte, 1) != 1) bk_fail("a pipe cannot be written");
}

bool bk_read_byte(int descriptor) {
    char byte;
    return read(descriptor, &byte, 1) == 1;
}

int bk_make_event(void) {
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (descriptor < 0) bk_fail("eventfd");
    return descriptor;
}

void bk_set_event(int descriptor) {
    if (eventfd_write(descriptor, 1) != 0) bk_fail("an eventfd cannot be written");
}

void bk_take_event(int descriptor) {
    eventfd_t count;
    // EAGAIN: somebody was faster.
    (void) eventfd_read(descriptor, &count);
}

void bk_close(int descriptor) { close(descriptor); }
