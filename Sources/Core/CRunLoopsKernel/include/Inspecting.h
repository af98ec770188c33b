// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The calls of the inspector to Linux, beside those of ports: stream sockets, and a thread that takes none of the program's
// signals.
//
// Every function that can fail returns a negative errno. All descriptors made here are closed on exec.

#ifndef CLINUXKERNEL_INSPECTING_H
#define CLINUXKERNEL_INSPECTING_H

#include "LinuxOnly.h"
#include "ThreadAttributes.h"

#include <stddef.h>
#include <stdint.h>

// A stream socket, non-blocking.
int rl_inspect_socket(void);
// How many bytes were sent; -EAGAIN when there is no room. No SIGPIPE.
int rl_inspect_send(int socket, const void *bytes, size_t length);
// How many bytes were received; 0 at the end; -EAGAIN when there are none.
int rl_inspect_receive(int socket, void *space, size_t capacity);
// poll(2) of `count` pollfds with a limit in milliseconds, negative for none. How many are ready; 0 after a signal too. Without that
// type, because a header that includes <poll.h> takes it over from the module of the C library.
int rl_inspect_poll(void *wanted, size_t count, int milliseconds);

// Starts a joinable thread that has a name and the mask of rl_helper_mask.
int rl_inspect_start_thread(rl_thread *thread, size_t stack, const char *name, void *(*body)(void *), void *argument);

#endif
