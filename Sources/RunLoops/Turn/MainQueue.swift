// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel

/// libdispatch's main queue, which `@MainActor` uses too, from the main loop's side.
///
/// libdispatch exports what Core Foundation needs: a descriptor that is readable while the queue has work, and
/// a function that does the work on the main thread.
struct MainQueue {
    let descriptor = rl_main_queue_descriptor()

    /// Whether the queue has work; the answer is given once, because asking empties the descriptor.
    ///
    /// The descriptor has to be emptied before the work is done, or it stays readable for ever.
    func takeReadiness() -> Bool { LinuxCalls.shared.eventTake(descriptor) > 0 }

    /// Runs what is queued.
    func drain() { rl_main_queue_drain() }
}
