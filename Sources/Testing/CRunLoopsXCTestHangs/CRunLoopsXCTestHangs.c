// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "CRunLoopsXCTestHangs.h"

// In RunLoopsXCTestHangs.
extern void run_loops_watch_tests_at_load(void);

// Swift has no constructors.
__attribute__((constructor)) static void at_load(void) { run_loops_watch_tests_at_load(); }
