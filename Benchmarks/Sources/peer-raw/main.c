// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A loop written by hand, straight on epoll: the best that a program can do without a library, and so the limit.
//
// It is a plain one, not a proven floor. Variants by the argument `variant`:
//   level     the wake-up's eventfd is level-triggered and read (the default)
//   edge      edge-triggered and never read
//   futex     W1 only: two threads and one futex word each (futex.h)
//   timerfd   sleeps until the next timer by a timerfd instead of the time limit of epoll_pwait2
//   slack     epoll_pwait2 with the thread's timer slack at 1 ns instead of 50 µs
//   ms        epoll_wait, whose limit is in milliseconds

#define _GNU_SOURCE
#include "workloads/prelude.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "heap.h"

struct loop {
    int epoll;
    int timer_descriptor;
    int64_t timer_set;
    bool is_stopped, is_edge, is_ms, is_busy;
    struct heap timers;
    struct again *again;
};

// Everything that epoll reports begins with what to call for it.
struct io {
    void (*ready)(struct io *);
    int descriptor;
};

static bool is_variant(const char *name) { return strcmp(bk_text("variant", "level"), name) == 0; }

static void loop_watch(struct loop *loop, struct io *io, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = io};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, io->descriptor, &event) != 0) bk_fail("epoll_ctl");
}

static void timer_descriptor_ready(struct io *io) { (void) io; }

static void loop_open(struct loop *loop) {
    *loop = (struct loop){.epoll = epoll_create1(EPOLL_CLOEXEC), .timer_descriptor = -1};
    loop->is_edge = is_variant("edge");
    loop->is_ms = is_variant("ms");
    if (is_variant("slack")) bk_fine_slack();
    if (is_variant("timerfd")) {
        static struct io io;
        loop->timer_descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        io = (struct io){timer_descriptor_ready, loop->timer_descriptor};
        // Edge-triggered: setting it anew empties it, so that it need not be read.
        loop_watch(loop, &io, EPOLLIN | EPOLLET);
    }
}

static void loop_stop(struct loop *loop) { loop->is_stopped = true; }

// Again next turn.

struct again {
    void (*run)(struct again *);
    bool is_asked;
};

#define AGAIN_CALLBACK(name, again) static void name(struct again *again)

static void again_ask(struct loop *loop, struct again *again) { loop->is_busy = again->is_asked = true; }
static void again_open(struct loop *loop, struct again *again, void (*run)(struct again *)) {
    *again = (struct again){run, false};
    loop->again = again;
    again_ask(loop, again);
}
static void again_end(struct loop *loop, struct again *again) { (void) loop, (void) again; }

// The turn.

enum { batch = 64 };

static int loop_sleep_until_timer(struct loop *loop, struct epoll_event *events) {
    int64_t due = loop->timers.entries[0].due;
    if (loop->timer_descriptor >= 0) {
        if (loop->timer_set != due) {
            struct itimerspec at = {.it_value = {due / 1000000000, due % 1000000000}};
            timerfd_settime(loop->timer_descriptor, TFD_TIMER_ABSTIME, &at, NULL);
            loop->timer_set = due;
        }
        return epoll_wait(loop->epoll, events, batch, -1);
    }
    int64_t left = due - bk_now();
    if (left < 0) left = 0;
    if (loop->is_ms) return epoll_wait(loop->epoll, events, batch, (int) ((left + 999999) / 1000000));
    struct timespec limit = {left / 1000000000, left % 1000000000};
    return epoll_pwait2(loop->epoll, events, batch, &limit, NULL);
}

static int loop_sleep(struct loop *loop, struct epoll_event *events) {
    if (loop->is_busy) return epoll_wait(loop->epoll, events, batch, 0);
    if (loop->timers.count > 0) return loop_sleep_until_timer(loop, events);
    return epoll_wait(loop->epoll, events, batch, -1);
}

static void loop_fire(struct loop *loop) {
    int64_t now = bk_now();
    while (loop->timers.count > 0 && loop->timers.entries[0].due <= now) {
        struct timer *timer = loop->timers.entries[0].timer;
        heap_remove(&loop->timers, timer);
        // The grid is laid by the first date; dates that have passed are skipped.
        if (timer->interval > 0) {
            timer->at += ((now - timer->at) / timer->interval + 1) * timer->interval;
            heap_insert(&loop->timers, timer, timer->at);
        }
        timer->fire(timer);
    }
}

static void loop_run(struct loop *loop) {
    struct epoll_event events[batch];
    loop->is_stopped = false;
    while (!loop->is_stopped) {
        int count = loop_sleep(loop, events);
        for (int i = 0; i < count; i++) {
            struct io *io = events[i].data.ptr;
            io->ready(io);
        }
        if (loop->timers.count > 0) loop_fire(loop);
        if (loop->again != NULL && loop->again->is_asked) {
            loop->is_busy = loop->again->is_asked = false;
            loop->again->run(loop->again);
        }
    }
}

// Descriptors.

#define IO_CALLBACK(name, io) static void name(struct io *io)

static void io_open(struct loop *loop, struct io *io, int descriptor, void (*ready)(struct io *)) {
    *io = (struct io){ready, descriptor};
    loop_watch(loop, io, EPOLLIN);
}

// Wake-ups.

struct wake {
    struct io io;
    bool is_edge;
    void (*run)(struct wake *);
};

#define WAKE_CALLBACK(name, wake) static void name(struct wake *wake)

static void wake_ready(struct io *io) {
    struct wake *wake = (struct wake *) io;
    uint64_t count;
    if (!wake->is_edge && read(io->descriptor, &count, sizeof count) != sizeof count) return;
    wake->run(wake);
}
static void wake_open(struct loop *loop, struct wake *wake, void (*run)(struct wake *)) {
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    *wake = (struct wake){{wake_ready, descriptor}, loop->is_edge, run};
    loop_watch(loop, &wake->io, loop->is_edge ? EPOLLIN | EPOLLET : EPOLLIN);
}
static void wake_send(struct wake *wake) {
    uint64_t one = 1;
    if (write(wake->io.descriptor, &one, sizeof one) != sizeof one) bk_fail("an eventfd cannot be written");
}

// Timers.

#define TIMER_CALLBACK(name, timer) static void name(struct timer *timer)

static void timer_open(struct loop *loop, struct timer *timer, void (*fire)(struct timer *)) {
    (void) loop;
    timer->fire = fire;
    timer->interval = 0;
}
static void timer_at(struct loop *loop, struct timer *timer, int64_t due) { heap_insert(&loop->timers, timer, due); }
static void timer_in(struct loop *loop, struct timer *timer, int64_t delay) {
    timer_at(loop, timer, bk_now() + delay);
}
static void timer_every(struct loop *loop, struct timer *timer, int64_t interval) {
    timer->interval = interval;
    timer->at = bk_now() + interval;
    timer_at(loop, timer, timer->at);
}
static void timer_stop(struct loop *loop, struct timer *timer) { heap_remove(&loop->timers, timer); }
static void timer_restart(struct loop *loop, struct timer *timer, int64_t delay) {
    heap_change(&loop->timers, timer, bk_now() + delay);
}
static struct timer *timer_make(struct loop *loop, struct timer *ready, void (*fire)(struct timer *)) {
    (void) ready;
    struct timer *timer = malloc(sizeof *timer);
    timer_open(loop, timer, fire);
    return timer;
}
static void timer_free(struct loop *loop, struct timer *timer) {
    timer_stop(loop, timer);
    free(timer);
}

#include "workloads/posting.h"

#include "futex.h"

#define PEER_BEFORE run_futex_workload
#define PEER_VERSION "glibc " BK_VERSION_2(__GLIBC__, __GLIBC_MINOR__)
#include "workloads/all.h"
