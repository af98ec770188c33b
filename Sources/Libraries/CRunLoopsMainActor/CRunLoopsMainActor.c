// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#include "CRunLoopsMainActor.h"

// The entry point of an async main asks for the main actor before the first line of main: only a constructor comes
// earlier.
__attribute__((constructor)) static void at_load(void) { run_loops_take_main_actor(); }
