// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdbool.h>

// Whether the run of Foundation's main loop in progress was begun by the program, and not by RunLoopsFoundation. Main thread.
bool run_loops_is_run_by_program(void);
