// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "Terminals.h"
#include "CLinuxEvents.h"
#include "Results.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif
#ifndef TIOCSIG
#define TIOCSIG _IOW('T', 0x36, int)
#endif

// Erasing a character in a line that is being typed erases all bytes of it.
static int expect_utf8(int terminal) {
    struct termios settings;
    if (tcgetattr(terminal, &settings) < 0) return -errno;
    settings.c_iflag |= IUTF8;
    return result(tcsetattr(terminal, TCSANOW, &settings));
}

static int prepare(int ours, const rl_terminal_size *size, int *number) {
    int locked = 0;
    if (ioctl(ours, TIOCSPTLCK, &locked) < 0 || ioctl(ours, TIOCGPTN, number) < 0) return -errno;
    int code = rl_terminal_size_set(ours, size);
    return code < 0 ? code : expect_utf8(ours);
}

int rl_terminal_create(const rl_terminal_size *size, int *ends, int *number) {
    int ours = made(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    if (ours < 0) return ours;
    int code = prepare(ours, size, number);
    // Not by its name, which may be another terminal's in a mount namespace of its own. O_NOCTTY: it is the child's, not this process's.
    int theirs = code < 0 ? code : made(ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (theirs < 0) {
        close(ours);
        return theirs;
    }
    ends[0] = ours;
    ends[1] = theirs;
    return 0;
}

int rl_terminal_size_get(int descriptor, rl_terminal_size *size) {
    struct winsize found;
    if (ioctl(descriptor, TIOCGWINSZ, &found) < 0) return -errno;
    *size = (rl_terminal_size){found.ws_col, found.ws_row, found.ws_xpixel, found.ws_ypixel};
    return 0;
}

int rl_terminal_size_set(int descriptor, const rl_terminal_size *size) {
    struct winsize wanted = {
        .ws_col = size->columns, .ws_row = size->rows, .ws_xpixel = size->width, .ws_ypixel = size->height};
    return result(ioctl(descriptor, TIOCSWINSZ, &wanted));
}

int rl_terminal_foreground(int controlling_side) {
    int group = 0;
    return ioctl(controlling_side, TIOCGPGRP, &group) < 0 ? -errno : group;
}

int rl_terminal_signal(int controlling_side, int signal) {
    return result(ioctl(controlling_side, TIOCSIG, (long)signal));
}

static bool is_member(int process, int session, const int32_t *groups, size_t count) {
    if (getsid(process) != session) return false;
    int group = getpgid(process);
    for (size_t i = 0; i < count; i++)
        if (groups[i] == group) return true;
    return false;
}

// Returns whether the process is a member and has not ended.
static bool signal_member(int process, int session, const int32_t *groups, size_t count, int signal) {
    int file = rl_pidfd_open(process);
    if (file < 0) return false;
    // Once more, now that `file` is one process: while that process is not reaped, the number and so the answer are its own, and the
    // signal reaches no other. The descriptor of a process that has ended is readable.
    bool is_there = is_member(process, session, groups, count) && rl_wait_readable(file, 0) == 0
        && rl_pidfd_signal(file, signal) == 0;
    close(file);
    return is_there;
}

int rl_signal_groups(int session, const int32_t *groups, size_t count, int signal) {
    int directory = made(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory < 0) return directory;
    DIR *processes = fdopendir(directory);
    if (processes == NULL) {
        close(directory);
        return -ENOMEM;
    }
    int reached = 0;
    for (struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        int process = atoi(entry->d_name);
        if (process > 0 && is_member(process, session, groups, count))
            reached += signal_member(process, session, groups, count, signal);
    }
    closedir(processes);
    return reached;
}
