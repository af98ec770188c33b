// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// libevent. Without its locks where only the loop's own thread takes part: W1 and W2 switch them on.
//
// Variant `precise`: a clock and waits in nanoseconds instead of a coarse clock and milliseconds.

#define _GNU_SOURCE
#include "workloads/prelude.h"

#ifndef HAS_PEER
#include "workloads/missing.h"
#else
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/thread.h>

struct loop {
    struct event_base *base;
};

static void loop_open(struct loop *loop) {
    struct event_config *config = event_config_new();
    if (strcmp(bk_text("variant", ""), "precise") == 0) event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    loop->base = event_base_new_with_config(config);
    event_config_free(config);
}
static void loop_run(struct loop *loop) { event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY); }
static void loop_stop(struct loop *loop) { event_base_loopbreak(loop->base); }

#define CALLBACK(name, type, argument)                                            \
    static void name##_body(struct type *argument);                               \
    static void name(evutil_socket_t descriptor, short events, void *argument) {  \
        (void) descriptor, (void) events;                                         \
        name##_body(argument);                                                    \
    }                                                                             \
    static void name##_body(struct type *argument)

// Wake-ups: an event without a descriptor, made active.

struct wake {
    struct event event;
};

#define WAKE_CALLBACK(name, wake) CALLBACK(name, wake, wake)

static void wake_open(struct loop *loop, struct wake *wake, event_callback_fn callback) {
    event_assign(&wake->event, loop->base, -1, 0, callback, wake);
}
static void wake_send(struct wake *wake) { event_active(&wake->event, 0, 0); }

// Posts: the library's own one-shot.

#define POST_CALLBACK(name, argument)                                             \
    static void name##_body(void *argument);                                      \
    static void name(evutil_socket_t descriptor, short events, void *argument) {  \
        (void) descriptor, (void) events;                                         \
        name##_body(argument);                                                    \
    }                                                                             \
    static void name##_body(void *argument)

static void post_open(struct loop *loop) { (void) loop; }
static void post(struct loop *loop, event_callback_fn run, void *argument) {
    event_base_once(loop->base, -1, EV_TIMEOUT, run, argument, NULL);
}
static void post_here(struct loop *loop, event_callback_fn run, void *argument) { post(loop, run, argument); }

// Timers.

struct timer {
    struct event event;
    int64_t due;
};

#define TIMER_CALLBACK(name, timer) CALLBACK(name, timer, timer)

static void timer_open(struct loop *loop, struct timer *timer, event_callback_fn callback) {
    evtimer_assign(&timer->event, loop->base, callback, timer);
}
static struct timeval microseconds(int64_t nanoseconds) {
    int64_t whole = (nanoseconds + 999) / 1000;
    return (struct timeval){whole / 1000000, whole % 1000000};
}
static void timer_in(struct loop *loop, struct timer *timer, int64_t delay) {
    (void) loop;
    struct timeval time = microseconds(delay);
    evtimer_add(&timer->event, &time);
}
static void timer_at(struct loop *loop, struct timer *timer, int64_t due) { timer_in(loop, timer, due - bk_now()); }
static void timer_every(struct loop *loop, struct timer *timer, int64_t interval) {
    event_callback_fn callback = event_get_callback(&timer->event);
    event_assign(&timer->event, loop->base, -1, EV_PERSIST, callback, timer);
    timer_in(loop, timer, interval);
}
static void timer_stop(struct loop *loop, struct timer *timer) {
    (void) loop;
    evtimer_del(&timer->event);
}
static void timer_restart(struct loop *loop, struct timer *timer, int64_t delay) { timer_in(loop, timer, delay); }

// The library makes only the event with which a timer begins; `due` is not there.
static struct timer *timer_make(struct loop *loop, struct timer *ready, event_callback_fn callback) {
    (void) ready;
    return (struct timer *) evtimer_new(loop->base, callback, event_self_cbarg());
}
static void timer_free(struct loop *loop, struct timer *timer) {
    (void) loop;
    event_free(&timer->event);
}

// Again next turn: a timer that is due at once. An event made active by its own callback is called in the same turn.

struct again {
    struct event event;
};

#define AGAIN_CALLBACK(name, again) CALLBACK(name, again, again)

static void again_ask(struct loop *loop, struct again *again) {
    (void) loop;
    static const struct timeval now = {0, 0};
    evtimer_add(&again->event, &now);
}
static void again_open(struct loop *loop, struct again *again, event_callback_fn callback) {
    evtimer_assign(&again->event, loop->base, callback, again);
    again_ask(loop, again);
}
static void again_end(struct loop *loop, struct again *again) { (void) loop, (void) again; }

// Descriptors.

struct io {
    struct event event;
};

#define IO_CALLBACK(name, io) CALLBACK(name, io, io)

static void io_open(struct loop *loop, struct io *io, int descriptor, event_callback_fn callback) {
    event_assign(&io->event, loop->base, descriptor, EV_READ | EV_PERSIST, callback, io);
    event_add(&io->event, NULL);
}

static bool use_threads(const char *workload) {
    if (strcmp(workload, "W1") == 0 || strcmp(workload, "W2") == 0) evthread_use_pthreads();
    return false;
}

#define PEER_BEFORE use_threads
#define PEER_VERSION "libevent " LIBEVENT_VERSION
#include "workloads/all.h"

#endif
