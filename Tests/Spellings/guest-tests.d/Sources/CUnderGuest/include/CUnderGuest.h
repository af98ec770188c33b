// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#ifndef CUNDERGUEST_H
#define CUNDERGUEST_H

#include <stdbool.h>
#include <stdint.h>

// In Swift: a run of this package's main loop in the mode of that name, and its end. `mode` is a CFString.
int32_t under_guest_run(const void *mode, double seconds, bool returns_after_source);
void under_guest_stop(void);
void under_guest_report(void);

#endif
