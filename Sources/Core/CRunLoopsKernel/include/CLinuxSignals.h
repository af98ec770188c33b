// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Signals: a handler takes them, and a thread waits for them on a descriptor.
//
// A handler may interrupt any code at any point, so it can neither take a lock nor allocate nor run Swift. It puts what
// the kernel said into a ring of fixed size, one for each sink of the signal, and writes to the sink's eventfd.

#ifndef CLINUXSIGNALS_H
#define CLINUXSIGNALS_H

#include "LinuxOnly.h"

#include <stdbool.h>
#include <stdint.h>

// The kernel's report of one signal. `sender` is 0 where no process sent it. `missed` counts the signals
// beside this one that found the ring full.
typedef struct {
    int32_t code;
    int32_t sender;
    uint32_t user;
    int32_t value;
    uint64_t missed;
} rl_signal_record;

typedef struct rl_signal_sink rl_signal_sink;

// How many signals a sink keeps with everything that is known about them.
#define RL_SIGNAL_ROOM 64

// Starts to collect `signal` for a sink that writes to the eventfd `descriptor`; the first sink that needs the handler
// installs it. Without the handler the sink gets what is put into it. 0 or a negative errno. Not async-signal-safe; the
// caller must hold a lock while it attaches or detaches.
int rl_signal_attach(int signal, int descriptor, bool by_handler, rl_signal_sink **sink);
// Puts signals into the sink of which nothing is known but their number. Any thread; not while the sink is detached.
void rl_signal_put(rl_signal_sink *sink, uint64_t count);
// Stops collecting and frees the sink. The last sink of a signal restores what was there before the first, unless
// another handler was installed meanwhile. No handler touches the sink or its descriptor when this returns.
void rl_signal_detach(rl_signal_sink *sink);
// Forgets the sinks of the parent: called in a forked child before it has a second thread.
void rl_signals_begin_anew(void);
// Takes the oldest record. One thread at a time.
bool rl_signal_take(rl_signal_sink *sink, rl_signal_record *record);
// Whether there is a record to take.
bool rl_signal_waits(rl_signal_sink *sink);

#endif
