// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// GLib's main loop. A timer is a source, an object that is made when it is added; it counts in milliseconds.

#define _GNU_SOURCE
#include "workloads/prelude.h"

#ifndef HAS_PEER
#include "workloads/missing.h"
#else
#include <glib-unix.h>
#include <glib.h>

struct loop {
    GMainContext *context;
    GMainLoop *main;
};

static void loop_open(struct loop *loop) {
    loop->context = g_main_context_new();
    loop->main = g_main_loop_new(loop->context, FALSE);
}
static void loop_run(struct loop *loop) { g_main_loop_run(loop->main); }
static void loop_stop(struct loop *loop) { g_main_loop_quit(loop->main); }

// Attaches a new source; the context holds the reference.
static GSource *attach(struct loop *loop, GSource *source, GSourceFunc callback, void *argument) {
    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_set_callback(source, callback, argument, NULL);
    g_source_attach(source, loop->context);
    return source;
}

#define CALLBACK(name, type, argument, goes_on)         \
    static void name##_body(struct type *argument);     \
    static gboolean name(gpointer argument) {           \
        name##_body(argument);                          \
        return goes_on;                                 \
    }                                                   \
    static void name##_body(struct type *argument)

// Wake-ups: a source that is made ready by setting its time.

struct wake {
    GSource *source;
};

#define WAKE_CALLBACK(name, wake) CALLBACK(name, wake, wake, G_SOURCE_CONTINUE)

static gboolean wake_dispatch(GSource *source, GSourceFunc callback, gpointer argument) {
    g_source_set_ready_time(source, -1);
    return callback(argument);
}
static GSourceFuncs wake_functions = {.dispatch = wake_dispatch};

static void wake_open(struct loop *loop, struct wake *wake, GSourceFunc callback) {
    wake->source = attach(loop, g_source_new(&wake_functions, sizeof(GSource)), callback, wake);
}
static void wake_send(struct wake *wake) { g_source_set_ready_time(wake->source, 0); }

// Posts. On the context's own thread g_main_context_invoke would call at once instead of posting.

#define POST_CALLBACK(name, argument)           \
    static void name##_body(void *argument);    \
    static gboolean name(gpointer argument) {   \
        name##_body(argument);                  \
        return G_SOURCE_REMOVE;                 \
    }                                           \
    static void name##_body(void *argument)

static void post_open(struct loop *loop) { (void) loop; }
static void post(struct loop *loop, GSourceFunc run, void *argument) {
    g_main_context_invoke(loop->context, run, argument);
}
static void post_here(struct loop *loop, GSourceFunc run, void *argument) {
    g_source_unref(attach(loop, g_idle_source_new(), run, argument));
}

// Timers. A timer that fires once destroys itself after its fire.

struct timer {
    GSource *source;
    GSourceFunc callback;
    int64_t due;
    gboolean repeats;
};

#define TIMER_CALLBACK(name, timer)                     \
    static void name##_body(struct timer *timer);       \
    static gboolean name(gpointer argument) {           \
        gboolean repeats = ((struct timer *) argument)->repeats; \
        name##_body(argument);                          \
        return repeats;                                 \
    }                                                   \
    static void name##_body(struct timer *timer)

static void timer_open(struct loop *loop, struct timer *timer, GSourceFunc callback) {
    (void) loop;
    timer->callback = callback;
}
static void timer_in(struct loop *loop, struct timer *timer, int64_t delay) {
    guint milliseconds = (guint) ((delay + 999999) / 1000000);
    timer->source = attach(loop, g_timeout_source_new(milliseconds), timer->callback, timer);
    g_source_unref(timer->source);
}
static void timer_at(struct loop *loop, struct timer *timer, int64_t due) { timer_in(loop, timer, due - bk_now()); }
static void timer_every(struct loop *loop, struct timer *timer, int64_t interval) {
    timer->repeats = G_SOURCE_CONTINUE;
    timer_in(loop, timer, interval);
}
static void timer_stop(struct loop *loop, struct timer *timer) {
    (void) loop;
    timer->repeats = G_SOURCE_REMOVE;
    g_source_destroy(timer->source);
}
static void timer_restart(struct loop *loop, struct timer *timer, int64_t delay) {
    (void) loop;
    g_source_set_ready_time(timer->source, g_get_monotonic_time() + delay / 1000);
}

static struct timer *timer_make(struct loop *loop, struct timer *ready, GSourceFunc callback) {
    (void) loop, (void) callback;
    return ready;
}
static void timer_free(struct loop *loop, struct timer *timer) { timer_stop(loop, timer); }

// Again next turn: an idle source, which stays.

struct again {
    GSource *source;
};

#define AGAIN_CALLBACK(name, again) CALLBACK(name, again, again, G_SOURCE_CONTINUE)

static void again_open(struct loop *loop, struct again *again, GSourceFunc callback) {
    again->source = attach(loop, g_idle_source_new(), callback, again);
}
static void again_ask(struct loop *loop, struct again *again) { (void) loop, (void) again; }
static void again_end(struct loop *loop, struct again *again) { (void) loop, (void) again; }

// Descriptors.

struct io {
    GSource *source;
};

#define IO_CALLBACK(name, io)                                                       \
    static void name##_body(struct io *io);                                         \
    static gboolean name(gint descriptor, GIOCondition condition, gpointer io) {    \
        (void) descriptor, (void) condition;                                        \
        name##_body(io);                                                            \
        return G_SOURCE_CONTINUE;                                                   \
    }                                                                               \
    static void name##_body(struct io *io)

static void io_open(struct loop *loop, struct io *io, int descriptor, GUnixFDSourceFunc callback) {
    // The callback's real type depends on the kind of source, which the setter cannot express.
    io->source = attach(loop, g_unix_fd_source_new(descriptor, G_IO_IN), (GSourceFunc) (void (*)(void)) callback, io);
}

#define PEER_VERSION "GLib " BK_VERSION_3(GLIB_MAJOR_VERSION, GLIB_MINOR_VERSION, GLIB_MICRO_VERSION)
#include "workloads/all.h"

#endif
