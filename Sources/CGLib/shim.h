// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// GLib as Swift sees it, and the few calls of epoll(7), whose event has a union that Swift does not read well.

#ifndef CGLIB_SHIM_H
#define CGLIB_SHIM_H

#include <errno.h>
#include <glib-unix.h>
#include <glib.h>
#include <stdint.h>
#include <sys/epoll.h>

// The bits of poll(2), which GLib's are, have the same numbers in epoll.
static inline int rlg_epoll_create(void) {
    int made = epoll_create1(EPOLL_CLOEXEC);
    return made < 0 ? -errno : made;
}

static inline int rlg_epoll_control(int epoll, int operation, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    return epoll_ctl(epoll, operation, descriptor, &event) < 0 ? -errno : 0;
}

static inline int rlg_epoll_add(int epoll, int descriptor, uint32_t events) {
    return rlg_epoll_control(epoll, EPOLL_CTL_ADD, descriptor, events);
}

static inline int rlg_epoll_modify(int epoll, int descriptor, uint32_t events) {
    return rlg_epoll_control(epoll, EPOLL_CTL_MOD, descriptor, events);
}

static inline int rlg_epoll_remove(int epoll, int descriptor) {
    return rlg_epoll_control(epoll, EPOLL_CTL_DEL, descriptor, 0);
}

static inline int rlg_epoll_look(int epoll, struct epoll_event *events, int capacity) {
    int count = epoll_wait(epoll, events, capacity, 0);
    return count < 0 ? -errno : count;
}

static inline int rlg_event_descriptor(const struct epoll_event *event) { return event->data.fd; }

#endif
