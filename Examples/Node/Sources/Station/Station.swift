// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

// What Swift does inside Node. Station.h declares the functions with `@_cdecl`.

/// Functions of the add-on's and their data.
// Unchecked: used on the thread of the loop alone.
struct Passed<Value>: @unchecked Sendable {
    let value: Value
}

@_cdecl("station_tick")
func tick(
    _ count: Int32, _ milliseconds: Double, _ tick: @escaping @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void,
    _ context: UnsafeMutableRawPointer?
) {
    var ticks: Int32 = 0
    let timer = RunLoop.Timer(.every(.milliseconds(milliseconds))) { timer in
        ticks += 1
        if ticks == count { timer.invalidate() }
        tick(context, ticks)
    }
    RunLoop.current.add(timer, in: .default)
}

@_cdecl("station_sum")
func sum(
    _ count: Int64, _ done: @escaping @convention(c) (UnsafeMutableRawPointer?, Double) -> Void,
    _ context: UnsafeMutableRawPointer?
) {
    let call = Passed(value: { done(context, $0) })
    let loop = RunLoop.current
    Task {
        let sum = await sum(to: count)
        loop.perform { call.value(sum) }
    }
}

/// Returns the sum of the numbers to `count`.
@concurrent private func sum(to count: Int64) async -> Double { Double((1...count).reduce(0, +)) }

@_cdecl("station_give")
func give(
    _ kind: Int32, _ done: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void,
    _ context: UnsafeMutableRawPointer?
) {
    let call = Passed(value: { done(context) })
    let loop = RunLoop.current
    switch kind {
    case 0: loop.perform(wake: false) { call.value() }
    case 1: loop.add(RunLoop.Timer(.after(.zero)) { _ in call.value() }, in: .default)
    default: Task { @MainActor in call.value() }
    }
}
