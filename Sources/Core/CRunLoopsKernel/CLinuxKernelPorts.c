// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CLinuxKernelPorts.h"
#include "Results.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// Of Linux 6.5; older C libraries have no names for them.
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD 0x04
#endif

// MARK: Sockets

int rl_port_socket(void) { return made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

int rl_port_pair(int ends[2]) {
    return made_pair(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), ends);
}

static int address_of(const char *path, struct sockaddr_un *address) {
    size_t length = strlen(path);
    if (length >= sizeof address->sun_path) return -ENAMETOOLONG;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length + 1);
    return 0;
}

int rl_port_bind(int socket, const char *path) {
    struct sockaddr_un address;
    int failure = address_of(path, &address);
    return failure ? failure : result(bind(socket, (struct sockaddr *)&address, sizeof address));
}

int rl_port_listen(int socket, int backlog) { return result(listen(socket, backlog)); }

static int64_t time_left(int64_t deadline) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return deadline > time ? deadline - time : 0;
}

int rl_port_connect(int socket, const char *path, int64_t deadline) {
    struct sockaddr_un address;
    int failure = address_of(path, &address);
    if (failure) return failure;
    failure = result(connect(socket, (struct sockaddr *)&address, sizeof address));
    if (failure != -EAGAIN) return failure;
    // The listener's queue is full. poll(2) does not show when that changes; a blocking connect does, within
    // SO_SNDTIMEO.
    struct timeval limit = {0, 0};
    if (deadline != INT64_MAX) {
        int64_t left = time_left(deadline);
        if (left < 1000) return -EAGAIN;
        limit.tv_sec = left / 1000000000;
        limit.tv_usec = left % 1000000000 / 1000;
    }
    int flags = fcntl(socket, F_GETFL);
    if (setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0) return -errno;
    if (fcntl(socket, F_SETFL, flags & ~O_NONBLOCK) < 0) return -errno;
    failure = result(connect(socket, (struct sockaddr *)&address, sizeof address));
    fcntl(socket, F_SETFL, flags | O_NONBLOCK);
    // A signal handler ran: the time is not over, but the caller asks again in any case.
    return failure == -EINTR ? -EAGAIN : failure;
}

int rl_port_accept(int socket) { return made(accept4(socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)); }

int rl_port_peer(int socket, struct rl_peer *peer) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -errno;
    peer->process = credentials.pid;
    peer->user = credentials.uid;
    peer->group = credentials.gid;
    return 0;
}

bool rl_port_peer_is_bound_to(int socket, const char *suffix) {
    struct sockaddr_un address = {0};
    socklen_t length = sizeof address;
    if (getpeername(socket, (struct sockaddr *)&address, &length) < 0) return false;
    size_t path_length = strnlen(address.sun_path, sizeof address.sun_path), suffix_length = strlen(suffix);
    return path_length >= suffix_length
        && memcmp(address.sun_path + path_length - suffix_length, suffix, suffix_length) == 0;
}

int rl_port_identify_senders(int socket, bool identifies) {
    int value = identifies;
    // First the descriptor, without which the number is of no use.
    int failure = result(setsockopt(socket, SOL_SOCKET, SO_PASSPIDFD, &value, sizeof value));
    return failure ? failure : result(setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &value, sizeof value));
}

int rl_port_wait(int socket, short events, int64_t deadline) {
    struct pollfd wanted = {.fd = socket, .events = events};
    for (;;) {
        struct timespec left = {0, 0};
        if (deadline != INT64_MAX) {
            int64_t nanoseconds = time_left(deadline);
            left.tv_sec = nanoseconds / 1000000000;
            left.tv_nsec = nanoseconds % 1000000000;
        }
        int got = ppoll(&wanted, 1, deadline == INT64_MAX ? NULL : &left, NULL);
        // A signal handler ran: the remaining time is computed anew.
        if (got < 0 && errno == EINTR) continue;
        return result(got);
    }
}

int rl_port_send(
    int socket, const void *head, size_t head_length, const void *body, size_t body_length, const int *passed,
    int passed_count) {
    union {
        struct cmsghdr alignment;
        char space[CMSG_SPACE(sizeof(int) * RL_MAX_PASSED)];
    } control;
    struct iovec parts[2] = {
        {.iov_base = (void *)head, .iov_len = head_length}, {.iov_base = (void *)body, .iov_len = body_length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = body_length ? 2 : 1};
    if (passed_count > RL_MAX_PASSED) return -EINVAL;
    if (passed_count > 0) {
        size_t length = sizeof(int) * (size_t)passed_count;
        message.msg_control = control.space;
        message.msg_controllen = CMSG_SPACE(length);
        memset(control.space, 0, CMSG_SPACE(length));
        struct cmsghdr *first = CMSG_FIRSTHDR(&message);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(length);
        memcpy(CMSG_DATA(first), passed, length);
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

int rl_port_receive(int socket, void *space, size_t capacity, int *passed, struct rl_packet *packet) {
    union {
        struct cmsghdr alignment;
        char space[CMSG_SPACE(sizeof(int) * RL_MAX_PASSED) + CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = space, .iov_len = capacity};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
    packet->length = 0;
    packet->passed_count = 0;
    packet->lost_descriptors = false;
    packet->process = 0;
    packet->user = 0;
    packet->process_descriptor = -1;
    ssize_t got;
    // ECONNRESET: the other side has closed before it has read everything. The kernel says so once, ahead of the
    // packets that the other side has sent.
    do got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    if (got < 0) return -errno;
    // Whatever is wrong with the packet, the descriptors that came with it belong to this process now.
    for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
        if (one->cmsg_level != SOL_SOCKET) continue;
        if (one->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(one), sizeof sender);
            packet->process = sender.pid;
            packet->user = sender.uid;
        }
        // A negative errno where there is no descriptor: the process has ended, or this process has no number left.
        if (one->cmsg_type == SCM_PIDFD) memcpy(&packet->process_descriptor, CMSG_DATA(one), sizeof(int));
        if (one->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < count; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(one) + index * sizeof(int), sizeof descriptor);
            if (packet->passed_count == RL_MAX_PASSED) {
                close(descriptor);
                continue;
            }
            descriptor = made(descriptor);
            if (descriptor < 0) packet->lost_descriptors = true;
            else passed[packet->passed_count++] = descriptor;
        }
    }
    packet->length = (size_t)got;
    packet->is_cut = (message.msg_flags & MSG_TRUNC) != 0;
    if (message.msg_flags & MSG_CTRUNC) packet->lost_descriptors = true;
    return got == 0 ? 0 : 1;
}

// MARK: Descriptors and files

int rl_port_duplicate(int descriptor) { return result(fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)); }

int rl_port_is_socket(int descriptor) {
    int kind = 0, domain = 0;
    socklen_t length = sizeof kind;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) < 0) return 0;
    length = sizeof domain;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0) return 0;
    return kind == SOCK_SEQPACKET && domain == AF_UNIX;
}

int rl_port_open_directory(const char *path, bool follows_links) {
    return made(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follows_links ? 0 : O_NOFOLLOW)));
}

int rl_port_make_directory(const char *path, uint32_t mode) { return result(mkdir(path, mode)); }

static void describe(const struct stat *status, struct rl_file *file) {
    file->device = status->st_dev;
    file->number = status->st_ino;
    file->user = status->st_uid;
    file->mode = status->st_mode;
}

int rl_port_describe(int descriptor, struct rl_file *file) {
    struct stat status;
    if (fstat(descriptor, &status) < 0) return -errno;
    describe(&status, file);
    return 0;
}

int rl_port_describe_at(int directory, const char *name, struct rl_file *file) {
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0) return -errno;
    describe(&status, file);
    return 0;
}

int rl_port_open_lock(int directory, const char *name, bool makes, uint32_t mode) {
    return made(openat(
        directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (makes ? O_CREAT : 0), mode));
}

int rl_port_lock(int descriptor) {
    int got;
    do got = flock(descriptor, LOCK_EX | LOCK_NB);
    while (got < 0 && errno == EINTR);
    return result(got);
}

int rl_port_write_file(int descriptor, const void *bytes, size_t length) {
    if (ftruncate(descriptor, 0) < 0) return -errno;
    ssize_t written = pwrite(descriptor, bytes, length, 0);
    if (written < 0) return -errno;
    return (size_t)written == length ? 0 : -ENOSPC;
}

ssize_t rl_port_read_file(int descriptor, void *space, size_t capacity) {
    ssize_t got = pread(descriptor, space, capacity, 0);
    return got < 0 ? -errno : got;
}

int rl_port_set_mode(int directory, const char *name, uint32_t mode) {
    return result(fchmodat(directory, name, mode, 0));
}

int rl_port_rename(int directory, const char *from, const char *to) {
    return result(renameat(directory, from, directory, to));
}

int rl_port_remove(int directory, const char *name) { return result(unlinkat(directory, name, 0)); }

uint32_t rl_port_user(void) { return geteuid(); }

uint64_t rl_port_random(void) {
    uint64_t number = 0;
    // Does not fail for so few bytes once the system is up; zero would still be a number like any other.
    (void)!getrandom(&number, sizeof number, 0);
    return number;
}
