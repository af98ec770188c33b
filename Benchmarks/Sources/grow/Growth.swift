// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import BenchKit
internal import RunLoops

/// Something a loop has many of, and an operation whose time may depend on how many.
struct Growth: Sendable {
    let title: String
    /// No more than these can be had.
    var most = Int.max
    /// Nanoseconds an operation takes with so many. Called on a new thread.
    let measure: @Sendable (Int) -> Double

    static let all: [Growth] = [sources, timers, observersCalled, observersElsewhere, modes, modesRun, descriptors]

    /// One of n sources is signalled and performed.
    static let sources = Growth(title: "sources: a turn that performs one") { count in
        let loop = RunLoop.current
        let turns = Turns(20_000)
        let signalled = Many<RunLoop.Source>()
        signalled.items = (0..<count).map { _ in
            RunLoop.Source { _ in turns.next { signalled.random(&turns.random).signal() } }
        }
        for source in signalled.items { loop.add(source, in: .default) }
        signalled.items[0].signal()
        return turns.run(loop)
    }

    /// One of n timers is cancelled, and another is added.
    static let timers = Growth(title: "timers: cancel one, add one") { count in
        let loop = RunLoop.current
        var random = bk_random_seeded()
        func add() -> RunLoop.Timer {
            let delay = bk_random_between(&random, 60_000_000_000, 3_600_000_000_000)
            let timer = RunLoop.Timer(.after(.nanoseconds(delay))) { _ in }
            loop.add(timer, in: .default)
            return timer
        }
        var timers = (0..<count).map { _ in add() }
        let operations = 20_000
        let began = bk_now()
        for _ in 0..<operations {
            let place = Int(bk_random_below(&random, UInt64(count)))
            timers[place].invalidate()
            timers[place] = add()
        }
        return Double(bk_now() - began) / Double(operations)
    }

    /// Each turn calls n observers.
    static let observersCalled = Growth(title: "observers: a turn that calls all") { count in
        let loop = RunLoop.current
        for _ in 0..<count { loop.add(RunLoop.Observer(.beforeTimers) { _, _ in }, in: .default) }
        return plainTurn(loop, turns: max(20, min(20_000, 2_000_000 / count)))
    }

    /// n observers wait for something that a turn does not pass.
    static let observersElsewhere = Growth(title: "observers: a turn that calls none") { count in
        let loop = RunLoop.current
        for _ in 0..<count { loop.add(RunLoop.Observer(.exit) { _, _ in }, in: .default) }
        return plainTurn(loop, turns: 20_000)
    }

    /// A turn in one mode, while there are n others.
    static let modes = Growth(title: "modes: a turn in one") { count in
        let loop = RunLoop.current
        makeModes(count, of: loop)
        return plainTurn(loop, turns: 20_000)
    }

    /// A run that only polls, in a random one of n modes.
    static let modesRun = Growth(title: "modes: a run in a random one") { count in
        let loop = RunLoop.current
        let modes = makeModes(count, of: loop)
        var random = bk_random_seeded()
        let operations = 20_000
        let began = bk_now()
        for _ in 0..<operations { loop.runTurn(in: modes[Int(bk_random_below(&random, UInt64(count)))]) }
        return Double(bk_now() - began) / Double(operations)
    }

    /// One of n descriptors is ready. Its callout makes it unready and another one ready: two system calls of its own.
    static let descriptors = Growth(
        title: "descriptors: a turn that serves one", most: Int(bk_allow_descriptors(100_100)) - 100
    ) { count in
        let loop = RunLoop.current
        let turns = Turns(20_000)
        let events = Many<Int32>()
        var descriptorSources: [RunLoop.DescriptorSource] = []
        for _ in 0..<count {
            let descriptor = bk_make_event()
            events.items.append(descriptor)
            let descriptorSource = RunLoop.DescriptorSource(descriptor) { descriptorSource, _ in
                bk_take_event(descriptorSource.descriptor)
                turns.next { bk_set_event(events.random(&turns.random)) }
            }
            descriptorSources.append(descriptorSource)
            do { try loop.add(descriptorSource, in: .default) } catch { fatalError("\(error)") }
        }
        defer {
            for descriptorSource in descriptorSources {
                descriptorSource.invalidate()
                bk_close(descriptorSource.descriptor)
            }
        }
        bk_set_event(events.items[0])
        return turns.run(loop)
    }

    // MARK: Parts

    @discardableResult
    private static func makeModes(_ count: Int, of loop: RunLoop) -> [RunLoop.Mode] {
        (0..<count).map { number in
            let mode = RunLoop.Mode("mode \(number)")
            loop.add(RunLoop.Source { _ in }, in: mode)
            return mode
        }
    }

    /// A turn in the default mode, in which one source performs and signals itself.
    private static func plainTurn(_ loop: RunLoop, turns count: Int) -> Double {
        let turns = Turns(count)
        let source = RunLoop.Source { source in turns.next { source.signal() } }
        loop.add(source, in: .default)
        source.signal()
        return turns.run(loop)
    }
}
