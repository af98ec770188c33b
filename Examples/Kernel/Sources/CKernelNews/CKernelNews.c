// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "CKernelNews.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int netlink_open(int protocol, unsigned groups) {
    int file = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (file < 0 || bind(file, (struct sockaddr *)&address, sizeof address) == 0) { return file; }
    int error = errno;
    close(file);
    errno = error;
    return -1;
}
