// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundationRunLoop
import RunLoopsTestSupport

/// A random program of items that are made, added, removed, invalidated, signalled and released, also in their callouts.
final class RandomProgram {
    let ledger = Ledger()
    private var random: SeededRandom
    private var timers: [CFRunLoopTimer] = []
    private var observers: [CFRunLoopObserver] = []
    private var sources: [CFRunLoopSource] = []
    private var pairs: [DescriptorPair] = []
    private var actionsLeft = 60
    private var depth = 0

    private static let modes: [CFRunLoopMode] = [.defaultMode, .commonModes, CFRunLoopMode("second")]

    init(seed: UInt64) { random = SeededRandom(seed) }

    /// Runs the program, and lets go of its own references.
    func run() {
        for _ in 0..<20 { act() }
        // Some programs leave their items to the loop.
        if random.oneIn(2) {
            timers.forEach(CFRunLoopTimerInvalidate)
            observers.forEach(CFRunLoopObserverInvalidate)
            sources.forEach(CFRunLoopSourceInvalidate)
        }
        // What stays in the loop is called by the next program of the thread, and must do nothing.
        actionsLeft = 0
        timers = []
        observers = []
        sources = []
    }

    private var mode: CFRunLoopMode { Self.modes[Int.random(in: 0..<Self.modes.count, using: &random)] }

    private func one<Item>(of items: [Item]) -> Item? { items.randomElement(using: &random) }

    /// Does one thing, or a few in a callout.
    private func act() {
        guard actionsLeft > 0 else { return }
        actionsLeft -= 1
        let loop = CFRunLoopGetCurrent()
        switch Int.random(in: 0..<16, using: &random) {
        case 0:
            let interval = random.oneIn(2) ? 0 : 0.000_01
            timers.append(ledger.makeTimer(0, interval: interval) { [self] _ in callout() })
        case 1: observers.append(ledger.makeObserver(repeats: random.oneIn(2)) { [self] _ in callout() })
        case 2: sources.append(ledger.makeSource { [self] _ in callout() })
        case 3:
            let pair = DescriptorPair.pipe()
            pairs.append(pair)
            sources.append(ledger.makePort(pair) { [self] _ in callout() })
        case 4: if let timer = one(of: timers) { CFRunLoopAddTimer(loop, timer, mode) }
        case 5: if let observer = one(of: observers) { CFRunLoopAddObserver(loop, observer, mode) }
        case 6: if let source = one(of: sources) { CFRunLoopAddSource(loop, source, mode) }
        case 7: if let timer = one(of: timers) { CFRunLoopRemoveTimer(loop, timer, mode) }
        case 8: if let observer = one(of: observers) { CFRunLoopRemoveObserver(loop, observer, mode) }
        case 9: if let source = one(of: sources) { CFRunLoopRemoveSource(loop, source, mode) }
        case 10: invalidateOne()
        case 11: releaseOne()
        case 12:
            if let source = one(of: sources) { CFRunLoopSourceSignal(source) }
            if let pair = one(of: pairs) { pair.send() }
        case 13: describeOne()
        case 14: CFRunLoopAddCommonMode(loop, CFRunLoopMode("second"))
        default:
            guard depth < 3 else { return }
            CFRunLoopRunInMode(random.oneIn(3) ? CFRunLoopMode("second") : .defaultMode, 0, random.oneIn(2))
        }
    }

    private func callout() {
        depth += 1
        for _ in 0..<Int.random(in: 0..<3, using: &random) { act() }
        depth -= 1
    }

    private func invalidateOne() {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: if let timer = one(of: timers) { CFRunLoopTimerInvalidate(timer) }
        case 1: if let observer = one(of: observers) { CFRunLoopObserverInvalidate(observer) }
        default: if let source = one(of: sources) { CFRunLoopSourceInvalidate(source) }
        }
    }

    /// Lets go of an item that may be in a loop, and in its callout.
    private func releaseOne() {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: if !timers.isEmpty { timers.removeLast() }
        case 1: if !observers.isEmpty { observers.removeLast() }
        default: if !sources.isEmpty { sources.removeLast() }
        }
    }

    private func describeOne() {
        if let timer = one(of: timers) { _ = CFCopyDescription(timer) }
        if let observer = one(of: observers) { _ = CFCopyDescription(observer) }
        if let source = one(of: sources) {
            _ = CFCopyDescription(source)
            _ = CFEqual(source, sources[0])
            _ = CFHash(source)
        }
    }
}
