// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Nothing to call: what this holds runs before main().

#ifndef CTRACESTART_H
#define CTRACESTART_H

// In Swift, RunLoopsDiagnostics: begins a recording that is written to `file` when the process ends.
void run_loops_start_trace(const char *file);
// Lets the same user look into the process from outside.
void run_loops_start_inspector(void);

#endif
