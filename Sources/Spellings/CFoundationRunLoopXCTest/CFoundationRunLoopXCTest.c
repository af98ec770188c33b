// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "CFoundationRunLoopXCTest.h"

// In FoundationRunLoopXCTest.
extern void run_loops_guest_at_load(void);

// Swift has no constructors.
__attribute__((constructor)) static void at_load(void) { run_loops_guest_at_load(); }
