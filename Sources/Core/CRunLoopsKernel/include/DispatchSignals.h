// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Signals that libdispatch has taken.
//
// libdispatch installs a handler for a signal when the first dispatch source of the signal comes, never takes the handler
// away again, and reads a signalfd on its manager thread. Another handler, before or after, loses signals to the
// signalfd. So whoever else wants the signal has to ask libdispatch, which tells all of its sources.

#ifndef DISPATCHSIGNALS_H
#define DISPATCHSIGNALS_H

#include "LinuxOnly.h"

#include <stdbool.h>
#include <stdint.h>

// Whether the handler that is installed for the signal is libdispatch's. One system call.
bool rl_signal_is_dispatchs(int signal);

// A dispatch source for the signal, which calls `told` with a number of signals, and `ended` once, when `told` is not
// called any more. Both are called on threads of libdispatch. Returns when libdispatch watches the signal; NULL when there
// is no memory, and in a child of a process that has used libdispatch, where nothing of libdispatch works.
void *rl_dispatch_signals_begin(int signal, void *context, void (*told)(void *, uint64_t), void (*ended)(void *));
void rl_dispatch_signals_end(void *source);

#endif
