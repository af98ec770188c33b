// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Replaces the main actor's executor, by variables that Swift's concurrency runtime exports for this, and Swift cannot
// name.

#ifndef CLINUXKERNEL_MAINEXECUTOR_H
#define CLINUXKERNEL_MAINEXECUTOR_H

#include "LinuxOnly.h"

#include <stdint.h>

// A serial executor as the runtime represents it: the object, and how it conforms.
typedef struct {
    uintptr_t identity;
    uintptr_t implementation;
} rl_executor;

// From now on the main actor's executor is what `make` returns, and what is enqueued on the main actor as such goes to
// `enqueue`. `make` is called once, by the first thread that needs the main actor; with an async main that is the
// entry point, before main begins.
// 0; -ENOSYS: this runtime has no such variables; -EBUSY: other code has set one.
int rl_main_executor_set(rl_executor (*make)(void), void (*enqueue)(const void *job));

// Whose executor the main actor has: 0, the runtime's own; 1, what rl_main_executor_set has made; -EBUSY: other code has set
// one of the variables.
int rl_main_executor_owner(void);

#endif
