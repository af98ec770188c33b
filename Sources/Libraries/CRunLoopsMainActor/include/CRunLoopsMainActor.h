// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Nothing to call: what this holds runs before main().

#ifndef CRUNLOOPSMAINACTOR_H
#define CRUNLOOPSMAINACTOR_H

// In Swift, RunLoopsMainActor: makes the main loop the main actor's executor, and gives it the main thread.
void run_loops_take_main_actor(void);

#endif
