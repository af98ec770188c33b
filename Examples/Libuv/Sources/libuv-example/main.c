// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program in C whose main thread libuv runs, with a run loop of Swift inside. Prints what it measures; the exit status is 0 if all is
// well. uv_host.c is the part to copy.

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uv_host.h"

// Work.swift
void work_give(int kind, void (*function)(void *), void *context);
void work_start(void (*done)(int ticks, long sum));

static uv_host host;
static uv_async_t async;
static atomic_bool is_well = true;
// A phase of the other thread's waits for the main thread.
static sem_t done;

static void fail(const char *what) {
    printf("WRONG: %s\n", what);
    is_well = false;
}

static void wait_for_main(void) {
    // A signal handler may interrupt it.
    while (sem_wait(&done)) {}
}

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

// Prints the median; returns it in microseconds.
static double report(const char *name, uint64_t *delays, int count) {
    qsort(delays, count, sizeof *delays, compare);
    double median = delays[count / 2] / 1e3;
    printf("%s: median %.0f µs, 99 %% within %.0f µs\n", name, median, delays[count * 99 / 100] / 1e3);
    return median;
}

#pragma mark A hop from a thread, beside libuv's own

enum { HOPS = 500 };
static uint64_t left, delays[2][HOPS];
static int hops[2];

static void arrive(int kind) {
    delays[kind][hops[kind]++] = uv_hrtime() - left;
    sem_post(&done);
}
static void arrive_in_loop(void *context) { (void)context, arrive(0); }
static void arrive_in_async(uv_async_t *handle) { (void)handle, arrive(1); }

static void measure_hops(void) {
    for (int i = 0; i < 2 * HOPS; i += 1) {
        // The main thread sleeps by now.
        usleep(1000);
        left = uv_hrtime();
        if (i % 2) uv_async_send(&async);
        else runloops_perform(host.loop, NULL, arrive_in_loop, NULL, NULL);
        wait_for_main();
    }
    double ours = report("hop by runloops_perform", delays[0], HOPS);
    report("hop by uv_async_send, in turns with it", delays[1], HOPS);
    if (ours > 200) fail("a hop takes more than 0.2 ms");
}

#pragma mark Work that a callback of libuv's gives to the loop

enum { KINDS = 4, ROUNDS = 20 };
static const char *kinds[KINDS] = {"post without a wake-up", "timer of 0 s", "task of the main actor", "runloops_perform"};
static uint64_t work_delays[KINDS][ROUNDS], given;
static int given_count, served_count;
static unsigned long given_polls, polls;
static uv_timer_t giver;
static uv_check_t check;

// libuv has waited.
static void has_polled(uv_check_t *handle) { (void)handle, polls += 1; }

static void serve_work(void *context) {
    int kind = *(int *)context;
    work_delays[kind][served_count / KINDS] = uv_hrtime() - given;
    // A timer that is due and the main queue show at the descriptor: libuv's wait returns at once.
    if ((kind == 0 || kind == 3) && polls != given_polls) fail("libuv has waited before the loop was served");
    served_count += 1;
}

// Nothing else wakes the main thread: work that waits for something else is late by 10 ms, the time to the next call.
static void give(uv_timer_t *timer) {
    static int numbers[KINDS] = {0, 1, 2, 3};
    bool is_served = given_count == served_count;
    if (!is_served) fail("a callback's work is not done at the next call");
    if (!is_served || served_count == KINDS * ROUNDS) {
        uv_timer_stop(timer);
        sem_post(&done);
        return;
    }
    int kind = given_count++ % KINDS;
    given = uv_hrtime();
    given_polls = polls;
    if (kind < 3) work_give(kind, serve_work, &numbers[kind]);
    else runloops_perform(host.loop, NULL, serve_work, &numbers[kind], NULL);
}

static void begin_to_give(void *context) {
    (void)context;
    uv_check_start(&check, has_polled);
    uv_timer_start(&giver, give, 10, 10);
}

static void measure_callbacks(void) {
    runloops_perform(host.loop, NULL, begin_to_give, NULL, NULL);
    wait_for_main();
    for (int kind = 0; kind < KINDS; kind += 1)
        if (report(kinds[kind], work_delays[kind], ROUNDS) > 2000) fail("work of a callback takes more than 2 ms");
}

#pragma mark Swift, a signal handler, and rest

static void swift_is_done(int ticks, long sum) {
    printf("Swift: %d ticks of a timer, and a task that has added up to %ld\n", ticks, sum);
    if (ticks != 5 || sum != 500000500000) fail("the task's result");
    sem_post(&done);
}

static void see_signal(void *context) { (void)context, sem_post(&done); }

static void handle_signal(int number) {
    (void)number;
    runloops_wake_up(host.loop);
}

static void wake_by_signal(void) {
    // This thread's post does not wake the main thread. The handler does.
    work_give(0, see_signal, NULL);
    kill(getpid(), SIGUSR1);
    wait_for_main();
    printf("signal handler: a wake-up has served the post\n");
}

static long sleeps_of_main_thread(void) {
    char path[64], line[128];
    long count = -1;
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", getpid(), getpid());
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "voluntary_ctxt_switches: %ld", &count);
    if (file) fclose(file);
    return count;
}

static void measure_rest(void) {
    // The last hop ends.
    usleep(200000);
    long sleeps = sleeps_of_main_thread();
    unsigned long waits = host.waits;
    sleep(10);
    sleeps = sleeps_of_main_thread() - sleeps;
    waits = host.waits - waits;
    printf("at rest for 10 s: %ld wake-ups of the main thread, %lu turns of libuv\n", sleeps, waits);
    if (sleeps || waits) fail("the main thread wakes at rest");
}

static void stop(void *context) { runloops_stop(context); }

static void *drive(void *context) {
    (void)context;
    measure_hops();
    measure_callbacks();
    work_start(swift_is_done);
    wait_for_main();
    wake_by_signal();
    measure_rest();
    // Between its runs a loop cannot be stopped: the stop is in a callout.
    runloops_perform(host.loop, NULL, stop, host.loop, NULL);
    return NULL;
}

int main(void) {
    // Lines in the order in which they are printed, into a pipe too.
    setvbuf(stdout, NULL, _IOLBF, 0);
    uv_loop_t *uv = uv_default_loop();
    sem_init(&done, 0, 0);
    int error = uv_host_start(&host, uv, runloops_main());
    if (error) return fprintf(stderr, "no guest: %s\n", strerror(-error)), 1;
    // The program lives for the loop: uv_run() goes on while nothing of libuv's is under way.
    uv_ref((uv_handle_t *)&host.poll);
    uv_async_init(uv, &async, arrive_in_async);
    uv_timer_init(uv, &giver);
    uv_check_init(uv, &check);
    signal(SIGUSR1, handle_signal);
    pthread_t thread;
    pthread_create(&thread, NULL, drive, NULL);
    uv_run(uv, UV_RUN_DEFAULT);
    pthread_join(thread, NULL);
    if (host.result != RUNLOOPS_STOPPED) fail("libuv has ended without a stop");
    uv_host_stop(&host, NULL);
    uv_close((uv_handle_t *)&async, NULL);
    uv_close((uv_handle_t *)&giver, NULL);
    uv_close((uv_handle_t *)&check, NULL);
    uv_run(uv, UV_RUN_DEFAULT);
    if (uv_loop_close(uv)) fail("handles of libuv are left");
    return is_well ? 0 : 1;
}
