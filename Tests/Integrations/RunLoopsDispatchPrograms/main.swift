// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Foundation's run loop has the main thread; this package's timers, blocks and sources are served on it.

import Dispatch
import Foundation
import RunLoops
import RunLoopsDispatch

@MainActor
final class Check {
    static let shared = Check()

    private var arrived: [String] = []
    private var wakes = 0

    func arrives(_ name: String) { arrived.append(name) }

    private func runFoundation(for seconds: TimeInterval, until condition: () -> Bool) {
        let end = Date(timeIntervalSinceNow: seconds)
        while !condition(), Date() < end { _ = Foundation.RunLoop.main.run(mode: .default, before: end) }
    }

    func run() throws -> Bool {
        let guest = try MainQueueGuest()
        defer { guest.invalidate() }
        typealias Loop = RunLoops.RunLoop
        Loop.main.add(.mainActor(.after(.milliseconds(20))) { _ in self.arrives("timer") }, in: .default)
        let source = Loop.Source.mainActor { _ in self.arrives("source") }
        Loop.main.add(source, in: .default)
        DispatchQueue.main.async { MainActor.assumeIsolated { self.arrives("main queue") } }
        Task.detached {
            source.signal()
            Loop.main.wakeUp()
            Loop.performOnMainActor { Check.shared.arrives("block") }
            await Check.shared.arrives("hop to the main actor")
        }
        let keeper = Foundation.Timer(timeInterval: 3600, repeats: false) { _ in }
        Foundation.RunLoop.main.add(keeper, forMode: .default)
        runFoundation(for: 300) { arrived.count == 5 }
        print("arrived:", arrived.joined(separator: ", "))

        let observer = Loop.Observer.mainActor(.afterWaiting) { _, _ in self.wakes += 1 }
        Loop.main.add(observer, in: .default)
        runFoundation(for: 1) { false }
        print("wake-ups of the run loop in an idle second: \(wakes)")
        let idleWakes = wakes
        Loop.performOnMainActor { self.arrives("another block") }
        runFoundation(for: 300) { arrived.count == 6 }
        return arrived.count == 6 && idleWakes == 0 && wakes > 0
    }
}

do {
    exit(try Check.shared.run() ? 0 : 1)
} catch {
    print(error)
    exit(1)
}
