// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 3.2 and 5.5: descriptor sources.
@Suite(.ownThread) struct DescriptorRuleTests {
    @Test func `A ready descriptor ends the sleep`() throws {
        try ManualRunLoop.with { manual in
            let calls = Box<[RunLoop.DescriptorEvents]>([])
            try manual.loop.add(
                RunLoop.DescriptorSource(4) { descriptorSource, events in
                    #expect(descriptorSource.descriptor == 4)
                    calls.value.append(events)
                    manual.setReady(4, [])
                }, in: .default)
            manual.loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in manual.setReady(4, .readable) },
                in: .default)
            manual.loop.run(in: .default, for: .seconds(1))
            #expect(calls.value == [.readable])
        }
    }

    @Test func `The source of a ready descriptor is called once per turn`() throws {
        try ManualRunLoop.with { manual in
            let calls = Box(0)
            try manual.loop.add(RunLoop.DescriptorSource(4) { _, _ in calls.value += 1 }, in: .default)
            manual.setReady(4, .readable)
            for turn in 1...4 {
                manual.loop.runTurn()
                #expect(calls.value == turn)
            }
        }
    }

    @Test func `Ready descriptors are served one per turn, in the kernel's order`() throws {
        try ManualRunLoop.with { manual in
            for descriptor: CInt in 0..<5 {
                try manual.loop.add(
                    RunLoop.DescriptorSource(descriptor, label: "\(descriptor)") { _, _ in
                        manual.setReady(descriptor, [])
                    }, in: .default)
            }
            for descriptor: CInt in [3, 1, 4, 0, 2] { manual.setReady(descriptor, .readable) }
            let recorder = RunLoop.TraceRecorder(manual.loop)
            var results: [RunLoop.RunResult] = []
            for _ in 0..<5 {
                results.append(manual.loop.run(in: .default, for: .seconds(1), returnsAfterSource: true))
            }
            #expect(recorder.callouts == ["3", "1", "4", "0", "2"].map { "descriptor \"\($0)\"" })
            #expect(results.allSatisfy { $0 == .handledSource })
        }
    }

    @Test func `Timers, sources and blocks are served between two descriptors`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let source = RunLoop.Source(label: "source") { _ in }
            loop.add(source, in: .default)
            for descriptor: CInt in 1...3 {
                try loop.add(
                    RunLoop.DescriptorSource(descriptor, label: "\(descriptor)") { _, _ in
                        manual.setReady(descriptor, [])
                        if descriptor == 1 { source.signal() }
                        if descriptor == 2 { loop.performLocally(fileID: "block", line: 1) {} }
                    }, in: .default)
                manual.setReady(descriptor, .readable)
            }
            let recorder = RunLoop.TraceRecorder(loop)
            loop.run(in: .default, for: .seconds(1))
            #expect(
                recorder.callouts == [
                    "descriptor \"1\"", "source \"source\"", "descriptor \"2\"", "block \"block:1\"",
                    "descriptor \"3\"",
                ])
        }
    }

    @Test func `Each source on a descriptor is called only for the events that it asks for`() throws {
        try ManualRunLoop.with { manual in
            let calls = Box<[String]>([])
            func add(_ name: String, _ events: RunLoop.DescriptorEvents) throws -> RunLoop.DescriptorSource {
                let descriptorSource = RunLoop.DescriptorSource(6, for: events) { _, events in
                    calls.value.append("\(name) \(events)")
                }
                try manual.loop.add(descriptorSource, in: .default)
                return descriptorSource
            }
            let reader = try add("reader", .readable)
            _ = try add("writer", .writable)
            _ = try add("both", [.readable, .writable])
            manual.setReady(6, .readable)
            manual.loop.runTurn()
            #expect(calls.value == ["reader [readable]", "both [readable]"])
            calls.value = []
            manual.setReady(6, [.readable, .writable, .hangUp])
            manual.loop.runTurn()
            #expect(
                calls.value == [
                    "reader [readable, hangUp]", "writer [writable, hangUp]", "both [readable, writable, hangUp]",
                ])
            calls.value = []
            reader.invalidate()
            manual.setReady(6, .readable)
            manual.loop.runTurn()
            #expect(calls.value == ["both [readable]"])
        }
    }

    @Test(arguments: [RunLoop.DescriptorEvents.hangUp, .error, .priority])
    func `Hang-up and error are reported to a source that asks for any event`(asked: RunLoop.DescriptorEvents)
        throws
    {
        try ManualRunLoop.with { manual in
            let told = Box<[RunLoop.DescriptorEvents]>([])
            try manual.loop.add(
                RunLoop.DescriptorSource(2, for: asked) { _, events in told.value.append(events) }, in: .default)
            manual.setReady(2, [.readable, .writable])
            manual.loop.runTurn()
            #expect(told.value.isEmpty)
            manual.setReady(2, [.hangUp, .error, .readable])
            manual.loop.runTurn()
            #expect(told.value == [[.hangUp, .error]])
        }
    }

    @Test func `A source without events is not called, not even for a hang-up`() throws {
        try ManualRunLoop.with { manual in
            let calls = Box<[String]>([])
            let resting = RunLoop.DescriptorSource(2, for: []) { _, events in calls.value.append("resting \(events)") }
            try manual.loop.add(resting, in: .default)
            manual.setReady(2, [.hangUp, .error, .readable])
            let recorder = RunLoop.TraceRecorder(manual.loop)
            // It keeps the mode from being empty all the same.
            #expect(manual.loop.run(in: .default, for: .seconds(1)) == .timedOut)
            #expect(manual.sleeps == 1)
            #expect(recorder.callouts.isEmpty)
            // Not either when another source on the descriptor has it watched.
            let reader = RunLoop.DescriptorSource(2) { _, events in calls.value.append("reader \(events)") }
            try manual.loop.add(reader, in: .default)
            manual.loop.runTurn()
            #expect(calls.value == ["reader [readable, hangUp, error]"])
            reader.invalidate()
            #expect(manual.loop.run(in: .default, for: .seconds(1)) == .timedOut)
            #expect(manual.sleeps == 2)
            #expect(calls.value.count == 1)
        }
    }

    @Test func `An event fetched before the source was disarmed and armed again is not served`() throws {
        try ManualRunLoop.with { manual in
            let told = Box<[RunLoop.DescriptorEvents]>([])
            let second = RunLoop.DescriptorSource(2) { _, events in told.value.append(events) }
            let first = RunLoop.DescriptorSource(1, repeats: false) { _, _ in
                second.events = []
                second.events = .readable
                manual.setReady(2, [])
            }
            try manual.loop.add(first, in: .default)
            try manual.loop.add(second, in: .default)
            manual.setReady(1, .readable)
            manual.setReady(2, .readable)
            manual.loop.run(in: .default, for: .milliseconds(1))
            #expect(told.value.isEmpty)
        }
    }

    @Test func `A one-shot source is called once each time it is armed`() throws {
        try ManualRunLoop.with { manual in
            let calls = Box(0)
            let source = RunLoop.DescriptorSource(2, repeats: false) { source, _ in
                calls.value += 1
                #expect(source.events == [])
                if calls.value == 2 { source.events = .readable }
            }
            try manual.loop.add(source, in: .default)
            manual.setReady(2, .readable)
            for _ in 0..<3 { manual.loop.runTurn() }
            #expect(calls.value == 1)
            source.events = .readable
            for _ in 0..<5 { manual.loop.runTurn() }
            #expect(calls.value == 3)
            #expect(manual.loop.contains(source, in: .default))
        }
    }

    @Test func `A one-shot source in two modes is disarmed and armed in both`() throws {
        try ManualRunLoop.with { manual in
            let modes: [RunLoop.Mode] = [.default, "second"]
            let calls = Box(0)
            let source = RunLoop.DescriptorSource(2, repeats: false) { _, _ in calls.value += 1 }
            for mode in modes { try manual.loop.add(source, in: mode) }
            manual.setReady(2, .readable)
            for round in 1...2 {
                for mode in modes { manual.loop.runTurn(in: mode) }
                #expect(calls.value == round * 2 - 1)
                source.events = .readable
                for mode in modes.reversed() { manual.loop.runTurn(in: mode) }
                #expect(calls.value == round * 2)
                source.events = .readable
            }
        }
    }

    @Test func `A source that one of two modes cannot arm is called once with an error and disarmed in both`() throws {
        try ManualRunLoop.with { manual in
            let modes: [RunLoop.Mode] = [.default, "second"]
            let told = Box<[RunLoop.DescriptorEvents]>([])
            let source = RunLoop.DescriptorSource(2, for: []) { _, events in told.value.append(events) }
            for mode in modes { try manual.loop.add(source, in: mode) }
            manual.setReady(2, .readable)
            manual.failNext("epoll_ctl", with: ENOSPC)
            source.events = .readable
            #expect(source.events == [])
            #expect(told.value.isEmpty)
            for _ in 0..<2 { for mode in modes { manual.loop.runTurn(in: mode) } }
            #expect(told.value == [.error])
            // And it is armed again when the system has recovered.
            source.events = .readable
            manual.loop.runTurn(in: "second")
            #expect(told.value == [.error, .readable])
        }
    }

    @Test func `A refused change of events is not reported to a source that was then removed or invalidated`() throws {
        try ManualRunLoop.with { manual in
            let removed = RunLoop.DescriptorSource(2, for: []) { _, _ in Issue.record("called") }
            let invalid = RunLoop.DescriptorSource(3, for: []) { _, _ in Issue.record("called") }
            for source in [removed, invalid] {
                try manual.loop.add(source, in: .default)
                manual.failNext("epoll_ctl", with: EBADF)
                source.events = .readable
            }
            manual.loop.remove(removed, from: .default)
            invalid.invalidate()
            manual.loop.addSource()
            manual.loop.runTurn()
        }
    }

    @Test func `Changed events of a source take effect before its next callout`() throws {
        try ManualRunLoop.with { manual in
            let told = Box<[RunLoop.DescriptorEvents]>([])
            let descriptorSource = RunLoop.DescriptorSource(2) { descriptorSource, events in
                told.value.append(events)
                descriptorSource.events = .writable
            }
            #expect(descriptorSource.events == .readable)
            try manual.loop.add(descriptorSource, in: .default)
            manual.setReady(2, [.readable, .writable])
            manual.loop.runTurn()
            manual.loop.runTurn()
            #expect(told.value == [.readable, .writable])
            #expect(descriptorSource.events == .writable)
        }
    }

    @Test func `An event fetched before the source stopped asking for it is not served`() throws {
        try ManualRunLoop.with { manual in
            let second = RunLoop.DescriptorSource(2) { _, _ in Issue.record("served") }
            let first = RunLoop.DescriptorSource(1) { _, _ in
                manual.setReady(1, [])
                second.events = .writable
            }
            try manual.loop.add(first, in: .default)
            try manual.loop.add(second, in: .default)
            manual.setReady(1, .readable)
            manual.setReady(2, .readable)
            manual.loop.run(in: .default, for: .milliseconds(1))
        }
    }

    @Test func `An event of an invalidated source is not served to a new source on the same descriptor`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let old = RunLoop.DescriptorSource(2) { _, _ in Issue.record("the old one was called") }
            let new = RunLoop.DescriptorSource(2) { _, events in
                // Only for what it asks for itself, after a new look at what is ready.
                #expect(events == .writable)
                manual.setReady(2, [])
            }
            new.events = .writable
            let first = RunLoop.DescriptorSource(1) { _, _ in
                manual.setReady(1, [])
                old.invalidate()
                #expect(throws: Never.self) { try loop.add(new, in: .default) }
            }
            try loop.add(first, in: .default)
            try loop.add(old, in: .default)
            manual.setReady(1, .readable)
            manual.setReady(2, [.readable, .writable])
            let recorder = RunLoop.TraceRecorder(loop)
            loop.run(in: .default, for: .milliseconds(1))
            #expect(recorder.callouts.count == 2)
        }
    }

    @Test func `A descriptor source invalidated in its own callout is released and the run finishes`() throws {
        try ManualRunLoop.with { manual in
            let witness = Witness()
            let calls = Box(0)
            do {
                let token = witness.makeToken()
                let descriptorSource = RunLoop.DescriptorSource(1) { descriptorSource, _ in
                    descriptorSource.invalidate()
                    calls.value += 1
                    withExtendedLifetime(token) {}
                }
                try manual.loop.add(descriptorSource, in: .default)
            }
            manual.setReady(1, .readable)
            #expect(manual.loop.run(in: .default, for: .seconds(1)) == .finished)
            #expect(calls.value == 1)
            #expect(witness.isGone)
        }
    }

    /// How a source is taken out by another on its descriptor.
    enum Removal: CaseIterable {
        case remove, invalidate, addToAnotherLoop
    }

    @Test(arguments: Removal.allCases)
    func `A source removed by an earlier source on the same descriptor is not called`(removal: Removal) throws {
        try ManualRunLoop.with { other in
            try ManualRunLoop.with { manual in
                let calls = Box<[String]>([])
                let second = RunLoop.DescriptorSource(1) { _, _ in calls.value.append("second") }
                let first = RunLoop.DescriptorSource(1) { _, _ in
                    calls.value.append("first")
                    switch removal {
                    case .remove: manual.loop.remove(second, from: .default)
                    case .invalidate: second.invalidate()
                    case .addToAnotherLoop:
                        manual.loop.remove(second, from: .default)
                        #expect(throws: Never.self) { try other.loop.add(second, in: .default) }
                    }
                }
                let third = RunLoop.DescriptorSource(1) { _, _ in calls.value.append("third") }
                for descriptorSource in [first, second, third] { try manual.loop.add(descriptorSource, in: .default) }
                manual.setReady(1, .readable)
                manual.loop.runTurn()
                #expect(calls.value == ["first", "third"])
                #expect(other.loop.contains(second, in: .default) == (removal == .addToAnotherLoop))
            }
        }
    }

    @Test func `A source moved to another mode by an earlier source on the same descriptor is not called`() throws {
        try ManualRunLoop.with { manual in
            let second = RunLoop.DescriptorSource(1) { _, _ in Issue.record("called") }
            let first = RunLoop.DescriptorSource(1) { _, _ in
                manual.loop.remove(second, from: .default)
                #expect(throws: Never.self) { try manual.loop.add(second, in: "other") }
            }
            for descriptorSource in [first, second] { try manual.loop.add(descriptorSource, in: .default) }
            manual.setReady(1, .readable)
            manual.loop.runTurn()
        }
    }

    @Test func `An event served by a run nested in an observer is not served again`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let calls = Box<[CInt]>([])
            for descriptor: CInt in 1...2 {
                try loop.add(
                    RunLoop.DescriptorSource(descriptor) { _, _ in
                        calls.value.append(descriptor)
                        manual.setReady(descriptor, [])
                    }, in: .default)
            }
            loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                    for descriptor: CInt in 1...2 { manual.setReady(descriptor, .readable) }
                }, in: .default)
            loop.add(RunLoop.Observer(.afterWaiting, repeats: false) { _, _ in loop.runTurn() }, in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            #expect(loop.run(in: .default, for: .seconds(1)) == .timedOut)
            // The nested run has served the first; the outer one serves what is left.
            #expect(calls.value == [1, 2])
            #expect(recorder.callouts.count { $0.hasPrefix("descriptor") } == 2)
        }
    }

    @Test func `A descriptor that is still ready after a nested run is served`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let calls = Box(0)
            try loop.add(
                RunLoop.DescriptorSource(1) { _, _ in
                    calls.value += 1
                    if calls.value == 2 { manual.setReady(1, []) }
                }, in: .default)
            loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in manual.setReady(1, .readable) },
                in: .default)
            loop.add(RunLoop.Observer(.afterWaiting, repeats: false) { _, _ in loop.runTurn() }, in: .default)
            loop.run(in: .default, for: .seconds(1))
            #expect(calls.value == 2)
        }
    }
}
