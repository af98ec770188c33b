// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CLinuxEvents.h"
#include "Cloning.h"
#include "PermittedCalls.h"
#include "Results.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#define RL_P_PIDFD 3
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

// Files

int rl_read(int descriptor, void *bytes, size_t capacity) {
    ssize_t got;
    do got = read(descriptor, bytes, capacity);
    while (got < 0 && errno == EINTR);
    return result(got);
}

int rl_read_now(int descriptor, void *bytes, size_t capacity) {
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    long got;
    // By number: not every C library has the function. An offset of -1 is the present one, in both halves.
    do got = syscall(SYS_preadv2, descriptor, &part, 1, -1L, -1L, RWF_NOWAIT);
    while (got < 0 && errno == EINTR);
    return result(got);
}

int rl_write(int descriptor, const void *bytes, size_t count) {
    ssize_t put;
    do put = write(descriptor, bytes, count);
    while (put < 0 && errno == EINTR);
    return result(put);
}

int rl_pipe(int *ends) { return made_pair(pipe2(ends, O_NONBLOCK | O_CLOEXEC), ends); }

int rl_bytes_waiting(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) < 0 ? -errno : count;
}

int rl_wait_readable(int descriptor, int milliseconds) {
    struct pollfd one = {.fd = descriptor, .events = POLLIN};
    return result(poll(&one, 1, milliseconds));
}

int rl_socket_file(const char *path, uint64_t *number, uint64_t *device) {
    struct stat status;
    if (lstat(path, &status) < 0) return -errno;
    if (!S_ISSOCK(status.st_mode)) return -ENOTSOCK;
    *number = status.st_ino;
    *device = status.st_dev;
    return 0;
}

int rl_unlink(const char *path) { return result(unlink(path)); }

int rl_is_directory(const char *path) {
    struct stat status;
    return lstat(path, &status) < 0 ? -errno : S_ISDIR(status.st_mode);
}

// Child processes

int rl_pidfd_open(int32_t process) {
    // The descriptor is closed on exec by default.
    if (!rl_permits(RL_CALL_PIDFD_OPEN)) return -ENOSYS;
    return made((int)syscall(SYS_pidfd_open, process, 0));
}

int rl_pidfd_signal(int descriptor, int signal) {
    return result(syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0));
}

#define SIGNAL_PROCESS_GROUP (1U << 2)

int rl_pidfd_signal_group(int descriptor, int signal) {
    return result(syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, SIGNAL_PROCESS_GROUP));
}

static int64_t microseconds(struct timeval time) { return (int64_t)time.tv_sec * 1000000 + time.tv_usec; }

// The kernel's pidfd_info, in its first version.
typedef struct {
    uint64_t mask;
    uint64_t group;
    uint32_t numbers[11];
    int32_t exit;
} pidfd_info;
#define PIDFD_EXIT (UINT64_C(1) << 3)
#define PIDFD_INFO _IOWR(0xFF, 11, pidfd_info)

// Since Linux 6.15 a pidfd that was open before the process was reaped remembers how the process ended.
static bool remembered_exit(int descriptor, rl_child_exit *end) {
    int saved = errno;
    pidfd_info info = {.mask = PIDFD_EXIT};
    bool is_known = ioctl(descriptor, PIDFD_INFO, &info) == 0 && (info.mask & PIDFD_EXIT) != 0;
    errno = saved;
    if (!is_known) return false;
    bool is_exit = WIFEXITED(info.exit);
    end->code = is_exit ? CLD_EXITED : WCOREDUMP(info.exit) ? CLD_DUMPED : CLD_KILLED;
    end->status = is_exit ? WEXITSTATUS(info.exit) : WTERMSIG(info.exit);
    return true;
}

int rl_pidfd_wait(int descriptor, bool reaps, rl_child_exit *end) {
    siginfo_t info = {0};
    struct rusage usage = {0};
    int options = WEXITED | WNOHANG | (reaps ? 0 : WNOWAIT);
    // By number: the C library's function has no place for the usage.
    if (syscall(SYS_waitid, RL_P_PIDFD, descriptor, &info, options, &usage) < 0)
        return errno == ECHILD && remembered_exit(descriptor, end) ? 2 : -errno;
    if (info.si_pid == 0) return 0;
    end->code = info.si_code;
    end->status = info.si_status;
    end->user_microseconds = microseconds(usage.ru_utime);
    end->system_microseconds = microseconds(usage.ru_stime);
    end->most_resident_kilobytes = usage.ru_maxrss;
    end->minor_faults = usage.ru_minflt;
    end->major_faults = usage.ru_majflt;
    end->voluntary_switches = usage.ru_nvcsw;
    end->involuntary_switches = usage.ru_nivcsw;
    return 1;
}

// Watched directories

int rl_inotify_create(void) { return made(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)); }
int rl_inotify_add(int descriptor, const char *path, uint32_t mask) {
    return result(inotify_add_watch(descriptor, path, mask));
}
int rl_inotify_remove(int descriptor, int watch) { return result(inotify_rm_watch(descriptor, watch)); }
bool rl_removes_silently(const char *directory) {
    struct statfs status;
    if (statfs(directory, &status) != 0) return false;
    switch (status.f_type) {
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case NFS_SUPER_MAGIC: return true;
    default: return false;
    }
}

// Addresses

_Static_assert(sizeof(struct sockaddr_storage) == RL_ADDRESS_ROOM, "every address fits");

int rl_address_unix(void *storage, const char *path, size_t length) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    // A path needs a zero at its end; an abstract name, which begins with a zero, does not.
    if (length == 0 || length >= sizeof address.sun_path) return -ENAMETOOLONG;
    // The kernel would end the path there, and lead to another file.
    if (path[0] != 0 && memchr(path, 0, length) != NULL) return -EINVAL;
    memcpy(address.sun_path, path, length);
    memcpy(storage, &address, sizeof address);
    return (int)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] != 0));
}

int rl_address_internet(void *storage, const char *host, uint16_t port) {
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, host, &four.sin_addr) == 1) {
        memcpy(storage, &four, sizeof four);
        return sizeof four;
    }
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (inet_pton(AF_INET6, host, &six.sin6_addr) != 1) return -EINVAL;
    memcpy(storage, &six, sizeof six);
    return sizeof six;
}

int rl_address_family(const void *address) {
    sa_family_t family;
    memcpy(&family, address, sizeof family);
    return family;
}

int rl_address_port(const void *address) {
    // The port is at the same place in both address structures.
    in_port_t port;
    memcpy(&port, (const char *)address + offsetof(struct sockaddr_in, sin_port), sizeof port);
    return ntohs(port);
}

void rl_address_host(const void *address, char *text, size_t capacity) {
    int family = rl_address_family(address);
    size_t start =
        family == AF_INET6 ? offsetof(struct sockaddr_in6, sin6_addr) : offsetof(struct sockaddr_in, sin_addr);
    text[0] = 0;
    inet_ntop(family, (const char *)address + start, text, (socklen_t)capacity);
}

// A TCP socket that connects to a port of this machine at which nobody listens may get that very port as its own, and meets itself.
static bool is_connected_to_itself(int descriptor) {
    struct sockaddr_storage own = {0}, peer = {0};
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    if (getsockname(descriptor, (struct sockaddr *)&own, &own_length) < 0) return false;
    if (own.ss_family != AF_INET && own.ss_family != AF_INET6) return false;
    if (getpeername(descriptor, (struct sockaddr *)&peer, &peer_length) < 0) return false;
    return own_length == peer_length && memcmp(&own, &peer, own_length) == 0;
}

// Sockets

int rl_socket_create(int family) { return made(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

int rl_socket_pair(int *ends) {
    return made_pair(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), ends);
}

int rl_socket_listen(int descriptor, const void *address, uint32_t length, int backlog) {
    const int on = 1;
    // A port whose last connections are still closing can be listened on again. Has no effect on a Unix socket.
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(descriptor, address, length) < 0) return -errno;
    return result(listen(descriptor, backlog));
}

int rl_socket_stale(const char *path, const void *address, uint32_t length) {
    struct stat status;
    if (lstat(path, &status) < 0) return -errno;
    if (!S_ISSOCK(status.st_mode)) return -ENOTSOCK;
    if (status.st_uid != geteuid()) return -EPERM;
    int probe = rl_socket_create(AF_UNIX);
    if (probe < 0) return probe;
    int connected = rl_socket_connect(probe, address, length);
    close(probe);
    // EAGAIN: the backlog is full. EPROTOTYPE: a socket of another kind is bound there. EACCES: nothing is known.
    return connected == -ECONNREFUSED ? 0 : -EADDRINUSE;
}

int rl_lock_directory_of(const char *path) {
    char directory[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
    const char *end = strrchr(path, '/');
    // The slash stays: the directory of "/x" is "/".
    size_t length = end == NULL ? 0 : (size_t)(end - path) + 1;
    if (length >= sizeof directory) return -ENAMETOOLONG;
    memcpy(directory, path, length);
    if (length == 0) directory[length++] = '.';
    directory[length] = 0;
    int descriptor = made(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor < 0) return descriptor;
    for (int attempt = 0; flock(descriptor, LOCK_EX | LOCK_NB) < 0; attempt++) {
        int error = errno;
        if ((error != EWOULDBLOCK && error != EINTR) || attempt == 15) {
            close(descriptor);
            return -error;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return descriptor;
}

void rl_unlock_directory(int descriptor) {
    // A child between fork and exec has a copy of the descriptor, which would keep the lock.
    flock(descriptor, LOCK_UN);
    close(descriptor);
}

int rl_socket_connect(int descriptor, const void *address, uint32_t length) {
    // EINTR: the connection is still being made, as with EINPROGRESS.
    if (connect(descriptor, address, length) < 0) return errno == EINTR ? -EINPROGRESS : -errno;
    return 0;
}

int rl_socket_accept(int descriptor) {
    int accepted;
    do accepted = accept4(descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    while (accepted < 0 && errno == EINTR);
    return made(accepted);
}

int rl_socket_take_error(int descriptor) {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) < 0) return errno;
    return error == 0 && is_connected_to_itself(descriptor) ? ECONNREFUSED : error;
}

int rl_socket_send(int descriptor, const void *bytes, size_t count) {
    ssize_t sent;
    // Not by the descriptor's flags alone, which each process that shares the socket can change.
    do sent = send(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return result(sent);
}

// SCM_MAX_FD of the kernel, which has no header for programs.
#define DESCRIPTORS_AT_ONCE 253

int rl_datagram_send(const void *address, uint32_t length, const void *bytes, size_t count, const int *descriptors,
                     size_t number) {
    if (number > DESCRIPTORS_AT_ONCE) return -E2BIG;
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(DESCRIPTORS_AT_ONCE * sizeof(int))];
    } control = {0};
    struct iovec text = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_name = (void *)address, .msg_namelen = length, .msg_iov = &text, .msg_iovlen = 1};
    if (number > 0) {
        control.header = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(number * sizeof(int))};
        memcpy(CMSG_DATA(&control.header), descriptors, number * sizeof(int));
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(number * sizeof(int));
    }
    int socket_of_call = made(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket_of_call < 0) return socket_of_call;
    ssize_t sent;
    do sent = sendmsg(socket_of_call, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    int error = sent < 0 ? -errno : 0;
    close(socket_of_call);
    return error;
}

int rl_socket_finish(int descriptor) { return result(shutdown(descriptor, SHUT_WR)); }

int rl_socket_address(int descriptor, bool peer, void *storage) {
    socklen_t length = RL_ADDRESS_ROOM;
    memset(storage, 0, RL_ADDRESS_ROOM);
    int done = peer ? getpeername(descriptor, storage, &length) : getsockname(descriptor, storage, &length);
    if (done < 0) return -errno;
    return (int)(length > RL_ADDRESS_ROOM ? RL_ADDRESS_ROOM : length);
}

int rl_make_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) return -errno;
    return result(fcntl(descriptor, F_SETFD, FD_CLOEXEC));
}
