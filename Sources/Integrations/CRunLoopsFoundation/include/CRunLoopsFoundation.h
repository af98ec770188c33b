// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The parts of RunLoopsFoundation that are written in C: a constructor, a jump, and a thread that asks. Core Foundation's objects are plain pointers
// here: only the importer of Swift finds the headers of Core Foundation by itself.

#ifndef CRUNLOOPSFOUNDATION_H
#define CRUNLOOPSFOUNDATION_H

#include <stdbool.h>

// In Swift, RunLoopsFoundation: called when the program is loaded.
void run_loops_foundation_at_load(void);

// Begins a run of the calling thread's loop in `mode`, and leaves it for good in the callout of the last observer of its entry, if
// `may_leave` returns true there: for Core Foundation a run is in progress from then on, whose wake-ups count. Otherwise the run
// polls once and ends. Whether the run was left.
//
// Core Foundation holds no lock during a callout and has nothing to undo after this one: `may_leave` makes sure of the first.
bool rl_foundation_leave_run(const void *mode, bool (*may_leave)(void));

// Has another thread wake the loop and ask for the mode's next timer, for which it needs the locks of the loop and of the mode.
// Whether that thread was done within this many milliseconds.
bool rl_foundation_answers(const void *loop, const void *mode, int milliseconds);

#endif
