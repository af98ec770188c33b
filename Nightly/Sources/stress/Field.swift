// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import NightlyKit
import RunLoops
import RunLoopsKit
import RunLoopsPorts

/// The loops, what is on them, and what must balance.
final class Field: Sendable {
    let isOver = Counter()
    private let plots: [Plot]
    private let rallies: [Rally]
    // The closures that were made for loops whose thread ends, and those that were released.
    private let made = Counter()
    private let released = Counter()
    private let ended = Counter()
    private let refused = Counter()

    init(loops: Int, seed: UInt64) throws {
        plots = try (0..<loops).map { try Plot(number: $0) }
        rallies = try Rally.Stroke.allCases.map { try Rally($0) }
    }

    /// The threads that do all of it.
    func start(threads: Int, _ patience: Patience, seed: UInt64) -> [Worker] {
        let workers = (0..<threads).map { number in Worker { [self] in work(number, seed: seed) } }
        let players = rallies.map { rally in Worker { [self] in rally.play(until: isOver, patience, seed: seed) } }
        return workers + players + [Worker { [self] in endThreads(seed: seed) }]
    }

    /// What one thread does until the time is over.
    private func work(_ number: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed &+ UInt64(number) &* 0x1_0001)
        while isOver.value == 0 {
            let plot = plots[Int.random(in: 0..<plots.count, using: &random)]
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<30: plot.post()
            case 30..<50: plot.signal()
            case 50..<62: plot.addTimer(after: .microseconds(Int64.random(in: 0..<5000, using: &random)))
            case 62..<72:
                plot.addTimerThatIsInvalidated(after: .microseconds(Int64.random(in: 0..<500, using: &random)))
            case 72..<80: plot.send()
            case 80..<84: plot.wait()
            case 84..<88: plot.addSourceThatIsInvalidated()
            case 88..<92: plot.makeReadable()
            case 92..<96: plot.performLater(after: .microseconds(Int64.random(in: 0..<3000, using: &random)))
            case 96..<98: plot.ask()
            default: plot.thread.loop.wakeUp()
            }
        }
    }

    /// Makes loops and ends their threads while closures, timers and signals are on their way to them.
    private func endThreads(seed: UInt64) {
        var random = SeededRandom(seed: seed ^ 0xDEAD)
        while isOver.value == 0 {
            guard let thread = try? RunLoopThread(name: "mortal") else {
                refused.add(1)
                continue
            }
            let helpers = (0..<3).compactMap { _ in
                Worker.start({ [self] in
                    for _ in 0..<50 {
                        let token = Token(made, released)
                        thread.loop.perform { token.use() }
                        let second = Token(made, released)
                        let timer = RunLoop.Timer.sendable(.after(.microseconds(50))) { _ in second.use() }
                        thread.loop.add(timer, in: .default)
                        let third = Token(made, released)
                        let source = RunLoop.Source.sendable { _ in third.use() }
                        thread.loop.add(source, in: .common)
                        source.signal()
                        thread.loop.wakeUp()
                    }
                })
            }
            usleep(UInt32.random(in: 0..<2000, using: &random))
            thread.stop(Bool.random(using: &random) ? .draining : .dropping)
            for helper in helpers { helper.join() }
            thread.join()
            ended.add(1)
        }
    }

    /// Waits for the last of all that was begun.
    func settle(within patience: Patience) {
        let end = patience.end
        for plot in plots { plot.settle(until: end) }
    }

    /// Looks at the laws.
    func weigh() {
        for plot in plots { plot.weigh() }
        for rally in rallies { rally.weigh() }
        print(
            "loops whose thread ended in use: \(ended.value), refused: \(refused.value); closures made \(made.value), released \(released.value)"
        )
        check(made.value == released.value, "each closure of an ended loop is released once")
    }

    /// Ends the loops.
    func end() {
        for plot in plots { plot.end() }
        for rally in rallies { rally.end() }
    }
}

/// Counts what was made and what was released.
final class Token: Sendable {
    private let released: Counter

    init(_ made: Counter, _ released: Counter) {
        made.add(1)
        self.released = released
    }

    func use() {}

    deinit { released.add(1) }
}
