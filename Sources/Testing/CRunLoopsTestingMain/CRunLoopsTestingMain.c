// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "CRunLoopsTestingMain.h"

#include <SwiftRuntime.h>

// In RunLoopsTestingMain.
extern void run_loops_testing_main(void);

static int outcome;

__attribute__((constructor)) static void at_load(void) { outcome = rl_async_main_set_drain(run_loops_testing_main); }

int rl_main_loop_at_load(void) { return outcome; }
