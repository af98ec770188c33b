// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// W4, W5, W6, W6b: making, cancelling and firing timers.

static struct loop timer_loop;

// MARK: W4 add, churn, cancel

TIMER_CALLBACK(w4_never, timer) {
    (void) timer;
    bk_fail("a timer an hour away has fired");
}

// A minute to an hour.
static int64_t w4_delay(bk_random *random) {
    return bk_random_between(random, 60LL * 1000000000, 3600LL * 1000000000);
}

static struct timer *w4_timers;

static void w4_prepare(int64_t count) {
    loop_open(&timer_loop);
    w4_timers = calloc((size_t) count, sizeof *w4_timers);
    for (int64_t i = 0; i < count; i++) timer_open(&timer_loop, &w4_timers[i], w4_never);
}

static void *w4_thread(void *argument) {
    (void) argument;
    int64_t count = bk_number("k", 1000), churns = bk_number("churn", 10000);
    w4_prepare(count);
    bool is_warm = false;
    for (int64_t done = 0; bk_again(done);) {
        bk_random random = bk_random_seeded();
        int64_t began = bk_now();
        for (int64_t i = 0; i < count; i++) timer_in(&timer_loop, &w4_timers[i], w4_delay(&random));
        int64_t added = bk_now();
        for (int64_t i = 0; i < churns; i++) {
            struct timer *timer = &w4_timers[bk_random_below(&random, (uint64_t) count)];
            timer_stop(&timer_loop, timer);
            timer_in(&timer_loop, timer, w4_delay(&random));
        }
        int64_t churned = bk_now();
        uint32_t *order = bk_shuffled(&random, count);
        int64_t ordered = bk_now();
        for (int64_t i = 0; i < count; i++) timer_stop(&timer_loop, &w4_timers[order[i]]);
        int64_t cancelled = bk_now();
        free(order);
        if (is_warm) {
            bk_repeat("add_ns", (double) (added - began) / (double) count);
            bk_repeat("churn_ns", (double) (churned - added) / (double) churns);
            bk_repeat("cancel_ns", (double) (cancelled - ordered) / (double) count);
            done++;
        }
        is_warm = true;
    }
    return NULL;
}

static void w4(void) {
    on_thread(w4_thread);
    bk_medians();
}

// MARK: W4 re-arm

static void *w4r_thread(void *argument) {
    (void) argument;
    int64_t count = bk_number("k", 10000), churns = bk_number("churn", 10000);
    w4_prepare(count);
    // The first time is the warm-up.
    for (int64_t done = -1; done < 0 || bk_again(done); done++) {
        bk_random random = bk_random_seeded();
        for (int64_t i = 0; i < count; i++) timer_in(&timer_loop, &w4_timers[i], w4_delay(&random));
        int64_t began = bk_now();
        for (int64_t i = 0; i < churns; i++) {
            uint64_t place = bk_random_below(&random, (uint64_t) count);
            timer_restart(&timer_loop, &w4_timers[place], w4_delay(&random));
        }
        if (done >= 0) bk_repeat("restart_ns", (double) (bk_now() - began) / (double) churns);
        for (int64_t i = 0; i < count; i++) timer_stop(&timer_loop, &w4_timers[i]);
    }
    return NULL;
}

static void w4r(void) {
    on_thread(w4r_thread);
    bk_medians();
}

// MARK: W4 as users write it: each timer with memory of its own

static void *w4u_thread(void *argument) {
    (void) argument;
    int64_t count = bk_number("k", 10000), churns = bk_number("churn", 10000);
    w4_prepare(count);
    struct timer **made = calloc((size_t) count, sizeof *made);
    for (int64_t done = -1; done < 0 || bk_again(done); done++) {
        bk_random random = bk_random_seeded();
        for (int64_t i = 0; i < count; i++) {
            made[i] = timer_make(&timer_loop, &w4_timers[i], w4_never);
            timer_in(&timer_loop, made[i], w4_delay(&random));
        }
        int64_t began = bk_now();
        for (int64_t i = 0; i < churns; i++) {
            uint64_t place = bk_random_below(&random, (uint64_t) count);
            timer_free(&timer_loop, made[place]);
            made[place] = timer_make(&timer_loop, &w4_timers[place], w4_never);
            timer_in(&timer_loop, made[place], w4_delay(&random));
        }
        if (done >= 0) bk_repeat("churn_ns", (double) (bk_now() - began) / (double) churns);
        for (int64_t i = 0; i < count; i++) timer_free(&timer_loop, made[i]);
    }
    return NULL;
}

static void w4u(void) {
    on_thread(w4u_thread);
    bk_medians();
}

// MARK: W5 fire, and one timer 16 ms after the last, which pays for what was put off

static int64_t w5_left, w5_cpu, w5_last, w5_late_after;
static bk_samples w5_late;
static struct timer w5_after;

TIMER_CALLBACK(w5_fired, timer) {
    int64_t late = bk_now() - timer->due;
    if (timer == &w5_after) {
        w5_late_after = late;
        return loop_stop(&timer_loop);
    }
    bk_sample(&w5_late, late);
    if (--w5_left > 0) return;
    w5_cpu = bk_cpu() - w5_cpu;
    int64_t now = bk_now();
    w5_after.due = w5_last + 16000000;
    timer_at(&timer_loop, &w5_after, w5_after.due > now ? w5_after.due : now);
}

static void *w5_thread(void *argument) {
    (void) argument;
    int64_t count = bk_number("k", 10000);
    struct timer *timers = calloc((size_t) count, sizeof *timers);
    w5_late = bk_samples_make(count);
    loop_open(&timer_loop);
    for (int64_t i = 0; i < count; i++) timer_open(&timer_loop, &timers[i], w5_fired);
    timer_open(&timer_loop, &w5_after, w5_fired);
    for (int64_t done = 0; bk_again(done); done++) {
        bk_random random = bk_random_seeded();
        bk_samples_clear(&w5_late);
        w5_left = count;
        // Far enough for the slowest peer to have made them all.
        int64_t base = bk_now() + 10000000 + count * 10000;
        for (int64_t i = 0; i < count; i++) {
            timers[i].due = base + bk_random_between(&random, 1000000, 200000000);
            if (w5_last < timers[i].due) w5_last = timers[i].due;
            timer_at(&timer_loop, &timers[i], timers[i].due);
        }
        if (bk_now() > base) bk_skip("takes longer to make the timers than they have until they are due");
        w5_cpu = bk_cpu();
        loop_run(&timer_loop);
        bk_repeat("cpu_ns", (double) w5_cpu / (double) count);
        bk_repeat("late_min_us", bk_quantile(&w5_late, 0) / 1e3);
        bk_repeat("late_p50_us", bk_quantile(&w5_late, 0.5) / 1e3);
        bk_repeat("late_p99_us", bk_quantile(&w5_late, 0.99) / 1e3);
        bk_repeat("late_max_us", bk_quantile(&w5_late, 1) / 1e3);
        bk_repeat("after_us", (double) w5_late_after / 1e3);
    }
    return NULL;
}

static void w5(void) {
    on_thread(w5_thread);
    bk_medians();
}

// MARK: W6 repeat

static const int64_t w6_interval = 1000000;
static int64_t w6_end, w6_last, w6_start;
static bk_samples w6_errors;
static int64_t w6_fires;

TIMER_CALLBACK(w6_fired, timer) {
    int64_t now = bk_now();
    w6_fires++;
    if (w6_last != 0) {
        int64_t error = now - w6_last - w6_interval;
        bk_sample(&w6_errors, error < 0 ? -error : error);
    }
    w6_last = now;
    if (now < w6_end) return;
    timer_stop(&timer_loop, timer);
    loop_stop(&timer_loop);
}

static void *w6_thread(void *argument) {
    (void) argument;
    int64_t length = bk_number("ms", 3000) * 1000000;
    struct timer timer = {0};
    w6_errors = bk_samples_make(length / w6_interval * 2);
    loop_open(&timer_loop);
    timer_open(&timer_loop, &timer, w6_fired);
    int64_t cpu = bk_cpu();
    w6_start = bk_now();
    w6_end = w6_start + length;
    timer_every(&timer_loop, &timer, w6_interval);
    loop_run(&timer_loop);
    bk_report_repeat(&w6_errors, w6_start, w6_last, w6_fires, bk_cpu() - cpu);
    return NULL;
}

static void w6(void) { on_thread(w6_thread); }

// MARK: W6b chain

static struct timer w6b_timer;
static bk_random w6b_random;
static bk_samples w6b_late;
static int64_t w6b_left;

static void w6b_next(void) {
    int64_t delay = bk_random_between(&w6b_random, 500000, 2000000);
    w6b_timer.due = bk_now() + delay;
    timer_in(&timer_loop, &w6b_timer, delay);
}

TIMER_CALLBACK(w6b_fired, timer) {
    bk_sample(&w6b_late, bk_now() - timer->due);
    if (--w6b_left == 0) return loop_stop(&timer_loop);
    w6b_next();
}

static void *w6b_thread(void *argument) {
    (void) argument;
    w6b_left = bk_number("count", 1500);
    w6b_late = bk_samples_make(w6b_left);
    w6b_random = bk_random_seeded();
    loop_open(&timer_loop);
    timer_open(&timer_loop, &w6b_timer, w6b_fired);
    int64_t cpu = bk_cpu(), count = w6b_left;
    w6b_next();
    loop_run(&timer_loop);
    bk_result("cpu_ns", (double) (bk_cpu() - cpu) / (double) count);
    bk_report_late(&w6b_late);
    return NULL;
}

static void w6b(void) { on_thread(w6b_thread); }
