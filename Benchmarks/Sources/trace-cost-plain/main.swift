// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program that does not link RunLoopsDiagnostics: Benchmarks/trace-cost.

import TraceCost

runCommand { _ in }
