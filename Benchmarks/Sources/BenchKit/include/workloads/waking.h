// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// W1, W2, W2b, W3: how long it takes to reach a loop, from another thread and from itself.
//
// Written once for all C peers, in terms of what each defines for itself before this is included (see all.h). That is
// done by inclusion and not by function pointers, so that no peer pays for being measured.

// MARK: W1 wake ping-pong

struct w1_side {
    struct loop loop;
    struct wake wake;
    struct w1_side *other;
    int cpu;  // -1: wherever the kernel puts it
    bool is_first;
};

static struct w1_side w1_sides[2];
static int64_t w1_rounds, w1_left, w1_repetitions, w1_began;
static bool w1_over;

static void w1_count(void) {
    if (--w1_left > 0) return;
    int64_t now = bk_now();
    // The first stretch is the warm-up.
    if (w1_began != 0) bk_repeat("ns", (double) (now - w1_began) / (double) w1_rounds);
    w1_began = now;
    w1_left = w1_rounds;
    if (w1_repetitions-- == 0) w1_over = true;
}

WAKE_CALLBACK(w1_woken, wake) {
    struct w1_side *side = BK_OWNER(wake, struct w1_side, wake);
    if (side->is_first && !w1_over) w1_count();
    wake_send(&side->other->wake);
    if (w1_over) loop_stop(&side->loop);
}

static bk_gate *w1_ready;

static void *w1_thread(void *argument) {
    struct w1_side *side = argument;
    if (side->cpu >= 0) bk_pin_thread(side->cpu);
    loop_open(&side->loop);
    wake_open(&side->loop, &side->wake, w1_woken);
    bk_gate_open(w1_ready);
    loop_run(&side->loop);
    return NULL;
}

static void w1(void) {
    const char *placement = bk_text("place", "free");
    w1_rounds = bk_number("count", 20000);
    w1_left = w1_rounds / 10 + 1;
    w1_repetitions = bk_number("reps", 3);
    w1_ready = bk_gate_make();
    bool is_apart = strcmp(placement, "each") == 0 || strcmp(placement, "spin") == 0;
    if (is_apart && bk_cpu_count() < 2) bk_skip("needs two CPUs");
    if (strcmp(placement, "spin") == 0) bk_start_spinners();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        struct w1_side *side = &w1_sides[i];
        side->other = &w1_sides[1 - i];
        side->is_first = i == 0;
        side->cpu = is_apart ? i : strcmp(placement, "one") == 0 ? 0 : -1;
        pthread_create(&threads[i], NULL, w1_thread, side);
        bk_gate_wait(w1_ready);
    }
    wake_send(&w1_sides[0].wake);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    bk_medians();
}

// MARK: W2 post

static int64_t w2_count, w2_run;
static bk_gate *w2_done;
static struct loop w2_loop;

POST_CALLBACK(w2_posted, argument) {
    (void) argument;
    if (++w2_run == w2_count) bk_gate_open(w2_done);
}

static void *w2_thread(void *argument) {
    (void) argument;
    loop_open(&w2_loop);
    post_open(&w2_loop);
    bk_gate_open(w2_done);
    loop_run(&w2_loop);
    return NULL;
}

static void w2_once(int64_t count, bool counts) {
    // The loop should be asleep when the first callback comes.
    bk_sleep(5000000);
    w2_count = count;
    w2_run = 0;
    int64_t began = bk_now();
    for (int64_t i = 0; i < count; i++) post(&w2_loop, w2_posted, NULL);
    bk_gate_wait(w2_done);
    if (counts) bk_repeat("ns", (double) (bk_now() - began) / (double) count);
}

static void w2(void) {
    int64_t count = bk_number("count", 1000000);
    w2_done = bk_gate_make();
    pthread_t thread;
    pthread_create(&thread, NULL, w2_thread, NULL);
    bk_gate_wait(w2_done);
    w2_once(count / 10, false);
    for (int64_t done = 0; bk_again(done); done++) w2_once(count, true);
    bk_medians();
}

// MARK: W2b post to itself

enum { w2b_batch = 1000 };

static int64_t w2b_left, w2b_total, w2b_began, w2b_repetition;

static void w2b_post(void);

POST_CALLBACK(w2b_posted, is_last) {
    w2b_left--;
    if (is_last == NULL) return;
    if (w2b_left <= 0) {
        int64_t now = bk_now();
        if (w2b_began != 0) {
            bk_repeat("ns", (double) (now - w2b_began) / (double) w2b_total);
            if (!bk_again(++w2b_repetition)) return loop_stop(&w2_loop);
        } else {
            bk_again(0);
        }
        w2b_left = w2b_total;
        w2b_began = bk_now();
    }
    w2b_post();
}

static void w2b_post(void) {
    for (int i = 1; i < w2b_batch; i++) post_here(&w2_loop, w2b_posted, NULL);
    post_here(&w2_loop, w2b_posted, &w2_loop);
}

static void *w2b_thread(void *argument) {
    (void) argument;
    loop_open(&w2_loop);
    post_open(&w2_loop);
    w2b_post();
    loop_run(&w2_loop);
    return NULL;
}

static void w2b(void) {
    w2b_total = bk_number("count", 1000000);
    w2b_left = w2b_total / 10;
    on_thread(w2b_thread);
    bk_medians();
}

// MARK: W3 turn, with watched=1 beside a descriptor that is never ready

static struct loop w3_loop;
static struct again w3_again;
static int64_t w3_left, w3_total, w3_began, w3_repetition;

AGAIN_CALLBACK(w3_turned, again) {
    if (--w3_left <= 0) {
        int64_t now = bk_now();
        if (w3_began != 0) {
            bk_repeat("ns", (double) (now - w3_began) / (double) w3_total);
            if (!bk_again(++w3_repetition)) {
                again_end(&w3_loop, again);
                return loop_stop(&w3_loop);
            }
        } else {
            bk_again(0);
        }
        w3_left = w3_total;
        w3_began = bk_now();
    }
    again_ask(&w3_loop, again);
}

IO_CALLBACK(w3_ready, io) {
    (void) io;
    bk_fail("a pipe that was never written is ready");
}

static void *w3_thread(void *argument) {
    (void) argument;
    static struct io idle;
    loop_open(&w3_loop);
    if (bk_number("watched", 0) != 0) {
        int ends[2];
        bk_make_pipe(ends);
        io_open(&w3_loop, &idle, ends[0], w3_ready);
    }
    again_open(&w3_loop, &w3_again, w3_turned);
    loop_run(&w3_loop);
    return NULL;
}

static void w3(void) {
    w3_total = bk_number("count", 1000000);
    w3_left = w3_total / 10;
    on_thread(w3_thread);
    bk_medians();
}
