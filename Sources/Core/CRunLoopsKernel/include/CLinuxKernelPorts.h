// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The calls of message ports to Linux: sequenced-packet sockets with names, the descriptors that travel over them, and
// the locked files that say which process owns a name.
//
// Every function that can fail returns a negative errno. All descriptors made here are closed on exec.

#ifndef CLINUXKERNELPORTS_H
#define CLINUXKERNELPORTS_H

#include "LinuxOnly.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The most descriptors the kernel carries in one message (SCM_MAX_FD).
#define RL_MAX_PASSED 253

struct rl_peer {
    int32_t process;
    uint32_t user;
    uint32_t group;
};

struct rl_file {
    uint64_t device;
    uint64_t number;
    uint32_t user;
    uint32_t mode;
};

// One packet received: its length, how many descriptors came with it, and whether the kernel had to cut anything off.
struct rl_packet {
    size_t length;
    int passed_count;
    bool is_cut;
    bool lost_descriptors;
    // The process that has sent the packet and its user, as the kernel names them, and a descriptor of the process, which the
    // caller closes. -1 for no descriptor: the socket does not ask (rl_port_identify_senders), or the process has ended.
    int32_t process;
    uint32_t user;
    int process_descriptor;
};

// Sockets, all SOCK_SEQPACKET and non-blocking. Paths that do not fit into an address are -ENAMETOOLONG.
int rl_port_socket(void);
int rl_port_pair(int ends[2]);
int rl_port_bind(int socket, const char *path);
int rl_port_listen(int socket, int backlog);
// Waits for a place in the queue of the listener until `deadline` of CLOCK_MONOTONIC; -EAGAIN when there is none.
int rl_port_connect(int socket, const char *path, int64_t deadline);
int rl_port_accept(int socket);
int rl_port_peer(int socket, struct rl_peer *peer);
// Whether the other end is bound to a path that ends with `suffix`.
bool rl_port_peer_is_bound_to(int socket, const char *suffix);
// Has the kernel say of each packet that is sent from now on which process has sent it. -ENOPROTOOPT before Linux 6.5.
int rl_port_identify_senders(int socket, bool identifies);
// Waits for `events` of poll(2) until `deadline` of CLOCK_MONOTONIC. 1: ready; 0: the time is over.
int rl_port_wait(int socket, short events, int64_t deadline);
// Sends one packet of two parts. 0, or -EAGAIN when the queue is full.
int rl_port_send(
    int socket, const void *head, size_t head_length, const void *body, size_t body_length, const int *passed,
    int passed_count);
// 1: a packet; 0: the other side has closed, or has sent an empty packet, which no part of this package does; -EAGAIN.
// `passed` has room for RL_MAX_PASSED; the caller owns what is in it, whatever else is wrong.
int rl_port_receive(int socket, void *space, size_t capacity, int *passed, struct rl_packet *packet);

// Descriptors and files.
int rl_port_duplicate(int descriptor);
int rl_port_is_socket(int descriptor);
int rl_port_open_directory(const char *path, bool follows_links);
int rl_port_make_directory(const char *path, uint32_t mode);
int rl_port_describe(int descriptor, struct rl_file *file);
// The same for a name in a directory; links are not followed.
int rl_port_describe_at(int directory, const char *name, struct rl_file *file);
// Opens or makes a small file for the lock on a name; never follows a link, never waits (a FIFO would).
int rl_port_open_lock(int directory, const char *name, bool makes, uint32_t mode);
// -EWOULDBLOCK when another process has the lock.
int rl_port_lock(int descriptor);
int rl_port_write_file(int descriptor, const void *bytes, size_t length);
ssize_t rl_port_read_file(int descriptor, void *space, size_t capacity);
int rl_port_set_mode(int directory, const char *name, uint32_t mode);
int rl_port_rename(int directory, const char *from, const char *to);
int rl_port_remove(int directory, const char *name);
uint32_t rl_port_user(void);
uint64_t rl_port_random(void);

#endif
