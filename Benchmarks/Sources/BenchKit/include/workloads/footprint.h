// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// W8, W9, W10: what a loop costs that does nothing, holds much, or has just been started.

static struct loop quiet_loop;

// MARK: W8 idle

static bk_gate *w8_ready;

static void *w8_thread(void *argument) {
    (void) argument;
    static struct timer timer;
    loop_open(&quiet_loop);
    timer_open(&quiet_loop, &timer, w4_never);
    timer_in(&quiet_loop, &timer, 3600LL * 1000000000);
    bk_gate_open(w8_ready);
    loop_run(&quiet_loop);
    return NULL;
}

static void w8(void) {
    w8_ready = bk_gate_make();
    pthread_t thread;
    pthread_create(&thread, NULL, w8_thread, NULL);
    bk_gate_wait(w8_ready);
    bk_report_idle();
}

// MARK: W9 memory

static void *w9_timers(void *argument) {
    (void) argument;
    int64_t count = bk_number("k", 100000);
    bk_random random = bk_random_seeded();
    loop_open(&quiet_loop);
    // One timer and one descriptor first: what a loop makes once is not counted.
    struct timer *first = calloc(1, sizeof *first);
    timer_open(&quiet_loop, first, w4_never);
    timer_in(&quiet_loop, first, w4_delay(&random));
    int64_t before = bk_resident();
    for (int64_t i = 0; i < count; i++) {
        struct timer *timer = calloc(1, sizeof *timer);
        timer_open(&quiet_loop, timer, w4_never);
        timer_in(&quiet_loop, timer, w4_delay(&random));
    }
    bk_result("bytes", (double) (bk_resident() - before) / (double) count);
    return NULL;
}

IO_CALLBACK(w9_ready, io) {
    (void) io;
}

static void *w9_descriptors(void *argument) {
    (void) argument;
    int64_t count = bk_number("n", 1000);
    int(*pipes)[2] = calloc((size_t) count + 1, sizeof *pipes);
    bk_make_pipes(pipes, count + 1);
    loop_open(&quiet_loop);
    io_open(&quiet_loop, calloc(1, sizeof(struct io)), pipes[count][0], w9_ready);
    int64_t before = bk_resident();
    for (int64_t i = 0; i < count; i++) {
        io_open(&quiet_loop, calloc(1, sizeof(struct io)), pipes[i][0], w9_ready);
    }
    bk_result("bytes", (double) (bk_resident() - before) / (double) count);
    return NULL;
}

// These loops have one kind of timer, which is the lightest way too: "delays" are timers.
static void w9(void) { on_thread(strcmp(bk_text("of", "timers"), "descriptors") == 0 ? w9_descriptors : w9_timers); }

// MARK: W10 start

TIMER_CALLBACK(w10_fired, timer) {
    (void) timer;
    loop_stop(&quiet_loop);
}

static int w10(void) {
    static struct timer timer;
    loop_open(&quiet_loop);
    timer_open(&quiet_loop, &timer, w10_fired);
    timer_in(&quiet_loop, &timer, 1000000);
    loop_run(&quiet_loop);
    return 0;
}
