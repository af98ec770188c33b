// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The calls of event sources to the system: files, child processes, watched directories, sockets.
//
// As in CRunLoopsKernel.h, a failure is returned as a negative errno.

#ifndef CLINUXEVENTS_H
#define CLINUXEVENTS_H

#include "LinuxOnly.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Files. A read that a signal interrupts is repeated.
int rl_read(int descriptor, void *bytes, size_t capacity);
// Reads what is there without waiting, whatever the descriptor's flags say: -EAGAIN if there is nothing. Where the kernel or the
// kind of file cannot do that: -EOPNOTSUPP, -ENOSYS or -EINVAL.
int rl_read_now(int descriptor, void *bytes, size_t capacity);
int rl_write(int descriptor, const void *bytes, size_t count);
// The reading end and the writing end, non-blocking and closed on exec.
int rl_pipe(int *ends);
// How many bytes wait to be read.
int rl_bytes_waiting(int descriptor);
// Waits until there is something to read: 1, or 0 when the time is over.
int rl_wait_readable(int descriptor, int milliseconds);
// The number and the device of the file at a path that is a socket.
int rl_socket_file(const char *path, uint64_t *number, uint64_t *device);
int rl_unlink(const char *path);
// 1: the path leads to a directory; 0: to something else, such as a link.
int rl_is_directory(const char *path);

// Child processes.
typedef struct {
    // CLD_EXITED, CLD_KILLED or CLD_DUMPED, and the exit code or the signal.
    int32_t code;
    int32_t status;
    int64_t user_microseconds;
    int64_t system_microseconds;
    int64_t most_resident_kilobytes;
    int64_t minor_faults;
    int64_t major_faults;
    int64_t voluntary_switches;
    int64_t involuntary_switches;
} rl_child_exit;

int rl_pidfd_open(int32_t process);
int rl_pidfd_signal(int descriptor, int signal);
// To the group that the process was made the leader of, also after the process was reaped. -EINVAL before Linux 6.9.
int rl_pidfd_signal_group(int descriptor, int signal);
// 1: it has ended; 0: it has not; 2: it has ended and was reaped elsewhere, and its usage is not known. -ECHILD for a
// process that is no child, or that was reaped elsewhere and the kernel does not remember how it ended.
int rl_pidfd_wait(int descriptor, bool reaps, rl_child_exit *end);

// Watched directories.
int rl_inotify_create(void);
int rl_inotify_add(int descriptor, const char *path, uint32_t mask);
int rl_inotify_remove(int descriptor, int watch);
// Whether what is removed in this directory may report nothing to its own watches: the kernel removes the files of a control group or of
// a device without a call, and NFS renames a removed file that is open.
bool rl_removes_silently(const char *directory);

// Socket addresses, in 128 bytes; the functions that make an address return its length.
#define RL_ADDRESS_ROOM 128
// -EINVAL for a path with a zero in it. What begins with a zero is a name outside the file system, of any bytes.
int rl_address_unix(void *address, const char *path, size_t length);
int rl_address_internet(void *address, const char *host, uint16_t port);
int rl_address_family(const void *address);
int rl_address_port(const void *address);
// The number of a host as text, with a zero at the end.
void rl_address_host(const void *address, char *text, size_t capacity);

// Stream sockets, non-blocking and closed on exec.
int rl_socket_create(int family);
int rl_socket_pair(int *ends);
int rl_socket_listen(int descriptor, const void *address, uint32_t length, int backlog);
// Whether the file of a Unix socket is stale: 0 if it is a socket of this user at which nobody listens. -ENOTSOCK: no socket;
// -EPERM: another user's; -EADDRINUSE: somebody listens, or it cannot be known.
int rl_socket_stale(const char *path, const void *address, uint32_t length);
// Locks the directory that the file at a path is in, against others who call this; waits for some 15 ms. A descriptor, or
// an error. The lock ends with the process.
int rl_lock_directory_of(const char *path);
void rl_unlock_directory(int descriptor);
int rl_socket_connect(int descriptor, const void *address, uint32_t length);
int rl_socket_accept(int descriptor);
// Takes the pending error of a socket that has connected, as a positive number; 0 for none. ECONNREFUSED for a socket that is connected
// to itself: nobody listens there.
int rl_socket_take_error(int descriptor);
// Without SIGPIPE.
int rl_socket_send(int descriptor, const void *bytes, size_t count);
int rl_socket_finish(int descriptor);
// Sends one datagram, with copies of the descriptors, to a Unix socket; does not wait. -E2BIG for more descriptors than
// the kernel takes at once.
int rl_datagram_send(const void *address, uint32_t length, const void *bytes, size_t count, const int *descriptors,
                     size_t number);
// The length of the socket's own or its peer's address.
int rl_socket_address(int descriptor, bool peer, void *address);
int rl_make_nonblocking(int descriptor);

#endif
