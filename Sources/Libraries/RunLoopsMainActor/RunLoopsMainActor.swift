// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsMainActor
internal import RunLoops
internal import RunLoopsConcurrency

/// The C part calls this when the program is loaded; it uses nothing of Swift here except two addresses.
@_cdecl("run_loops_take_main_actor")
func takeMainActor() { RunLoop.takeMainActorAtLoad() }
