// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Nothing to call: what this holds runs before main(), and when a signal ends the program.

#ifndef CRUNLOOPSTRACESTART_H
#define CRUNLOOPSTRACESTART_H

// In Swift, RunLoopsDiagnostics: begins a recording that is written to `file` when the process ends, of as many events of each loop as
// `events` says, a number or NULL.
void run_loops_start_trace(const char *file, const char *events);
// Makes and drops a trace, on the thread that will write the last one.
void run_loops_prepare_trace(void);
// Writes it now, unless it is written; returns when it is. Any thread.
void run_loops_write_trace(void);
// Lets the same user look into the process from outside.
void run_loops_start_inspector(void);

#endif
