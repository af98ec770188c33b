// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "Replies.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

int rl_send_reply(int descriptor, const void *bytes, size_t count) {
    const char *rest = bytes;
    bool is_socket = true;
    do {
        ssize_t const done =
            is_socket ? send(descriptor, rest, count, MSG_NOSIGNAL) : write(descriptor, rest, count);
        if (done >= 0) {
            rest += done;
            count -= (size_t)done;
        } else if (errno == ENOTSOCK && is_socket) {
            is_socket = false;
        } else if (errno == EAGAIN) {
            struct pollfd room = {.fd = descriptor, .events = POLLOUT};
            // The loop's thread waits here. A reader that takes nothing for so long does not hold it up for ever. If the wait was
            // interrupted, the next write says how it is.
            if (poll(&room, 1, 5000) == 0) return ETIMEDOUT;
        } else if (errno != EINTR) {
            return errno;
        }
    } while (count > 0);
    return 0;
}
