// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Pseudo-terminals and the processes that use them. Each function returns an error as a negative number.

#ifndef TERMINALS_H
#define TERMINALS_H

#include "LinuxOnly.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint16_t columns;
    uint16_t rows;
    // In pixels; 0 if unknown.
    uint16_t width;
    uint16_t height;
} rl_terminal_size;

// Makes a pseudo-terminal: `ends[0]` is the controlling side, which does not block, and `ends[1]` is the terminal itself. Both are
// closed on exec. `number` is the terminal's in /dev/pts. After an error no descriptor is left.
int rl_terminal_create(const rl_terminal_size *size, int *ends, int *number);
int rl_terminal_size_get(int descriptor, rl_terminal_size *size);
int rl_terminal_size_set(int descriptor, const rl_terminal_size *size);
// The number of the group in the foreground; 0 if the terminal has no session.
int rl_terminal_foreground(int controlling_side);
// Sends SIGINT, SIGQUIT or SIGTSTP to the group in the foreground, which the kernel finds.
int rl_terminal_signal(int controlling_side, int signal);
// Sends a signal to the processes of a session that are in one of the groups. Returns how many are there and have not ended.
//
// The session's number must not be given to another meanwhile: its leader is not reaped. Only a
// process that was found in the session and in a group receives the signal, and never another that has its number later.
int rl_signal_groups(int session, const int32_t *groups, size_t count, int signal);

#endif
