// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "CFoundationRunLoopXCTest.h"

#include <stddef.h>

// In FoundationRunLoopXCTest.
extern void run_loops_guest_at_load(void);

// Swift has no constructors.
__attribute__((constructor)) static void at_load(void) { run_loops_guest_at_load(); }

// In RunLoopsFoundation, which a program need not have.
extern bool run_loops_foundation_is_run_by_program(void) __attribute__((weak));

bool run_loops_is_run_by_program(void) {
    return run_loops_foundation_is_run_by_program == NULL || run_loops_foundation_is_run_by_program();
}
