// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The calls of the inspector to Linux, beside those of ports: stream sockets, a thread that takes no signals, and
// descriptors that a child made by fork() does not keep.
//
// Every function that can fail returns a negative errno. All descriptors made here are closed on exec.

#ifndef CLINUXKERNEL_INSPECTING_H
#define CLINUXKERNEL_INSPECTING_H

#include "LinuxOnly.h"
#include "ThreadAttributes.h"

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

// A stream socket, non-blocking.
int rl_inspect_socket(void);
// How many bytes were sent; -EAGAIN when there is no room. No SIGPIPE.
int rl_inspect_send(int socket, const void *bytes, size_t length);
// How many bytes were received; 0 at the end; -EAGAIN when there are none.
int rl_inspect_receive(int socket, void *space, size_t capacity);
// Wakes the thread that waits for the listening socket: the socket is readable from here on, and accepting fails.
int rl_inspect_shut(int socket);
// poll(2) with a limit in milliseconds, negative for none. How many are ready; 0 after a signal too.
int rl_inspect_poll(struct pollfd *wanted, size_t count, int milliseconds);

// Starts a joinable thread that has a name and blocks every signal.
int rl_inspect_start_thread(rl_thread *thread, size_t stack, const char *name, void *(*body)(void *), void *argument);

// Has a child made by fork() close the descriptor, until it is given up. Give a descriptor up before you close it.
void rl_inspect_keep_from_children(int descriptor);
void rl_inspect_give_up(int descriptor);

#endif
