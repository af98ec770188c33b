// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// W1 without any loop: two threads, each sleeping on a futex word of its own. One system call to wake, one to sleep.

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static _Atomic uint32_t futex_words[2];
static int64_t futex_rounds, futex_total;

static void futex_send(int side) {
    atomic_store(&futex_words[side], 1);
    syscall(SYS_futex, &futex_words[side], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_wait(int side) {
    while (atomic_exchange(&futex_words[side], 0) == 0) {
        syscall(SYS_futex, &futex_words[side], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
}

static int futex_cpu(int side) {
    const char *place = bk_text("place", "free");
    return strcmp(place, "free") == 0 ? -1 : strcmp(place, "one") == 0 ? 0 : side;
}

static void *futex_echo(void *argument) {
    (void) argument;
    if (futex_cpu(1) >= 0) bk_pin_thread(futex_cpu(1));
    for (int64_t i = 0; i < futex_total; i++) {
        futex_wait(1);
        futex_send(0);
    }
    return NULL;
}

static void *futex_count(void *argument) {
    (void) argument;
    if (futex_cpu(0) >= 0) bk_pin_thread(futex_cpu(0));
    int64_t began = 0;
    for (int64_t i = 0; i < futex_total; i++) {
        // The first stretch is the warm-up.
        if ((i - futex_rounds / 10) % futex_rounds == 0 && i > 0) {
            int64_t now = bk_now();
            if (began != 0) bk_repeat("ns", (double) (now - began) / (double) futex_rounds);
            began = now;
        }
        futex_send(1);
        futex_wait(0);
    }
    bk_repeat("ns", (double) (bk_now() - began) / (double) futex_rounds);
    return NULL;
}

// Whether the workload was one of this file's, and has been run.
static bool run_futex_workload(const char *name) {
    if (strcmp(bk_text("variant", ""), "futex") != 0) return false;
    if (strcmp(name, "W1") != 0) bk_skip("W1 only");
    const char *place = bk_text("place", "free");
    if (futex_cpu(1) == 1 && bk_cpu_count() < 2) bk_skip("needs two CPUs");
    if (strcmp(place, "spin") == 0) bk_start_spinners();
    futex_rounds = bk_number("count", 20000);
    futex_total = futex_rounds / 10 + bk_number("reps", 3) * futex_rounds;
    pthread_t threads[2];
    pthread_create(&threads[1], NULL, futex_echo, NULL);
    pthread_create(&threads[0], NULL, futex_count, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    bk_medians();
    return true;
}
