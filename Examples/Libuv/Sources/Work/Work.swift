// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

// What Swift does inside libuv. The functions with `@_cdecl` are called by the program, which is C.

/// A function of C's and its context.
struct Callback: @unchecked Sendable {
    // Unchecked: C says on which thread it may be called; here that is the main thread.
    let function: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let context: UnsafeMutableRawPointer?

    func callAsFunction() { function(context) }
}

/// A function of C's.
// Unchecked: a function has no state.
struct Done: @unchecked Sendable {
    let function: @convention(c) (_ ticks: CInt, _ sum: Int) -> Void
}

/// Gives one piece of work to the main loop: by a post without a wake-up, a timer that is due, or a task of the main actor.
@_cdecl("work_give")
func give(
    _ kind: CInt, _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void,
    _ context: UnsafeMutableRawPointer?
) {
    let callback = Callback(function: function, context: context)
    switch kind {
    case 0: RunLoop.main.perform(wake: false) { callback() }
    case 1: RunLoop.main.add(RunLoop.Timer(.after(.zero)) { _ in callback() }, in: .default)
    default: Task { @MainActor in callback() }
    }
}

/// Ticks by a timer of the loop, adds up numbers on another thread, and calls back on the main thread with the sum.
@_cdecl("work_start")
func start(_ done: @escaping @convention(c) (_ ticks: CInt, _ sum: Int) -> Void) {
    let done = Done(function: done)
    Task { @MainActor in
        let ticks = await ticks(5)
        let sum = await Task.detached { (1...1_000_000).reduce(0, +) }.value
        done.function(CInt(ticks), sum)
    }
}

/// Returns after a number of ticks of a timer, 10 ms apart.
@MainActor private func ticks(_ count: Int) async -> Int {
    await withCheckedContinuation { continuation in
        var ticks = 0
        let timer = RunLoop.Timer.mainActor(.every(.milliseconds(10))) { timer in
            ticks += 1
            guard ticks == count else { return }
            timer.invalidate()
            continuation.resume(returning: ticks)
        }
        RunLoop.main.add(timer, in: .default)
    }
}
