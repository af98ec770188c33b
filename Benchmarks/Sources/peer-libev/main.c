// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// libev. Times are double seconds; a timer's "in d" counts from the clock that the loop read at the turn's beginning.

#define _GNU_SOURCE
#include "workloads/prelude.h"

#ifndef HAS_PEER
#include "workloads/missing.h"
#else
// The header's own strict-aliasing arrangement warns about itself.
#pragma clang diagnostic ignored "-Wstrict-aliasing"
#include <ev.h>

struct loop {
    struct ev_loop *ev;
};

static void loop_open(struct loop *loop) { loop->ev = ev_loop_new(EVFLAG_AUTO); }
static void loop_run(struct loop *loop) { ev_run(loop->ev, 0); }
static void loop_stop(struct loop *loop) { ev_break(loop->ev, EVBREAK_ONE); }

#define CALLBACK(name, watcher_type, type, argument)                                     \
    static void name##_body(struct type *argument);                                      \
    static void name(struct ev_loop *loop, watcher_type *watcher, int events) {          \
        (void) loop, (void) events;                                                      \
        name##_body((void *) watcher);                                                   \
    }                                                                                    \
    static void name##_body(struct type *argument)

// Wake-ups.

struct wake {
    ev_async async;
    struct ev_loop *ev;
};

#define WAKE_CALLBACK(name, wake) CALLBACK(name, ev_async, wake, wake)

static void wake_open(struct loop *loop, struct wake *wake, void (*callback)(struct ev_loop *, ev_async *, int)) {
    wake->ev = loop->ev;
    ev_async_init(&wake->async, callback);
    ev_async_start(loop->ev, &wake->async);
}
static void wake_send(struct wake *wake) { ev_async_send(wake->ev, &wake->async); }

// Timers.

struct timer {
    ev_timer timer;
    int64_t due;
};

#define TIMER_CALLBACK(name, timer) CALLBACK(name, ev_timer, timer, timer)

static void timer_open(struct loop *loop, struct timer *timer, void (*callback)(struct ev_loop *, ev_timer *, int)) {
    (void) loop;
    ev_init(&timer->timer, callback);
}
static void timer_in(struct loop *loop, struct timer *timer, int64_t delay) {
    ev_timer_set(&timer->timer, (double) delay / 1e9, 0.);
    ev_timer_start(loop->ev, &timer->timer);
}
static void timer_at(struct loop *loop, struct timer *timer, int64_t due) {
    // The loop's own clock stands still while it does not turn.
    ev_now_update(loop->ev);
    timer_in(loop, timer, due - bk_now());
}
static void timer_every(struct loop *loop, struct timer *timer, int64_t interval) {
    ev_now_update(loop->ev);
    ev_timer_set(&timer->timer, (double) interval / 1e9, (double) interval / 1e9);
    ev_timer_start(loop->ev, &timer->timer);
}
static void timer_stop(struct loop *loop, struct timer *timer) { ev_timer_stop(loop->ev, &timer->timer); }
static void timer_restart(struct loop *loop, struct timer *timer, int64_t delay) {
    // It counts from the interval; stopping and starting, which a one-shot would need, is the dearer way.
    timer->timer.repeat = (double) delay / 1e9;
    ev_timer_again(loop->ev, &timer->timer);
}
static struct timer *timer_make(
    struct loop *loop, struct timer *ready, void (*callback)(struct ev_loop *, ev_timer *, int)) {
    (void) ready;
    struct timer *timer = malloc(sizeof *timer);
    timer_open(loop, timer, callback);
    return timer;
}
static void timer_free(struct loop *loop, struct timer *timer) {
    timer_stop(loop, timer);
    free(timer);
}

// Again next turn: an idle watcher, which keeps the loop from sleeping and lets it look at the kernel.

struct again {
    ev_idle idle;
};

#define AGAIN_CALLBACK(name, again) CALLBACK(name, ev_idle, again, again)

static void again_open(struct loop *loop, struct again *again, void (*callback)(struct ev_loop *, ev_idle *, int)) {
    ev_idle_init(&again->idle, callback);
    ev_idle_start(loop->ev, &again->idle);
}
// It stays until it is stopped.
static void again_ask(struct loop *loop, struct again *again) { (void) loop, (void) again; }
static void again_end(struct loop *loop, struct again *again) { ev_idle_stop(loop->ev, &again->idle); }

// Descriptors.

struct io {
    ev_io io;
};

#define IO_CALLBACK(name, io) CALLBACK(name, ev_io, io, io)

static void io_open(struct loop *loop, struct io *io, int descriptor, void (*callback)(struct ev_loop *, ev_io *, int)) {
    ev_io_init(&io->io, callback, descriptor, EV_READ);
    ev_io_start(loop->ev, &io->io);
}

#include "workloads/posting.h"

#define PEER_VERSION "libev " BK_VERSION_2(EV_VERSION_MAJOR, EV_VERSION_MINOR)
#include "workloads/all.h"

#endif
