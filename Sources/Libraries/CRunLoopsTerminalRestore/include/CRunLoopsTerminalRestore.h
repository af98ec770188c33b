// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Gives a terminal back, whatever ends the program: a call, exit(), or a signal that a fault raises.
//
// Everything that is needed for that is kept in static storage and prepared beforehand, since a signal's handler can
// neither allocate nor run Swift. One terminal a process. ct_take and ct_prepare belong to one thread.

#ifndef CRUNLOOPSTERMINALRESTORE_H
#define CRUNLOOPSTERMINALRESTORE_H

#include <stddef.h>
#include <stdint.h>

// The most bytes that can be prepared.
#define CT_ROOM 256

// The output is processed as before, and nothing is kept.
#define CT_KEEPS_OUTPUT 1
// The settings that were noted before stay: another program, which has had the terminal in between, may have left others behind.
#define CT_KEEPS_SETTINGS 2
// The keys of signals (Ctrl-C, Ctrl-Z) stay keys of signals.
#define CT_KEEPS_SIGNALS 4

// Notes the settings of the terminal and the bytes that undo what is about to be written to it, and makes it raw:
// bytes come one by one and unseen, no key is a signal. The last 16 KB of what is written to standard output and standard
// error, where they are terminals, are kept until the terminal is given back. The flags are those above. From now on the end
// of the process gives the terminal back. 0 or a negative errno.
int ct_take(int descriptor, int flags, const uint8_t *bytes, size_t count);

// Other bytes from now on. Async-signal-safe handlers see the old bytes or the new ones.
void ct_prepare(const uint8_t *bytes, size_t count);

// Writes the bytes, restores the settings and the standard streams, and shows what was kept; does nothing if the terminal is
// not taken. A terminal that takes nothing for 200 milliseconds, or not everything in 5 seconds, does not get the rest.
// Async-signal-safe.
void ct_give_back(void);

// Hands on what stdio has not written yet, before the terminal is given back. Not async-signal-safe.
void ct_flush(void);

// Writes with the same limits; whether all was written. Async-signal-safe.
int ct_write(int descriptor, const uint8_t *bytes, size_t count);

// Whether the process ignores a signal.
int ct_is_ignored(int signal);

// Ends the program by the signal, as if it had never been caught.
void ct_die(int signal);

#endif
