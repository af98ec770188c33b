// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Counts the allocations of a thread, so that tests can say how many an operation makes.
//
// The functions of the C library are replaced by ones that count and pass on. Not under the sanitizers, which replace
// them themselves: then nothing is counted.

#ifndef ALLOCATIONCOUNTING_H
#define ALLOCATIONCOUNTING_H

#include <stdbool.h>
#include <stdint.h>

bool allocations_are_counted(void);
// The allocations of the calling thread since the thread began.
int64_t allocations_of_this_thread(void);

#endif
