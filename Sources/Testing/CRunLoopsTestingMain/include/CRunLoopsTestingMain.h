// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Gives the main thread to the main loop when the program is loaded. No later time is early enough in a program whose
// main belongs to somebody else, such as a test runner.

#ifndef CRUNLOOPSTESTINGMAIN_H
#define CRUNLOOPSTESTINGMAIN_H

// 0 if that has worked; otherwise what rl_async_main_set_drain says.
int rl_main_loop_at_load(void);

#endif
