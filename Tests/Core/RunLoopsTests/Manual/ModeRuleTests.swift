// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 2: modes.
@Suite(.ownThread) struct ModeRuleTests {
    @Test func `Adding an item to an unknown mode creates the mode, and a query creates no mode`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let source = RunLoop.Source { _ in }
            #expect(loop.modes == [.default])
            #expect(!loop.contains(source, in: "new"))
            #expect(loop.nextTimerDeadline(in: "new") == nil)
            #expect(loop.runTurn(in: "new") == .finished)
            loop.remove(source, from: "new")
            #expect(loop.modes == [.default])
            loop.add(source, in: "new")
            #expect(loop.modes == [.default, "new"])
        }
    }

    @Test func `Modes are never removed`() {
        ManualRunLoop.with { manual in
            let source = RunLoop.Source { _ in }
            manual.loop.add(source, in: "kept")
            source.invalidate()
            #expect(manual.loop.modes == [.default, "kept"])
        }
    }

    @Test func `Items of other modes neither fire nor wake the thread`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            let fired = Box<[String]>([])
            let start = manual.now
            loop.add(
                RunLoop.Timer(.after(.seconds(1))) { _ in
                    fired.value.append("timer at \(start.duration(to: manual.now))")
                }, in: "other")
            let source = RunLoop.Source { _ in fired.value.append("source") }
            loop.add(source, in: "other")
            source.signal()
            try loop.add(
                RunLoop.DescriptorSource(9) { _, _ in
                    manual.setReady(9, [])
                    fired.value.append("descriptor")
                }, in: "other")
            manual.setReady(9, .readable)
            loop.add(RunLoop.Observer(.all) { _, _ in fired.value.append("observer") }, in: "other")
            #expect(loop.run(in: .default, for: .seconds(3)) == .timedOut)
            #expect(fired.value.isEmpty)
            #expect(manual.sleeps == 1)
        }
    }

    @Test func `A timer that became due in another mode fires when its mode runs`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let start = manual.now
            let fired = Box<[Duration]>([])
            let timer = RunLoop.Timer(.after(.seconds(1))) { _ in fired.value.append(start.duration(to: manual.now)) }
            manual.loop.add(timer, in: "other")
            manual.loop.run(in: .default, for: .seconds(3))
            manual.loop.runTurn(in: "other")
            #expect(fired.value == [.seconds(3)])
        }
    }

    @Test func `A common item is in every common mode, including modes marked later`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            #expect(loop.commonModes == [.default])
            loop.markCommon("before")
            let items: [RunLoop.Item] = [
                RunLoop.Source { _ in }, RunLoop.Timer(.after(.seconds(1))) { _ in },
                RunLoop.Observer(.all) { _, _ in },
            ]
            for item in items { loop.addAny(item, in: .common) }
            loop.markCommon("after")
            for item in items {
                for mode: RunLoop.Mode in [.default, "before", "after", .common] {
                    #expect(loop.contains(item, in: mode), "\(item) in \(mode)")
                }
                #expect(!loop.contains(item, in: "unmarked"))
            }
            #expect(loop.commonModes == [.default, "before", "after"])
            for item in items { loop.remove(item, from: .common) }
            for item in items {
                for mode: RunLoop.Mode in [.default, "before", "after", .common] {
                    #expect(!loop.contains(item, in: mode), "\(item) in \(mode)")
                }
            }
        }
    }

    @Test func `A common descriptor source is in common modes marked before and after it was added`() throws {
        try ManualRunLoop.with { manual in
            let calls = Box(0)
            let descriptorSource = RunLoop.DescriptorSource(5) { _, _ in calls.value += 1 }
            try manual.loop.add(descriptorSource, in: .common)
            try manual.loop.addCommonMode("after")
            manual.setReady(5, .readable)
            for mode: RunLoop.Mode in [.default, "after"] { manual.loop.runTurn(in: mode) }
            #expect(calls.value == 2)
            manual.loop.remove(descriptorSource, from: .common)
            #expect(manual.loop.runTurn() == .finished)
            #expect(manual.loop.runTurn(in: "after") == .finished)
        }
    }

    @Test func `Removing an item from the common modes also removes it from a mode to which it was added separately`() {
        ManualRunLoop.with { manual in
            let source = RunLoop.Source { _ in }
            manual.loop.add(source, in: .default)
            manual.loop.add(source, in: .common)
            manual.loop.remove(source, from: .common)
            #expect(!manual.loop.contains(source, in: .default))
        }
    }

    @Test func `A common item removed from one common mode stays in the other common modes`() {
        ManualRunLoop.with { manual in
            manual.loop.markCommon("other")
            let source = RunLoop.Source { _ in }
            manual.loop.add(source, in: .common)
            manual.loop.remove(source, from: .default)
            #expect(!manual.loop.contains(source, in: .default))
            #expect(manual.loop.contains(source, in: "other"))
            #expect(manual.loop.contains(source, in: .common))
        }
    }

    @Test func `Removing an item that is not common from the common modes has no effect`() {
        ManualRunLoop.with { manual in
            let source = manual.loop.addSource()
            manual.loop.remove(source, from: .common)
            #expect(manual.loop.contains(source, in: .default))
        }
    }

    @Test func `Marking a mode as common twice has the effect of marking it once`() {
        ManualRunLoop.with { manual in
            let scheduled = Box(0)
            let source = RunLoop.Source(schedule: { _, _ in scheduled.value += 1 }) { _ in }
            manual.loop.add(source, in: .common)
            manual.loop.markCommon("other")
            manual.loop.markCommon("other")
            #expect(scheduled.value == 2)
            #expect(manual.loop.commonModes == [.default, "other"])
        }
    }

    @Test func `In another common mode, a common timer fires and a timer of the default mode does not`() {
        ManualRunLoop.with { manual in
            manual.loop.markCommon(.tracking)
            let fires = Box<[String: Int]>([:])
            for mode: RunLoop.Mode in [.default, .common] {
                manual.loop.add(
                    RunLoop.Timer(.every(.seconds(1))) { _ in fires.value[mode.rawValue, default: 0] += 1 }, in: mode)
            }
            manual.advance(by: .seconds(5), in: .tracking)
            #expect(fires.value == ["kCFRunLoopCommonModes": 5])
            manual.advance(by: .seconds(5), in: .default)
            #expect(fires.value["kCFRunLoopCommonModes"] == 10)
            // Late once for the dates that have passed, then on its grid.
            #expect(fires.value["kCFRunLoopDefaultMode"] == 6)
        }
    }

    /// Each call that names one mode, on a loop with a common source.
    fileprivate enum CallInCommonModes: String, CaseIterable, Sendable {
        case run, runUntil, runTurn, runUntilIdle, runReady, prepareToPoll, isEmpty, nextTimerDeadline, addCommonMode

        func make(on loop: RunLoop) throws {
            switch self {
            case .run: loop.run(in: .common, for: .seconds(1))
            case .runUntil: loop.run(in: .common, until: nil)
            case .runTurn: loop.runTurn(in: .common)
            case .runUntilIdle: loop.runUntilIdle(in: .common)
            case .runReady: loop.runReady(in: .common)
            case .prepareToPoll: _ = loop.prepareToPoll(in: .common)
            case .isEmpty: _ = loop.isEmpty(in: .common)
            case .nextTimerDeadline: _ = loop.nextTimerDeadline(in: .common)
            case .addCommonMode: try loop.addCommonMode(.common)
            }
        }
    }

    #if compiler(>=6.3)
    @Test(arguments: CallInCommonModes.allCases)
    fileprivate func `A call that names one mode traps if it is given the common modes`(call: CallInCommonModes) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [name = call.rawValue as String] in
            let call = try #require(CallInCommonModes(rawValue: name))
            try ManualRunLoop.with { manual in
                manual.loop.addSource(in: .common)
                try call.make(on: manual.loop)
            }
        }
        expectText(result, "Common is a mark on modes, not a mode")
    }
    #endif

    @Test func `A mode without sources, timers and blocks is empty`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            func isEmpty(_ mode: RunLoop.Mode = .default) -> Bool { loop.runTurn(in: mode) == .finished }
            #expect(isEmpty())
            let source = loop.addSource()
            #expect(!isEmpty())
            source.invalidate()
            #expect(isEmpty())
            let timer = RunLoop.Timer(.after(.seconds(9))) { _ in }
            loop.add(timer, in: .default)
            #expect(!isEmpty())
            loop.remove(timer, from: .default)
            #expect(isEmpty())
            let descriptorSource = RunLoop.DescriptorSource(1) { _, _ in }
            try loop.add(descriptorSource, in: .default)
            #expect(!isEmpty())
            descriptorSource.invalidate()
            #expect(isEmpty())
        }
    }

    @Test func `A run in a mode with only observers finishes at once`() {
        ManualRunLoop.with { manual in
            manual.loop.add(RunLoop.Observer(.all) { _, _ in Issue.record("told") }, in: .default)
            #expect(manual.loop.run(in: .default, for: .seconds(1)) == .finished)
        }
    }

    @Test func `Only blocks that can run in a mode keep it from being empty`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.markCommon("common too")
            loop.addSource(in: "common too").invalidate()
            loop.addSource(in: "private").invalidate()
            loop.performLocally(in: "elsewhere") {}
            #expect(loop.runTurn() == .finished)
            loop.performLocally(in: .common) {}
            #expect(loop.runTurn(in: "private") == .finished)
            // The block runs, and the mode is empty after it; the poll says so before.
            #expect(loop.runTurn(in: "common too") == .timedOut)
            #expect(loop.runTurn(in: "common too") == .finished)
        }
    }

    @Test func `isEmpty is true exactly if a run in the mode would finish at once`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let recorder = RunLoop.TraceRecorder(loop)
            func check(_ mode: RunLoop.Mode, isEmpty: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
                #expect(loop.isEmpty(in: mode) == isEmpty, sourceLocation: sourceLocation)
                recorder.takeLines()
                let result = loop.runTurn(in: mode)
                // A run that makes a turn begins.
                #expect(recorder.lines.isEmpty == isEmpty, sourceLocation: sourceLocation)
                #expect(!isEmpty || result == .finished, sourceLocation: sourceLocation)
            }
            check(.default, isEmpty: true)
            check("unknown", isEmpty: true)
            #expect(loop.modes == [.default])
            loop.addSource(in: .common)
            check(.default, isEmpty: false)
            loop.add(RunLoop.Observer(.all) { _, _ in }, in: "observed")
            check("observed", isEmpty: true)
            let descriptorSource = RunLoop.DescriptorSource(1) { _, _ in }
            try loop.add(descriptorSource, in: "descriptor")
            check("descriptor", isEmpty: false)
            descriptorSource.invalidate()
            check("descriptor", isEmpty: true)
            loop.add(RunLoop.Timer(.after(.zero)) { _ in }, in: "timer")
            check("timer", isEmpty: false)
            check("timer", isEmpty: true)
            let delayed = loop.perform(after: .seconds(1), in: "delayed") {}
            check("delayed", isEmpty: false)
            #expect(loop.cancel(delayed))
            check("delayed", isEmpty: true)
            loop.perform(in: "block") {}
            check("block", isEmpty: false)
            check("block", isEmpty: true)
            // A timer in its own last callout is still there.
            let results = Box<[Bool]>([])
            loop.add(RunLoop.Timer(.after(.zero)) { _ in results.value.append(loop.isEmpty(in: "own")) }, in: "own")
            loop.runTurn(in: "own")
            #expect(results.value == [false])
        }
    }

    @Test func `A new common mode gets the common items in the order in which they were added`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let told = Box<[Int]>([])
            let observers = (0..<50).map { number in
                RunLoop.Observer(.entry) { _, _ in told.value.append(number) }
            }
            for observer in observers { loop.add(observer, in: .common) }
            // An observer that leaves and comes again is the last.
            loop.remove(observers[10], from: .common)
            loop.add(observers[10], in: .common)
            loop.markCommon("marked")
            loop.addSource(in: "marked")
            loop.runTurn(in: "marked")
            #expect(told.value == Array(0..<10) + Array(11..<50) + [10])
        }
    }

    @Test func `A timer works after it was in more than 65,536 different sets of modes`() {
        ManualRunLoop.with { manual in
            let modes = (0..<17).map { RunLoop.Mode("mode \($0)") }
            let fired = Box(0)
            let timer = RunLoop.Timer(.after(.seconds(1))) { _ in fired.value += 1 }
            // Each step adds one mode or removes one, and no set comes twice.
            for step in 1...Int(UInt16.max) + 2 {
                let mode = modes[step.trailingZeroBitCount]
                if manual.loop.contains(timer, in: mode) {
                    manual.loop.remove(timer, from: mode)
                } else {
                    manual.loop.add(timer, in: mode)
                }
            }
            let left = modes.filter { manual.loop.nextTimerDeadline(in: $0) != nil }
            #expect(left == modes.filter { manual.loop.contains(timer, in: $0) })
            for mode in left { manual.loop.remove(timer, from: mode) }
            manual.loop.add(timer, in: modes[3])
            manual.loop.add(timer, in: modes[5])
            manual.loop.run(in: modes[5], for: .seconds(2))
            #expect(fired.value == 1)
        }
    }

    @Test func `Timers in a thousand common modes fire once each`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let fired = Box<[Int]>([])
            let timers = (0..<3).map { number in
                RunLoop.Timer(.after(.seconds(number + 1))) { _ in fired.value.append(number) }
            }
            for timer in timers { loop.add(timer, in: .common) }
            let modes = (0..<1_000).map { RunLoop.Mode("common \($0)") }
            for mode in modes {
                // The mode has to exist, so that it gets the timers at once.
                loop.addSource(in: mode)
                loop.markCommon(mode)
            }
            for number in timers.indices {
                loop.run(in: modes[number * 499], for: .milliseconds(1_001))
                #expect(fired.value == Array(0...number))
            }
            #expect(modes.allSatisfy { loop.nextTimerDeadline(in: $0) == nil })
        }
    }
}

extension RunLoop {
    /// Adds an item that the system cannot refuse.
    func addAny(_ item: Item, in mode: Mode) {
        switch item {
        case let source as Source: add(source, in: mode)
        case let timer as Timer: add(timer, in: mode)
        case let observer as Observer: add(observer, in: mode)
        default: Issue.record("a descriptor source may be refused")
        }
    }
}
