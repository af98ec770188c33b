// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "Inspecting.h"
#include "Results.h"

#include <errno.h>
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

// MARK: Sockets

int rl_inspect_socket(void) { return made(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

int rl_inspect_send(int socket, const void *bytes, size_t length) {
    ssize_t sent;
    do sent = send(socket, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return result(sent);
}

int rl_inspect_receive(int socket, void *space, size_t capacity) {
    ssize_t got;
    // recv has no room for control data: the kernel closes descriptors that a peer sends along.
    do got = recv(socket, space, capacity, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    return result(got);
}

int rl_inspect_poll(void *wanted, size_t count, int milliseconds) {
    int got = poll(wanted, count, milliseconds);
    return got < 0 && errno == EINTR ? 0 : result(got);
}

// MARK: The thread

int rl_inspect_start_thread(rl_thread *thread, size_t stack, const char *name, void *(*body)(void *), void *argument) {
    pthread_t started;
    sigset_t mask, before;
    rl_helper_mask(&mask);
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0) return -code;
    code = pthread_attr_setstacksize(&attributes, stack);
    if (code == 0) {
        // A thread begins with the mask of the thread that makes it: so there is no moment at which it takes signals.
        pthread_sigmask(SIG_SETMASK, &mask, &before);
        code = pthread_create(&started, &attributes, body, argument);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    if (code != 0) return -code;
    // A name that cannot be set is no reason to fail.
    pthread_setname_np(started, name);
    thread->handle = (uintptr_t)started;
    return 0;
}
