// What the inspector asks of Linux beside what ports do: stream sockets, a thread that takes no signals, and descriptors
// that a child made by fork() does not keep.
//
// Every function that can fail returns a negative errno. All descriptors made here are closed on exec.

#ifndef CLINUXKERNEL_INSPECTING_H
#define CLINUXKERNEL_INSPECTING_H

#include "LinuxOnly.h"

#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

// A stream socket, non-blocking.
int rl_inspect_socket(void);
// How many bytes went; -EAGAIN when there is no room. No SIGPIPE.
int rl_inspect_send(int socket, const void *bytes, size_t length);
// How many bytes came; 0 at the end; -EAGAIN when there are none.
int rl_inspect_receive(int socket, void *space, size_t capacity);
// Has whoever waits for the listening socket wake up: it is readable from here on, and accepting fails.
int rl_inspect_shut(int socket);
// poll(2) with a limit in milliseconds, negative for none. The number of those ready; 0 after a signal too.
int rl_inspect_poll(struct pollfd *wanted, size_t count, int milliseconds);

// Starts a joinable thread which has a name and in which every signal is blocked.
int rl_inspect_start_thread(pthread_t *thread, size_t stack, const char *name, void *(*body)(void *), void *argument);

// Has the descriptor closed in a child made by fork(), until it is given up. Before closing it, it is given up.
void rl_inspect_keep_from_children(int descriptor);
void rl_inspect_give_up(int descriptor);

#endif
