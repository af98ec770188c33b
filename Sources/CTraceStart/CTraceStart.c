// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CTraceStart.h"

#include <stdlib.h>
#include <string.h>

// A program that links RunLoopsDiagnostics can be recorded and looked into from outside, as it is. secure_getenv leaves
// out a program with more rights than its user: it would write a file of the user's choosing.
__attribute__((constructor)) static void start(void) {
    const char *file = secure_getenv("RUNLOOP_TRACE");
    if (file && *file) run_loops_start_trace(file);
    const char *inspect = secure_getenv("RUNLOOP_INSPECT");
    if (inspect && strcmp(inspect, "1") == 0) run_loops_start_inspector();
}
