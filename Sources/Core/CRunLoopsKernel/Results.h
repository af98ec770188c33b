// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// How this module's functions report a system call: its value, or the error as a negative number.

#ifndef RESULTS_H
#define RESULTS_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static inline int result(long value) { return value < 0 ? -errno : (int)value; }

// The same for a new descriptor, which gets a number above the standard streams.
//
// A program may start with closed streams. Then the kernel gives their numbers to the next descriptors, and a child or a
// print() would use those as its input or output. Every descriptor of this package is made by this function.
static inline int made(int descriptor) {
    if (descriptor < 0) return -errno;
    if (descriptor > STDERR_FILENO) return descriptor;
    int moved = result(fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    close(descriptor);
    return moved;
}

// The same for the two ends of a pair. If one cannot be moved, both are closed.
static inline int made_pair(int code, int ends[2]) {
    if (code < 0) return -errno;
    int first = made(ends[0]), second = made(ends[1]);
    if (first >= 0 && second >= 0) {
        ends[0] = first;
        ends[1] = second;
        return 0;
    }
    if (first >= 0) close(first);
    if (second >= 0) close(second);
    return first < 0 ? first : second;
}

#endif
