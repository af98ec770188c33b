// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Programs of Foundation's items, each run on Foundation's loop by itself and then with that loop as a guest: the callouts are to be
// the same, in the same order.

import CoreFoundation
import Foundation
import RunLoops

/// SplitMix64.
struct Numbers {
    private var state: UInt64
    init(seed: Int) { state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((bits ^ (bits >> 31)) % UInt64(bound))
    }
}

/// A program under way: its items act at random, by numbers that depend on the seed and on the callouts before alone.
final class RandomProgram: @unchecked Sendable {
    private var numbers: Numbers
    private(set) var log: [String] = []
    private var timers: [Foundation.Timer] = []
    private var sources: [TheirSource] = []
    private var left = 24
    private var depth = 0
    private var made = 0

    init(seed: Int) {
        numbers = Numbers(seed: seed)
        for _ in 0..<1 + numbers.next(3) { addSource() }
        for _ in 0..<2 + numbers.next(4) { act() }
    }

    func end() {
        for timer in timers { timer.invalidate() }
        for source in sources { source.invalidate() }
    }

    private func called(_ name: String) {
        log.append(String(repeating: "(", count: depth) + name)
        for _ in 0..<numbers.next(3) { act() }
    }

    private func addSource() {
        made += 1
        let name = "source \(made)"
        sources.append(TheirSource(order: numbers.next(3)) { [unowned self] in called(name) })
    }

    private func act() {
        guard left > 0 else { return }
        left -= 1
        made += 1
        let name = "\(made)"
        switch numbers.next(8) {
        case 0, 1:
            // Due already, each with a date of its own.
            let date = Date(timeIntervalSinceNow: -100 - Double(made) * 0.01 * Double(1 - 2 * numbers.next(2)))
            let timer = Foundation.Timer(fire: date, interval: 0, repeats: false) { [unowned self] _ in
                called("timer \(name)")
            }
            timers.append(timer)
            Theirs.main.add(timer, forMode: numbers.next(2) == 0 ? .default : .common)
        case 2, 3:
            Theirs.main.perform { [unowned self] in called("closure \(name)") }
            CFRunLoopWakeUp(CFRunLoopGetMain())
        case 4, 5: sources[numbers.next(sources.count)].signalAndWake()
        case 6:
            guard !timers.isEmpty else { return }
            timers[numbers.next(timers.count)].invalidate()
        default:
            // A run inside the callout.
            guard depth < 2 else { return }
            depth += 1
            CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, numbers.next(2) == 0)
            depth -= 1
            log.append("back")
        }
    }

    /// Whether nothing was called since the last time that somebody asked.
    private var seen = -1
    var isQuiet: Bool {
        defer { seen = log.count }
        return log.count == seen
    }
}

@MainActor
private func run(_ program: RandomProgram, _ turn: () -> Void) -> [String] {
    var quiet = 0
    while quiet < 4 {
        turn()
        quiet = program.isQuiet ? quiet + 1 : 0
    }
    program.end()
    return program.log
}

@MainActor
func playRandom(from first: Int, count: Int) {
    var different = 0
    var callouts = 0
    for seed in first..<first + count {
        // The first turns of a guest are made while this loop is at work on something of its own.
        let expected = run(RandomProgram(seed: seed)) { CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, true) }
        let how = seed % 3
        let found = run(RandomProgram(seed: seed)) {
            switch how {
            case 0: Ours.main.runTurn()
            case 1: Ours.main.run(in: .default, for: .microseconds(20))
            default: Ours.main.runUntilIdle()
            }
        }
        callouts += expected.count
        if expected != found {
            different += 1
            if different < 4 { print("seed \(seed), driver \(how):\n  \(expected)\n  \(found)") }
        }
    }
    print("\(count) programs, more than \(count) callouts: \(callouts > count), different: \(different)")
}
