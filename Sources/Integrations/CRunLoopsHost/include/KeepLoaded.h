// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// For the Swift part of RunLoopsHost alone.

#ifndef RUN_LOOPS_HOST_KEEP_LOADED_H
#define RUN_LOOPS_HOST_KEEP_LOADED_H

// Keeps the shared library that this code is in, if it is in one, in the process until the process ends.
void runloops_keep_loaded(void);

#endif
