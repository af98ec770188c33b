// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A Swift program that does nothing: what starting costs before any loop is made. With an argument it sleeps for the
// millisecond that W10 waits for its timer.

import Glibc

if CommandLine.argc > 1 { usleep(1000) }
