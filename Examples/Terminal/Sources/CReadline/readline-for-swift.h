// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdio.h>

#include <readline/history.h>
#include <readline/readline.h>

/// Readline installs no signal handlers: the loop's sources have the signals. Swift does not write to a variable of C.
static inline void rl_leave_signals(void) {
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
}
