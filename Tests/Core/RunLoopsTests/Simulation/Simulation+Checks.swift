// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTesting

// The rules that hold after each step.
extension Simulation {
    func checkEverything() {
        for item in items {
            check(item)
            // Only here: inside a schedule or cancel closure, other such closures are still to be called.
            guard case .source = item.item else { continue }
            expect(item.scheduled == item.places, "\(item.name) knows \(item.scheduled) of its \(item.places) modes")
        }
        for loop in loops where !loop.isDead {
            for mode in SimulatedLoop.modes.indices { check(loop, mode) }
        }
        checkWatched()
    }

    /// The item is valid, in modes and dated as the program has it.
    func check(_ item: SimulatedItem) {
        let object = item.object
        expect(object.isValid == item.isValid, "\(item.name) is \(item.isValid ? "in" : "")valid by mistake")
        for loop in loops {
            for mode in SimulatedLoop.modes.indices {
                let isIn = item.isIn(loop.number, mode)
                expect(
                    loop.loop.contains(object, in: SimulatedLoop.modes[mode]) == isIn,
                    "\(item.name) is \(isIn ? "not " : "")in mode \(mode) of loop \(loop.number) by mistake")
            }
        }
        switch item.item {
        case .timer(let timer):
            if item.isValid {
                expect(
                    timer.deadline.nanoseconds == item.date,
                    "\(item.name) is due \((timer.deadline.nanoseconds - item.date) / 1000) µs off its date")
            }
        case .source(let source):
            expect(
                source.isSignalled == (item.signalled != nil), "\(item.name) has lost a signal, or got one from nowhere"
            )
        case .descriptor(let source):
            expect(source.events == item.events, "\(item.name) asks for \(source.events) instead of \(item.events)")
        case .observer: break
        }
    }

    private func check(_ loop: SimulatedLoop, _ mode: Int) {
        if !items.contains(where: { $0.refusals > 0 }) {
            let isEmpty = isEmpty(loop, mode)
            expect(
                loop.loop.isEmpty(SimulatedLoop.modes[mode]) == isEmpty,
                "mode \(mode) of loop \(loop.number) is \(isEmpty ? "not " : "")empty by mistake")
        }
        var nearest: Int64?
        for item in items where item.isTimer && item.isValid && item.isIn(loop.number, mode) {
            nearest = min(nearest ?? .max, item.date - kernel.now(item.clock))
        }
        for delay in delays where mayRun(delay, loop, mode) {
            nearest = min(nearest ?? .max, delay.date - kernel.now(.monotonic))
        }
        let next = loop.loop.nextTimerDeadline(in: SimulatedLoop.modes[mode]).map {
            $0.nanoseconds - kernel.now($0.base)
        }
        expect(next == nearest, "the next timer of mode \(mode) of loop \(loop.number) is not the first that is due")
    }

    /// The kernel watches what valid sources ask for, and nothing else.
    private func checkWatched() {
        var expected = 0
        for loop in loops where !loop.isDead {
            for mode in SimulatedLoop.modes.indices {
                var descriptors: Set<CInt> = []
                for item in items where item.isIn(loop.number, mode) && !item.events.isEmpty {
                    if case .descriptor(let source) = item.item { descriptors.insert(source.descriptor) }
                }
                expected += descriptors.count
            }
        }
        let watched = kernel.watched
        expect(watched == expected, "\(watched) descriptors are watched instead of \(expected)")
    }

    private func mayRun(_ delay: SimulatedDelay, _ loop: SimulatedLoop, _ mode: Int) -> Bool {
        delay.state == .waiting && delay.loop == loop.number && loop.mayRun([delay.mode], in: mode, posted: 0) != nil
    }

    /// Whether nothing could ever happen in the mode.
    ///
    /// Observers do not count.
    func isEmpty(_ loop: SimulatedLoop, _ mode: Int) -> Bool {
        guard hasNoItems(loop, mode) else { return false }
        let hasBlock = blocks.contains {
            $0.state == .waiting && $0.loop == loop.number && $0.posted > loop.drains.last ?? .min
                && loop.mayRun($0.modes, in: mode, posted: $0.posted) != nil
        }
        // To mark a mode does not make it, as in Core Foundation: a run in it finds nothing.
        return !hasBlock || !loop.loop.modes.contains(SimulatedLoop.modes[mode])
    }

    /// Whether neither an item nor a closure with a delay is in the mode.
    func hasNoItems(_ loop: SimulatedLoop, _ mode: Int) -> Bool {
        !items.contains { !$0.isObserver && $0.isIn(loop.number, mode) } && !delays.contains { mayRun($0, loop, mode) }
    }

    /// After every mode has run: nothing that was asked for is left undone.
    func checkDelivery() {
        for block in blocks { expect(block.state != .waiting, "block \(block.number) was never run") }
        for delay in delays { expect(delay.state != .waiting, "delay \(delay.number) was never run") }
        for item in items where item.isValid && item.isAnywhere {
            expect(item.signalled == nil, "\(item.name) was signalled and never performed")
            expect(!item.isTimer || item.interval > 0, "\(item.name) never fired")
        }
    }
}
