// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// libuv. Timers count in milliseconds of a clock that is read once a turn; uv_async_send is the wake-up.

#define _GNU_SOURCE
#include "workloads/prelude.h"

#ifndef HAS_PEER
#include "workloads/missing.h"
#else
#include <uv.h>

struct loop {
    uv_loop_t uv;
};

static void loop_open(struct loop *loop) { uv_loop_init(&loop->uv); }
static void loop_run(struct loop *loop) { uv_run(&loop->uv, UV_RUN_DEFAULT); }
static void loop_stop(struct loop *loop) { uv_stop(&loop->uv); }

// Wake-ups.

struct wake {
    uv_async_t async;
};

#define WAKE_CALLBACK(name, wake)                                       \
    static void name##_body(struct wake *wake);                         \
    static void name(uv_async_t *async) { name##_body((void *) async); } \
    static void name##_body(struct wake *wake)

static void wake_open(struct loop *loop, struct wake *wake, uv_async_cb callback) {
    uv_async_init(&loop->uv, &wake->async, callback);
}
static void wake_send(struct wake *wake) { uv_async_send(&wake->async); }

// Timers.

struct timer {
    uv_timer_t timer;
    int64_t due;
};

#define TIMER_CALLBACK(name, timer)                                     \
    static void name##_body(struct timer *timer);                       \
    static void name(uv_timer_t *handle) { name##_body((void *) handle); } \
    static void name##_body(struct timer *timer)

// The callback is an argument of uv_timer_start, and is kept here until that call.
static void timer_open(struct loop *loop, struct timer *timer, uv_timer_cb callback) {
    uv_timer_init(&loop->uv, &timer->timer);
    timer->timer.data = (void *) callback;
}

static uint64_t milliseconds(int64_t nanoseconds) { return (uint64_t) (nanoseconds + 999999) / 1000000; }

static void timer_in(struct loop *loop, struct timer *timer, int64_t delay) {
    (void) loop;
    uv_timer_start(&timer->timer, (uv_timer_cb) timer->timer.data, milliseconds(delay), 0);
}
static void timer_at(struct loop *loop, struct timer *timer, int64_t due) {
    // The loop's own clock stands still while it does not turn.
    uv_update_time(&loop->uv);
    timer_in(loop, timer, due - bk_now());
}
static void timer_every(struct loop *loop, struct timer *timer, int64_t interval) {
    uv_update_time(&loop->uv);
    uint64_t repeat = milliseconds(interval);
    uv_timer_start(&timer->timer, (uv_timer_cb) timer->timer.data, repeat, repeat);
}
static void timer_stop(struct loop *loop, struct timer *timer) {
    (void) loop;
    uv_timer_stop(&timer->timer);
}
static void timer_restart(struct loop *loop, struct timer *timer, int64_t delay) { timer_in(loop, timer, delay); }

static void timer_closed(uv_handle_t *handle) { free(handle); }

static struct timer *timer_make(struct loop *loop, struct timer *ready, uv_timer_cb callback) {
    (void) ready;
    struct timer *timer = malloc(sizeof *timer);
    timer_open(loop, timer, callback);
    return timer;
}
// Closing stops it too. Its memory is the loop's until the end of the turn, so there is a turn now and then.
static void timer_free(struct loop *loop, struct timer *timer) {
    static int closed;
    uv_close((uv_handle_t *) &timer->timer, timer_closed);
    if (++closed % 100 == 0) uv_run(&loop->uv, UV_RUN_NOWAIT);
}

// Again next turn: an idle handle, which keeps the loop from sleeping and lets it look at the kernel.

struct again {
    uv_idle_t idle;
};

#define AGAIN_CALLBACK(name, again)                                   \
    static void name##_body(struct again *again);                     \
    static void name(uv_idle_t *idle) { name##_body((void *) idle); } \
    static void name##_body(struct again *again)

static void again_open(struct loop *loop, struct again *again, uv_idle_cb callback) {
    uv_idle_init(&loop->uv, &again->idle);
    uv_idle_start(&again->idle, callback);
}
// It stays until it is stopped.
static void again_ask(struct loop *loop, struct again *again) { (void) loop, (void) again; }
static void again_end(struct loop *loop, struct again *again) {
    (void) loop;
    uv_idle_stop(&again->idle);
}

// Descriptors.

struct io {
    uv_poll_t poll;
};

#define IO_CALLBACK(name, io)                                    \
    static void name##_body(struct io *io);                      \
    static void name(uv_poll_t *poll, int status, int events) {  \
        (void) status, (void) events;                            \
        name##_body((void *) poll);                              \
    }                                                            \
    static void name##_body(struct io *io)

static void io_open(struct loop *loop, struct io *io, int descriptor, uv_poll_cb callback) {
    uv_poll_init(&loop->uv, &io->poll, descriptor);
    uv_poll_start(&io->poll, UV_READABLE, callback);
}

#include "workloads/posting.h"

#define PEER_VERSION "libuv " BK_VERSION_3(UV_VERSION_MAJOR, UV_VERSION_MINOR, UV_VERSION_PATCH)
#include "workloads/all.h"

#endif
